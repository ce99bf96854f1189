"""Stages that serve in continuous time: fifo, delay and processor sharing, and what every stage measures.

Input: jobs. Output: completions, which make their sessions ready. Times are the clock's [t].
Invariants: a stage's `number` counts its jobs present; a job completes once, or is removed (a preemption).
Reference: language §3 (Stages), notes §6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from serq.engine.averages import RunningSum, TimeAverage
from serq.engine.calendar import Event
from serq.engine.estimators import Estimates
from serq.engine.expressions import Expression
from serq.engine.line import JobLine
from serq.engine.results import RunError, shown
from serq.engine.session import Job
from serq.engine.streams import STAGE
from serq.engine.tags import TagHeap

if TYPE_CHECKING:
    from serq.engine.world import World


class Stage:
    """What all stages share: a name, counters, online estimates."""

    def __init__(self, index: int, name: str, member: int) -> None:
        self.index = index
        self.name = name
        self.member = member
        self.number: Final = TimeAverage()
        self.used_since = 0.0  # [t] while a job is present
        self.used_for = 0.0  # [t] with a job present, before that
        self.completed: i64 = 0
        self.wait_sum = 0.0
        self.service_sum = 0.0
        self.iterations: i64 = 0
        self.estimates: Final = Estimates()
        self.needs_settling = False  # at the end of the settle: a new completion time, an iteration
        self.next_settling: Stage | None = None  # of the stages the world lets settle
        self.is_work_read = (
            False  # whether the program reads `work(stage)`, so that the jobs in service are kept in line
        )
        self.is_step = False
        self.is_shared = False

    def start(self, w: World, job: Job) -> None:
        """Take a job (of positive work) in."""
        raise NotImplementedError

    def complete(self, job: Job, w: World) -> None:
        """Let a job be done."""
        raise NotImplementedError

    def remove(self, w: World, job: Job) -> None:
        """Take a preempted session's job out; it is not counted as completed."""
        raise NotImplementedError

    def settle(self, w: World) -> None:
        """Do what waits for the end of a settle."""

    def rests(self) -> bool:
        """Tell whether `settle` has nothing to start (a step stage that runs, or has nothing to do)."""
        return True

    def busy_count(self, w: World) -> float:
        """Give `busy(stage)`: the jobs in service."""
        return self.number.value

    def work_left(self, w: World) -> float:
        """Give `work(stage)`: the work of all jobs present that is not yet done."""
        raise NotImplementedError

    def budget_left(self, w: World) -> float:
        """Give `budget_left(stage)`, which only a step stage has (the linker sees to it)."""
        return 0.0

    def utilization(self, start: float, end: float) -> float:
        """Give the share of time with at least one job present."""
        if end <= start:
            return 0.0
        used = self.used_for
        if self.number.value > 0.0:
            used += end - self.used_since
        return used / (end - start)

    def count_in(self, w: World, job: Job) -> None:
        """Note that a job came."""
        job.arrived_at = w.now
        if self.number.value == 0.0:
            self.used_since = w.now
        self.number.add(1.0, w.now)

    def count_out(self, w: World) -> None:
        """Note that a job left."""
        self.number.add(-1.0, w.now)
        if self.number.value == 0.0:
            self.used_for += w.now - self.used_since

    def record(self, w: World, job: Job) -> None:
        """Count a finished job with its whole wait and service, and let its session go on."""
        wait = job.started_at - job.arrived_at
        service = w.now - job.started_at
        if w.is_warm:
            self.completed += 1
            self.wait_sum += wait
            self.service_sum += service
        if w.has_estimates:
            self.estimates.record(job.started_at, wait, service)
        w.moved_at = w.now
        session = job.session
        if session.serial >= 0:  # a spill's job has no owner
            w.make_ready(session)

    def forget_warmup(self, now: float) -> None:
        """Restart the time averages: the warm-up ends."""
        self.number.restart(now)
        self.used_since = now
        self.used_for = 0.0


class Delay(Stage):
    """Every job on its own at rate 1."""

    def __init__(self, index: int, name: str, member: int) -> None:
        super().__init__(index, name, member)
        self.ends: Final = RunningSum()  # when the jobs present will be done; kept where `work(stage)` is read

    def start(self, w: World, job: Job) -> None:
        self.count_in(w, job)
        job.started_at = w.now
        w.calendar.schedule(job, w.now + job.work)
        if self.is_work_read:
            self.ends.add(job.at)

    def complete(self, job: Job, w: World) -> None:
        if self.is_work_read:
            self.ends.take(job.at)
        self.count_out(w)
        self.record(w, job)

    def remove(self, w: World, job: Job) -> None:
        if self.is_work_read:
            self.ends.take(job.at)
        w.calendar.cancel(job)
        self.count_out(w)

    def work_left(self, w: World) -> float:
        return self.ends.above(w.now)


