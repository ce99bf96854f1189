"""`serq expand FILE`: the kernel program that a program stands for, its sugar written out."""

from __future__ import annotations

import click

from serq.cli.options import file_options
from serq.cli.output import emit


@click.command("expand")
@file_options
def command(
    file: str,
    definitions: tuple[tuple[str, str], ...],
    form: str,
) -> int:
    """Print the kernel program that FILE stands for."""
    from serq import api

    emit(api.expanded(file, definitions=dict(definitions)))
    return 0
