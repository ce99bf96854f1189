"""serQ's side: a scenario into a program whose sessions are data.

Input: a scenario and the vLLM release whose rules are wanted. Output: a linked program; of its run (`reading`), an
answer.

The program text (`programs`) says what the scheduler does and is compiled with the scenario's settings; its sessions
are IR nodes (`ir.ExplicitSession`), a turn for each request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import serq
from serq import pipeline
from serq.api import Finished, Program
from serq.ir import model as ir
from verification.vllm.answer import Answer
from verification.vllm.reading import Key, answer_of
from verification.vllm.releases import rules_of
from verification.vllm.scenario import PRIORITY, AffineClock, Scenario, Source, sources

PROGRAMS = Path(__file__).resolve().parent / "programs"


def program_for(scenario: Scenario, release: str) -> Path:
    """Give the program that states the rules of a release for a scenario's policy."""
    if scenario.config.policy != PRIORITY:
        return PROGRAMS / "fcfs.sq"
    return PROGRAMS / ("priority_0_33.sq" if rules_of(release).serves_behind_own_victim else "priority.sq")


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


def watched(program: Program, scenario: Scenario, *, checks: bool = False) -> tuple[Answer, list[str]]:
    """Run a program and give its answer, and what is another when nobody watches: a run that keeps no iterations may
    take a shorter way through them (`serq.engine.fast_forward`), and has to come to the same figures and samples.
    """
    finished = simulate(program, checks=checks)
    plain = program.simulate(records_samples=True, checks=checks)
    found = [] if plain.report.to_json() == finished.report.to_json() else ["unwatched, the run has another report"]
    for ours, theirs in zip(finished.result.observes, plain.result.observes, strict=True):
        columns = ("times", "sessions", "turns", "values")
        if any(list(getattr(ours, column)) != list(getattr(theirs, column)) for column in columns):
            found.append(f"unwatched, the run has other samples of `{ours.name}`")
    return answer_of(finished, scenario), found


def answer(scenario: Scenario, release: str, program: Path | None = None, *, checks: bool = False) -> Answer:
    """Run a scenario and give its answer; `checks` hold the engine's state after every event."""
    return answer_of(simulate(load(scenario, release, program), checks=checks), scenario)


def simulate(program: Program, *, checks: bool = False) -> Finished:
    """Run a program and keep what an answer is read from."""
    return program.simulate(records_samples=True, records_iterations=True, checks=checks)
