"""A timing wheel: jobs at whole ticks of a clock that goes up by one at a time.

Input: jobs and the ticks they are due at. Output: those due now. Invariants: a job stands in the slot of its tick,
the tick modulo the number of slots; there are at least as many slots as jobs, so that a slot has one on average and
scheduling, cancelling and asking cost the same however many there are; those of one slot are in no order.

Reference: G. Varghese, A. Lauck, "Hashed and hierarchical timing wheels" (SOSP 1987).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from serq.engine.session import Job

SLOTS_AT_FIRST: Final = 256  # as all sizes of a wheel, a power of 2


class TimingWheel:
    """The jobs to come, linked in their slots by `in_slot_behind` and `in_slot_ahead`."""

    def __init__(self) -> None:
        self.slots: list[Job | None] = [None] * SLOTS_AT_FIRST
        self.mask: i64 = SLOTS_AT_FIRST - 1
        self.tick: i64 = 0
        self.count: i64 = 0

    def schedule(self, job: Job, at: float) -> None:
        """Put a job that is not in the wheel at a tick to come (a whole number)."""
        if self.count > self.mask:
            self._double()
        self.count += 1
        job.at = at
        job.is_scheduled = True
        self._link(job)

    def _link(self, job: Job) -> None:
        slot: i64 = i64(job.at) & self.mask
        job.slot = slot
        first = self.slots[slot]
        if first is not None:
            first.in_slot_ahead = job
            job.in_slot_behind = first
        self.slots[slot] = job

    def cancel(self, job: Job) -> None:
        """Take a job out, which must be in the wheel."""
        self.count -= 1
        job.is_scheduled = False
        ahead = job.in_slot_ahead
        behind = job.in_slot_behind
        if ahead is None:
            self.slots[job.slot] = behind
        else:
            ahead.in_slot_behind = behind
            job.in_slot_ahead = None
        if behind is not None:
            behind.in_slot_ahead = ahead
            job.in_slot_behind = None

    def take_due(self) -> Job | None:
        """Take the jobs of the present tick out, at one go; they stay linked by `in_slot_behind`, the latest first."""
        slot: i64 = self.tick & self.mask
        now = float(self.tick)
        first: Job | None = None
        last: Job | None = None
        job = self.slots[slot]
        while job is not None:
            behind = job.in_slot_behind
            if job.at <= now:
                self.cancel(job)
                if last is None:
                    first = job
                else:
                    last.in_slot_behind = job
                last = job
            job = behind
        return first

    def due(self) -> Job | None:
        """Give one of the jobs of the present tick, or None."""
        job = self.slots[self.tick & self.mask]
        if job is None:
            return None
        now = float(self.tick)
        while job is not None and job.at > now:  # of another round
            job = job.in_slot_behind
        return job

    def _double(self) -> None:
        """Have twice as many slots."""
        jobs = []
        for first in self.slots:
            job = first
            while job is not None:
                jobs.append(job)
                job = job.in_slot_behind
        size = 2 * len(self.slots)
        self.slots = [None] * size
        self.mask = size - 1
        for job in jobs:
            job.in_slot_ahead = None
            job.in_slot_behind = None
            self._link(job)
