"""`serq check FILE`: link a program, its lints included, without running it."""

from __future__ import annotations

import click

from serq.cli.options import program_options, run_options
from serq.cli.output import emit, rendered, say


@click.command("check")
@program_options
@run_options
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
) -> int:
    """Link the program FILE and report what is wrong with it."""
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
    linked = program.linked
    parts = [
        _count(len(linked.pools), "pool"),
        _count(len(linked.stages), "stage"),
        _count(len(linked.observes), "observe"),
        _count(len(linked.gauges), "gauge"),
    ]
    say(rendered(program.remarks, form))
    emit(f"{file}: links ({', '.join(parts)})\n")
    return 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
