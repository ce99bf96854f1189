"""The checks: every recorded answer, the same scenarios on a live release, and the replays.

Input: recordings, and for the live checks a running driver. Output: a `Result` each; nothing is left out in silence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median

from verification.vllm import model, recordings, replay
from verification.vllm.answer import Answer
from verification.vllm.compare import differences
from verification.vllm.live import LiveScheduler
from verification.vllm.recordings import Recording
from verification.vllm.releases import Rules, rules_of
from verification.vllm.replay import REPLAYS, Replay
from verification.vllm.scenario import Scenario, why_not_comparable

Say = Callable[[str], None]


@dataclass
class Result:
    """What a check compared.

    Attributes
    ----------
    answers, requests, steps : compared, in all
    exceptions : scenario → why it is not compared
    failures : label → what differs
    """

    answers: int = 0
    requests: int = 0
    steps: int = 0
    exceptions: dict[str, str] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def compare(self, label: str, ours: Answer, theirs: Answer) -> None:
        """Hold one answer against another."""
        self.count(theirs)
        found = differences(ours, theirs)
        if found:
            self.failures[label] = found

    def count(self, theirs: Answer) -> None:
        """Count an answer in."""
        self.answers += 1
        self.requests += len(theirs.requests)
        self.steps += theirs.steps

    def text(self) -> str:
        """Give the figures, the exceptions with their reasons, and what differs."""
        lines = [f"{self.answers} answers, {self.requests} requests, {self.steps} steps compared"]
        lines += [f"not compared: {name}: {reason}" for name, reason in self.exceptions.items()]
        for label, found in self.failures.items():
            lines.append(f"{label}: {len(found)} fields differ")
            lines += [f"    {fact}" for fact in found[:5]]
        lines.append(f"differences: {len(self.failures)}")
        return "\n".join(lines)


def check_recorded(given: Iterable[Recording]) -> Result:
    """Hold serQ against recorded answers; releases with the same rules share a run of serQ."""
    result = Result()
    answers: dict[tuple[str, Rules], Answer] = {}
    for recording in given:
        reason = why_not_comparable(recording.scenario)
        if reason:
            result.exceptions[recording.name] = reason
            continue
        key = (recording.name, rules_of(recording.release))
        if key not in answers:
            program = model.load(recording.scenario, recording.release)
            answers[key], unwatched = model.watched(program, recording.scenario)
            if unwatched:
                result.failures[f"{recording.label}, unwatched"] = unwatched
        result.compare(recording.label, answers[key], recording.answer)
    return result


def check_live(live: LiveScheduler) -> tuple[Result, Result]:
    """Run every recorded scenario on a release: serQ against it, and it against its own recording."""
    of_serq, of_recording = Result(), Result()
    by_name: dict[str, Scenario] = {}
    recorded: dict[str, Answer] = {}
    for path in recordings.files():
        for recording in recordings.read(path):
            by_name[recording.name] = recording.scenario
            if recording.release == live.release:
                recorded[recording.name] = recording.answer
    for name, (scenario, reply) in zip(by_name, live.replies(by_name.values()), strict=True):
        if name in recorded:
            of_recording.compare(name, reply.answer, recorded[name])
        reason = why_not_comparable(scenario)
        if reason:
            of_serq.exceptions[name] = reason
        else:
            of_serq.compare(name, model.answer(scenario, live.release), reply.answer)
    return of_serq, of_recording


def check_recorded_replays(release: str) -> Result:
    """Hold serQ against the recorded replays of a release: every column, and the summary."""
    result = Result()
    for given in REPLAYS:
        found = replay.recorded(given, release)
        if found is None:
            continue
        scenario = given.scenario()
        ours, unwatched = model.watched(model.load(scenario, release), scenario)
        result.count(ours)
        differing = [*unwatched, *replay.differences(ours, *found)]
        if differing:
            result.failures[f"{given.name} ({release})"] = differing
    return result


def check_live_replays(live: LiveScheduler) -> Result:
    """Run the replays on a release: every request and every step."""
    result = Result()
    scenarios = [given.scenario() for given in REPLAYS]
    for given, (scenario, reply) in zip(REPLAYS, live.replies(scenarios), strict=True):
        result.compare(f"{given.name} ({live.release})", model.answer(scenario, live.release), reply.answer)
    return result


@dataclass(frozen=True)
class Speed:
    """How long a replay takes on either side, medians [s].

    Attributes
    ----------
    serq_s : serQ, from a linked program to its report
    serq_whole_s : the same with compiling and linking
    live_s : the driver's run; scheduler_s : of it, vLLM's own calls
    """

    replay: str
    requests: int
    steps: int
    serq_s: float
    serq_whole_s: float
    live_s: float
    scheduler_s: float

    def text(self) -> str:
        """Give the figures and the ratios."""
        return (
            f"{self.replay}: {self.requests} requests, {self.steps} steps\n"
            f"  serQ       {self.serq_s:8.3f} s   {self.steps / self.serq_s:10.0f} steps/s  "
            f"({self.serq_whole_s:.3f} s with compiling and linking)\n"
            f"  scheduler  {self.live_s:8.3f} s   {self.steps / self.live_s:10.0f} steps/s  "
            f"({self.scheduler_s:.3f} s in vLLM's own calls)\n"
            f"  serQ is {self.live_s / self.serq_s:.0f} times as fast as the driven scheduler, "
            f"{self.scheduler_s / self.serq_s:.0f} times as fast as vLLM's calls alone"
        )


def measure_speed(live: LiveScheduler, given: Replay, rounds: int) -> Speed:
    """Time both sides in turn, without a log of steps on either."""
    scenario = given.scenario()
    model.load(scenario, live.release).run()  # both sides have everything imported, and serQ its text read
    serq, whole, driven, scheduler = [], [], [], []
    requests = steps = 0
    for _ in range(rounds):
        began = time.perf_counter()
        program = model.load(scenario, live.release)
        linked = time.perf_counter()
        report = program.run()
        ended = time.perf_counter()
        serq.append(ended - linked)
        whole.append(ended - began)
        reply = live.timed(scenario)
        driven.append(reply.wall_s)
        scheduler.append(reply.scheduler_s)
        requests, steps = len(reply.answer.requests), reply.answer.steps
        if report.stage("engine").iterations != steps:
            raise AssertionError(f"serQ took {report.stage('engine').iterations} steps, the scheduler {steps}")
    return Speed(given.name, requests, steps, median(serq), median(whole), median(driven), median(scheduler))
