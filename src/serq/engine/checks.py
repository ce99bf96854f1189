"""Invariants of the state, checked after every event under `SERQ_CHECK=1`; see docs/invariants.md.

Input: a settled world. Output: nothing, or an `AssertionError` that names what does not hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from serq.engine.residents import is_before
from serq.engine.session import WAITING, Session
from serq.engine.step_engine import StepEngine

if TYPE_CHECKING:
    from serq.engine.pool import Pool
    from serq.engine.world import World

TOLERANCE: Final = 1e-6


def check_world(w: World) -> None:
    """Check every pool, every session that waits, and the clock."""
    if w.ready_first is not None:
        raise AssertionError("a session is ready, but the instant has settled")
    for stage in w.stages:
        if isinstance(stage, StepEngine):
            _check_engine(stage)
    waiting = 0
    growing = 0
    for pool in w.pools:
        _check_pool(w, pool)
        if pool.admit_via is None:
            waiting += len(pool.preempted) + int(pool.line.count)
        growing += int(pool.growers.count)
    if waiting != w.waiting_count or growing != w.grower_count:
        raise AssertionError("the sessions that wait are counted twice over, differently")
    if w.live.value != float(w.live_count):
        raise AssertionError("the live sessions are counted twice over, differently")
    event = w.calendar.first
    if event is not None and event.at < w.now:
        raise AssertionError(f"the clock would go back from {w.now!r} to {event.at!r}")


def _check_engine(engine: StepEngine) -> None:
    """Check the sums of an engine's steady residents, and bring their allocations up to date."""
    steady = engine.steady
    kv = 0.0
    left = 0.0
    crossings = [0] * len(steady.crossings)
    count = 0
    job = steady.jobs.head
    while job is not None:
        steady.write_back(job)
        kv += engine.kv_of(job)
        left += job.left
        if job.phase >= 0:
            crossings[int(job.phase)] += 1
        if job.finish_tick <= steady.tick and not steady.in_flight:
            raise AssertionError(f"a job of stage {engine.name} has no tokens left and is still there")
        count += 1
        job = job.behind
    if not steady.in_flight and steady.wakes.due() is not None:
        raise AssertionError(f"a job of stage {engine.name} was not woken when its iteration ended")
    if count != steady.jobs.count or crossings != list(steady.crossings):
        raise AssertionError(f"the steady residents of stage {engine.name} are counted twice over, differently")
    if kv != steady.kv or left != steady.work_left():
        raise AssertionError(
            f"stage {engine.name} sums {steady.kv!r}, {steady.work_left()!r}; its residents {kv!r}, {left!r}"
        )
    waiting = 0
    for pool in engine.served_pools:
        waiting += len(pool.preempted) + int(pool.line.count)
    if waiting != engine.waiting_count or steady.phase != int(steady.tick) % max(1, int(steady.block)):
        raise AssertionError(f"who waits for stage {engine.name}, or its tick, is counted twice over, differently")
    count = 0
    job = engine.loose.head
    while job is not None:
        if job.is_steady or (job.ahead is not None and is_before(job, job.ahead)):
            raise AssertionError(f"the residents of stage {engine.name} are out of order")
        count += 1
        job = job.behind
    if count != engine.loose.count:
        raise AssertionError(f"the residents of stage {engine.name} are counted twice over, differently")


def _check_pool(w: World, pool: Pool) -> None:
    used = 0.0
    holders = 0
    allocation = pool.first_allocation
    while allocation is not None:
        used += allocation.amount
        holders += 1
        _check_blocks(pool, allocation.amount)
        allocation = allocation.after
    cached = 0.0
    entry = pool.first_entry
    number = -1
    while entry is not None:
        cached += entry.amount
        if entry.amount <= 0.0:
            raise AssertionError(f"pool {pool.name} caches an empty entry")
        if entry.number <= number:
            raise AssertionError(f"pool {pool.name} has entries out of release order")
        number = int(entry.number)
        entry = entry.after
    scale = TOLERANCE * (1.0 + used + cached)
    if abs(used - pool.used.value) > scale:
        raise AssertionError(f"pool {pool.name} counts {pool.used.value!r} used, its allocations sum to {used!r}")
    if abs(cached - pool.cached.value) > scale:
        raise AssertionError(f"pool {pool.name} counts {pool.cached.value!r} cached, its entries sum to {cached!r}")
    if used + cached > pool.cap + scale:
        raise AssertionError(f"pool {pool.name} holds {used!r} + {cached!r} over its cap {pool.cap!r}")
    if float(holders) != pool.holders.value:
        raise AssertionError(f"pool {pool.name} counts {pool.holders.value!r} holders and has {holders}")
    waiting = 0
    for session in pool.preempted:
        _check_waiting(pool, session)
        waiting += 1
    in_line = pool.line.head
    while in_line is not None:
        _check_waiting(pool, in_line)
        waiting += 1
        in_line = in_line.behind
    if float(waiting) != pool.queue.value:
        raise AssertionError(f"pool {pool.name} counts {pool.queue.value!r} waiting and has {waiting}")
    grower = pool.growers.head
    while grower is not None:
        if grower.growing is None or grower.growing.pool is not pool:
            raise AssertionError(f"session {grower.serial} is among the growers of pool {pool.name} without cause")
        grower = grower.behind


def _check_waiting(pool: Pool, session: Session) -> None:
    pools = session.waiting_pools
    if session.status != WAITING or session.waiting_for is None or pools is None or pools[0] is not pool:
        raise AssertionError(f"session {session.serial} is in the line of pool {pool.name} without cause")


def _check_blocks(pool: Pool, units: float) -> None:
    if pool.block > 0.0 and abs(units - pool.whole_blocks_up(units)) > TOLERANCE * (1.0 + units):
        raise AssertionError(f"pool {pool.name} allocated {units!r}, which is not whole blocks")
