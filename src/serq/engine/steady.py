"""The steady residents of an engine: decodes of which each gets one token in every iteration, kept as sums.

Input: decode jobs with whole numbers of tokens left, that may grow a hold on the engine's memory. Output: what an
iteration needs of them (how many, their memory, how many cross a block's edge now, who finishes), each in a time that
does not depend on how many there are.
Invariants: `tick` counts the iterations that served the steady residents; a job's position is its `position_offset`
plus the tick, and it is done when the tick reaches its `finish_tick`; who is due at a tick is dealt with when the
iteration that brought it ends; `kv` and the pool's own counters are those after every growth so far; all quantities are
whole numbers, so that sums do not depend on their order.
A job's own fields and its allocation are behind until `write_back` brings them up to date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from librt.vecs import vec
from mypy_extensions import i64

from serq.arithmetic import nearest
from serq.engine.pool import Pool
from serq.engine.residents import ResidentLine
from serq.engine.session import Job
from serq.engine.wheel import TimingWheel

if TYPE_CHECKING:
    from serq.engine.world import World

BLOCK_MAX: Final = 65536
"""[units] The greatest block whose edges are counted by phase."""
WHOLE_MAX: Final = 4503599627370496.0
"""2**52: a double below it is exact to a half, so that adding and subtracting whole numbers never rounds."""
JOB_MAX: Final = 4294967296.0
"""[tokens, units] 2**32: what a resident may have at most, so that the sums over a million residents stay exact."""


def is_whole(value: float) -> bool:
    """Tell whether a value is a whole number that sums keep exact."""
    return -WHOLE_MAX < value < WHOLE_MAX and value == nearest(value)


def is_moderate(value: float) -> bool:
    """Tell whether a value is a whole number of tokens or units that sums over many residents keep exact."""
    return 0.0 <= value <= JOB_MAX and value == nearest(value)


class SteadyDecodes:
    """The steady residents of one engine.

    Attributes
    ----------
    block : [units] of the engine's memory (1 for a pool without blocks), 0 when its edges cannot be counted
    jobs : in the order of their admission
    kv : [units] their whole allocations on the engine's memory
    finish_sum : of their finish ticks, from which the tokens left follow
    in_flight : whether the running iteration, or the one being formed, serves them
    """

    def __init__(self) -> None:
        self.block: i64 = 1
        self.block_units = 1.0
        self.tick = 0.0  # a whole number
        self.jobs: Final = ResidentLine()
        self.kv = 0.0
        self.finish_sum = 0.0
        self.in_flight = False
        self.phase: i64 = 0  # of the tick: its remainder by the block
        self.crossings: vec[float] = vec[float]([0.0])  # how many cross an edge at the ticks of each phase
        self.wakes: Final = TimingWheel()  # when a job finishes, or first fills what it was given at its admission

    def set_memory(self, memory: Pool | None) -> None:
        """Learn the blocks of the engine's memory."""
        block = 1.0 if memory is None or memory.block == 0.0 else memory.block
        if 1.0 <= block <= BLOCK_MAX and is_whole(block):
            self.block = i64(block)
            self.block_units = block
            self.crossings = vec[float]([0.0] * int(block))
        else:
            self.block = 0
            self.block_units = 0.0

    def takes(self, job: Job, memory: Pool | None) -> bool:
        """Tell whether a job (a prefill too, for what it adds to the sums) is in whole numbers throughout."""
        if self.block == 0 or not is_moderate(job.left) or not is_moderate(job.other_kv):
            return False
        growing = job.growing
        if growing is None:
            return True
        return (
            growing.pool is memory
            and is_moderate(growing.position)
            and is_moderate(growing.amount)
            and growing.position <= growing.amount
        )

    # -------------------------------------------------------------------------------------------- come and go

    def join(self, job: Job) -> None:
        """Take a decode in before the iteration that serves it first."""
        tick = self.tick
        finish = tick + job.left
        wake = finish
        job.is_steady = True
        job.finish_tick = finish
        job.joined_tick = tick
        job.phase = -1
        growing = job.growing
        kv = job.other_kv
        if growing is not None:
            kv += growing.amount
            job.position_offset = growing.position - tick
            hold = job.growing_hold
            assert hold is not None
            job.moved_before = hold.moved
            room = growing.amount - growing.position
            if room < self.block_units:
                self._cross_after(job, i64(room))
            elif tick + room < finish:
                wake = tick + room
        self.kv += kv
        self.finish_sum += finish
        self.jobs.insert(job)
        self.wakes.schedule(job, wake)

    def _cross_after(self, job: Job, ticks: i64) -> None:
        """Count a job at the phase of the edge it comes to after so many ticks, less than a block's."""
        phase = self.phase + ticks
        if phase >= self.block:
            phase -= self.block
        job.phase = phase
        self.crossings[phase] += 1.0

    def leave(self, job: Job) -> None:
        """Let a job go, its own fields up to date."""
        self.write_back(job)
        growing = job.growing
        kv = job.other_kv
        if growing is not None:
            kv += growing.amount
        if job.phase >= 0:
            self.crossings[job.phase] -= 1.0
        self.kv -= kv
        self.finish_sum -= job.finish_tick
        self.jobs.remove(job)
        if job.is_scheduled:
            self.wakes.cancel(job)
        job.is_steady = False

    def write_back(self, job: Job) -> None:
        """Bring a job's fields and its allocation up to date; it stays steady."""
        remaining = job.finish_tick - self.tick
        if self.in_flight:
            job.left = remaining + 1.0
            job.tokens = 1.0
            if self.tick > job.joined_tick + 1.0:
                job.moved_before = True
        else:
            job.left = remaining
            job.tokens = 0.0
        growing = job.growing
        if growing is None:
            return
        position = job.position_offset + self.tick
        growing.position = position
        if position > growing.amount:
            growing.amount = growing.pool.whole_blocks_up(position)
        if self.tick > job.joined_tick:
            hold = job.growing_hold
            assert hold is not None
            hold.moved = True

    # ----------------------------------------------------------------------------------------- one iteration

    def crossing_now(self) -> float:
        """Give how many cross a block's edge in the iteration being formed."""
        return self.crossings[self.phase]

    def _come_to_edge(self, job: Job) -> None:
        """Count a job, awake for it, at the edge of the iteration to come; it wakes again when it is done."""
        self._cross_after(job, 0)
        self.wakes.schedule(job, job.finish_tick)

    def advance(self, w: World, memory: Pool | None, crossing: float) -> None:
        """Serve them all: those at an edge grow by a block each, which fits."""
        if crossing > 0.0 and memory is not None:
            block = self.block_units
            grown = block * crossing
            if memory.evicts_in_order:
                memory.make_room(w, grown)
                memory.used.add(grown, w.now)
            else:
                for _ in range(int(crossing)):
                    memory.make_room(w, block)
                    memory.used.add(block, w.now)
            self.kv += grown
        self.tick += 1.0
        self.wakes.tick += 1
        self.phase += 1
        if self.phase >= self.block:
            self.phase = 0
        self.in_flight = True

    def has_due(self) -> bool:
        """Tell whether somebody is done, or at an edge."""
        return self.wakes.due() is not None

    def take_finished(self) -> Job | None:
        """Take out those whose last token the iteration that ended has brought, linked by `in_slot_behind`.

        Mostly in the order of their admission. Who has only come to an edge is counted there.
        """
        finished: Job | None = None
        job = self.wakes.take_due()
        while job is not None:
            due = job  # from here on no option: compiled, an option is counted at every use
            job = due.in_slot_behind
            if due.finish_tick <= self.tick:
                self.leave(due)
                due.in_slot_behind = finished
                finished = due
            else:
                due.in_slot_behind = None
                self._come_to_edge(due)
        return finished

    # --------------------------------------------------------------------------------------------- observables

    def work_left(self) -> float:
        """Give the tokens they have left."""
        count = self.jobs.count
        left = self.finish_sum - count * self.tick
        return left + count if self.in_flight else left

    def latest_admission(self) -> i64:
        """Give the greatest admission number among them, or -1."""
        last = self.jobs.tail
        if last is None:
            return -1
        return last.admission
