"""A step stage: an engine that runs iterations over a token budget.

Input: runs of prefill and decode tokens, and the waiting lines of the pools it serves. Output: iterations, each a
batch of
(job, tokens), one completion event, and the preemptions and admissions made while it was formed.
Invariants: residents are kept in serving order of admission (admission number, then the order their runs started);
positions
advance when tokens are scheduled, work falls when the iteration ends; what is left of the budget is never negative.
Reference: language §3 (`step`, `admit via`, `serve exclusive prefill`), notes §5; vLLM v1 `Scheduler.schedule` at
0c87a197:
the running loop, then the waiting loop unless something was preempted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from serq.engine.calendar import Event
from serq.engine.expressions import Expression
from serq.engine.fast_forward import ADMISSION_ORDER, form_residents, in_batch_order, run_ahead
from serq.engine.iteration_log import IterationLog
from serq.engine.orders import evaluate_keys, precedes
from serq.engine.pool import GREW, PREEMPTED_ITSELF, Pool
from serq.engine.preemption import PREEMPT_BY
from serq.engine.residents import Batch, ResidentLine, put_in_order
from serq.engine.results import RunError, shown
from serq.engine.session import Allocation, Job, Session
from serq.engine.stage import Stage
from serq.engine.steady import SteadyDecodes, is_whole
from serq.engine.streams import STAGE

if TYPE_CHECKING:
    from serq.engine.world import World

LARGEST: Final = 1.7976931348623157e308  # the greatest finite float: no cap
ITERATIONS_AT_ONE_INSTANT_MAX: Final = 100_000


class IterationEnd(Event):
    """The end of the running iteration."""

    def __init__(self, stage: StepEngine) -> None:
        super().__init__()
        self.stage: Final = stage

    def fire(self, world: World) -> None:
        stage = self.stage
        if not stage.finish_iteration(world) and world.runs_ahead and stage.has_fast_plan:
            run_ahead(stage, world)


class StepEngine(Stage):
    """One engine."""

    def __init__(self, index: int, name: str, member: int, budget: Expression, cost: Expression) -> None:
        super().__init__(index, name, member)
        self.is_step = True
        self.budget = budget
        self.cost = cost
        self.chunk: Expression | None = None
        self.serve_keys: list[Expression] = []
        self.exclusive_prefill = False
        self.memory: Pool | None = None
        self.served_pools: list[Pool] = []
        # whether the expressions read the totals, which cost a pass over the residents
        self.budget_reads_totals = False
        self.keys_read_totals = False
        # the fast plan
        self.has_fast_plan = False
        self.leaves_whole = False  # the limits are fixed and whole, as all work so far: what is left of a job is whole
        self.has_fixed_limits = False  # budget and chunk are the constants that follow
        self.fixed_budget = 0.0
        self.fixed_chunk = 0.0
        self.serving_order = ADMISSION_ORDER
        self.steady: Final = SteadyDecodes()
        self.has_spill = False  # its growth may send work to another stage
        self.odd_count = 0  # residents that are not in whole numbers
        self.newcomers_from: i64 = 0  # the place in the batch of the first who was admitted into it
        # the state
        self.loose: Final = ResidentLine()  # the residents but the steady ones
        self.batch: Final = Batch()
        self.waiting_count: i64 = 0  # in the lines it serves
        self.is_running = False
        self.is_forming = False
        self.is_admitting = False  # from a header of its own admission to where that session first waits
        self.left = 0.0
        self.has_preempted = False
        self.forming_number: i64 = 0
        self.scanned: Job | None = None  # the last of those looked at, from the front, in the iteration being formed
        self.instant = -1.0
        self.instant_count = 0
        self.iteration_end: Final = IterationEnd(self)
        self.log: IterationLog | None = None  # of a run that is watched

    # ----------------------------------------------------------------------------------------------- residents

    def start(self, w: World, job: Job) -> None:
        """Take a run in as a resident; it is served from the next iteration on, or in the one being formed."""
        self.count_in(w, job)
        job.started_at = w.now
        session = job.session
        job.admission = session.admission
        memory = self.memory
        if memory is not None:
            job.other_kv = kv_beside(session, memory, job.growing)
        self.loose.insert(job)
        job.is_resident = True
        self.scanned = None
        if self.has_fast_plan:
            job.is_whole = self.steady.takes(job, memory)
            if not job.is_whole:
                self.odd_count += 1
                self.leaves_whole = False  # others share what it leaves of a budget
                self.loosen()  # from now on the order of sums shows

    def resident_count(self) -> float:
        """Give how many residents there are."""
        return self.loose.count + self.steady.jobs.count

    def loosen(self) -> None:
        """Let no resident be steady: all are in `loose`, and those served in the running iteration in `batch`."""
        steady = self.steady
        if steady.jobs.count == 0.0:
            return
        number: i64 = self.forming_number
        in_flight = steady.in_flight
        jobs: list[Job] = []
        job = steady.jobs.head
        while job is not None:
            steady.leave(job)
            self.loose.insert(job)
            if in_flight:
                job.served_in = number
                jobs.append(job)
            job = steady.jobs.head
        steady.in_flight = False
        self.scanned = None
        if in_flight:
            served = self.batch.listed()
            newcomers = served[self.newcomers_from :]
            self.batch.put(in_batch_order(self, jobs, served[: self.newcomers_from]) + newcomers)
            self.newcomers_from += len(jobs)

    def remove(self, w: World, job: Job) -> None:
        """Take a preempted session's job out; tokens of the iteration being formed go back to the budget."""
        if self.log is not None:
            self.log.record_preemption(job)
        self.loosen()
        if self.has_fast_plan and not job.is_whole:
            self.odd_count -= 1
        if self.is_forming:
            growing = job.growing
            if growing is not None and growing.pool.preempt_rule == PREEMPT_BY and job.served_in == self.forming_number:
                growing.withdrawn = job.tokens  # vLLM names a block when it is allocated, and never takes that back
            self._take_back(job)
        self.batch.remove(job)
        job.is_resident = False
        self.loose.remove(job)
        self.scanned = None
        self.count_out(w)

    def _take_back(self, job: Job) -> None:
        """Undo the tokens a job got in the iteration being formed."""
        if job.served_in != self.forming_number or job.tokens == 0.0:
            return
        self.left += job.tokens
        growing = job.growing
        if growing is not None:
            growing.position -= job.tokens
            hold = job.growing_hold
            assert hold is not None
            hold.moved = job.moved_before
        job.tokens = 0.0
        self.batch.remove(job)

    def kv_of(self, job: Job) -> float:
        """Give the whole allocation of a resident on the engine's memory [units]."""
        growing = job.growing
        if growing is not None and growing.pool is self.memory:
            return job.other_kv + growing.amount
        return job.other_kv

    # ---------------------------------------------------------------------------------------------- iterations

    def settle(self, w: World) -> None:
        """Start an iteration when idle; the world asks when the instant's last event is over, so that it sees all."""
        if not self.rests():
            self._start_iteration(w)

    def rests(self) -> bool:
        return self.is_running or (self.waiting_count == 0 and self.resident_count() == 0.0)

    def _set_totals(self, w: World) -> None:
        """Set residents, decoders, kv_decode and kv_prefill from the residents as they stand."""
        decoders = self.steady.jobs.count
        kv_decode = self.steady.kv
        kv_prefill = 0.0
        job = self.loose.head
        while job is not None:
            if job.is_decode:
                decoders += 1.0
                kv_decode += self.kv_of(job)
            else:
                kv_prefill += self.kv_of(job)
            job = job.behind
        w.residents = self.resident_count()
        w.decoders = decoders
        w.kv_decode = kv_decode
        w.kv_prefill = kv_prefill

    def _read_limit(self, w: World, expression: Expression, what: str) -> float:
        value = w.evaluate_for(STAGE, expression)
        if not value >= 0.0:
            raise RunError(
                "amount-not-valid",
                f"the {what} of stage `{self.name}` is {shown(value)}; it needs to be a number of 0 or more",
                expression.site,
            )
        return value

    def _read_chunk(self, w: World) -> float:
        """Give the cap on one prefill's tokens; 0 means none."""
        chunk = self.chunk
        if chunk is None:
            return LARGEST
        value = self._read_limit(w, chunk, "chunk")
        return value if value > 0.0 else LARGEST

    def _start_iteration(self, w: World) -> None:
        inside = w.session
        w.enter_or_leave(None)
        self.form_iteration(w)
        if not self.formed_none():
            cost = self.cost_of_batch(w)
            if self.log is not None:
                self.log.record(w, self, cost)
            at = w.now + cost
            self.begin_iteration(w, at)
            w.calendar.schedule(self.iteration_end, at)
        w.enter_or_leave(inside)

    def form_iteration(self, w: World) -> bool:
        """Choose whom the next iteration serves, and how much; tell whether the fast plan alone did it.

        It did when no session has run and nobody was preempted, so that nothing but the engine has changed.
        """
        chunk = self._begin_forming(w)
        self.is_forming = True
        w.forming = self
        by_plan = False
        if self.exclusive_prefill:
            self._form_exclusive(w, chunk)
        else:
            if self.has_fast_plan and form_residents(self, w, chunk):
                by_plan = not self.has_spill and (self.left <= 0.0 or self.admits_nobody())
            if not by_plan:
                self._form(w, chunk)
        self.is_forming = False
        w.forming = None
        w.enter_or_leave(None)
        return by_plan

    def formed_none(self) -> bool:
        """Tell whether the iteration just formed has no reason to run: no tokens, no preemption."""
        return self.batch.count == 0 and not self.steady.in_flight and not self.has_preempted

    def admits_nobody(self) -> bool:
        """Tell whether no line has anybody, or the first that has would refuse its head as before."""
        if self.waiting_count == 0:
            return True
        for pool in self.served_pools:
            if pool.is_waited_for():
                return pool.is_surely_refused()
        return True

    def _begin_forming(self, w: World) -> float:
        """Read the budget and give the chunk; nobody is served yet."""
        self.forming_number += 1
        self.scanned = None
        self.has_preempted = False
        if self.has_fixed_limits:
            self.left = self.fixed_budget
            return self.fixed_chunk
        if self.budget_reads_totals:
            self._set_totals(w)
        self.left = self._read_limit(w, self.budget, "budget")
        return self._read_chunk(w)

    def begin_iteration(self, w: World, at: float) -> None:
        """Let the iteration that was formed run, to end at `at` [t]."""
        if w.now != self.instant:
            self.instant = w.now
            self.instant_count = 0
        self.instant_count += 1
        if self.instant_count > ITERATIONS_AT_ONE_INSTANT_MAX:
            raise RunError(
                "instant-never-settles",
                f"stage `{self.name}` ran {ITERATIONS_AT_ONE_INSTANT_MAX} iterations without the clock moving; "
                f"the cost of the last was {shown(at - w.now)}",
                self.cost.site,
            )
        self.iterations += 1
        self.is_running = True
        if self.batch.count > 0 or self.steady.in_flight:
            w.moved_at = w.now

    def _form(self, w: World, chunk: float) -> None:
        """Serve the residents in order, then admit one head at a time and serve the newcomer from what is left."""
        may_admit = True
        while self.left > 0.0:
            job = self._next_unserved(w)
            if job is not None:
                if not self.serve(w, job, chunk):
                    return
                continue
            if self.has_preempted or not may_admit:
                return
            may_admit = self._admit_one(w, self.left)

    def _next_unserved(self, w: World) -> Job | None:
        """Give the next resident not yet looked at in this iteration, in the serving order as it stands now."""
        number: i64 = self.forming_number
        if len(self.serve_keys) == 0:
            last = self.scanned
            job = self.loose.head if last is None else last.behind
            while job is not None:
                self.scanned = job
                if job.served_in != number:
                    return job
                job = job.behind
            return None
        best: Job | None = None
        best_keys: list[float] = []
        if self.keys_read_totals:
            self._set_totals(w)
        job = self.loose.head
        while job is not None:
            if job.served_in != number:
                keys = self._keys_of(w, job)
                if best is None or precedes(keys, best_keys):
                    best = job
                    best_keys = keys
            job = job.behind
        return best

    def _keys_of(self, w: World, job: Job) -> list[float]:
        w.enter(job.session)
        w.decoding = 1.0 if job.is_decode else 0.0
        w.admission = float(job.admission)
        w.remaining = job.left
        return evaluate_keys(w, self.serve_keys)

    def serve(self, w: World, job: Job, chunk: float) -> bool:
        """Give one resident its tokens; tell whether serving goes on: not after one preempted itself."""
        job.served_in = self.forming_number
        job.tokens = 0.0
        if job.is_stalled:
            return True
        wanted = job.left
        cap = 1.0 if job.is_decode else chunk
        if wanted > cap:
            wanted = cap
        if wanted > self.left:
            wanted = self.left
        growing = job.growing
        if growing is not None:
            target = growing.position + wanted
            if target > growing.amount:
                outcome = growing.pool.grow(w, growing, target, job)
                if outcome != GREW:
                    return outcome != PREEMPTED_ITSELF or growing.pool.serves_on
            hold = job.growing_hold
            assert hold is not None
            job.moved_before = hold.moved
            hold.moved = True
            growing.position = target
        job.tokens = wanted
        self.left -= wanted
        self.batch.add(job)
        return True

    def _admit_one(self, w: World, header_budget: float) -> bool:
        """Admit one head, whose header sees `header_budget`, and let it run to its first blocking point.

        Tells whether one was admitted. The served pools in the order declared, the first non-empty line only; a head
        that does not fit ends the
        iteration's admissions.
        """
        for pool in self.served_pools:
            if pool.is_waited_for():
                left = self.left
                self.left = header_budget
                self.is_admitting = True
                session = pool.admit_one(w)
                self.left = left
                if session is not None:
                    w.run_admitted(session)
                self.is_admitting = False
                return session is not None
        return False

    # -------------------------------------------------------------------------------------- exclusive prefill

    def _form_exclusive(self, w: World, chunk: float) -> None:
        """Form a batch of one prefill alone, or of decodes alone.

        A resident prefill goes first. Otherwise the decodes are tentative: while budget is left, a waiting prefill
        that fits
        replaces them and has the full budget; what they grew stays theirs, their positions do not advance.
        """
        full = self.left
        prefill = self._first_prefill()
        if prefill is not None:
            self.serve(w, prefill, chunk)
            return
        while self.left > 0.0:
            job = self._next_unserved(w)
            if job is None:
                break
            if not self.serve(w, job, chunk):
                return
        while self.left > 0.0 and not self.has_preempted:
            if not self._admit_one(w, full):
                return
            prefill = self._first_prefill()
            if prefill is not None:
                self._replace_decodes(w, prefill, chunk, full)
                return
            newcomer = self._next_unserved(w)
            while newcomer is not None and self.left > 0.0:
                if not self.serve(w, newcomer, chunk):
                    return
                newcomer = self._next_unserved(w)

    def _replace_decodes(self, w: World, prefill: Job, chunk: float, full: float) -> None:
        """Let a prefill run alone on the full budget; one that gets no tokens, for want of memory, replaces nobody."""
        decodes = self.batch.listed()
        decode_left = self.left
        self.left = full
        self.serve(w, prefill, chunk)
        if prefill.tokens > 0.0:
            for job in decodes:
                self._take_back(job)
        else:
            self.left = decode_left

    def _first_prefill(self) -> Job | None:
        job = self.loose.head
        while job is not None and (job.is_decode or job.is_stalled):
            job = job.behind
        return job

    # ---------------------------------------------------------------------------------------------------- cost

    def cost_of_batch(self, w: World) -> float:
        """Give how long the iteration lasts: C of the tokens scheduled and the allocations of the scheduled [t]."""
        tokens = 0.0
        prefilled = 0.0
        attention = 0.0
        decoders = 0.0
        kv_decode = 0.0
        kv_prefill = 0.0
        steady = self.steady
        if steady.in_flight:
            decoders = steady.jobs.count
            tokens = decoders
            kv_decode = steady.kv
        jobs = self.batch.jobs
        for i in range(self.batch.count):
            job = jobs[i]
            n = job.tokens
            tokens += n
            if job.is_decode:
                decoders += 1.0
                kv_decode += self.kv_of(job)
            else:
                prefilled += n
                kv_prefill += self.kv_of(job)
                growing = job.growing
                before = 0.0 if growing is None else growing.position - n
                attention += n * (before + n / 2.0)
        w.tokens = tokens
        w.prefilled = prefilled
        w.attention = attention
        w.decoders = decoders
        w.residents = self.resident_count()
        w.kv_decode = kv_decode
        w.kv_prefill = kv_prefill
        return self.evaluate_cost(w)

    def evaluate_cost(self, w: World) -> float:
        """Evaluate C, what it reads of the batch being set [t]."""
        cost = w.evaluate_for(STAGE, self.cost)
        if not cost >= 0.0:
            raise RunError(
                "amount-not-valid",
                f"the cost of an iteration of stage `{self.name}` is {shown(cost)}; it is a number of 0 or more",
                self.cost.site,
            )
        return cost

    def finish_iteration(self, w: World) -> bool:
        """Let the work fall; the finished sessions become ready in batch order. Tell whether there are any."""
        self.is_running = False
        batch = self.batch
        any_loose = False
        if batch.count > 0:
            jobs = batch.jobs
            for i in range(batch.count):
                job = jobs[i]
                job.left -= job.tokens
                job.tokens = 0.0
                if job.left <= 0.0:
                    any_loose = True
                    job.is_resident = False
                    self.loose.remove(job)
        steady = self.steady
        if steady.in_flight:
            steady.in_flight = False
            done = steady.take_finished()
            if done is not None:
                if any_loose or done.in_slot_behind is not None:
                    self._finish_several(w, done)
                else:
                    done.is_resident = False
                    self.count_out(w)
                    self.record(w, done)
                batch.clear()
                return True
        if any_loose:
            for i in range(batch.count):
                self._finish(w, batch.jobs[i])
        batch.clear()
        return any_loose

    def _finish_several(self, w: World, first: Job) -> None:
        """Let steady residents go, linked by `in_slot_behind`, and whoever else has finished, in batch order."""
        done: list[Job] = []
        job: Job | None = first
        while job is not None:
            job.is_resident = False
            done.append(job)
            behind = job.in_slot_behind
            job.in_slot_behind = None
            job = behind
        put_in_order(done)
        served = self.batch.listed()
        for job in in_batch_order(self, done, served[: self.newcomers_from]):
            self._finish(w, job)
        for job in served[self.newcomers_from :]:
            self._finish(w, job)

    def _finish(self, w: World, job: Job) -> None:
        """Let a job of the batch go if it is a resident no more."""
        if not job.is_resident:
            if self.has_fast_plan and not job.is_whole:
                self.odd_count -= 1
            self.count_out(w)
            self.record(w, job)

    # ---------------------------------------------------------------------------------------------- observables

    def busy_count(self, w: World) -> float:
        """Give the jobs in the running iteration."""
        if not self.is_running:
            return 0.0
        busy = float(self.batch.count)
        if self.steady.in_flight:
            busy += self.steady.jobs.count
        return busy

    def work_left(self, w: World) -> float:
        """Give the tokens all residents have left."""
        total = self.steady.work_left()
        job = self.loose.head
        while job is not None:
            total += job.left
            job = job.behind
        return total

    def budget_left(self, w: World) -> float:
        """Give the budget left for the header being evaluated; outside an admission, what the residents would leave."""
        if self.is_admitting:
            return self.left
        residents, decoders, kv_decode, kv_prefill = w.residents, w.decoders, w.kv_decode, w.kv_prefill
        if self.budget_reads_totals:
            self._set_totals(w)
        left = self._read_limit(w, self.budget, "budget")
        chunk = self._read_chunk(w)
        w.residents, w.decoders, w.kv_decode, w.kv_prefill = residents, decoders, kv_decode, kv_prefill
        if self.steady.jobs.count > 0.0:
            if not is_whole(left):
                self.loosen()  # the order of the subtractions shows
            left -= self.steady.jobs.count
        job = self.loose.head
        while job is not None:
            cap = 1.0 if job.is_decode else chunk
            left -= job.left if job.left < cap else cap
            job = job.behind
        return left if left > 0.0 else 0.0


def kv_beside(session: Session, memory: Pool, growing: Allocation | None) -> float:
    """Give what a session's holds have on an engine's memory beside the allocation that a run of it grows [units]."""
    hold = session.hold
    if growing is None or growing.pool is not memory:
        return session.kv_on(memory)
    if hold is not None and hold.outer is None:
        return 0.0  # the only hold, which names a pool once
    return session.kv_on(memory) - growing.amount
