"""Samples and gauge paths as CSV files, all of them or none.

Input: the samples as the run takes them, and what it left. Output: `DIR/NAME.csv` with `time,session,turn,value` for
each observe, in the order sampled, and `DIR/gauge/NAME.csv` with `time,value` for each gauge, its change points.

Invariants: every file is complete under its own name, because it is written under another and renamed; nothing is
renamed before everything is written; floats read back exactly. Samples are written while the run goes on, so that a
dump of any length takes no memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TextIO

from serq.diagnostics import Diagnostic, ProgramError, error
from serq.engine.results import GaugeResult, ObserveResult, RunResult, SampleSink
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


class DumpWriter(SampleSink):
    """Writes samples while a run goes on; leaving it as a context without `finish` removes all it wrote."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.made: list[str] = []  # directories
        self.files: dict[str, TextIO] = {}  # by final path; each open under another name

    def take(self, observe: ObserveResult) -> None:
        """Write the rows of an observe that are not written yet."""
        with self._errors():
            file = self._file(os.path.join(self.directory, f"{observe.name}.csv"), "time,session,turn,value")
            values = observe.values[observe.first_kept :]
            for time, session, turn, value in zip(observe.times, observe.sessions, observe.turns, values, strict=True):
                file.write(f"{exact(time)},{session},{turn},{exact(value)}\n")

    def finish(self, result: RunResult) -> None:
        """Write what the run left, then give every file its name; `ProgramError` when that cannot be."""
        for observe in result.observes:
            self.take(observe)
        with self._errors():
            for gauge in result.gauges:
                file = self._file(os.path.join(self.directory, "gauge", f"{gauge.name}.csv"), "time,value")
                file.writelines(_gauge_lines(gauge))
            self._make_directory(self.directory)
            for file in self.files.values():
                file.close()
            for path, file in self.files.items():
                os.replace(file.name, path)
            self.files.clear()
            self.made.clear()

    def __enter__(self) -> DumpWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self.files.values():
            with suppress(OSError):  # a full disk, or renamed by now
                file.close()
            with suppress(OSError):
                os.unlink(file.name)
        for directory in reversed(self.made):
            with suppress(OSError):  # somebody else has put something there
                os.rmdir(directory)

    def _file(self, path: str, head: str) -> TextIO:
        """Open a file when it is first written to."""
        file = self.files.get(path)
        if file is None:
            self._make_directory(os.path.dirname(path))
            file = open(f"{path}.{os.getpid()}.part", "w", encoding="utf-8", newline="\n")  # noqa: SIM115
            self.files[path] = file
            file.write(f"{head}\n")
        return file

    def _make_directory(self, path: str) -> None:
        if not path or os.path.isdir(path):
            return
        self._make_directory(os.path.dirname(path))
        os.mkdir(path)
        self.made.append(path)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise ProgramError([_not_writable(self.directory, reason)]) from None


def _gauge_lines(gauge: GaugeResult) -> Iterator[str]:
    for time, value in zip(gauge.times, gauge.values, strict=True):
        yield f"{exact(time)},{exact(value)}\n"


def _not_writable(directory: str, reason: str) -> Diagnostic:
    return error("dump-not-writable", f"the samples cannot be written to `{directory}`: {reason}", None)
