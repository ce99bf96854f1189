"""How sessions arrive and what their turns bring: arrival processes, traces, explicit sessions.

Input: the arrivals stream (gaps), trace rows, explicit sessions. Output: new sessions with their preset attributes,
and the
attributes each `turn` loads.
Invariant: session `serial` is the serial-th to arrive; the next arrival is scheduled before the arriving session runs.
Reference: language §3 (Workload), notes §7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from serq.engine.calendar import Event
from serq.engine.expressions import Expression
from serq.engine.results import RunError, shown
from serq.engine.session import Session
from serq.engine.streams import ARRIVALS, SESSION

if TYPE_CHECKING:
    from serq.engine.statements import Statement
    from serq.engine.world import World

LARGEST: Final = 1.7976931348623157e308  # the greatest finite float
ARRIVALS_AT_ONE_INSTANT_MAX: Final = 1_000_000


class ExplicitTurn:
    """The attributes one turn of an explicit session loads."""

    def __init__(self, slots: list[int], values: list[float]) -> None:
        self.slots: Final = slots
        self.values: Final = values


class ExplicitSession:
    """A session given one by one: when it arrives [t], what is preset, and its turns."""

    def __init__(self, at: float, slots: list[int], values: list[float], turns: list[ExplicitTurn]) -> None:
        self.at = at
        self.slots: Final = slots
        self.values: Final = values
        self.turns: Final = turns


class Workload:
    """The workload of a program."""

    def __init__(self) -> None:
        self.init: list[Statement] = []
        self.turn: list[Statement] = []
        self.is_closed = False
        self.is_open = False  # poisson or renewal
        self.initial_count = 0  # batch and closed
        self.gap: Expression | None = None
        self.first_at_zero = False
        self.arrivals_limit: i64 = -1
        self.begins_sessions = False  # whether a trace, explicit sessions or `init` give new sessions something
        self.explicit: list[ExplicitSession] = []
        # the trace: per session its rows, each new, out, think, forced
        self.trace: tuple[tuple[tuple[float, ...], ...], ...] = ()
        self.trace_ordered = False
        self.trace_slots: list[int] = []  # of new, out, think, more, forced
        self.more_slot: i64 = -1

    def preset(self, w: World, session: Session) -> None:
        """Give a new session its trace and its preset attributes."""
        count = len(self.trace)
        if count > 0:
            if self.trace_ordered:
                session.trace_session = session.serial % count
            else:
                session.trace_session = min(int(w.trace_stream.uniform() * float(count)), count - 1)
        if session.serial < len(self.explicit):
            given = self.explicit[session.serial]
            for i in range(len(given.slots)):
                session.attributes[given.slots[i]] = given.values[i]

    def load_turn(self, session: Session) -> None:
        """Load the session's next row; past the end only `more` changes, to 0."""
        attributes = session.attributes
        row: i64 = session.trace_row
        if session.trace_session >= 0:
            rows = self.trace[session.trace_session]
            slots = self.trace_slots
            if row < len(rows):
                values = rows[row]
                attributes[slots[0]] = values[0]
                attributes[slots[1]] = values[1]
                attributes[slots[2]] = values[2]
                attributes[slots[4]] = values[3]
                row += 1
                session.trace_row = row
            attributes[slots[3]] = 1.0 if row < len(rows) else 0.0
        elif session.serial < len(self.explicit):
            turns = self.explicit[session.serial].turns
            if row < len(turns):
                turn = turns[row]
                for i in range(len(turn.slots)):
                    attributes[turn.slots[i]] = turn.values[i]
                row += 1
                session.trace_row = row
            if self.more_slot >= 0:
                attributes[self.more_slot] = 1.0 if row < len(turns) else 0.0

    def start(self, w: World) -> None:
        """Let the sessions of time 0 arrive and schedule the others."""
        for _ in range(self.initial_count):
            w.make_ready(w.new_session(w.arrivals))
        for i in range(len(self.explicit)):
            w.calendar.schedule(ExplicitArrival(i), self.explicit[i].at)
        if self.is_open and self.arrivals_limit != 0:
            arrival = Arrival()
            if self.first_at_zero:
                w.calendar.schedule(arrival, 0.0)
            else:
                w.calendar.schedule(arrival, self.next_gap(w))

    def next_gap(self, w: World) -> float:
        """Draw the time to the next arrival [t]."""
        gap = self.gap
        assert gap is not None
        w.purpose = ARRIVALS
        value = gap.evaluate(w)
        w.purpose = SESSION
        if not 0.0 < value <= LARGEST:
            raise RunError(
                "gap-not-positive",
                f"an interarrival time is {shown(value)}; the gaps of `renewal` are positive and finite",
                gap.site,
            )
        return value


class Arrival(Event):
    """The next arrival of an open workload."""

    def __init__(self) -> None:
        super().__init__()
        self.is_arrival = True
        self.instant = -1.0
        self.instant_count: i64 = 0

    def fire(self, world: World) -> None:
        workload = world.workload
        if self.instant != world.now:
            self.instant = world.now
            self.instant_count = 1
        else:
            self.instant_count += 1
        if self.instant_count > ARRIVALS_AT_ONE_INSTANT_MAX:
            gap = workload.gap
            raise RunError(
                "instant-never-settles",
                f"{ARRIVALS_AT_ONE_INSTANT_MAX} sessions arrived without the clock moving",
                -1 if gap is None else gap.site,
                "the interarrival times are too small against the clock",
            )
        if workload.arrivals_limit < 0 or world.arrivals + 1 < workload.arrivals_limit:
            world.calendar.schedule(self, world.now + workload.next_gap(world))
        world.make_ready(world.new_session(world.arrivals))


class ExplicitArrival(Event):
    """The arrival of one explicit session, by its place in the list; those of one time come in that order."""

    def __init__(self, serial: i64) -> None:
        super().__init__()
        self.is_arrival = True
        self.serial: i64 = serial

    def fire(self, world: World) -> None:
        world.make_ready(world.new_session(self.serial))
