"""`serq run FILE`: simulate a program and report what it measured.

Output: the report on stdout, as text or JSON; notes about the run on stderr; samples under `--dump`. A command that
fails prints no report.
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import click

from serq.cli.options import program_options, run_options
from serq.cli.output import emit, rendered, say

if TYPE_CHECKING:
    from serq.report.dump import DumpWriter


@click.command("run")
@program_options
@run_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--dump", metavar="DIR", help="Write every sample and gauge path to CSV files in this directory.")
@click.option("--strict", is_flag=True, help="Fail when the run cannot go on or is stuck, instead of noting it.")
def command(
    file: str,
    sets: tuple[tuple[str, str], ...],
    definitions: tuple[tuple[str, str], ...],
    form: str,
    seed: int | None,
    horizon: float | None,
    warmup: float | None,
    arrivals: int | None,
    trace: str | None,
    as_json: bool,
    dump: str | None,
    strict: bool,
) -> int:
    """Simulate the program FILE (text, IR, or - for stdin) and report what it measured."""
    from serq import api
    from serq.cli.progress import ProgressBar

    if dump is not None:
        from serq.report.dump import check_dump_directory

        check_dump_directory(dump)
    program = api.load(
        file,
        set=dict(sets),
        definitions=dict(definitions),
        horizon=horizon,
        warmup=warmup,
        arrivals=arrivals,
        seed=seed,
        trace=trace,
    )
    with _dump_writer(dump) as writer:
        with ProgressBar(program.horizon, sys.stderr) as progress:
            finished = program.simulate(
                checks=os.environ.get("SERQ_CHECK", "") not in {"", "0"}, progress=progress, sink=writer
            )
        report = finished.report
        notes = [note for note in report.notes if note.kind != "constant-zero"]
        if strict and report.blocked:
            finished.refuse()
        if writer is not None:
            writer.finish(finished.result)
    say(
        rendered(program.remarks, form)
    )  # not before: a run that fails has one document on stderr under `--format json`
    emit(report.to_json() if as_json else str(report))
    # under a text report on a terminal the reader has just seen them
    if as_json or not sys.stdout.isatty():
        for note in notes:
            say(f"note: {note.message}\n")
    return 0


def _dump_writer(directory: str | None) -> AbstractContextManager[DumpWriter | None]:
    """Give what writes the samples as they come, or None when they go nowhere."""
    if directory is None:
        return nullcontext()
    from serq.report.dump import DumpWriter

    return DumpWriter(directory)
