"""Hold the fast plan of the engines against the plain loop, which defines it, on many programs.

    python -m verification.plain --n 2000            random programs of two kinds, and every example
    python -m verification.plain --n 100 DIRECTORY   and every program under a directory

Each is run three times: as it is, with the loop (`--plain`), and as it is with the invariants checked at every event.
Report, samples, gauges and notes must be the same to the last bit.  Exit 1 with the first differences otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import serq
from serq.api import Program

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE_HORIZON = 200.0
NAMED_MAX = 10


def outcome(program: Program, *, plain: bool, checks: bool = False) -> str:
    """Run a program; give everything it left as one text."""
    try:
        finished = program.simulate(records_samples=True, plain=plain, checks=checks)
    except serq.RunFailed as problem:
        return f"{problem} at {problem.time!r} by {problem.session}"
    result = finished.result
    samples = [[o.name, *map(list, (o.values, o.times, o.sessions, o.turns))] for o in result.observes]
    gauges = [[g.name, *map(list, (g.times, g.values))] for g in result.gauges]
    return json.dumps([finished.report.to_json(), samples, gauges])


def programs(count: int, seed: int, directories: list[Path]) -> Iterator[tuple[str, Program]]:
    """Give the programs and what to call them."""
    sys.path.insert(0, str(ROOT / "tests"))  # the generators are the tests'
    from properties.programs import write_program
    from properties.serving import write_serving_program

    for directory in [ROOT / "examples", *directories]:
        for path in sorted(directory.rglob("*.sq")):
            try:
                yield str(path), serq.load(str(path), horizon=EXAMPLE_HORIZON, warmup=EXAMPLE_HORIZON / 10)
            except serq.ProgramError:
                continue  # a library, or a program that is meant to be refused
    for number in range(seed, seed + count):
        write = write_serving_program if number % 2 == 0 else write_program
        yield f"{write.__name__}(Random({number}))", serq.loads(write(Random(number)))


def main() -> int:
    """Run the comparison; give the exit code."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--n", type=int, default=2000, help="random programs (default 2000)")
    options.add_argument("--seed", type=int, default=0, help="of the first of them")
    options.add_argument("directories", nargs="*", type=Path)
    arguments = options.parse_args()
    compared, different = 0, []
    for name, program in programs(arguments.n, arguments.seed, arguments.directories):
        compared += 1
        plain = outcome(program, plain=True)
        if outcome(program, plain=False) != plain or outcome(program, plain=False, checks=True) != plain:
            different.append(name)
    print(f"{compared} programs, {len(different)} of them different with the fast plan")
    for name in different[:NAMED_MAX]:
        print(f"  {name}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
