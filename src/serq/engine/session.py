"""A session and what it has: attributes, a place in the program, holds, leases, cached prefixes, a job.

Input: nothing (state only). Invariants: a session is in exactly one status; `holds` is a stack, innermost last; an
allocation belongs to one hold or lease and is linked into its pool's list in admission order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from librt.vecs import vec
from mypy_extensions import i64

from serq.engine.calendar import Event
from serq.engine.ranks import Ranked

if TYPE_CHECKING:
    from serq.engine.pool import Pool
    from serq.engine.results import RunNote
    from serq.engine.stage import Stage
    from serq.engine.statements import HoldStatement, Statement
    from serq.engine.streams import Stream
    from serq.engine.world import World

# Statuses.
READY: Final = 0  # in the ready list, or running
WAITING: Final = 1  # in a pool's waiting line
AT_STAGE: Final = 2  # a job of it is at a stage (or at several)
GROWING: Final = 3  # a `grow` waits for room
ENDED: Final = 4

NEVER_ADMITTED: Final = 1152921504606846976  # 2**60: serves after every admitted session

# Builtin attribute slots (the linker's numbering).
SERIAL: Final = 0
TURN_NO: Final = 1
CACHED: Final = 2
COMPUTED: Final = 3
BUILTIN_COUNT: Final = 4


class CacheEntry(Ranked):
    """A cached prefix: so many units of a pool, in release order.

    `session.entries[pool]` is the one the session can find; a remainder or a replaced one is dead: still there, with
    its
    release time and number, until it is evicted. Entries of a pool form a doubly linked list in release order.
    """

    def __init__(self, session: Session, amount: float, released_at: float, number: i64) -> None:
        super().__init__()
        self.session = session
        self.amount = amount
        self.released_at = released_at
        self.number: i64 = number
        self.is_stale = False  # what its keys read may have changed since they were evaluated
        self.before: CacheEntry | None = None
        self.after: CacheEntry | None = None


class Allocation:
    """The units one hold (or lease) has on one pool.

    Attributes
    ----------
    amount : [units], in whole blocks
    position : [tokens] computed so far on this pool (starts at what was consumed from the cache)
    withdrawn : [tokens] a victim had been given in the iteration that preempted it, when they count as cached
    in_scope : False once it is a lease
    released : given back before its scope's end
    """

    def __init__(self, session: Session, pool: Pool, amount: float, position: float) -> None:
        self.session: Final = session
        self.pool = pool
        self.amount = amount
        self.position = position
        self.withdrawn = 0.0
        self.in_scope = True
        self.released = False
        self.before: Allocation | None = None
        self.after: Allocation | None = None

    def begin_again(self, pool: Pool, amount: float, position: float) -> None:
        """Become what the session's next hold of the same statement has."""
        if pool is not self.pool:
            self.pool = pool
        self.amount = amount
        self.position = position
        self.withdrawn = 0.0
        self.released = False


class ActiveHold:
    """One hold a session is in, inside `outer`; `moved`: a growing run or a load moved a position of it."""

    def __init__(self, statement: HoldStatement, allocations: list[Allocation], outer: ActiveHold | None) -> None:
        self.statement: Final = statement
        self.allocations: Final = allocations
        self.outer = outer
        self.moved = False

    def on(self, pool: Pool) -> Allocation | None:
        """Give the allocation on a pool that was not released early, or None."""
        allocations = self.allocations
        last = allocations[self.statement.place_asked]
        if last.pool is pool and not last.released:
            return last
        place: i64 = 0
        for allocation in allocations:
            if allocation.pool is pool and not allocation.released:
                self.statement.place_asked = place
                return allocation
            place += 1
        return None


class PreemptionMark:
    """Where a session was preempted last on a pool, to see whether the next time is further on."""

    def __init__(self, pool: Pool, position: float) -> None:
        self.pool: Final = pool
        self.position = position


class LeaseExpiry(Event):
    """A lease: an allocation past its scope, what it caches when it ends, and its timer."""

    def __init__(self, session: Session, hold: ActiveHold, allocation: Allocation) -> None:
        super().__init__()
        self.session: Final = session
        self.hold: Final = hold
        self.allocation: Final = allocation

    def fire(self, world: World) -> None:
        """Give the allocation back."""
        world.enter(self.session)
        world.end_lease(self)
        world.serve_pools()


