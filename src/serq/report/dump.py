"""Samples and gauge paths as CSV files, all of them or none.

Input: what the engine left, recorded with its samples. Output: `DIR/NAME.csv` with `time,session,turn,value` for each
observe, in the order sampled, and `DIR/gauge/NAME.csv` with `time,value` for each gauge, its change points.

Invariants: every file is complete under its own name, because it is written under another and renamed; nothing is
renamed before everything is written; floats read back exactly.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from serq.diagnostics import Diagnostic, ProgramError, error
from serq.engine.results import GaugeResult, ObserveResult, RunResult
from serq.report.numbers import exact


def check_dump_directory(directory: str) -> None:
    """Refuse a directory that cannot be written, before a long run; raises `ProgramError`."""
    if not directory:
        raise ProgramError([_not_writable(directory, "the name is empty")])
    existing = directory
    while not os.path.lexists(existing):
        above = os.path.dirname(existing) or "."
        if above == existing:
            break
        existing = above
    if not os.path.isdir(existing):
        raise ProgramError([_not_writable(directory, f"`{existing}` is not a directory")])
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ProgramError([_not_writable(directory, f"`{existing}` is not writable")])


def write_dump(result: RunResult, directory: str) -> None:
    """Write the samples and gauge paths of a run; `ProgramError` when they cannot be, with nothing left half done."""
    written: list[tuple[str, str]] = []
    try:
        os.makedirs(os.path.join(directory, "gauge") if result.gauges else directory, exist_ok=True)
        for observe in result.observes:
            _write(os.path.join(directory, f"{observe.name}.csv"), _observe_lines(observe), written)
        for gauge in result.gauges:
            _write(os.path.join(directory, "gauge", f"{gauge.name}.csv"), _gauge_lines(gauge), written)
        for temporary, final in written:
            os.replace(temporary, final)
    except OSError as problem:
        raise ProgramError([_not_writable(directory, (problem.strerror or str(problem)).lower())]) from None
    finally:
        for temporary, _ in written:
            with suppress(OSError):  # renamed by now, or never made
                os.unlink(temporary)


def _write(path: str, lines: Iterator[str], written: list[tuple[str, str]]) -> None:
    temporary = f"{path}.{os.getpid()}.part"
    written.append((temporary, path))
    with open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def _observe_lines(observe: ObserveResult) -> Iterator[str]:
    yield "time,session,turn,value\n"
    rows = zip(observe.times, observe.sessions, observe.turns, observe.values, strict=True)
    for time, session, turn, value in rows:
        yield f"{exact(time)},{session},{turn},{exact(value)}\n"


def _gauge_lines(gauge: GaugeResult) -> Iterator[str]:
    yield "time,value\n"
    for time, value in zip(gauge.times, gauge.values, strict=True):
        yield f"{exact(time)},{exact(value)}\n"


def _not_writable(directory: str, reason: str) -> Diagnostic:
    return error("dump-not-writable", f"the samples cannot be written to `{directory}`: {reason}", None)
