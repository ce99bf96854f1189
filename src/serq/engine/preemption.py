"""Whom a failed growth preempts.

Input: a pool without room. Output: the allocation whose hold is to be aborted, or None.
Invariants: leases are never victims; of an engine's memory only the engine's residents are (a holder away from the
engine is in no running list: vLLM pops running[-1]).
Reference: language §3 (`grow`, Ties), notes §4.10 and §14.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from serq.engine.orders import evaluate_keys, precedes
from serq.engine.session import Allocation, Session

if TYPE_CHECKING:
    from serq.engine.pool import Pool
    from serq.engine.world import World

# What a failed growth does (`preempt …`).
PREEMPT_NONE: Final = 0
PREEMPT_LIFO: Final = 1
PREEMPT_BY: Final = 2


def choose_victim(w: World, pool: Pool) -> Allocation | None:
    """Choose the hold to abort: that of the resident admitted last, or the latest of all on a pool that is no memory.

    Under `preempt by` it is the one with the greatest keys, among equals the one admitted first.
    """
    by_keys = pool.preempt_rule == PREEMPT_BY
    for engine in pool.engines:
        engine.loosen()
    if len(pool.engines) == 0:
        return holder_with_greatest_keys(w, pool) if by_keys else latest_holder(pool)
    return resident_with_greatest_keys(w, pool) if by_keys else latest_resident(pool)


def latest_holder(pool: Pool) -> Allocation | None:
    """Give the latest allocation that is in a scope."""
    latest = pool.last_allocation
    while latest is not None and not latest.in_scope:
        latest = latest.before
    return latest


def latest_resident(pool: Pool) -> Allocation | None:
    """Give the innermost hold of the resident that was admitted last, over the engines whose memory the pool is."""
    found: Allocation | None = None
    admission: i64 = -1
    for engine in pool.engines:
        job = engine.loose.tail
        while job is not None:
            allocation = job.session.hold_on(pool)
            if allocation is not None:
                if job.admission > admission:
                    found = allocation
                    admission = job.admission
                break
            job = job.ahead
    return found


def victim_keys(w: World, pool: Pool, session: Session) -> list[float]:
    """Evaluate the pool's preemption keys for one holder."""
    inside = w.session
    w.enter(session)
    keys = evaluate_keys(w, pool.preempt_keys)
    w.enter_or_leave(inside)
    return keys


def resident_with_greatest_keys(w: World, pool: Pool) -> Allocation | None:
    """Give the hold of the resident with the greatest keys."""
    found: Allocation | None = None
    greatest: list[float] = []
    for engine in pool.engines:
        job = engine.loose.head
        while job is not None:
            allocation = job.session.hold_on(pool)
            if allocation is not None:
                keys = victim_keys(w, pool, job.session)
                if found is None or precedes(greatest, keys):
                    found = allocation
                    greatest = keys
            job = job.behind
    return found


def holder_with_greatest_keys(w: World, pool: Pool) -> Allocation | None:
    """Give the allocation in a scope with the greatest keys."""
    found: Allocation | None = None
    greatest: list[float] = []
    allocation = pool.first_allocation
    while allocation is not None:
        if allocation.in_scope:
            keys = victim_keys(w, pool, allocation.session)
            if found is None or precedes(greatest, keys):
                found = allocation
                greatest = keys
        allocation = allocation.after
    return found
