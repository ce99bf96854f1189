"""The event loop: take the next event, let it happen, let the instant settle; at last, the figures.

Input: a world assembled from a linked program, the horizon and the warm-up. Output: a `RunResult`.
Invariants: the clock never goes back; the horizon is inclusive; an event at exactly the warm-up is measured; a run
ends at its
horizon whatever its sessions wait for, or when its finite arrivals have drained.
Reference: language §3 (Configuration, Statistics, Gauges), notes §3 and §8.
"""

from __future__ import annotations

import gc
from typing import Final

from mypy_extensions import i64, mypyc_attr

from serq.arithmetic import divide
from serq.engine.checks import check_world
from serq.engine.expressions import Expression
from serq.engine.iteration_log import IterationLog
from serq.engine.pool import Pool
from serq.engine.preemption import PREEMPT_NONE
from serq.engine.results import PoolResult, RunError, RunNote, RunResult, StageResult, shown
from serq.engine.session import Session
from serq.engine.step_engine import StepEngine
from serq.engine.world import World

BLOCKED_NAMED_MAX: Final = 5
REPORT_EVERY: Final = 16384  # events
LARGEST: Final = 1.7976931348623157e308  # the greatest finite float


@mypyc_attr(allow_interpreted_subclasses=True)
class Progress:
    """What a watcher of a run is told every so many events; subclass it and override `report`."""

    def report(self, now: float, events: int) -> None:
        """Take note that the clock is at `now` after `events` events."""