class Job(Event):
    """A session's job at a stage; as an event, its completion (fifo, delay).

    Attributes
    ----------
    work : as asked; left : what is not yet done (step: tokens)
    arrived_at, started_at : [t]
    number : of the job, the tie-break at a stage (shadowed by the event's number only inside the calendar)
    """

    def __init__(self, session: Session, stage: Stage, work: float, job_number: i64) -> None:
        super().__init__()
        self.session = session
        self.stage = stage
        self.work = work
        self.left = work
        self.arrived_at = 0.0
        self.started_at = 0.0
        self.job_number: i64 = job_number
        self.ahead: Job | None = None  # in a stage's line
        self.behind: Job | None = None
        self.slot: i64 = -1  # in a processor-sharing stage's heap, or a step stage's wheel
        self.in_slot_ahead: Job | None = None
        self.in_slot_behind: Job | None = None
        # a step stage's resident
        self.is_decode = False
        self.admission: i64 = NEVER_ADMITTED
        self.growing: Allocation | None = None
        self.growing_hold: ActiveHold | None = None
        self.other_kv = 0.0
        self.tokens = 0.0
        self.served_in: i64 = -1
        self.is_stalled = False
        self.is_resident = False
        self.moved_before = False
        self.is_whole = False  # tokens and memory are whole numbers
        # a steady resident (see steady.py)
        self.is_steady = False
        self.finish_tick = 0.0
        self.joined_tick = 0.0
        self.phase: i64 = -1
        self.position_offset = 0.0

    def begin_again(self, stage: Stage, work: float, job_number: i64) -> None:
        """Become the session's next job."""
        if stage is not self.stage:
            self.stage = stage
        self.work = work
        self.left = work
        self.job_number = job_number
        if self.growing is not None:
            self.growing = None
            self.growing_hold = None

    def begin_tokens(self, is_decode: bool) -> None:
        """Be a job of prefill or decode tokens, none of them served yet."""
        self.is_decode = is_decode
        self.other_kv = 0.0
        self.tokens = 0.0
        self.served_in = -1
        self.is_stalled = False

    def fire(self, world: World) -> None:
        """Complete."""
        self.stage.complete(self, world)


class Session(Ranked):
    """One session: what it knows and where it is; its rank is that in a waiting line."""

    def __init__(self, serial: i64, attribute_count: int, first: Statement) -> None:
        super().__init__()
        self.serial: i64 = serial
        self.attributes: vec[float] = vec[float]([0.0] * attribute_count)
        self.attributes[SERIAL] = float(serial)
        self.next_statement: Statement = first
        self.status: i64 = READY
        self.hold: ActiveHold | None = None  # the innermost
        self.spare_hold: ActiveHold | None = None  # a finished one, to be used again by its statement
        self.leases: list[LeaseExpiry] | None = None
        self.entries: list[CacheEntry | None] | None = None  # by pool
        self.released_attributes: vec[float] | None = None
        self.admission: i64 = NEVER_ADMITTED
        self.job: Job | None = None  # at a stage while the status says so; else a finished one, to be used again
        self.stream: Stream | None = None
        self.stream_begun = False
        # waiting for admission
        self.waiting_for: HoldStatement | None = None
        self.waiting_pools: list[Pool] | None = None
        self.joined_at = 0.0
        self.is_preempted = False  # waits ahead of every key
        # waiting to grow
        self.growing: Allocation | None = None
        self.growth_target = 0.0
        self.waits_at = -1  # the site of the statement that grows
        # preemptions without progress: positions remembered per pool
        self.preemptions: list[PreemptionMark] | None = None
        self.was_stuck = False
        self.stuck_note: RunNote | None = None  # while it is stuck
        self.ahead: Session | None = None  # in the one line it is in
        self.behind: Session | None = None
        # the trace
        self.trace_session: i64 = -1
        self.trace_row: i64 = 0
        # an instant that never settles
        self.instant = -1.0
        self.ready_count: i64 = 0
        self.statement_count: i64 = 0

    def begin_again(self, serial: i64, first: Statement) -> None:
        """Become the next session: an ended one that left nothing behind saves the making of a new one."""
        self.serial = serial
        attributes = self.attributes
        attributes[SERIAL] = float(serial)
        attributes[TURN_NO] = 0.0
        attributes[CACHED] = 0.0
        attributes[COMPUTED] = 0.0
        for slot in range(BUILTIN_COUNT, len(attributes)):
            attributes[slot] = 0.0
        self.next_statement = first
        self.status = READY
        self.admission = NEVER_ADMITTED
        self.stream_begun = False
        if self.preemptions is not None:
            self.preemptions = None
        self.was_stuck = False
        self.trace_session = -1
        self.trace_row = 0
        self.instant = -1.0

    def forget_preemptions(self, completed: ActiveHold) -> None:
        """Forget where the session was preempted on the pools of a hold that came to its end."""
        marks = self.preemptions
        assert marks is not None
        for allocation in completed.allocations:
            for mark in marks:
                if mark.pool is allocation.pool:
                    marks.remove(mark)
                    self.get_unstuck()
                    break

    def get_unstuck(self) -> None:
        """Take note that the session got further than where it was preempted, or is gone."""
        note = self.stuck_note
        if note is not None:
            note.standing -= 1
            self.stuck_note = None

    def current_entry(self, pool_id: i64) -> CacheEntry | None:
        """Give the session's own cached prefix at a pool, or None."""
        entries = self.entries
        if entries is None:
            return None
        return entries[pool_id]

    def holding(self, pool: Pool) -> ActiveHold | None:
        """Give the innermost hold that has an allocation on a pool that was not released early, or None."""
        hold = self.hold
        while hold is not None and hold.on(pool) is None:
            hold = hold.outer
        return hold

    def hold_on(self, pool: Pool) -> Allocation | None:
        """Give the allocation of that hold, or None."""
        hold = self.holding(pool)
        return None if hold is None else hold.on(pool)

    def kv_on(self, pool: Pool) -> float:
        """Give what all the session's holds have on a pool [units]."""
        total = 0.0
        hold = self.hold
        while hold is not None:
            for allocation in hold.allocations:
                if allocation.pool is pool and not allocation.released:
                    total += allocation.amount
            hold = hold.outer
        return total
