"""The iterations of a run, a row each.

Input: the flat columns a watched run left. Output: an `Iteration` for each, with the jobs it scheduled and the ones it
preempted. Units: [t] is the program's clock, [units] those of the stage's memory.
"""

from __future__ import annotations

from serq.engine.results import RunResult
from serq.records import dataclass


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A job's part in an iteration.

    Attributes
    ----------
    session, turn : serial number and `turn_no`
    tokens : scheduled in this iteration
    position : [tokens] before them; 0 for a run that does not grow
    is_decode : its run's mode
    allocation : what its session holds on the stage's memory, this iteration's growth included [units]
    admission : number of the session's latest admission
    site : of its run statement (`Program.place_of_site`), -1 for a run that does not grow
    """

    session: int
    turn: int
    tokens: float
    position: float
    is_decode: bool
    allocation: float
    admission: int
    site: int


@dataclass(frozen=True, slots=True)
class Preempted:
    """A resident that was preempted while the iteration was formed, or since the one before."""

    session: int
    turn: int
    site: int


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration of a step stage, as it stood when it had been formed and its cost computed.

    Attributes
    ----------
    stage, index : name of the stage, and its number in a family or None
    start, cost : [t]
    tokens, decoders, prefilled, attention, kv_decode, kv_prefill, residents : what the cost could read
    waiting : sessions in the lines of the pools the stage serves
    free : what nobody holds of the stage's memory; a cached prefix is free; NaN without a memory [units]
    scheduled : in batch order
    preempted : in the order they were
    """

    stage: str
    index: int | None
    start: float
    cost: float
    tokens: float
    decoders: float
    prefilled: float
    attention: float
    kv_decode: float
    kv_prefill: float
    residents: float
    waiting: int
    free: float
    scheduled: tuple[Scheduled, ...]
    preempted: tuple[Preempted, ...]


def iterations_of(result: RunResult) -> list[Iteration]:
    """Give the iterations a run was asked to keep, in the order they started."""
    columns = result.iterations
    if columns is None:
        return []
    scheduled = [
        Scheduled(
            columns.sessions[i],
            columns.turns[i],
            columns.job_tokens[i],
            columns.positions[i],
            columns.modes[i] == 1,
            columns.allocations[i],
            columns.admissions[i],
            columns.sites[i],
        )
        for i in range(len(columns.sessions))
    ]
    lost = zip(columns.preempted_sessions, columns.preempted_turns, columns.preempted_sites, strict=True)
    preempted = [Preempted(*job) for job in lost]
    iterations: list[Iteration] = []
    batch_start = preempted_start = 0
    for i, (batch_end, preempted_end) in enumerate(zip(columns.batch_ends, columns.preempted_ends, strict=True)):
        stage = result.stages[columns.stages[i]]
        iterations.append(
            Iteration(
                stage.name,
                None if stage.index < 0 else stage.index,
                columns.starts[i],
                columns.costs[i],
                columns.tokens[i],
                columns.decoders[i],
                columns.prefilled[i],
                columns.attention[i],
                columns.kv_decode[i],
                columns.kv_prefill[i],
                columns.residents[i],
                columns.waiting[i],
                columns.free[i],
                tuple(scheduled[batch_start:batch_end]),
                tuple(preempted[preempted_start:preempted_end]),
            )
        )
        batch_start, preempted_start = batch_end, preempted_end
    return iterations
