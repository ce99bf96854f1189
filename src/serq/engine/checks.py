"""Invariants of the state, checked after every event under `SERQ_CHECK=1`; see docs/invariants.md.

Input: a settled world. Output: nothing, or an `AssertionError` that names what does not hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from serq.engine.session import AT_STAGE, GROWING, READY, WAITING, Session

if TYPE_CHECKING:
    from serq.engine.pool import Pool
    from serq.engine.world import World

TOLERANCE: Final = 1e-6


def check_world(w: World) -> None:
    """Check every pool and every live session."""
    for pool in w.pools:
        _check_pool(w, pool)
    in_line = 0
    live = 0
    session = w.first_live
    while session is not None:
        live += 1
        if session.status == WAITING:
            in_line += 1
        _check_session(session)
        session = session.after
    lines = 0
    for pool in w.pools:
        lines += len(pool.preempted) + int(pool.line.count())
    if lines != in_line:
        raise AssertionError(f"{in_line} sessions wait, but the lines hold {lines}")
    if w.live_count != live or w.live.value != float(w.live_count):
        raise AssertionError("live sessions are counted twice over, differently")
    event = w.calendar.next_event()
    if event is not None and event.at < w.now:
        raise AssertionError(f"the clock would go back from {w.now!r} to {event.at!r}")


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
    waiting = len(pool.preempted) + int(pool.line.count())
    if float(waiting) != pool.queue.value:
        raise AssertionError(f"pool {pool.name} counts {pool.queue.value!r} waiting and has {waiting}")


def _check_blocks(pool: Pool, units: float) -> None:
    if pool.block > 0.0 and abs(units - pool.whole_blocks_up(units)) > TOLERANCE * (1.0 + units):
        raise AssertionError(f"pool {pool.name} allocated {units!r}, which is not whole blocks")


def _check_session(session: Session) -> None:
    status = session.status
    if status == READY:
        raise AssertionError(f"session {session.serial} is ready, but the instant has settled")
    if status == AT_STAGE and session.job is None:
        raise AssertionError(f"session {session.serial} is at a stage without a job")
    if status == WAITING and session.waiting_for is None:
        raise AssertionError(f"session {session.serial} waits for nothing")
    if status == GROWING and session.growing is None:
        raise AssertionError(f"session {session.serial} waits to grow nothing")
