"""The world of a run: its clock, its state, the moment being evaluated, and the rules that touch several parts of it.

Input: an assembled program (statements, pools, stages, arrivals). Output: the state after each event has settled.
Invariants: `session` and `attributes` are those of the moment being evaluated; whoever evaluates for somebody else
enters
the session it came from again; every ready session is in the ready list once; sessions run in the order they became
ready.
Reference: language §3 (Configuration, Commands, Ties), notes §3.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import append, vec
from mypy_extensions import i64

from serq.engine.averages import TimeAverage
from serq.engine.calendar import Calendar
from serq.engine.expressions import Expression
from serq.engine.pool import Pool
from serq.engine.results import GaugeResult, ObserveResult, RunError, RunNote, SampleSink
from serq.engine.session import (
    AT_STAGE,
    COMPUTED,
    ENDED,
    NEVER_ADMITTED,
    READY,
    TURN_NO,
    WAITING,
    Allocation,
    CacheEntry,
    Job,
    LeaseExpiry,
    PreemptionMark,
    Session,
)
from serq.engine.sharing import Sharing
from serq.engine.stage import Stage
from serq.engine.statements import EndStatement, Statement
from serq.engine.step_engine import StepEngine
from serq.engine.streams import (
    ARRIVALS,
    EVICTION,
    SESSION,
    STAGE,
    TRACE_CHOICE,
    WORKLOAD,
    Stream,
    absorb,
    purpose_state,
    turn_state,
)
from serq.engine.workload import Workload

READY_AT_ONE_INSTANT_MAX: Final = 100_000
STATEMENTS_AT_ONE_INSTANT_MAX: Final = 1_000_000
REPLACEMENTS_AT_ONE_INSTANT_MAX: Final = 1_000_000
REJECTIONS_NAMED_MAX: Final = 5


class World:
    """Everything a running program is."""

    def __init__(self, seed: int, is_maxmin: bool) -> None:
        self.seed = seed
        # the clock and what comes
        self.now = 0.0
        self.is_warm = False
        self.calendar: Final = Calendar()
        self.ready_first: Session | None = None  # the next ones are `behind`
        self.ready_last: Session | None = None  # None while one at most is ready
        # the parts
        self.first_statement: Statement = EndStatement(-1)
        self.pools: Final[list[Pool]] = []
        self.stages: Final[list[Stage]] = []
        self.first_settling: Stage | None = None  # of the ps and step stages, in the order declared
        self.has_settling = False  # whether there is one, or a shared stage
        self.sharing: Final = Sharing(is_maxmin)
        self.workload: Final = Workload()
        self.observes: list[ObserveResult] = []
        self.gauges: list[GaugeResult] = []
        self.attribute_count = 4
        # the run: how far it goes and what it reads on the way
        self.horizon = 0.0
        self.warmup = 0.0
        self.events: i64 = 0
        self.report_at: i64 = NEVER_ADMITTED  # a watcher is told after so many events
        self.gauge_expressions: list[Expression] = []
        self.has_gauges = False
        self.runs_ahead = False  # engines may run several iterations at one event
        self.is_settled = False  # the event has left nothing to settle
        # what the program asks for
        self.has_estimates = False
        self.ranks_entries = False  # whether a pool evicts by keys that stay
        self.records_samples = False
        self.sink: SampleSink | None = None
        # the moment
        self.nobody: Final = Session(-1, 4, self.first_statement)
        self.session: Session | None = None
        self.running: Session | None = None  # whose statements ran last, where entries are ranked
        self.attributes: vec[float] = self.nobody.attributes
        self.purpose: i64 = SESSION
        self.present = 0.0
        self.residents = 0.0
        self.decoders = 0.0
        self.kv_decode = 0.0
        self.kv_prefill = 0.0
        self.tokens = 0.0
        self.prefilled = 0.0
        self.attention = 0.0
        self.decoding = 0.0
        self.admission = 0.0
        self.remaining = 0.0
        self.waited = 0.0
        self.size = 0.0
        self.age = 0.0
        self.last = 0.0
        self.waiting = 0.0
        # random streams of the run
        self.arrival_stream: Final = Stream(purpose_state(seed, ARRIVALS))
        self.eviction_stream: Final = Stream(purpose_state(seed, EVICTION))
        self.trace_stream: Final = Stream(purpose_state(seed, TRACE_CHOICE))
        self.stage_stream: Final = Stream(purpose_state(seed, STAGE))
        self.session_state: i64 = purpose_state(seed, SESSION)
        self.workload_state: i64 = purpose_state(seed, WORKLOAD)
        self.turn_stream: Stream | None = None
        self.turn_of_stream: i64 = 0
        # counters: the sequence numbers that ties fall to, and what the report counts
        self.admission_count: i64 = 0
        self.release_count: i64 = 0
        self.job_count: i64 = 0
        self.waiting_count: i64 = 0  # in lines no step stage serves
        self.grower_count: i64 = 0
        self.live_count: i64 = 0
        self.live_at_warmup: i64 = 0
        self.arrivals_at_warmup: i64 = 0
        self.live: Final = TimeAverage()
        self.arrivals: i64 = 0
        self.ended: i64 = 0
        self.turns: i64 = 0
        self.replaced_at = -1.0
        self.replaced_count: i64 = 0
        # what a reader of the report must know
        self.moved_at = 0.0
        self.notes: list[RunNote] = []
        self.rejected_count = 0
        self.last_rejection: RunNote | None = None
        self.forming: StepEngine | None = None  # the engine whose iteration is being put together
        self.spare_session: Session | None = None  # ended, to be used again; the next one is `behind` it

    # --------------------------------------------------------------------------------------------- the moment

    def enter(self, session: Session) -> None:
        """Make a session's attributes the ones that are read and written."""
        self.session = session
        self.attributes = session.attributes

    def enter_or_leave(self, session: Session | None) -> None:
        """Enter a session again, or none."""
        self.session = session
        if session is None:
            self.attributes = self.nobody.attributes
        else:
            self.attributes = session.attributes

    def uniform(self) -> float:
        """Draw from the stream of the moment's purpose."""
        purpose = self.purpose
        if purpose == ARRIVALS:
            return self.arrival_stream.uniform()
        if purpose == SESSION:
            session = self.session
            if session is not None:
                if session.stream_begun:
                    stream = session.stream
                    assert stream is not None
                    return stream.uniform()
                return self._begin_stream(session).uniform()
        return self._stream_apart().uniform()

    def _stream_apart(self) -> Stream:
        """Give the stream of a moment that is neither a session's nor an arrival's."""
        session = self.session
        if self.purpose == WORKLOAD and session is not None:
            stream = self.turn_stream
            if stream is None:
                stream = Stream(turn_state(self.workload_state, session.serial, self.turn_of_stream))
                self.turn_stream = stream
            return stream
        return self.eviction_stream if self.purpose == EVICTION else self.stage_stream

    def _begin_stream(self, session: Session) -> Stream:
        """Begin the stream of a session that draws for the first time."""
        state: i64 = absorb(self.session_state, session.serial)
        stream = session.stream
        if stream is None:
            stream = Stream(state)
            session.stream = stream
        else:
            stream.begin(state)
        session.stream_begun = True
        return stream

    def evaluate_for(self, purpose: i64, expression: Expression) -> float:
        """Evaluate an expression whose draws come from the stream of another purpose."""
        inside = self.purpose
        self.purpose = purpose
        value = expression.evaluate(self)
        self.purpose = inside
        return value

    # ---------------------------------------------------------------------------------------- running sessions

    def make_ready(self, session: Session) -> None:
        """Put a session at the end of the ready list."""
        session.status = READY
        if self.ready_first is None:
            self.ready_first = session
        else:
            last = self.ready_last
            if last is None:
                last = self.ready_first
            last.behind = session
            self.ready_last = session

    def run_ready(self) -> None:
        """Run every ready session until it waits or is gone, in the order they became ready."""
        while True:
            first = self.ready_first
            if first is None:
                return
            session = first  # from here on no option: compiled, an option is counted at every use
            if self.ranks_entries:
                self._change_running(session)
            behind = session.behind
            self.ready_first = behind
            if behind is not None:
                session.behind = None
            elif self.ready_last is not None:
                self.ready_last = None
            self.enter(session)
            count: i64 = 0
            if session.instant != self.now:
                session.instant = self.now
                session.ready_count = 1
            else:
                session.ready_count += 1
                if session.ready_count > READY_AT_ONE_INSTANT_MAX:
                    self._never_settles(session, f"became ready {READY_AT_ONE_INSTANT_MAX} times")
                count = session.statement_count
            while session.next_statement.step(self, session):
                count += 1
                if count > STATEMENTS_AT_ONE_INSTANT_MAX:
                    self._never_settles(session, f"ran {STATEMENTS_AT_ONE_INSTANT_MAX} statements")
            session.statement_count = count

    def _change_running(self, session: Session) -> None:
        """Let a session be the one that may set attributes; the one before it has set all it will for now."""
        if self.running is not None:
            self.touch(self.running)
        self.running = session

    def touch(self, session: Session) -> None:
        """Take note that attributes of a session may have changed, which keys of its cached prefixes may read."""
        if not self.ranks_entries:
            return
        entries = session.entries
        if entries is None:
            return
        for pool in self.pools:
            entry = entries[pool.index]
            if entry is not None and pool.evict_keys_stay:
                pool.make_stale(entry)

    def _leave_ready(self, session: Session) -> None:
        """Take a session out of the ready list, if it is there: one that is running is ready and in no list."""
        ahead: Session | None = None
        place = self.ready_first
        while place is not None and place is not session:
            ahead = place
            place = place.behind
        if place is None:
            return
        if ahead is None:
            self.ready_first = session.behind
        else:
            ahead.behind = session.behind
        if self.ready_last is session:
            self.ready_last = ahead
        if self.ready_last is self.ready_first:
            self.ready_last = None
        session.behind = None

    def run_admitted(self, session: Session) -> None:
        """Run a session a step stage admitted, and whoever that makes ready, within the iteration being formed."""
        self.make_ready(session)
        self.run_ready()

    def _never_settles(self, session: Session, what: str) -> None:
        raise RunError(
            "instant-never-settles",
            f"session {session.serial} {what} without the clock moving",
            session.next_statement.site,
            "a loop needs a statement that takes time, or an `end`",
        )

    def settle(self) -> None:
        """Let the instant come to rest."""
        self.run_ready()
        if self.waiting_count > 0 or self.grower_count > 0 or self.has_settling:
            self._settle()

    def _settle(self) -> None:
        """Let an instant come to rest in which somebody may be let in or a stage has to look.

        Every ready session runs, then growers and admissions at every pool not served by a stage, until nothing
        changes;
        then the stages whose jobs changed set their next completion and idle engines start an iteration.
        """
        while self.serve_pools():
            self.run_ready()
        if self.has_settling:
            self._settle_stages()

    def _come_to_rest(self) -> None:
        """Run the ready, then let others in, until neither changes anything."""
        self.run_ready()
        while self.serve_pools():
            self.run_ready()

    def _settle_stages(self) -> None:
        """Let completions be set anew and idle engines start, and what that makes ready come to rest."""
        while True:
            # asked once: what a stage schedules in this very settle for this instant holds no engine back
            is_last_event = not self.calendar.is_due(self.now)
            place = self.first_settling
            while place is not None:
                stage = place
                if stage.needs_settling or (stage.is_step and is_last_event):
                    stage.settle(self)
                place = stage.next_settling
            if self.sharing.needs_settling:
                self.sharing.settle(self)
            if self.ready_first is None:
                break
            self._come_to_rest()
        self._settle_changed()

    def _settle_changed(self) -> None:
        """Settle the stages to which a job came from within an iteration that a later stage started."""
        place = self.first_settling
        while place is not None:
            stage = place
            if stage.needs_settling:
                stage.settle(self)
            place = stage.next_settling

    def others_rest(self, engine: StepEngine) -> bool:
        """Tell whether a settle has nothing to do at any stage but this one."""
        place = self.first_settling
        while place is not None:
            stage = place
            if stage is not engine and (stage.needs_settling or (stage.is_step and not stage.rests())):
                return False
            place = stage.next_settling
        return True

    def settle_after(self, engine: StepEngine) -> None:
        """Do what is left of a settle once an engine has formed its iteration in it, the others at rest before."""
        is_later = False
        place = self.first_settling
        while place is not None:
            stage = place
            if stage is engine:
                is_later = True
            elif stage.needs_settling or (is_later and stage.is_step):
                stage.settle(self)
            place = stage.next_settling
        if self.sharing.needs_settling:
            self.sharing.settle(self)
        self._settle_changed()
        self.is_settled = self.ready_first is None

    def serve_pools(self) -> bool:
        """Try, once over all pools in the order declared, the growers and then the waiting line no stage serves."""
        if self.waiting_count == 0 and self.grower_count == 0:
            return False
        inside = self.session
        any_moved = False
        for pool in self.pools:
            if pool.growers.count > 0 and pool.serve_growers(self):
                any_moved = True
            if pool.admit_via is None:
                while pool.is_waited_for():
                    session = pool.admit_one(self)
                    if session is None:
                        break
                    self.make_ready(session)
                    any_moved = True
        self.enter_or_leave(inside)
        return any_moved

    def new_job(self, session: Session, stage: Stage, work: float) -> Job:
        """Make a session's job."""
        finished = session.job
        if finished is None:
            job = Job(session, stage, work, self.job_count)
            session.job = job
        else:
            job = finished
            job.begin_again(stage, work, self.job_count)
        self.job_count += 1
        session.status = AT_STAGE
        return job

    def start_unowned_job(self, stage: Stage, work: float) -> None:
        """Let a job without a session start: an evicted prefix on its way to its tier."""
        job = Job(self.nobody, stage, work, self.job_count)
        self.job_count += 1
        stage.start(self, job)

    def own(self, session: Session, pool_index: int, entry: CacheEntry) -> None:
        """Let an entry be the one its session can find at a pool."""
        entries = session.entries
        if entries is None:
            entries = [None] * len(self.pools)
            session.entries = entries
        entries[pool_index] = entry

    # ------------------------------------------------------------------------------------- sessions come and go

    def new_session(self, serial: i64) -> Session:
        """Let a session arrive: its `init` runs; it is not yet ready."""
        spare = self.spare_session
        if spare is None:
            session = Session(serial, self.attribute_count, self.first_statement)
        else:
            session = spare
            self.spare_session = session.behind
            session.behind = None
            session.begin_again(serial, self.first_statement)
        self.arrivals += 1
        self.live_count += 1
        self.live.add(1.0, self.now)
        workload = self.workload
        if workload.begins_sessions:
            workload.preset(self, session)
            inside = self.session
            self.enter(session)
            self.turn_stream = None
            self.turn_of_stream = 0
            self._run_workload(workload.init, session)
            self.enter_or_leave(inside)
        return session

    def begin_turn(self, session: Session) -> None:
        """Raise turn_no, load the trace's next row, then run the workload's turn block."""
        attributes = session.attributes
        attributes[TURN_NO] += 1.0
        if self.is_warm:
            self.turns += 1
        self.workload.load_turn(session)
        if len(self.workload.turn) > 0:
            self.turn_stream = None
            self.turn_of_stream = int(attributes[TURN_NO])
            self._run_workload(self.workload.turn, session)

    def _run_workload(self, statements: list[Statement], session: Session) -> None:
        """Run a block of set and observe statements, drawing from the workload's stream."""
        next_statement = session.next_statement
        self.purpose = WORKLOAD
        for statement in statements:
            statement.step(self, session)
        self.purpose = SESSION
        session.next_statement = next_statement

    def end_session(self, session: Session) -> None:
        """Let a session leave: holds are released from inner to outer, then leases in the order taken; caches stay.

        Nobody is let in here: what became free is tried when the ready list is next empty.
        """
        while session.hold is not None:
            hold = session.hold
            session.hold = hold.outer
            hold.statement.release_all(self, hold)
        while session.leases is not None and len(session.leases) > 0:
            self.end_lease(session.leases[0])
        if session.stuck_note is not None:
            session.get_unstuck()
        session.status = ENDED
        self.touch(session)  # from now on its keys read what it was at its last release
        self.live_count -= 1
        self.live.add(-1.0, self.now)
        self.moved_at = self.now
        if self.is_warm:
            self.ended += 1
        if session.entries is None and session.released_attributes is None:
            if session.leases is not None:
                session.leases = None
            session.behind = self.spare_session
            self.spare_session = session
        else:
            # each holds the session, which holds it: what it leaves in a cache would hold them all for ever
            session.job = None
            session.spare_hold = None
        if self.workload.is_closed:
            if self.replaced_at != self.now:
                self.replaced_at = self.now
                self.replaced_count = 0
            self.replaced_count += 1
            if self.replaced_count > REPLACEMENTS_AT_ONE_INSTANT_MAX:
                self._never_settles(session, f"was the {self.replaced_count}th to end")
            self.make_ready(self.new_session(self.arrivals))

    def end_lease(self, lease: LeaseExpiry) -> None:
        """Give a leased allocation back; its hold's `cache` clause is read now. The caller lets others in."""
        session = lease.session
        self.calendar.cancel(lease)
        leases = session.leases
        assert leases is not None
        leases.remove(lease)
        self.enter(session)
        lease.allocation.pool.give_back(self, lease.allocation, lease.hold)

    def reject(self, session: Session, pool: Pool, units: float, site: int) -> None:
        """End a session whose request can never fit."""
        pool.rejected += 1
        self.rejected_count += 1
        if self.rejected_count <= REJECTIONS_NAMED_MAX:
            self.last_rejection = self.note("rejected", session, pool, site, units, pool.cap, False)
        elif self.last_rejection is not None:
            self.last_rejection.count += 1
        self.end_session(session)

    def note(
        self, kind: str, session: Session, pool: Pool, site: int, units: float, available: float, blocks_run: bool
    ) -> RunNote:
        """Note what a reader of the report must know about a session at a pool, as it is now."""
        note = RunNote(kind, int(session.serial), pool.index, site, units, available, self.now, 1, blocks_run)
        note.turn = int(session.attributes[TURN_NO])
        note.cap = pool.cap
        engine = pool.admit_via
        if engine is None and len(pool.engines) == 1:
            engine = pool.engines[0]
        if engine is not None:
            note.stage = engine.index
            note.iteration = engine.iterations
            note.iteration_end = engine.iteration_end.at
        self.notes.append(note)
        return note

    def note_unfit(self, session: Session, pool: Pool, units: float, site: int) -> None:
        """Note a request that can never fit and waits all the same (`unfit wait`)."""
        for note in self.notes:
            if note.kind == "unfit" and note.pool == pool.index:
                note.count += 1
                return
        self.note("unfit", session, pool, site, units, pool.cap, True)

    # ---------------------------------------------------------------------------------------------- preemption

    def preempt(self, allocation: Allocation) -> None:
        """Abort the scope of a hold: the job leaves its stage, inner holds and then this one are released with what
        they
        computed cached, and the hold statement waits again at the head of its first pool's line (vLLM's
        `_preempt_request` and `waiting.prepend_request`). Nobody is let in here.
        """
        inside = self.session
        session = allocation.session
        pool = allocation.pool
        self.enter(session)
        self._interrupt(session)
        computed = allocation.position
        while True:
            hold = session.hold
            assert hold is not None
            is_last = allocation in hold.allocations
            session.hold = hold.outer
            hold.statement.release_all(self, hold)
            if is_last:
                break
        pool.preemptions += 1
        if self.forming is not None:
            self.forming.has_preempted = True
        session.attributes[COMPUTED] = computed
        self.touch(session)
        self._count_stuck(session, pool, computed, hold.statement.site)
        session.next_statement = hold.statement
        hold.statement.join(self, session, len(pool.preempt_keys) == 0)
        self.enter_or_leave(inside)

    def _interrupt(self, session: Session) -> None:
        """Take a session away from whatever it is doing."""
        if session.growing is not None:
            session.growing.pool.stop_growing(self, session)
        if session.status == AT_STAGE:
            job = session.job
            assert job is not None
            session.job = None  # not to be used again: the iteration being formed may still name it
            job.stage.remove(self, job)
        elif session.status == WAITING:
            pools = session.waiting_pools
            assert pools is not None
            pools[0].leave(self, session)
            session.waiting_for = None
            session.waiting_pools = None
        elif session.status == READY:
            self._leave_ready(session)

    def _count_stuck(self, session: Session, pool: Pool, computed: float, site: int) -> None:
        """Count a session preempted again on a pool without having advanced past its previous preemption there."""
        marks = session.preemptions
        if marks is None:
            marks = []
            session.preemptions = marks
        for mark in marks:
            if mark.pool is pool:
                if computed <= mark.position and not session.was_stuck:
                    session.was_stuck = True
                    pool.stuck += 1
                    self._note_stuck(session, pool, computed, site)
                mark.position = computed
                return
        marks.append(PreemptionMark(pool, computed))

    def _note_stuck(self, session: Session, pool: Pool, computed: float, site: int) -> None:
        for note in self.notes:
            if note.kind == "stuck" and note.pool == pool.index:
                note.count += 1
                note.standing += 1
                session.stuck_note = note
                return
        note = self.note("stuck", session, pool, site, computed, pool.cap, True)
        note.standing = 1
        session.stuck_note = note

    # ------------------------------------------------------------------------------------------------- figures

    def read_gauges(self) -> None:
        """Read every gauge: the state the instant left behind."""
        self.enter_or_leave(None)
        for i in range(len(self.gauge_expressions)):
            value = self.gauge_expressions[i].evaluate(self)
            result = self.gauges[i]
            values = result.values
            if len(values) == 0 or values[len(values) - 1] != value:
                result.times = append(result.times, self.now)
                result.values = append(values, value)

    def end_warmup(self, at: float) -> None:
        """Forget the averages of the warm-up."""
        self.is_warm = True
        self.live_at_warmup = self.live_count
        self.arrivals_at_warmup = self.arrivals
        self.live.restart(at)
        for pool in self.pools:
            pool.forget_warmup(at)
        for stage in self.stages:
            stage.forget_warmup(at)
