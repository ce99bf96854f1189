"""Time runs of one program in this process: the worker behind `run.py`.

Prints one JSON object: {"seconds": [...], "events": N, "engine": "..."}. Only the run is timed, not the compilation.
The processor's time is taken, not the wall's: other work on the machine then matters less.
"""

from __future__ import annotations

import json
import sys
import time


def time_serq(path: str, sets: dict[str, float], repeats: int) -> dict[str, object]:
    """Time our engine."""
    import serq

    program = serq.load(path, set=sets)
    seconds = []
    report = None
    for _ in range(repeats):
        start = time.process_time()
        report = program.run()
        seconds.append(time.process_time() - start)
    assert report is not None
    return {"seconds": seconds, "events": report.events}


def time_reference(path: str, sets: dict[str, float], repeats: int) -> dict[str, object]:
    """Time the reference implementation."""
    import pyserq

    program = pyserq.compile(path, sets=sets)
    seconds = []
    report = None
    for _ in range(repeats):
        start = time.process_time()
        report = pyserq.run(program)
        seconds.append(time.process_time() - start)
    assert report is not None
    return {"seconds": seconds, "events": report.events}


def main() -> None:
    """`worker.py serq|pyserq FILE REPEATS [name=value]...`"""
    engine, path, repeats, *pairs = sys.argv[1:]
    sets = {name: float(value) for name, value in (pair.split("=") for pair in pairs)}
    timed = time_serq if engine == "serq" else time_reference
    json.dump(timed(path, sets, int(repeats)), sys.stdout)


if __name__ == "__main__":
    main()
