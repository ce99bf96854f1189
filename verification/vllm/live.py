"""The live side: a process that runs one release of vLLM's scheduler and answers scenarios.

Input: an environment and a release. Output: answers, in the order asked. The process starts once (its imports take some
ten seconds) and serves any number of scenarios.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from verification.vllm import answer as answers
from verification.vllm.answer import Answer
from verification.vllm.environment import ROOT, Environment
from verification.vllm.scenario import Scenario

AHEAD_BYTES = 32_768
"""Of questions that are not answered yet: what a pipe takes while the driver is busy with a reply."""


class DriverProblem(Exception):
    """The driver ended, or vLLM raised while it ran a scenario; the message is its traceback."""


class Timed(msgspec.Struct, frozen=True):
    """An answer, how long the run took, and how much of that was spent in vLLM's own calls [s]."""

    answer: Answer
    wall_s: float
    scheduler_s: float


class LiveScheduler:
    """A driver process; use it in a `with`."""

    def __init__(self, environment: Environment, release: str) -> None:
        environment.require(release)
        self.release = release
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        path = os.pathsep.join(map(str, [environment.sources(release), ROOT]))
        self._process = subprocess.Popen(
            [str(environment.python), "-m", "verification.vllm.driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0"},
            cwd=Path(tempfile.gettempdir()),
        )
        self._is_up = False
        self._ahead: deque[tuple[Scenario, int]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        if kind is not None:
            self._process.terminate()
        self._process.stdout.close()
        self._process.wait()
        self._log.close()

    def answer(self, scenario: Scenario) -> Answer:
        """Run one scenario."""
        [(_, reply)] = self.replies([scenario])
        return reply.answer

    def replies(self, scenarios: Iterable[Scenario]) -> Iterator[tuple[Scenario, Timed]]:
        """Run scenarios; the driver works ahead while an answer is looked at."""
        for scenario in scenarios:
            question = msgspec.json.encode({"scenario": scenario})
            while self._ahead and sum(size for _, size in self._ahead) + len(question) > AHEAD_BYTES:
                yield self._next()
            self._ask(question)
            self._ahead.append((scenario, len(question)))
        while self._ahead:
            yield self._next()

    def drain(self) -> None:
        """Forget the scenarios that were sent ahead and whose answers nobody wants any more."""
        while self._ahead:
            self._next()

    def _next(self) -> tuple[Scenario, Timed]:
        scenario, _ = self._ahead.popleft()
        return scenario, self._reply()

    def timed(self, scenario: Scenario) -> Timed:
        """Run one scenario without a log of its steps, and time it."""
        self._ask(msgspec.json.encode({"scenario": scenario, "keeps_steps": False}))
        return self._reply()

    def _ask(self, question: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(question + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._problem() from None

    def _reply(self) -> Timed:
        if not self._is_up:
            self._check_release(self._line())
        reply = self._line()
        if "error" in reply:
            raise DriverProblem(str(reply["error"]))
        return Timed(answers.from_builtins(reply["answer"]), reply["wall_s"], reply["scheduler_s"])

    def _check_release(self, greeting: dict[str, Any]) -> None:
        found = str(greeting["release"])
        if not found.startswith(self.release):
            raise DriverProblem(f"the sources of {self.release} call themselves {found}")
        self._is_up = True

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._problem()
        reply: dict[str, Any] = msgspec.json.decode(line)
        return reply

    def _problem(self) -> DriverProblem:
        self._process.wait()
        self._log.seek(0)
        return DriverProblem(self._log.read().decode(errors="replace")[-4000:])
