"""`serq ir FILE`: the IR of a program, the definition of what it is, as JSON."""

from __future__ import annotations

import click

from serq.cli.options import program_options, run_options
from serq.cli.output import emit


@click.command("ir")
@program_options
@run_options
@click.option("--inline-trace", is_flag=True, help="Put the rows of the trace into the IR, in place of its path.")
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
    inline_trace: bool,
) -> int:
    """Print the IR of the program FILE."""
    from serq import api

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
    emit(program.to_json(inline_trace=inline_trace))
    return 0
