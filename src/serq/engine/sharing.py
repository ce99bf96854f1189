"""Flows: jobs that hold one or several shared stages at once, at rates the program's share policy sets.

Input: flows starting and ending. Output: their completions. Rates are work per [t].
Invariants: at every shared stage the rates of its flows sum to at most its capacity; rates change only when a flow
starts or
ends; flows with one finish complete in the order they started.
Reference: language §3 (Stages, `share maxmin`, `share bottleneck`), notes §6; D. Bertsekas and R. Gallager, Data
Networks,
2nd ed., §6.5.2 (progressive filling).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from serq.engine.averages import TimeAverage
from serq.engine.calendar import Event
from serq.engine.session import Job
from serq.engine.stage import Stage

if TYPE_CHECKING:
    from serq.engine.world import World

LARGEST: Final = 1.7976931348623157e308  # the greatest finite float


class SharedStage(Stage):
    """A ps stage of constant capacity that some run holds together with another: all its jobs are flows."""

    def __init__(self, index: int, name: str, member: int, capacity: float) -> None:
        super().__init__(index, name, member)
        self.is_shared = True
        self.capacity = capacity
        self.carried: Final = TimeAverage()  # sum of the rates of its flows
        # progressive filling
        self.unfilled = 0.0
        self.open_flows = 0

    def start(self, w: World, job: Job) -> None:
        w.sharing.start(w, job, [self])

    def complete(self, job: Job, w: World) -> None:
        raise AssertionError("a flow completes at the sharing, not at a stage")

    def remove(self, w: World, job: Job) -> None:
        w.sharing.remove(w, job)

    def work_left(self, w: World) -> float:
        return w.sharing.work_left_at(w, self)

    def utilization(self, start: float, end: float) -> float:
        """Give the share of the capacity its flows carried."""
        return self.carried.mean(start, end) / self.capacity

    def forget_warmup(self, now: float) -> None:
        super().forget_warmup(now)
        self.carried.restart(now)


class Flow:
    """One flow: its job, the stages it holds, its rate and what is left of its work as of the last change."""

    def __init__(self, job: Job, stages: list[SharedStage]) -> None:
        self.job = job
        self.stages: Final = stages
        self.left = job.work
        self.rate = 0.0
        self.is_open = False


class NextFlowCompletion(Event):
    """The completion of the flow that ends next."""

    def __init__(self, sharing: Sharing) -> None:
        super().__init__()
        self.sharing: Final = sharing
        self.flow: Flow | None = None

    def fire(self, world: World) -> None:
        self.sharing.complete_next(world)


class Sharing:
    """All flows of a program and the policy that divides the shared stages among them."""

    def __init__(self, is_maxmin: bool) -> None:
        self.is_maxmin = is_maxmin
        self.stages: Final[list[SharedStage]] = []
        self.flows: Final[list[Flow]] = []  # in the order they started
        self.advanced_at = 0.0
        self.needs_settling = False
        self.next_completion: Final = NextFlowCompletion(self)

    def start(self, w: World, job: Job, stages: list[SharedStage]) -> None:
        """Let a flow start at its stages; its rate comes at the end of the settle."""
        self._advance(w)
        job.started_at = w.now
        for stage in stages:
            stage.count_in(w, job)
        self.flows.append(Flow(job, stages))
        self.needs_settling = True

    def remove(self, w: World, job: Job) -> None:
        """Take a preempted session's flow out."""
        self._advance(w)
        for flow in self.flows:
            if flow.job is job:
                self.flows.remove(flow)
                for stage in flow.stages:
                    stage.count_out(w)
                break
        self.needs_settling = True

    def complete_next(self, w: World) -> None:
        """Let the flow whose time has come be done, at all its stages."""
        self._advance(w)
        flow = self.next_completion.flow
        assert flow is not None
        self.flows.remove(flow)
        job = flow.job
        session = job.session
        for i in range(len(flow.stages)):
            stage = flow.stages[i]
            stage.count_out(w)
            if i > 0:
                job.session = w.nobody  # counted at every stage, made ready once
            stage.record(w, job)
        job.session = session
        self.needs_settling = True

    def _advance(self, w: World) -> None:
        elapsed = w.now - self.advanced_at
        if elapsed > 0.0:
            for flow in self.flows:
                if flow.rate > 0.0:
                    flow.left -= flow.rate * elapsed
                    if flow.left < 0.0:
                        flow.left = 0.0
            self.advanced_at = w.now

    def settle(self, w: World) -> None:
        """Set the rates anew and schedule the completion that comes first."""
        self.needs_settling = False
        self._advance(w)
        if self.is_maxmin:
            self._fill()
        else:
            self._tightest()
        for stage in self.stages:
            stage.unfilled = 0.0
        first: Flow | None = None
        first_wait = LARGEST
        for flow in self.flows:
            for stage in flow.stages:
                stage.unfilled += flow.rate
            if flow.rate > 0.0:
                wait = flow.left / flow.rate
                if first is None or wait < first_wait:
                    first = flow
                    first_wait = wait
        for stage in self.stages:
            if stage.carried.value != stage.unfilled:
                stage.carried.put(stage.unfilled, w.now)
        self.next_completion.flow = first
        if first is None:
            w.calendar.cancel(self.next_completion)
        else:
            w.calendar.schedule(self.next_completion, w.now + first_wait)

    def _tightest(self) -> None:
        """Each flow gets its equal share at the tightest of its stages; what that leaves elsewhere stays unused."""
        for flow in self.flows:
            rate = LARGEST
            for stage in flow.stages:
                share = stage.capacity / stage.number.value
                if share < rate:
                    rate = share
            flow.rate = rate

    def _fill(self) -> None:
        """Max-min fair: all rates rise together until a stage fills; its flows stop there, the others go on.

        Of stages that fill at once the one declared first counts as the one that filled.
        """
        for stage in self.stages:
            stage.unfilled = stage.capacity
            stage.open_flows = 0
        open_count = 0
        for flow in self.flows:
            flow.is_open = True
            open_count += 1
            for stage in flow.stages:
                stage.open_flows += 1
        while open_count > 0:
            tightest: SharedStage | None = None
            level = LARGEST
            for stage in self.stages:
                if stage.open_flows > 0:
                    share = stage.unfilled / float(stage.open_flows)
                    if tightest is None or share < level:
                        tightest = stage
                        level = share
            assert tightest is not None
            for flow in self.flows:
                if not flow.is_open:
                    continue
                passes = False
                for stage in flow.stages:
                    if stage is tightest:
                        passes = True
                if not passes:
                    continue
                flow.is_open = False
                flow.rate = level
                open_count -= 1
                for stage in flow.stages:
                    stage.open_flows -= 1
                    stage.unfilled -= level
                    if stage.unfilled < 0.0:
                        stage.unfilled = 0.0

    def work_left_at(self, w: World, stage: SharedStage) -> float:
        """Give the work left of the flows through a stage."""
        elapsed = w.now - self.advanced_at
        total = 0.0
        for flow in self.flows:
            for other in flow.stages:
                if other is stage:
                    total += flow.left - flow.rate * elapsed
        return total
