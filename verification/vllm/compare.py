"""Two answers field by field: where do they differ?

Input: serQ's answer and the scheduler's. Output: the differences, in words. Counts, tokens and steps are equal or
differ; times agree to 1e-9 relative, because the order in which a cost's terms are added moves the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from verification.vllm.answer import Answer, RequestRow

RELATIVE_TOLERANCE = 1e-9

TIMES_OF_REQUEST = ("send", "first", "done")
FACTS_OF_REQUEST = ("prompt", "out", "first_step", "done_step", "cached", "admitted_step", "preempted_step")


def close(ours: float | None, theirs: float | None) -> bool:
    """Tell whether two times are the same time."""
    if ours is None or theirs is None:
        return ours is theirs
    return math.isclose(ours, theirs, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0)


def differences(ours: Answer, theirs: Answer) -> list[str]:
    """List every field of `theirs` that `ours` does not have; empty when they agree in all of them."""
    return [*_of_run(ours, theirs), *_of_requests(ours, theirs), *_of_steps(ours, theirs)]


def _of_run(ours: Answer, theirs: Answer) -> Iterator[str]:
    for name in ("status", "steps", "preemptions"):
        if getattr(ours, name) != getattr(theirs, name):
            yield f"{name}: serQ {getattr(ours, name)}, vLLM {getattr(theirs, name)}"
    if not close(ours.end, theirs.end):
        yield f"end: serQ {ours.end!r}, vLLM {theirs.end!r}"


def _of_requests(ours: Answer, theirs: Answer) -> Iterator[str]:
    mine, recorded = ours.by_id(), theirs.by_id()
    for name in sorted(mine.keys() ^ recorded.keys()):
        yield f"request {name}: reached the scheduler in {'serQ' if name in mine else 'vLLM'} alone"
    for name in mine.keys() & recorded.keys():
        for fact in request_differences(mine[name], recorded[name]):
            yield f"request {name}: {fact}"


def request_differences(ours: RequestRow, theirs: RequestRow) -> list[str]:
    """List the fields of one request that differ."""
    found = [name for name in TIMES_OF_REQUEST if not close(getattr(ours, name), getattr(theirs, name))]
    found += [name for name in FACTS_OF_REQUEST if getattr(ours, name) != getattr(theirs, name)]
    return [f"{name}: serQ {getattr(ours, name)}, vLLM {getattr(theirs, name)}" for name in found]


def _of_steps(ours: Answer, theirs: Answer) -> Iterator[str]:
    for number in range(1, min(len(ours.step_rows), len(theirs.step_rows)) + 1):
        for fact in step_differences(ours, theirs, number):
            yield f"step {number}: {fact}"


def step_differences(ours: Answer, theirs: Answer, number: int) -> list[str]:
    """List what differs in one step, of the columns that both sides have; a step that one side lacks differs."""
    if number > max(len(ours.step_rows), len(theirs.step_rows)):
        return []
    if number > len(ours.step_rows) or number > len(theirs.step_rows):
        return [f"serQ took {len(ours.step_rows)} steps, vLLM {len(theirs.step_rows)}"]
    mine, recorded = ours.step(number), theirs.step(number)
    found = [
        f"{name}: serQ {mine[name]:g}, vLLM {recorded[name]:g}"
        for name in theirs.step_cols
        if name in mine and not close(mine[name], recorded[name])
    ]
    if ours.step_sched and theirs.step_sched:
        batch, recorded_batch = ours.step_sched[number - 1], theirs.step_sched[number - 1]
        if list(batch.items()) != list(recorded_batch.items()):  # in the order served
            found.append(f"scheduled: serQ {_words(batch)}, vLLM {_words(recorded_batch)}")
    return found


def _words(batch: dict[str, int]) -> str:
    return " ".join(f"{name}×{tokens}" for name, tokens in batch.items()) or "nothing"


def first_difference(ours: Answer, theirs: Answer) -> int | None:
    """Give the number of the first step that differs, or None when every step that either took is the same."""
    steps: Sequence[int] = range(1, max(len(ours.step_rows), len(theirs.step_rows)) + 1)
    return next((number for number in steps if step_differences(ours, theirs, number)), None)
