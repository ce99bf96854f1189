"""`serq run FILE`: simulate a program and report what it measured."""

from __future__ import annotations

import click

from serq.cli.options import program_options, run_options
from serq.cli.simulate import Request, simulate


@click.command("run")
@program_options
@run_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--dump", metavar="DIR", help="Write every sample and gauge path to CSV files in this directory.")
@click.option("--plain", is_flag=True, help="Serve resident by resident, without the fast plan: slower, the same run.")
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
    plain: bool,
    strict: bool,
) -> int:
    """Simulate the program FILE (text, IR, or - for stdin) and report what it measured."""
    return simulate(
        Request(
            file,
            dict(sets),
            dict(definitions),
            form,
            seed,
            horizon,
            warmup,
            arrivals,
            trace,
            as_json,
            dump,
            plain,
            strict,
        )
    )
