"""The commands, their options and their help, as click reads them.

Input: the arguments. Output: an exit code; what click has to say of a command line goes to stderr.

Invariants: a command's module is imported only when it is run; options are checked before a file is opened.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from serq.cli.output import emit

COMMANDS = {
    "run": "Run a program and report what it measured.",
    "check": "Link a program and report what is wrong with it.",
    "ir": "Print the IR of a program, as JSON.",
    "expand": "Print the kernel program that a program stands for.",
    "explain": "Explain a diagnostic, or list them all.",
}
"""Commands and their one-line help, so that listing them imports none of them."""


class Commands(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names in the order above."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"serq.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command when there is none of the name given."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            ctx.fail(f"no command is named '{args[0]}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from serq.version import version_line

        emit(f"{version_line()}\n")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`serq explain NAME` explains a message, `serq COMMAND --help` a command. The language on one page is "
    "docs/reference/cheatsheet.md of the sources, its reference docs/reference, programs to begin with examples.",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show it.")
def serq() -> None:
    """Compile and simulate LLM serving deployments written in serQ."""


def invoke(arguments: Sequence[str]) -> int:
    """Read one command line, run its command and give its exit code."""
    try:
        # not `serq.main`, which has exit codes of its own for an interrupt and a closed pipe
        with serq.make_context("serq", list(arguments)) as context:
            code = serq.invoke(context)
            return code if isinstance(code, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as problem:
        problem.show(file=sys.stderr)
        return problem.exit_code
