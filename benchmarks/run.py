"""How fast: ratios in one run, against the reference implementation and against another commit of ours.

    python benchmarks/run.py                    every program, against pyserq
    python benchmarks/run.py --against HEAD~1   and against that commit, built beside this one
    python benchmarks/run.py --only mg1 --rounds 7

Rounds alternate between the engines, so that a slow minute of the machine touches all; the least time of each counts.
Nothing here asserts: a ratio is for a person to read, and for the commit that moves it to state.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A program, its settings, how often it is run in each round, and the ratio we aim at (ours over theirs)."""

    name: str
    path: Path
    sets: tuple[str, ...] = ()
    repeats: int = 3
    aim: float | None = None


BENCHMARKS = (
    Benchmark("mg1", HERE / "programs/mg1.sq", aim=1.2),
    Benchmark("ps1000", HERE / "programs/ps1000.sq"),
    Benchmark("replay", ROOT / "examples/replay/vllm_replay.sq", ("spacing=3.5",), repeats=2, aim=1.0),
    Benchmark("decode64", HERE / "programs/decode64.sq", repeats=1),
    Benchmark("evict", HERE / "programs/evict.sq", repeats=1),
)


@dataclass(slots=True)
class Contender:
    """An engine: the module the worker imports, and where it is found when not in this environment."""

    label: str
    module: str
    path: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def time(self, benchmark: Benchmark) -> None:
        """Run one round and keep the least time."""
        environment = dict(os.environ)
        if self.path is not None:
            environment["PYTHONPATH"] = self.path
        command = [sys.executable, str(HERE / "worker.py"), self.module, str(benchmark.path), str(benchmark.repeats)]
        done = subprocess.run([*command, *benchmark.sets], capture_output=True, text=True, env=environment, cwd=HERE)
        if done.returncode != 0:
            raise SystemExit(f"{self.label} failed on {benchmark.name}:\n{done.stderr}")
        least = min(json.loads(done.stdout)["seconds"])
        self.seconds[benchmark.name] = min(self.seconds.get(benchmark.name, least), least)


def build_commit(revision: str, folder: Path) -> str:
    """Install another commit of this repository into a folder; give the folder to import it from."""
    sources, target = folder / "sources", folder / "installed"
    sources.mkdir()
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", revision], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(sources)], input=archive.stdout, check=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*install, "--target", str(target), str(sources)], check=True)
    return str(target)


def main() -> None:
    """Run the benchmarks and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--against", metavar="REV", help="also build and time this commit")
    options.add_argument("--only", metavar="NAME", help="one benchmark")
    options.add_argument("--rounds", type=int, default=3)
    arguments = options.parse_args()
    chosen = [b for b in BENCHMARKS if arguments.only in (None, b.name)]
    if not chosen:
        options.error(f"no benchmark is named {arguments.only}; there are {', '.join(b.name for b in BENCHMARKS)}")
    ours = Contender("serq", "serq")
    others = [Contender("pyserq", "pyserq")]
    with tempfile.TemporaryDirectory() as folder:
        if arguments.against:
            others.append(Contender(arguments.against, "serq", build_commit(arguments.against, Path(folder))))
        for _ in range(arguments.rounds):
            for benchmark in chosen:
                for contender in (ours, *others):
                    contender.time(benchmark)
    print(
        f"{'program':<10} {'serq [s]':>9}"
        + "".join(f" {c.label + ' [s]':>12} {'ratio':>7}" for c in others)
        + "    aim"
    )
    for benchmark in chosen:
        row = f"{benchmark.name:<10} {ours.seconds[benchmark.name]:9.3f}"
        for contender in others:
            ratio = contender.seconds[benchmark.name] / ours.seconds[benchmark.name]
            row += f" {contender.seconds[benchmark.name]:12.3f} {ratio:6.2f}x"
        print(row + (f"  {benchmark.aim:4.1f}x" if benchmark.aim else "      -"))


if __name__ == "__main__":
    main()
