"""What the iterations of the step stages were: columns that an engine fills while a run is watched.

Input: an iteration that has been formed and costed, and the residents that were preempted while it was formed. Output:
flat columns, one entry an iteration, a scheduled job or a preemption; `serq.report.iterations` makes rows of them.
Invariants: a log reads and never changes a run; an engine without one pays a test an iteration and a preemption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.engine.results import IterationResult
from serq.engine.session import TURN_NO, Job

if TYPE_CHECKING:
    from serq.engine.step_engine import StepEngine
    from serq.engine.world import World


class IterationLog(IterationResult):
    """The columns, and how they are filled."""

    def record(self, w: World, engine: StepEngine, cost: float) -> None:
        """Note the iteration that is about to start; the world's totals are those its cost read."""
        self.stages.append(engine.index)
        self.starts.append(w.now)
        self.costs.append(cost)
        self.tokens.append(w.tokens)
        self.decoders.append(w.decoders)
        self.prefilled.append(w.prefilled)
        self.attention.append(w.attention)
        self.kv_decode.append(w.kv_decode)
        self.kv_prefill.append(w.kv_prefill)
        self.residents.append(w.residents)
        waiting = 0
        for pool in engine.served_pools:
            waiting += len(pool.preempted) + int(pool.line.count)
        self.waiting.append(waiting)
        memory = engine.memory
        self.free.append(float("nan") if memory is None else memory.cap - memory.used.value)
        for job in engine.batch.listed():
            self._record_job(engine, job)
        self.batch_ends.append(len(self.sessions))
        self.preempted_ends.append(len(self.preempted_sessions))

    def _record_job(self, engine: StepEngine, job: Job) -> None:
        session = job.session
        growing = job.growing
        self.sessions.append(int(session.serial))
        self.turns.append(int(session.attributes[TURN_NO]))
        self.job_tokens.append(job.tokens)
        self.positions.append(0.0 if growing is None else growing.position - job.tokens)
        self.modes.append(1 if job.is_decode else 0)
        self.allocations.append(engine.kv_of(job))
        self.admissions.append(int(job.admission))
        self.sites.append(-1 if growing is None else session.waits_at)

    def record_preemption(self, job: Job) -> None:
        """Note a resident that was preempted; it belongs to the iteration recorded next."""
        session = job.session
        self.preempted_sessions.append(int(session.serial))
        self.preempted_turns.append(int(session.attributes[TURN_NO]))
        self.preempted_sites.append(-1 if job.growing is None else session.waits_at)
