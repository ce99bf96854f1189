"""Iterations without a look at every resident: what the plain loop of `step_engine.py` would do, from the sums.

Input: an engine between two iterations. Output: the same iteration the plain loop would form, or the engine with all
its residents loose and nothing else changed, so that the plain loop forms it.
Invariants: the plain loop is the definition; clock, samples, counters, gauges and integrals agree with it to the last
bit (tests/properties/test_fast_plan.py, `make plain`). What is served must therefore not depend on the residents'
order: everybody gets all it wants, or the budget ends within prefills that come after every decode; and all growth
fits, so that nobody stalls or is preempted.
Reference: docs/design/0008.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from serq.engine.residents import is_before
from serq.engine.steady import is_whole

if TYPE_CHECKING:
    from serq.engine.session import Job
    from serq.engine.step_engine import StepEngine
    from serq.engine.world import World

LARGEST: Final = 1.7976931348623157e308  # the greatest finite float: no cap

# How the residents are served.
ADMISSION_ORDER: Final = 0
DECODES_FIRST: Final = 1
PREFILLS_FIRST: Final = 2
OTHER_ORDER: Final = 3


def form_residents(e: StepEngine, w: World, chunk: float) -> bool:
    """Give the residents their tokens, or leave them all loose for the plain loop and tell so with False."""
    if _serve_all(e, w, chunk):
        return True
    e.loosen()
    return False


def _serve_all(e: StepEngine, w: World, chunk: float) -> bool:
    """Give the residents their tokens; False, and nobody has any, when that takes the plain loop."""
    steady = e.steady
    budget = e.left
    if e.odd_count > 0:
        return False
    if not e.leaves_whole and (not (is_whole(budget) or budget > LARGEST) or not (is_whole(chunk) or chunk >= LARGEST)):
        return False
    decodes = steady.jobs.count
    latest_decode: i64 = -1
    first_prefill: i64 = -1
    wanted = 0.0
    has_new_decode = False
    job = e.loose.head
    while job is not None:
        # a fraction is left where a budget, or what others left of it, was no whole number
        if job.is_stalled or not (e.leaves_whole or steady.takes(job, e.memory)):
            return False
        if job.is_decode:
            decodes += 1.0
            has_new_decode = True
            if job.admission > latest_decode:
                latest_decode = job.admission
        else:
            wanted += job.left if job.left < chunk else chunk
            if first_prefill < 0:
                first_prefill = job.admission
        job = job.behind
    rest = budget - decodes
    if rest < 0.0:
        return False
    if wanted > rest and decodes > 0.0 and e.serving_order != DECODES_FIRST:
        if e.serving_order != ADMISSION_ORDER:
            return False
        if first_prefill <= latest_decode or first_prefill <= steady.latest_admission():
            return False
    if has_new_decode:
        _join_decodes(e)
    memory = e.memory
    if memory is not None and memory.block == 0.0:
        # who is not resident may hold a fraction: then the order of growth shows
        if not is_whole(memory.used.value) or not is_whole(memory.cached.value):
            return False
    crossing = 0.0
    if steady.jobs.count > 0.0:
        crossing = steady.crossing_now()
    if memory is not None:
        growth = crossing * steady.block_units
        room = memory.cap - memory.used.value
        if growth + wanted + e.loose.count * steady.block_units > room:  # at most that much; else look closely
            if wanted > 0.0:
                growth += _prefill_growth(e, chunk, rest)
            if growth > 0.0 and memory.used.value + growth > memory.cap:
                return False
    if steady.jobs.count > 0.0:
        steady.advance(w, memory, crossing)
        e.left = rest
    if wanted > 0.0:
        job = e.loose.head
        while job is not None and e.left > 0.0:
            e.serve(w, job, chunk)
            job = job.behind
    e.newcomers_from = e.batch.count
    return True


def _join_decodes(e: StepEngine) -> None:
    """Let the decodes among the loose residents become steady."""
    job = e.loose.head
    while job is not None:
        behind = job.behind
        if job.is_decode:
            e.loose.remove(job)
            e.steady.join(job)
        job = behind


def _prefill_growth(e: StepEngine, chunk: float, rest: float) -> float:
    """Give the memory by which the loose prefills would grow [units]."""
    growth = 0.0
    job = e.loose.head
    while job is not None and rest > 0.0:
        n = job.left if job.left < chunk else chunk
        if n > rest:
            n = rest
        rest -= n
        growing = job.growing
        if growing is not None and growing.position + n > growing.amount:
            growth += growing.pool.whole_blocks_up(growing.position + n) - growing.amount
        job = job.behind
    return growth


def in_batch_order(e: StepEngine, steady: list[Job], loose: list[Job]) -> list[Job]:
    """Merge steady residents into the loose ones of a batch, as the plain loop serves them; both in admission order."""
    order = e.serving_order
    if order == DECODES_FIRST:
        return steady + loose
    if order == PREFILLS_FIRST:
        return loose + steady
    merged: list[Job] = []
    i: i64 = 0
    for job in loose:
        while i < len(steady) and is_before(steady[i], job):
            merged.append(steady[i])
            i += 1
        merged.append(job)
    while i < len(steady):
        merged.append(steady[i])
        i += 1
    return merged


def run_ahead(e: StepEngine, w: World) -> None:
    """After an iteration in which nobody finished, form the next, and go on as long as nothing else happens.

    What is left undone when this returns is for the world's settle, unless `w.is_settled` says that it would do
    nothing.
    """
    calendar = w.calendar
    w.enter_or_leave(None)
    while True:
        event = calendar.first
        if (
            (event is not None and event.at <= w.now)
            or w.waiting_count > 0
            or w.grower_count > 0
            or w.sharing.needs_settling
            or e.resident_count() == 0.0
            or not w.others_rest(e)
        ):
            return
        if _serves_steady_alone(e) and _run_steady(e, w):
            return
        by_plan = e.form_iteration(w)
        w.is_settled = True
        if e.formed_none():
            if not by_plan:
                w.settle_after(e)
            return
        at = w.now + e.cost_of_batch(w)
        e.begin_iteration(w, at)
        event = calendar.first
        if (
            not by_plan
            or not at > w.now
            or (event is not None and event.at <= at)
            or at > w.horizon
            or (at >= w.warmup and not w.is_warm)
            or w.events >= w.report_at
        ):
            calendar.schedule(e.iteration_end, at)
            if not by_plan:
                w.settle_after(e)
            return
        if w.has_gauges:
            w.read_gauges()
        e.iteration_end.at = at
        calendar.scheduled_count += 1
        w.events += 1
        w.now = at
        w.is_settled = False
        if e.finish_iteration(w):
            return


def _serves_steady_alone(e: StepEngine) -> bool:
    """Tell whether the iterations to come serve the steady residents and nobody else, until something happens.

    A head that is surely refused stays so: in these iterations its pool only fills.
    """
    if e.loose.head is not None or not e.leaves_whole or e.has_spill:
        return False
    if e.memory is not None and e.memory.block == 0.0:
        return False
    rest = e.fixed_budget - e.steady.jobs.count
    return rest == 0.0 or (rest > 0.0 and e.admits_nobody())


def _run_steady(e: StepEngine, w: World) -> bool:
    """Run iterations of which `_serves_steady_alone` is true, up to the first that something else may touch.

    Tells whether `run_ahead` is over: somebody finished, or the end of the running iteration is in the calendar. False
    when the iteration to come may not fit the memory.
    """
    steady = e.steady
    memory = e.memory
    calendar = w.calendar
    iteration_end = e.iteration_end
    event = calendar.first
    stop = LARGEST
    if event is not None:
        stop = event.at
    if not w.is_warm and w.warmup < stop:
        stop = w.warmup
    count = steady.jobs.count
    w.tokens = count
    w.prefilled = 0.0
    w.attention = 0.0
    w.decoders = count
    w.residents = count
    w.kv_prefill = 0.0
    while True:
        crossing = steady.crossing_now()
        if crossing > 0.0 and memory is not None:
            if memory.used.value + crossing * steady.block_units > memory.cap:
                return False
        e.forming_number += 1
        steady.advance(w, memory, crossing)
        w.kv_decode = steady.kv
        at = w.now + e.evaluate_cost(w)
        e.begin_iteration(w, at)
        if at >= stop or not at > w.now or at > w.horizon or w.events >= w.report_at:
            calendar.schedule(iteration_end, at)
            w.is_settled = True
            return True
        if w.has_gauges:
            w.read_gauges()
        iteration_end.at = at
        calendar.scheduled_count += 1
        w.events += 1
        w.now = at
        if steady.has_due():
            if e.finish_iteration(w):
                return True
        else:
            e.is_running = False
            steady.in_flight = False
