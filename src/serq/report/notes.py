"""What a reader of the report must know and no table shows, in sentences.

Input: observes and the notes the engine left. Output: `Note` values.

Invariants: a note never changes a figure or, by itself, an exit code (`--strict` asks for that).

Reference: language §3, Statistics (the constant 0, stuck); notes §8.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from serq.engine.results import ObserveResult, PoolResult, RunNote, RunResult, StageResult
from serq.records import dataclass
from serq.report.numbers import plain, short

CONSTANT_ZERO = "constant-zero"
"""The kind of note that is about samples."""

GROWING = "growing"
"""The kind of note that says that more sessions come than go."""

ABOUT_FIGURES = frozenset({CONSTANT_ZERO, GROWING})
"""The kinds that are read off the figures; all others are the engine's."""

CONSTANT_SAMPLES_MIN = 40
"""A test that was 0 in fewer samples than this is not worth a note."""


@dataclass(frozen=True, slots=True)
class Note:
    """One note.

    Attributes
    ----------
    kind : "constant-zero" (`CONSTANT_ZERO`), "growing" (`GROWING`), "rejected", "unfit", "blocked" or "stuck"
    message : one sentence
    blocks_run : whether `--strict` lets the run fail because of it
    session : serial number, or None for a note about no session
    pool : the pool's name (`kv`, `kv[1]`), or ""
    units, available : [units] wanted and there. For a request that never fits, the pool's cap is what is there. For
        a stuck session, the position it was preempted at and the cap
    since : [t] when it last moved, or None
    count : how many sessions or samples it stands for
    where : `file:line:column` of the statement, or ""
    turn : the session's turn_no, or None
    cap : [units] what the pool has in all, or None
    stage : the engine that admits to the pool or whose memory it is (`engine`, `engine[1]`), or ""
    iteration, iteration_end : the last that this engine had begun by `since` (0: none), and when it ended [t]; or None
    """

    kind: str
    message: str
    blocks_run: bool = False
    session: int | None = None
    pool: str = ""
    units: float | None = None
    available: float | None = None
    since: float | None = None
    count: int = 1
    where: str = ""
    turn: int | None = None
    cap: float | None = None
    stage: str = ""
    iteration: int | None = None
    iteration_end: float | None = None


def constant_zero_notes(observes: Iterable[ObserveResult]) -> list[Note]:
    """Note the tests that never held."""
    notes = []
    for observe in observes:
        count = len(observe.values)
        if observe.is_test and count >= CONSTANT_SAMPLES_MIN and not any(observe.values):
            message = f"observe {observe.name} is constant 0 over {count} samples"
            notes.append(Note(CONSTANT_ZERO, message, count=count))
    return notes


def growth_notes(result: RunResult) -> list[Note]:
    """Note that sessions come faster than they go, so that the averages depend on how long the run is.

    The growth must be more than a twentieth of the arrivals measured and five times what a Poisson count of them would
    vary by: a false alarm in a stable run is rarer than one in a million.
    """
    growth = result.live_at_end - result.live_at_warmup
    arrivals = result.arrivals_measured
    if not result.is_open or growth <= max(0.05 * arrivals, 5.0 * math.sqrt(arrivals)):
        return []
    message = (
        f"sessions come faster than they go: {result.live_at_warmup} were there when the warm-up ended and "
        f"{result.live_at_end} at the end, of {arrivals} that arrived between; the averages depend on the horizon"
    )
    return [Note(GROWING, message, count=growth)]


def run_notes(result: RunResult, site_place: Callable[[int], str]) -> list[Note]:
    """Put the engine's notes into sentences; `site_place` gives the place of a site as text."""
    notes = []
    for found in result.notes:
        where = site_place(found.site) if found.site >= 0 else ""
        pool = _name(result.pools, found.pool)
        stage = _name(result.stages, found.stage)
        message = _message(found, pool, stage)
        notes.append(
            Note(
                kind=found.kind,
                message=f"{message} (at {where})" if where else message,
                blocks_run=found.blocks_run,
                session=found.session,
                pool=pool,
                units=found.units,
                available=found.available,
                since=found.since,
                count=found.count,
                where=where,
                turn=found.turn,
                cap=found.cap,
                stage=stage,
                iteration=found.iteration if stage else None,
                iteration_end=found.iteration_end if stage and found.iteration else None,
            )
        )
    return notes


def _name(members: Sequence[PoolResult | StageResult], index: int) -> str:
    if not 0 <= index < len(members):
        return ""
    found = members[index]
    return found.name if found.index < 0 else f"{found.name}[{found.index}]"


def _message(note: RunNote, pool: str, stage: str) -> str:
    units, available, since = plain(note.units), plain(note.available), short(note.since)
    session = f"session {note.session}, turn {note.turn}," if note.turn > 0 else f"session {note.session}"
    since += f", after iteration {note.iteration} of `{stage}`" if stage and note.iteration > 0 else ""
    if note.kind == "rejected":
        others = f"; so did {note.count - 1} more" if note.count > 1 else ""
        return (
            f"{session} was rejected at t = {since}: it asked `{pool}` for {units} units and the cap is "
            f"{available}{others}; a larger `cap` would take it, `unfit wait` would leave it in the line"
        )
    if note.kind == "unfit":
        return (
            f"{session} waits for {units} units of `{pool}` since t = {since}, and the cap is {available}: "
            "it never fits (`unfit wait`)"
        )
    if note.kind == "stuck":
        is_stuck = "is" if note.standing > 0 else "was"
        if note.count == 1:
            others = "" if note.standing > 0 else "; it went on later"
        else:
            others = f"; so were {note.count - 1} more; "
            others += f"{note.standing} never got further" if note.standing > 0 else "all went on later"
        return (
            f"{session} {is_stuck} stuck: at t = {since}, `{pool}` preempted it at position {units}, no "
            f"further than the time before (the cap is {available}){others}"
        )
    others = f"; {note.count - 1} more wait" if note.count > 1 else ""
    ended = f" (it ended at {short(note.iteration_end)})" if stage and note.iteration > 0 else ""
    cap = plain(note.cap)
    there = (
        f"which has {cap} in all: it never fits" if note.units > note.cap else f"of which {available} of {cap} are free"
    )
    cure = f"; a `preempt` rule on `{pool}` would have another make room" if note.holds_on else ""
    return (
        f"nothing can move any more since t = {since}{ended}: {session} waits for {units} units of `{pool}`, "
        f"{there}{others}{cure}"
    )
