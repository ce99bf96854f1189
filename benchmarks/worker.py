"""Time runs of one program in this process: the worker behind `run.py` and `scaling.py`.

    worker.py serq|pyserq FILE REPEATS [name=value]... [horizon=T]...

Prints one JSON object: {"seconds": [...], "events": N, "megabytes": M}. Only the run is timed, report included, not the
compilation; what a first run imports is loaded before. The processor's time is taken, not the wall's: other work on the
machine then matters less.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

RUN_OPTIONS = ("horizon", "warmup")


def runner(engine: str, path: str, sets: dict[str, float], options: dict[str, float]) -> Callable[[], Any]:
    """Compile a program and give what runs it."""
    if engine == "serq":
        import serq
        import serq.engine.assemble
        import serq.report  # else loaded by the first run

        return serq.load(path, set=sets, **options).run
    import pyserq

    program = pyserq.compile(path, sets=sets, **options)
    return lambda: pyserq.run(program)


def main() -> None:
    """Run, time, print."""
    engine, path, repeats, *pairs = sys.argv[1:]
    given = {name: float(value) for name, value in (pair.split("=") for pair in pairs)}
    options = {name: given.pop(name) for name in RUN_OPTIONS if name in given}
    run = runner(engine, path, given, options)
    seconds = []
    report = None
    for _ in range(int(repeats)):
        report = None
        start = time.process_time()
        report = run()
        seconds.append(time.process_time() - start)
    assert report is not None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    json.dump({"seconds": seconds, "events": report.events, "megabytes": peak}, sys.stdout)


if __name__ == "__main__":
    main()
