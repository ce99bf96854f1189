"""A small run is over before one notices: what is imported, and how long a process takes."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "tests" / "unit" / "cli" / "small.sq"

SLOW = (
    "argparse",
    "click",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "hashlib",
    "importlib.resources",
    "inspect",
    "json",
    "msgspec",
    "multiprocessing",
    "numpy",
    "rich",
    "tempfile",
    "traceback",
    "typer",
    "uuid",
)
"""Modules that a run has no use for; together they take longer than the run."""

OURS = ("diagnostics.layout", "expand.passes", "ir.read_json", "ir.shapes", "syntax.printer", "workload.traces")
"""Modules of ours that this run has no use for: it has a text, no sugar, no trace and no fault."""


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "SERQ_CHECK"}


@pytest.mark.parametrize("options", [(), ("--json",), ("--seed=3", "--horizon", "100")], ids=" ".join)
def test_a_run_imports_what_it_uses(options: tuple[str, ...]) -> None:
    """Nothing for terminals, tables, digests, other people's programs, suggestions or tracebacks."""
    unwanted = (*SLOW, *(f"serq.{name}" for name in OURS))
    code = (
        "import os, sys; from serq.cli.process import run_process; before = sorted(sys.modules)\n"
        f"def end(code): print(*sorted({set(unwanted)!r} & sys.modules.keys()), '|', *before, file=sys.stderr)\n"
        "os._exit = end; run_process()"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, "run", str(PROGRAM), *options],
        capture_output=True,
        text=True,
        env=environment() | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    loaded, _, before = done.stderr.partition("|")
    assert (done.returncode, loaded.split()) == (0, [])
    assert not {"typing", "re", "serq.records", "serq.cli.main"} & set(before.split()), "the collector rests first"
    assert "sojourn" in done.stdout


def seconds(byte_code: Path, *words: str) -> float:
    """Give the processor time [s] of a command at its fastest, with byte code at hand as in an installation."""
    cached = environment() | {"PYTHONPYCACHEPREFIX": str(byte_code)}
    cached.pop("PYTHONDONTWRITEBYTECODE", None)
    times = []
    for _ in range(6):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "serq", *words], check=True, capture_output=True, env=cached)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


@pytest.mark.parametrize(
    ("words", "at_most"),
    [(("run", str(PROGRAM)), 0.1), (("check", str(ROOT / "examples/multi-turn/vllm.sq")), 0.15)],
    ids=["run", "check"],
)
def test_a_small_command_is_quick(words: tuple[str, ...], at_most: float, tmp_path: Path) -> None:
    """Twice the aim of 0.1 s and 0.15 s, so that a busy machine does not fail the suite."""
    assert seconds(tmp_path, *words) < 2 * at_most
