"""serQ's side: a scenario into a program whose sessions are data, and a run of it into an answer.

Input: a scenario and the vLLM release whose rules are wanted. Output: a linked program; of its run, an `Answer`.

The program text (`programs`) says what the scheduler does and is compiled with the scenario's settings; its sessions
are IR nodes (`ir.ExplicitSession`), a turn for each request. Send, first and last token are the program's observes;
admissions, preemptions and steps are the iterations the run kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from msgspec.structs import replace

import serq
from serq import pipeline
from serq.api import Finished, Program
from serq.ir import model as ir
from serq.report import Iteration
from verification.vllm.answer import STEP_COLUMNS, Answer, RequestRow
from verification.vllm.releases import rules_of
from verification.vllm.scenario import PRIORITY, AffineClock, Scenario, Source, sources

PROGRAMS = Path(__file__).resolve().parent / "programs"

Key = tuple[int, int]
"""A request in a run: serial number of its session, `turn_no`."""


def program_for(scenario: Scenario, release: str) -> Path:
    """Give the program that states the rules of a release for a scenario's policy."""
    return PROGRAMS / ("priority.sq" if scenario.config.policy == PRIORITY else "fcfs.sq")


def settings_for(scenario: Scenario, release: str) -> dict[str, float]:
    """Give the `let`s of the program."""
    config, clock = scenario.config, scenario.clock
    settings = {
        "budget": config.budget,
        "seqs": config.max_seqs,
        "bs": config.block_size,
        "blocks": config.usable_blocks,
        "caching": float(config.prefix_caching),
        "chunk_cap": config.chunk,
        "lone_free": float(not rules_of(release).caps_lone_request),
    }
    if isinstance(clock, AffineClock):
        settings |= {"c": clock.c, "d": clock.d, "e": clock.e, "a": clock.a, "b": clock.b, "c0": clock.c0}
    return settings


@lru_cache(maxsize=64)
def _compiled(path: Path, settings: tuple[tuple[str, float], ...]) -> Program:
    """Compile a text with its settings; its own workload is one request, so that it is a program by itself."""
    return serq.load(path, set=dict(settings))


def load(scenario: Scenario, release: str, program: Path | None = None) -> Program:
    """Make the program of a scenario: the text with its settings, and its requests as explicit sessions.

    Parameters
    ----------
    program : another text in place of the harness's own; it needs the same `let`s, observes, pool `kv` and stage
        `engine`
    """
    settings = settings_for(scenario, release)
    base = _compiled(program or program_for(scenario, release), tuple(settings.items()))
    workload = replace(base.ir.workload, arrive=ir.Explicit(sessions=explicit_sessions(sources(scenario))), trace=None)
    compiled = pipeline.Compiled(
        replace(base.ir, workload=workload),
        base.compiled.source_map,
        base.compiled.document,
        base.compiled.constants,
    )
    return Program(compiled, pipeline.link_program(compiled, None), None)


def explicit_sessions(given: Sequence[Source]) -> tuple[ir.ExplicitSession, ...]:
    """Give a session for each source, and a turn for each of its requests."""
    ids = sorted(request.id for source in given for request in source.requests)
    rank = {name: float(place) for place, name in enumerate(ids)}
    return tuple(
        ir.ExplicitSession(
            at=source.start,
            turns=tuple(
                {
                    "prompt": float(request.prompt),
                    "out": float(request.out),
                    "think": request.think,
                    "shared": float(request.shared),
                    "priority": float(source.priority),
                    "rank": rank[request.id],
                    "more": float(number < len(source.requests)),
                }
                for number, request in enumerate(source.requests, 1)
            ),
        )
        for source in given
    )


def names_of(scenario: Scenario) -> dict[Key, str]:
    """Give the request that is turn k of session i."""
    return {
        (serial, turn): request.id
        for serial, source in enumerate(sources(scenario))
        for turn, request in enumerate(source.requests, 1)
    }


def answer(scenario: Scenario, release: str, program: Path | None = None, *, checks: bool = False) -> Answer:
    """Run a scenario and give its answer; `checks` hold the engine's state after every event."""
    return answer_of(simulate(load(scenario, release, program), checks=checks), scenario)


def simulate(program: Program, *, checks: bool = False) -> Finished:
    """Run a program and keep what an answer is read from."""
    return program.simulate(records_samples=True, records_iterations=True, checks=checks)


def _values(finished: Finished, name: str) -> dict[Key, float]:
    """Give the one sample of an observe for each request that has it."""
    samples = finished.samples(name)
    return dict(zip(zip(samples.sessions, samples.turns, strict=True), samples.values, strict=True))