class Fifo(Stage):
    """So many servers, one job each at rate 1, in the order of arrival."""

    def __init__(self, index: int, name: str, member: int, server_count: i64) -> None:
        super().__init__(index, name, member)
        self.server_count: i64 = server_count
        self.busy: i64 = 0
        self.line: Final = JobLine()
        # kept where `work(stage)` is read: when the jobs in service will be done, what those in line ask for
        self.ends: Final = RunningSum()
        self.waiting_work: Final = RunningSum()

    def start(self, w: World, job: Job) -> None:
        self.count_in(w, job)
        if self.busy < self.server_count:
            self._serve(w, job)
        else:
            self.line.append(job)
            if self.is_work_read:
                self.waiting_work.add(job.work)

    def _serve(self, w: World, job: Job) -> None:
        self.busy += 1
        job.started_at = w.now
        w.calendar.schedule(job, w.now + job.work)
        if self.is_work_read:
            self.ends.add(job.at)

    def _stop_serving(self, job: Job) -> None:
        self.busy -= 1
        if self.is_work_read:
            self.ends.take(job.at)

    def _serve_next(self, w: World) -> None:
        head = self.line.head
        if head is not None:
            job = head
            self.line.drop_first(job)
            if self.is_work_read:
                self.waiting_work.take(job.work)
            self._serve(w, job)

    def complete(self, job: Job, w: World) -> None:
        self._stop_serving(job)
        self.count_out(w)
        self.record(w, job)
        self._serve_next(w)  # after the session is ready, before it runs

    def remove(self, w: World, job: Job) -> None:
        self.count_out(w)
        if job.is_scheduled:
            w.calendar.cancel(job)
            self._stop_serving(job)
            self._serve_next(w)
        else:
            self.line.remove(job)
            if self.is_work_read:
                self.waiting_work.take(job.work)

    def busy_count(self, w: World) -> float:
        return float(self.busy)

    def work_left(self, w: World) -> float:
        return self.ends.above(w.now) + self.waiting_work.above(0.0)


class NextCompletion(Event):
    """The one completion event of a processor-sharing stage."""

    def __init__(self, stage: ProcessorSharing) -> None:
        super().__init__()
        self.stage: Final = stage

    def fire(self, world: World) -> None:
        self.stage.complete_first(world)


class ProcessorSharing(Stage):
    """Every job at once, each at capacity(present)/present, on a virtual clock.

    The virtual clock runs at the rate of one job; a job that comes at virtual time V with work x has the finish tag V
    + x.
    The completion event is scheduled anew at the end of a settle in which a job came or left; equal tags finish in the
    order the jobs started.
    """

    def __init__(self, index: int, name: str, member: int, capacity: Expression) -> None:
        super().__init__(index, name, member)
        self.capacity = capacity
        self.jobs: Final = TagHeap()
        self.virtual = 0.0
        self.rate = 0.0
        self.advanced_at = 0.0
        self.next_completion: Final = NextCompletion(self)
        self.tags: Final = RunningSum()  # kept where `work(stage)` is read

    def _advance(self, w: World) -> None:
        if w.now > self.advanced_at:
            if self.rate > 0.0:
                self.virtual += self.rate * (w.now - self.advanced_at)
            self.advanced_at = w.now

    def start(self, w: World, job: Job) -> None:
        self._advance(w)
        self.count_in(w, job)
        job.started_at = w.now
        tag = self.virtual + job.work
        self.jobs.push(job, tag)
        if self.is_work_read:
            self.tags.add(tag)
        self.needs_settling = True

    def complete_first(self, w: World) -> None:
        """Let the job with the smallest tag be done: its completion time has come."""
        tag = self.jobs.first_tag()
        self.virtual = tag
        self.advanced_at = w.now
        job = self.jobs.pop()
        self.count_out(w)
        self.record(w, job)
        self._changed(tag)

    def _changed(self, tag: float) -> None:
        """Take note that the job of a tag left."""
        self.needs_settling = True
        if self.is_work_read:
            self.tags.take(tag)
        if self.jobs.size == 0:
            self.virtual = 0.0  # nothing refers to the virtual clock: keep its digits

    def remove(self, w: World, job: Job) -> None:
        self._advance(w)
        tag = self.jobs.remove(job)
        self.count_out(w)
        self._changed(tag)

    def settle(self, w: World) -> None:
        self.needs_settling = False
        self._advance(w)
        present: i64 = self.jobs.size
        if present == 0:
            self.rate = 0.0
            w.calendar.cancel(self.next_completion)
            return
        w.present = float(present)
        capacity = w.evaluate_for(STAGE, self.capacity)
        if not capacity >= 0.0:
            raise RunError(
                "amount-not-valid",
                f"the capacity of stage `{self.name}` with {present} present is {shown(capacity)}; it is 0 or more",
                self.capacity.site,
            )
        self.rate = capacity / w.present
        if self.rate > 0.0:
            wait = (self.jobs.first_tag() - self.virtual) / self.rate
            w.calendar.schedule(self.next_completion, w.now + (wait if wait > 0.0 else 0.0))
        else:
            w.calendar.cancel(self.next_completion)

    def work_left(self, w: World) -> float:
        virtual = self.virtual
        if self.rate > 0.0:
            virtual += self.rate * (w.now - self.advanced_at)
        return self.tags.above(virtual)
