"""Scenarios at random against a live release; what differs is shrunk and kept.

Input: a release, how many scenarios, from which seed. Output: a `Tally`; for each difference a file in
``tests/oracle/data/found``, which the test suite runs from then on.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from serq import ProgramError
from verification.vllm import model, recordings
from verification.vllm.answer import Answer
from verification.vllm.compare import differences
from verification.vllm.generate import generate
from verification.vllm.live import DriverProblem, LiveScheduler
from verification.vllm.scenario import PRIORITY, AffineClock, Scenario, why_not_comparable
from verification.vllm.shrink import shrink

FAILURES_MAX = 5
"""So many differences are shrunk; a run that has them stops."""

Say = Callable[[str], None]


@dataclass
class Tally:
    """What was compared.

    Attributes
    ----------
    scenarios, requests, steps, admissions, preemptions : in all
    kinds : scenarios that have a property, by its name
    found : files of the scenarios that differed
    live_s, serq_s, wall_s : time in the driver's runs, in serQ's, and of the whole [s]
    """

    scenarios: int = 0
    requests: int = 0
    steps: int = 0
    admissions: int = 0
    preemptions: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    found: list[Path] = field(default_factory=list)
    live_s: float = 0.0
    serq_s: float = 0.0
    wall_s: float = 0.0

    def count(self, scenario: Scenario, answer: Answer) -> None:
        """Count a scenario in."""
        self.scenarios += 1
        self.requests += len(answer.requests)
        self.steps += answer.steps
        self.admissions += sum(len(row.admitted_step) for row in answer.requests)
        self.preemptions += answer.preemptions
        self.kinds.update(kinds_of(scenario, answer))

    def text(self) -> str:
        """Give the figures in words."""
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(self.kinds.items()))
        return (
            f"{self.scenarios} scenarios, {self.requests} requests, {self.admissions} admissions, "
            f"{self.preemptions} preemptions, {self.steps} steps compared\n"
            f"scenarios with: {kinds}\n"
            f"{self.wall_s:.0f} s, of which serQ {self.serq_s:.0f} s, the scheduler {self.live_s:.0f} s\n"
            f"differences: {len(self.found)}"
        )


def kinds_of(scenario: Scenario, answer: Answer) -> Iterator[str]:
    """Name the properties of a scenario that the figures count."""
    config = scenario.config
    if answer.status == "stuck":
        yield "a request that never ends"
    if answer.preemptions:
        yield "preemptions"
    if any(len(row.preempted_step) > 1 for row in answer.requests):
        yield "a request preempted twice"
    if any(cached for row in answer.requests for cached in row.cached):
        yield "a prefix found"
    if config.chunk:
        yield "a long-prefill cap"
    if config.budget < config.max_seqs:
        yield "a budget below the slots"
    if config.policy == PRIORITY:
        yield "the priority policy"
    if config.prefix_caching:
        yield "prefix caching"
    if isinstance(scenario.clock, AffineClock):
        yield "the affine clock"
    if scenario.sessions:
        yield "sessions"
    if any(turn.forced for session in scenario.sessions for turn in session.turns):
        yield "forced misses"
    starts = [request.arrive for request in scenario.requests] + [session.start for session in scenario.sessions]
    if len(set(starts)) < len(starts):
        yield "equal arrival times"


def differs(scenario: Scenario, release: str, theirs: Answer) -> list[str]:
    """List the differences; a run of serQ that fails is one."""
    try:
        ours, found = model.watched(model.load(scenario, release), scenario)
        return [*found, *differences(ours, theirs)]
    except ProgramError as problem:
        return [str(problem)]


def fuzz(live: LiveScheduler, count: int, seed: int, say: Say, *, keep: Path = recordings.FOUND) -> Tally:
    """Compare `count` scenarios, those of `seed` and on."""
    tally = Tally()
    started = time.perf_counter()
    failed: list[Scenario] = []
    given = map(generate, range(seed, seed + count))
    for scenario, reply in live.replies(given):
        tally.live_s += reply.wall_s
        tally.count(scenario, reply.answer)
        began = time.perf_counter()
        found = differs(scenario, live.release, reply.answer)
        tally.serq_s += time.perf_counter() - began
        if found:
            failed.append(scenario)
            say(f"seed {scenario.seed}: {len(found)} fields differ, the first: {found[0]}")
            if len(failed) >= FAILURES_MAX:
                say(f"{FAILURES_MAX} scenarios differ; the rest is not run")
                break
        if tally.scenarios % 500 == 0:
            say(f"{tally.scenarios} of {count}, {len(failed)} differ, {time.perf_counter() - started:.0f} s")
    live.drain()
    for scenario in failed:
        smallest = shrink(scenario, lambda candidate: _differs_live(candidate, live))
        tally.found.append(save(smallest, live, keep))
        say(f"seed {scenario.seed} shrunk to {tally.found[-1]}")
    tally.wall_s = time.perf_counter() - started
    return tally


def _differs_live(scenario: Scenario, live: LiveScheduler) -> bool:
    if why_not_comparable(scenario):
        return False
    try:
        return bool(differs(scenario, live.release, live.answer(scenario)))
    except DriverProblem:  # one that vLLM cannot run shows nothing
        return False


def save(scenario: Scenario, live: LiveScheduler, folder: Path) -> Path:
    """Keep a scenario and what the release gives for it, for the test suite."""
    name = f"{scenario.config.policy}_{scenario.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_bytes(recordings.document(name, scenario, [(live.release, live.answer(scenario))]))
    return path
