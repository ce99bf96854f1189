"""`serq explain [NAME]`: the page of a diagnostic, or the list of them all."""

from __future__ import annotations

import click

from serq.cli.output import emit


@click.command("explain")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Explain the diagnostic NAME, or list all diagnostics."""
    from serq.diagnostics import registry

    if name is None:
        names = registry.names()
        width = max((len(known) for known in names), default=0)
        emit("".join(f"{known:<{width}}  {registry.summary(known)}\n" for known in names))
        return
    wanted = name.removeprefix("error[").removeprefix("note[").removesuffix("]")
    page = registry.page(wanted)
    if page is None:
        near = registry.nearest(wanted)
        hint = f"; did you mean {' or '.join(f'`{close}`' for close in near)}?" if near else ""
        raise click.UsageError(f"no diagnostic is named `{wanted}`{hint}\n`serq explain` lists them all")
    emit(page if page.endswith("\n") else f"{page}\n")
