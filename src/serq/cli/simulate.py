"""What `serq run` does, once its command line is read.

Output: the report on stdout, as text or JSON; notes about the run on stderr; samples under `--dump`. A command that
fails prints no report.
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from serq.cli.output import emit, rendered, say
from serq.records import dataclass, field

if TYPE_CHECKING:
    from serq.report.dump import DumpWriter


@dataclass(slots=True)
class Request:
    """The words of a `serq run`, each checked; None where nothing was said."""

    file: str
    sets: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    form: str = "text"
    seed: int | None = None
    horizon: float | None = None
    warmup: float | None = None
    arrivals: int | None = None
    trace: str | None = None
    as_json: bool = False
    dump: str | None = None
    plain: bool = False
    strict: bool = False


def simulate(request: Request) -> int:
    """Simulate a program and report what it measured."""
    from serq import api
    from serq.cli.progress import ProgressBar

    if request.dump is not None:
        from serq.report.dump import check_dump_directory

        check_dump_directory(request.dump)
    program = api.load(
        request.file,
        set=request.sets,
        definitions=request.definitions,
        horizon=request.horizon,
        warmup=request.warmup,
        arrivals=request.arrivals,
        seed=request.seed,
        trace=request.trace,
    )
    with _dump_writer(request.dump) as writer:
        with ProgressBar(program.horizon, sys.stderr) as progress:
            finished = program.simulate(
                checks=os.environ.get("SERQ_CHECK", "") not in {"", "0"},
                plain=request.plain,
                progress=progress,
                sink=writer,
            )
        report = finished.report
        notes = [note for note in report.notes if note.kind != "constant-zero"]
        if request.strict and report.blocked:
            finished.refuse()
        if writer is not None:
            writer.finish(finished.result)
    say(
        rendered(program.remarks, request.form)
    )  # not before: a run that fails has one document on stderr under `--format json`
    emit(report.to_json() if request.as_json else str(report))
    # under a text report on a terminal the reader has just seen them
    if request.as_json or not sys.stdout.isatty():
        for note in notes:
            say(f"note: {note.message}\n")
    return 0


def _dump_writer(directory: str | None) -> AbstractContextManager[DumpWriter | None]:
    """Give what writes the samples as they come, or None when they go nowhere."""
    if directory is None:
        return nullcontext()
    from serq.report.dump import DumpWriter

    return DumpWriter(directory)
