"""The report of a run: every figure under the name that the JSON form publishes.

Input: what the engine left (`RunResult`) and where the run came from (`Provenance`). Output: `Report`.

Invariants: field names are those of the published report; a figure that does not exist is NaN or infinite here and
`null` in JSON; the same result and provenance give the same report, so nothing here depends on the time or the machine.

Reference: language §3, Statistics and Gauges; notes §8.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from serq.engine.results import GaugeResult, ObserveResult, PoolResult, RunResult, StageResult
from serq.records import dataclass, field
from serq.report.notes import Note, constant_zero_notes, growth_notes, run_notes
from serq.statistics.gauges import summarise_gauge
from serq.statistics.samples import summarise


@dataclass(frozen=True, slots=True)
class Provenance:
    """What made the figures.

    Attributes
    ----------
    version : of serq
    seed : of the random streams
    command : the command line that gives these figures again, without options that only say where they go
    digest_of_program : gives `ir` when it is asked for
    digest_of_trace : gives `trace` when it is asked for
    """

    version: str
    seed: int
    command: str
    digest_of_program: Callable[[], str] = field(repr=False, compare=False)
    digest_of_trace: Callable[[], str] = field(repr=False, compare=False)

    @property
    def ir(self) -> str:
        """Give `sha256:…` of the program's IR as JSON, run options and overrides included."""
        return self.digest_of_program()

    @property
    def trace(self) -> str:
        """Give `sha256:…` of the rows of the trace, or "" without one."""
        return self.digest_of_trace()

    def __getstate__(self) -> list[Any]:
        """Give what is pickled: the digests, not the program they are of."""
        return [self.version, self.seed, self.command, partial(str, self.ir), partial(str, self.trace)]


@dataclass(frozen=True, slots=True)
class ObserveReport:
    """The samples of one observe at or after the warm-up: see `serq.statistics.SampleSummary`."""

    name: str
    count: int
    mean: float
    ci: float
    cv2: float
    p99: float


@dataclass(frozen=True, slots=True)
class GaugeReport:
    """One gauge over [warmup, end]: see `serq.statistics.GaugeSummary`."""

    name: str
    mean: float
    ci: float
    min: float
    max: float


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage; `index` is its number in a family, else None.

    `mean_number` [jobs], `utilization` [1] and `throughput` [1/t] are averages over [warmup, end]; `completed`,
    `mean_wait` [t] and `mean_service` [t] are of the jobs that finished after the warm-up; `iterations` counts from 0.
    """

    name: str
    index: int | None
    mean_number: float
    utilization: float
    completed: int
    throughput: float
    mean_wait: float
    mean_service: float
    iterations: int


@dataclass(frozen=True, slots=True)
class PoolReport:
    """One pool; `index` is its number in a family, else None.

    `mean_used` and `mean_cached` [units], `mean_queue` and `mean_holders` [sessions] are averages over [warmup, end];
    `mean_wait` [t] is per admission after the warm-up; the counts run from 0.
    """

    name: str
    index: int | None
    mean_used: float
    mean_cached: float
    mean_queue: float
    mean_holders: float
    mean_wait: float
    admissions: int
    evicted_entries: int
    evicted_units: float
    preemptions: int
    spills: int
    rejected: int
    stuck: int


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a run measured; `observes` and `gauges` are keyed by name, in the order of the program."""

    horizon: float
    end: float
    warmup: float
    seed: int
    events: int
    arrivals: int
    ended: int
    turns: int
    mean_live: float
    observes: dict[str, ObserveReport]
    gauges: dict[str, GaugeReport]
    stages: tuple[StageReport, ...]
    pools: tuple[PoolReport, ...]
    notes: tuple[Note, ...]
    provenance: Provenance

    @property
    def blocked(self) -> bool:
        """Whether the run could not go on, or a session was preempted again and again without advancing."""
        return any(note.blocks_run for note in self.notes)

    def stage(self, name: str, index: int | None = None) -> StageReport:
        """Give a stage by name, a member of a family by its number; KeyError when there is none."""
        return _member(self.stages, name, index)

    def pool(self, name: str, index: int | None = None) -> PoolReport:
        """Give a pool by name, a member of a family by its number; KeyError when there is none."""
        return _member(self.pools, name, index)

    def to_json(self) -> str:
        """Give the published JSON form."""
        from serq.report.json_form import report_json

        return report_json(self)

    def __str__(self) -> str:
        from serq.report.text import report_text

        return report_text(self)