class Simulation:
    """One run of a program; it can run once."""

    def __init__(
        self,
        world: World,
        horizon: float,
        warmup: float,
        gauges: list[Expression],
        checks: bool,
    ) -> None:
        self.world: Final = world
        self.horizon = horizon
        self.warmup = warmup
        self.checks = checks
        self.iterations: IterationLog | None = None
        world.horizon = horizon
        world.warmup = warmup
        world.gauge_expressions = gauges
        world.has_gauges = len(gauges) > 0
        world.runs_ahead = not checks

    def record_iterations(self) -> None:
        """Let every step stage note its iterations in one log."""
        log = IterationLog()
        self.iterations = log
        for stage in self.world.stages:
            if isinstance(stage, StepEngine):
                stage.log = log

    def run(self, progress: Progress | None = None) -> RunResult:
        """Run to the end.

        Raises
        ------
        RunError : with the time, session and turn at which the run cannot go on
        """
        w = self.world
        # A run makes no garbage in cycles: what leaves is unlinked. The collector would only walk the sessions there
        # are, again and again: half the time of a run with 100 000 of them.
        collects = gc.isenabled()
        gc.disable()
        try:
            end = self._loop(progress)
        except RunError as error:
            error.time = w.now
            session = w.session
            if session is not None and error.session < 0:
                error.session = int(session.serial)
                error.turn = int(session.attributes[1])
            raise
        finally:
            if collects:
                gc.enable()
        return self._result(end)

    def _loop(self, progress: Progress | None) -> float:
        w = self.world
        calendar = w.calendar
        horizon = self.horizon
        warmup = self.warmup
        limit: i64 = w.workload.arrivals_limit
        has_gauges = w.has_gauges
        checks = self.checks
        is_watched = checks or limit >= 0 or progress is not None
        if warmup <= 0.0:
            w.end_warmup(0.0)
        w.workload.start(w)
        w.settle()
        if progress is not None:
            w.report_at = REPORT_EVERY
        while True:
            first = calendar.first
            if first is None:
                w.settle()  # what an iteration's admissions left waiting
                first = calendar.first
                if first is None:
                    break
            event = first
            at = event.at
            if at > w.now:
                if at > horizon:
                    break
                if has_gauges:
                    w.read_gauges()
                if not w.is_warm and at >= warmup:
                    w.end_warmup(warmup)
                w.now = at
            calendar.drop_first()
            w.events += 1
            event.fire(w)
            if w.is_settled:
                w.is_settled = False
            else:
                w.settle()
            if not is_watched:
                continue
            if checks:
                check_world(w)
            if limit >= 0 and w.live_count == 0 and w.arrivals >= limit:
                if has_gauges:
                    w.read_gauges()
                return self._drained(w.now)
            if progress is not None and w.events >= w.report_at:
                w.report_at += REPORT_EVERY
                progress.report(w.now, int(w.events))
        if has_gauges:
            w.read_gauges()
        if limit >= 0:
            self._not_drained(limit)
        if not w.is_warm:
            w.end_warmup(warmup)
        return horizon

    def _drained(self, end: float) -> float:
        """Check that something was measured before the sessions drained."""
        if end <= self.warmup:
            raise RunError(
                "drained-before-warmup",
                f"the last session left at {shown(end)}, not after the warm-up at {shown(self.warmup)}",
                -1,
                "shorten the warm-up or let more sessions arrive",
            )
        return end

    def _not_drained(self, limit: int) -> None:
        w = self.world
        w.session = None
        if w.arrivals < limit:
            raise RunError(
                "arrivals-not-reached",
                f"only {w.arrivals} of {limit} arrivals came by the horizon at {shown(self.horizon)}",
                -1,
                "lengthen the horizon or ask for fewer arrivals",
            )
        raise RunError(
            "arrivals-not-drained",
            f"{w.live_count} of {limit} sessions had not left by the horizon at {shown(self.horizon)}",
            -1,
            "lengthen the horizon",
        )

    # ------------------------------------------------------------------------------------------------- figures

    def _result(self, end: float) -> RunResult:
        w = self.world
        start = self.warmup
        result = RunResult()
        result.horizon = self.horizon
        result.end = end
        result.warmup = start
        result.seed = w.seed
        result.events = int(w.events)
        result.arrivals = w.arrivals
        result.ended = w.ended
        result.turns = w.turns
        result.mean_live = w.live.mean(start, end)
        result.is_open = w.workload.is_open
        result.live_at_warmup = w.live_at_warmup
        result.live_at_end = w.live_count
        result.arrivals_measured = w.arrivals - w.arrivals_at_warmup
        result.observes = w.observes
        result.gauges = w.gauges
        result.iterations = self.iterations
        for stage in w.stages:
            figures = StageResult(stage.name, stage.member)
            figures.mean_number = stage.number.mean(start, end)
            figures.utilization = stage.utilization(start, end)
            figures.completed = stage.completed
            figures.throughput = float(stage.completed) / (end - start)
            figures.mean_wait = divide(stage.wait_sum, float(stage.completed))  # the mean of nothing is NaN
            figures.mean_service = divide(stage.service_sum, float(stage.completed))
            figures.iterations = stage.iterations
            result.stages.append(figures)
        for pool in w.pools:
            row = PoolResult(pool.name, pool.member)
            row.mean_used = pool.used.mean(start, end)
            row.mean_cached = pool.cached.mean(start, end)
            row.mean_queue = pool.queue.mean(start, end)
            row.mean_holders = pool.holders.mean(start, end)
            row.mean_wait = divide(pool.wait_sum, float(pool.wait_count))
            row.admissions = pool.admissions
            row.evicted_entries = pool.evicted_entries
            row.evicted_units = pool.evicted_units
            row.preemptions = pool.preemptions
            row.spills = pool.spills
            row.rejected = pool.rejected
            row.stuck = pool.stuck
            result.pools.append(row)
        self._finish_notes()
        result.notes = w.notes
        return result

    def _finish_notes(self) -> None:
        """Name who waits when nothing can move any more: no event is left but arrivals.

        The run is over, so the calendar may be emptied to see.
        """
        for note in self.world.notes:
            if note.kind == "stuck":
                note.blocks_run = note.standing > 0
        calendar = self.world.calendar
        while calendar.first is not None:
            event = calendar.pop()
            if not event.is_arrival and event.at <= LARGEST:
                return
        self._note_blocked()

    def _note_blocked(self) -> None:
        """Nothing is in service: every live session waits for somebody who waits. Name the first few.

        In a line only the head is tried, so it stands for those behind it that hold nothing themselves.
        """
        w = self.world
        named: list[RunNote] = []
        others = 0
        for pool in w.pools:
            if pool.is_waited_for():
                head = pool.select(w)
                waiting = [session for session in pool.waiting_sessions() if session is not head]
                waiting.insert(0, head)
                of_head: RunNote | None = None
                for session in waiting:
                    holds_nothing = session.hold is None and (session.leases is None or len(session.leases) == 0)
                    if of_head is not None and holds_nothing:
                        of_head.count += 1
                    elif len(named) < BLOCKED_NAMED_MAX:
                        named.append(self._note_waiting(session))
                        if session is head:
                            of_head = named[len(named) - 1]
                    else:
                        others += 1
            grower = pool.growers.head
            while grower is not None:
                growing = grower.growing
                assert growing is not None
                if len(named) < BLOCKED_NAMED_MAX:
                    note = self._note(grower, pool, grower.waits_at, grower.growth_target - growing.amount)
                    note.holds_on = pool.preempt_rule == PREEMPT_NONE and grower.growth_target <= pool.cap
                    named.append(note)
                else:
                    others += 1
                grower = grower.behind
        if others > 0:
            named[len(named) - 1].count += others
        # who never fits and blocks the run is named once
        w.notes = [note for note in w.notes if note.kind != "unfit" or not self._is_named(note, named)]

    def _is_named(self, unfit: RunNote, named: list[RunNote]) -> bool:
        """Tell whether one of the notes is about the session and the pool of another."""
        for note in named:
            if note.session == unfit.session and note.pool == unfit.pool:
                return True
        return False

    def _note_waiting(self, session: Session) -> RunNote:
        """Note a session in a line, and which pool of its hold has no room for it."""
        w = self.world
        w.enter(session)
        statement = session.waiting_for
        pools = session.waiting_pools
        assert statement is not None and pools is not None
        pool = pools[0]
        wanted = 0.0
        for i in range(len(pools)):
            reserve = statement.claims[i].reserve
            units = statement.claims[i].units.evaluate(w)
            if reserve is not None:
                units = max(units, reserve.evaluate(w))
            if i == 0:
                wanted = units
            if pools[i].used.value + pools[i].whole_blocks_up(units) > pools[i].cap:
                pool = pools[i]
                wanted = units
                break
        return self._note(session, pool, statement.site, wanted)

    def _note(self, session: Session, pool: Pool, site: int, wanted: float) -> RunNote:
        w = self.world
        note = w.note("blocked", session, pool, site, wanted, pool.cap - pool.used.value, True)
        note.since = w.moved_at
        if note.stage < 0:
            self._note_engine(note, session)
        return note

    def _note_engine(self, note: RunNote, session: Session) -> None:
        """The pool has no engine of its own: the engine that admits the session's line is the one that stands still."""
        pools = session.waiting_pools
        engine = None if pools is None else pools[0].admit_via
        if engine is not None:
            note.stage = engine.index
            note.iteration = engine.iterations
            note.iteration_end = engine.iteration_end.at
