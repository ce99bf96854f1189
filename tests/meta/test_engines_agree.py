"""The compiled engine and the same files interpreted leave the same bytes: report, samples, gauges (invariant I9)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import serq.engine.world

ROOT = Path(__file__).resolve().parents[2]
IS_COMPILED = not str(serq.engine.world.__file__).endswith(".py")

RUNS = {
    "examples/queueing/mg1.sq": ["--set", "law=3", "--horizon", "4000", "--warmup", "100"],
    "examples/queueing/ps.sq": ["--horizon", "3000", "--warmup", "100"],
    "examples/queueing/closed.sq": ["--horizon", "2000", "--warmup", "100"],
    "examples/first/chat.sq": ["--horizon", "100", "--warmup", "10"],
    "examples/multi-turn/vllm_chat.sq": ["--horizon", "60", "--warmup", "5"],
    "examples/multi-turn/replica.sq": ["--horizon", "12", "--warmup", "1"],
    "examples/routing/routing.sq": ["--set", "policy=4", "--horizon", "1500", "--warmup", "100"],
    "examples/pd-disaggregation/llmd_nixl_pull.sq": ["--horizon", "40", "--warmup", "4"],
    "examples/replay/vllm_replay.sq": ["--set", "spacing=2.5", "--horizon", "60"],
    "benchmarks/programs/evict.sq": ["--horizon", "60", "--warmup", "5"],
}
"""Programs and options that keep the interpreted run within seconds; between them every stage kind, growth, preemption,
eviction, leases, flows, routing and every arrival process."""


def outcome(program: str, options: list[str], dump: Path, sources: Path | None) -> dict[str, bytes]:
    """Run one program in a process of its own; give the report and the dumped files."""
    environment = dict(os.environ)
    environment.pop("PYTHONPATH", None)
    if sources is not None:
        environment["PYTHONPATH"] = str(sources)
    command = [sys.executable, "-m", "serq", "run", str(ROOT / program), *options, "--json", "--dump", str(dump)]
    done = subprocess.run(command, capture_output=True, env=environment, cwd=dump.parent, check=True)
    files = {str(path.relative_to(dump)): path.read_bytes() for path in sorted(dump.rglob("*.csv"))}
    return {"report": done.stdout, **files}


@pytest.mark.skipif(not IS_COMPILED, reason="the engine of this environment is not compiled")
@pytest.mark.parametrize("program", RUNS)
def test_both_engines_leave_the_same_bytes(program: str, tmp_path: Path) -> None:
    """Nothing is re-associated, fused or rounded differently by the compiler."""
    compiled = outcome(program, RUNS[program], tmp_path / "compiled", None)
    interpreted = outcome(program, RUNS[program], tmp_path / "interpreted", ROOT / "src")
    assert len(compiled) > 1 or b'"observes": {}' in compiled["report"]
    assert compiled.keys() == interpreted.keys()
    for name, content in compiled.items():
        assert content == interpreted[name], name