_Member = TypeVar("_Member", StageReport, PoolReport)


def _member(members: tuple[_Member, ...], name: str, index: int | None) -> _Member:
    for member in members:
        if member.name == name and member.index == index:
            return member
    of_name = [member.index for member in members if member.name == name]
    if not of_name:
        raise KeyError(f"`{name}` is none of {', '.join(dict.fromkeys(f'`{member.name}`' for member in members))}")
    if of_name == [None]:
        raise KeyError(f"`{name}` is no family: it has no member {index}")
    raise KeyError(f"`{name}` is a family: its members are 0 to {len(of_name) - 1}")


def digest(text: str) -> str:
    """Give `sha256:…` of a text."""
    return f"sha256:{_sha256()(text.encode()).hexdigest()}"


def _sha256() -> Any:
    """Give `hashlib.sha256`, from the interpreter itself where it has one: `hashlib` loads OpenSSL, 5 ms of a run."""
    for own in ("_sha2", "_sha256"):  # since Python 3.12, and before
        with suppress(ImportError):
            return import_module(own).sha256
    from hashlib import sha256

    return sha256


def build_report(result: RunResult, provenance: Provenance, site_place: Callable[[int], str]) -> Report:
    """Summarise a run.

    Parameters
    ----------
    result : what the engine left
    provenance : where it came from
    site_place : turns a site of the linked program into `file:line:column`, for the notes
    """
    observes = {observe.name: _observe(observe) for observe in result.observes}
    return Report(
        horizon=result.horizon,
        end=result.end,
        warmup=result.warmup,
        seed=result.seed,
        events=result.events,
        arrivals=result.arrivals,
        ended=result.ended,
        turns=result.turns,
        mean_live=result.mean_live,
        observes=observes,
        gauges={gauge.name: _gauge(gauge, result.warmup, result.end) for gauge in result.gauges},
        stages=tuple(_stage(stage) for stage in result.stages),
        pools=tuple(_pool(pool) for pool in result.pools),
        notes=(*constant_zero_notes(result.observes), *growth_notes(result), *run_notes(result, site_place)),
        provenance=provenance,
    )


def _observe(observe: ObserveResult) -> ObserveReport:
    summary = summarise(observe.values)
    return ObserveReport(observe.name, summary.count, summary.mean, summary.ci, summary.cv2, summary.p99)


def _gauge(gauge: GaugeResult, warmup: float, end: float) -> GaugeReport:
    summary = summarise_gauge(gauge.times, gauge.values, warmup, end)
    return GaugeReport(gauge.name, summary.mean, summary.ci, summary.min, summary.max)


def _stage(stage: StageResult) -> StageReport:
    return StageReport(
        name=stage.name,
        index=None if stage.index < 0 else stage.index,
        mean_number=stage.mean_number,
        utilization=stage.utilization,
        completed=stage.completed,
        throughput=stage.throughput,
        mean_wait=stage.mean_wait,
        mean_service=stage.mean_service,
        iterations=stage.iterations,
    )


def _pool(pool: PoolResult) -> PoolReport:
    return PoolReport(
        name=pool.name,
        index=None if pool.index < 0 else pool.index,
        mean_used=pool.mean_used,
        mean_cached=pool.mean_cached,
        mean_queue=pool.mean_queue,
        mean_holders=pool.mean_holders,
        mean_wait=pool.mean_wait,
        admissions=pool.admissions,
        evicted_entries=pool.evicted_entries,
        evicted_units=pool.evicted_units,
        preemptions=pool.preemptions,
        spills=pool.spills,
        rejected=pool.rejected,
        stuck=pool.stuck,
    )
