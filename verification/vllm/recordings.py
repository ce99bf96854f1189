"""The recorded answers: scenarios of the recorder's three files, and of the fuzz, each with what each release gave.

Input: a JSON document (gzipped or not) of the form ``{"scenarios": {name: {"input", "expected": [{"vllm",
"result"}]}}}``. Output: a `Recording` for every answer and release.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from verification.vllm import answer as answers
from verification.vllm import scenario as scenarios
from verification.vllm.answer import Answer
from verification.vllm.environment import ROOT
from verification.vllm.scenario import Scenario

FOLDER = ROOT / "tests" / "oracle" / "data"
SCENARIOS = ("hand.json", "minimal.json", "random.json.gz")
FOUND = FOLDER / "found"
"""What the fuzz found, shrunk: each a scenario that once was answered differently."""


class Recording(msgspec.Struct, frozen=True):
    """What one release gave for one scenario."""

    name: str
    scenario: Scenario
    release: str
    answer: Answer

    @property
    def label(self) -> str:
        """The scenario and the release, for messages."""
        return f"{self.name} ({self.release})"


def files() -> list[Path]:
    """Give the files of recorded scenarios, those a fuzz run left among them."""
    return [*(FOLDER / name for name in SCENARIOS), *sorted(FOUND.glob("*.json"))]


def read(path: Path) -> Iterator[Recording]:
    """Give every answer of a file, once for each release that gave it."""
    raw = path.read_bytes()
    document: Mapping[str, Any] = msgspec.json.decode(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    for name, entry in document["scenarios"].items():
        scenario = scenarios.from_builtins(entry["input"])
        for expected in entry["expected"]:
            answer = answers.from_builtins(expected["result"])
            for release in expected["vllm"]:
                yield Recording(name, scenario, release, answer)


def document(name: str, scenario: Scenario, given: Iterable[tuple[str, Answer]]) -> bytes:
    """Write a file with one scenario, its input and each answer a line; releases that gave the same answer share it."""
    expected: list[tuple[list[str], Answer]] = []
    for release, answer in given:
        for releases, other in expected:
            if other == answer:
                releases.append(release)
                break
        else:
            expected.append(([release], answer))
    answers_text = ",\n  ".join(msgspec.json.encode({"vllm": r, "result": a}).decode() for r, a in expected)
    head = f'{{"scenarios": {{"{name}": {{\n "input": {scenarios.encode(scenario)},\n "expected": [\n  '
    return f"{head}{answers_text}\n ]}}}}}}\n".encode()
