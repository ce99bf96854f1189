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
    "numpy",
    "argparse",
    "typer",
    "rich",
    "difflib",
    "importlib.resources",
    "traceback",
    "tempfile",
    "multiprocessing",
)
"""Modules that a run has no use for; together they take longer than the run."""


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "SERQ_CHECK"}


def test_a_run_imports_what_it_uses() -> None:
    """Nothing for terminals, tables, suggestions or tracebacks."""
    code = (
        "import sys; from serq.cli.main import main; assert main(['run', sys.argv[1]]) == 0; "
        f"print(*(name for name in {SLOW!r} if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(PROGRAM)],
        capture_output=True,
        text=True,
        env=environment() | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stderr.split()) == (0, [])


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