def answer_of(finished: Finished, scenario: Scenario) -> Answer:
    """Read the answer off a finished run."""
    return _Reader(finished, scenario).answer()


@dataclass
class _Track:
    """A request while the iterations are read."""

    row_id: str
    prompt: int
    out: int
    send: float
    first: float | None = None
    done: float | None = None
    first_step: int | None = None
    done_step: int | None = None
    cached: list[int] = field(default_factory=list)
    admitted: list[int] = field(default_factory=list)
    preempted: list[int] = field(default_factory=list)
    admission: int = -1
    position: float = 0.0
    sampled: int = 0

    def row(self) -> RequestRow:
        return RequestRow(
            self.row_id,
            self.send,
            self.prompt,
            self.out,
            self.first,
            self.done,
            self.first_step,
            self.done_step,
            tuple(self.cached),
            tuple(self.admitted),
            tuple(self.preempted),
        )


class _Reader:
    """Reads a run step by step, as the live driver watches the scheduler."""

    def __init__(self, finished: Finished, scenario: Scenario) -> None:
        self.iterations = finished.iterations
        self.block = scenario.config.block_size
        self.c0 = scenario.c0
        sent, first, done = (_values(finished, name) for name in ("sent", "first", "done"))
        self.tracks: dict[Key, _Track] = {}
        for serial, source in enumerate(sources(scenario)):
            for turn, request in enumerate(source.requests, 1):
                key = (serial, turn)
                if key in sent:
                    track = _Track(request.id, request.prompt, request.out, sent[key], first.get(key), done.get(key))
                    self.tracks[key] = track
        self.steps: list[tuple[float, ...]] = []
        self.scheduled: list[dict[str, int]] = []
        self.decoding: dict[Key, _Track] = {}

    def answer(self) -> Answer:
        for number, iteration in enumerate(self.iterations, 1):
            self._read(number, iteration)
        tracks = sorted(self.tracks.values(), key=lambda track: track.send)  # stable: serial order among equals
        arrived = max((track.send + self.c0 for track in tracks), default=0.0)
        last = self.iterations[-1] if self.iterations else None
        return Answer(
            status="ok" if all(track.done is not None for track in tracks) else "stuck",
            steps=len(self.iterations),
            end=max(arrived, 0.0 if last is None else last.start + last.cost),
            preemptions=sum(len(track.preempted) for track in tracks),
            requests=tuple(track.row() for track in tracks),
            step_cols=STEP_COLUMNS,
            step_rows=tuple(self.steps),
            step_sched=tuple(self.scheduled),
        )

    def _read(self, number: int, iteration: Iteration) -> None:
        decoding = self.decoding
        dec_res, kv_res = len(decoding), sum(track.position for track in decoding.values())
        for lost in iteration.preempted:
            track = self.tracks[lost.session, lost.turn]
            track.preempted.append(number)
            decoding.pop((lost.session, lost.turn), None)
        end = iteration.start + iteration.cost
        finished = 0
        freed = 0.0
        kv = 0.0
        batch: dict[str, int] = {}
        for job in iteration.scheduled:
            key = (job.session, job.turn)
            track = self.tracks[key]
            if job.admission != track.admission:
                track.admission = job.admission
                track.cached.append(int(job.position))
                track.admitted.append(number)
            batch[track.row_id] = int(job.tokens)
            kv += job.position if job.is_decode else 0.0
            track.position = job.position + job.tokens
            if job.is_decode or track.position == track.prompt + track.sampled:  # its last known token was computed
                track.sampled += 1
                decoding[key] = track
                if track.sampled == 1:
                    track.first_step = number
                    if track.done is None:  # its program observes it at the end, which never comes
                        track.first = end
            if track.sampled == track.out:
                track.done_step = number
                finished += 1
                freed += job.allocation
                del decoding[key]
        self.scheduled.append(batch)
        values: Mapping[str, float] = {
            "t": iteration.start,
            "tokens": iteration.tokens,
            "dec_res": dec_res,
            "kv_res": kv_res,
            "dec": iteration.decoders,
            "kv": kv,
            "kv_alloc": iteration.kv_decode,
            "prefilled": iteration.prefilled,
            "attention": iteration.attention,
            "running": iteration.residents - finished,
            "waiting": iteration.waiting,
            "free": (iteration.free + freed) / self.block,
        }
        self.steps.append(tuple(values[name] for name in STEP_COLUMNS))
