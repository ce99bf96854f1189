"""How fast: ratios in one run, against the reference implementation and against another commit of ours.

    python benchmarks/run.py                    every program, against pyserq
    python benchmarks/run.py --against HEAD~1   and against the wheel of that commit, built beside this one
    python benchmarks/run.py --against last     that commit is the last one (the one before when nothing has changed)
    python benchmarks/run.py --only mg1 --rounds 7
    python benchmarks/run.py --update           writes the table into docs/performance.md

In every round each program is run by each contender once, in processes of their own, the order turned from round to
round, so that a slow minute of the machine touches all. A ratio is taken within a round; the table has the median of
the rounds and their least and greatest. Nothing here asserts: a ratio is for a person to read, and for the commit that
moves it to state.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from contenders import HERE, OURS, REFERENCE, ROOT, Contender, built, last_commit
from page import write_section


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A program, its settings, how often a worker runs it in each round, and the ratio we aim at (theirs over ours)."""

    name: str
    path: Path
    what: str
    aim: float
    pairs: tuple[str, ...] = ()
    repeats: int = 1
    is_process: bool = False

    def time(self, contender: Contender) -> float:
        """Run it by one contender."""
        if self.is_process:
            return contender.time_process(self.path, self.repeats)
        return contender.time(self.path, self.pairs, self.repeats)


PROGRAMS = HERE / "programs"
REPLAY = ROOT / "examples/replay/vllm_replay.sq"
PULL = ROOT / "examples/pd-disaggregation/llmd_nixl_pull.sq"

BENCHMARKS = (
    Benchmark("mg1", PROGRAMS / "mg1.sq", "one server, 400 000 events", 2.5, repeats=5),
    Benchmark("mg1-process", PROGRAMS / "mg1.sq", "the same, from the command line", 1.3, repeats=3, is_process=True),
    Benchmark("decode64", PROGRAMS / "decode64.sq", "64 residents that decode", 80.0),
    Benchmark("replay-3.5", REPLAY, "3 321 recorded requests", 8.0, ("spacing=3.5",), repeats=3),
    Benchmark("replay-2.5", REPLAY, "the same, collapsed", 8.0, ("spacing=2.5",), repeats=3),
    Benchmark("evict", PROGRAMS / "evict.sq", "64 conversations, memory always full", 8.0, repeats=3),
    Benchmark("llmd-pull", PULL, "prefill/decode disaggregation, 10 000 s", 5.0, ("horizon=10000",)),
    Benchmark("ps1000", PROGRAMS / "ps1000.sq", "1 000 jobs share a processor", 1.5, repeats=3),
    Benchmark("fifo100k", PROGRAMS / "fifo100k.sq", "100 000 wait at one server", 1.5),
    Benchmark("storm", PROGRAMS / "storm.sq", "every iteration preempts", 1.0),
)


@dataclass(frozen=True, slots=True)
class Row:
    """Times of one program by round: ours, and by label those of the others."""

    benchmark: Benchmark
    ours: list[float]
    others: dict[str, list[float]]

    def cells(self) -> list[str]:
        """Give the row of the table."""
        cells = [self.benchmark.name, self.benchmark.what, _milliseconds(self.ours)]
        for times in self.others.values():
            ratios = [theirs / ours for theirs, ours in zip(times, self.ours, strict=True)]
            spread = f"{min(ratios):.2f}–{max(ratios):.2f}"
            cells += [_milliseconds(times), f"**{statistics.median(ratios):.2f}** ({spread})"]
        return [*cells, f"{self.benchmark.aim:g}"]


def _milliseconds(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1e3:.0f} ms"


def compare(chosen: list[Benchmark], others: list[Contender], rounds: int) -> list[Row]:
    """Run the rounds."""
    rows = [Row(benchmark, [], {other.label: [] for other in others}) for benchmark in chosen]
    contenders = [OURS, *others]
    for number in range(rounds):
        turn = number % len(contenders)
        for row in rows:
            for contender in contenders[turn:] + contenders[:turn]:
                seconds = row.benchmark.time(contender)
                (row.ours if contender is OURS else row.others[contender.label]).append(seconds)
    return rows


def table(rows: list[Row], others: list[Contender]) -> str:
    """Write the rows as Markdown."""
    head = ["program", "what it is", "serq"]
    for other in others:
        head += [other.label, "ratio (spread)"]
    head.append("aim")
    lines = [head, ["---"] * len(head), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> None:
    """Run the benchmarks and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--against", metavar="REV", help="also build and time this commit; `last` for the last one")
    options.add_argument("--only", metavar="NAME", action="append", help="one benchmark; may be given again")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--update", action="store_true", help="write the table into docs/performance.md")
    arguments = options.parse_args()
    chosen = [b for b in BENCHMARKS if arguments.only is None or b.name in arguments.only]
    if not chosen:
        options.error(f"no such benchmark; there are {', '.join(b.name for b in BENCHMARKS)}")
    others = [REFERENCE]
    with tempfile.TemporaryDirectory() as folder:
        if arguments.against:
            revision = last_commit() if arguments.against == "last" else arguments.against
            others.append(built(revision, Path(folder)))
        rows = compare(chosen, others, arguments.rounds)
    text = table(rows, others)
    print(text)
    if arguments.update:
        machine = f"{arguments.rounds} rounds on {platform.machine()}, Python {platform.python_version()}."
        write_section("bench", f"{text}\n\n{machine}")


if __name__ == "__main__":
    main()
