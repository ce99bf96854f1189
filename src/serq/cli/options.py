"""The options that several commands share, and what counts as a value for each.

Input: text from the command line. Output: checked values. A value that cannot be meant is a usage error, told before
any file is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from serq.cli.values import SEED_MAX, assignment, seconds

Command = TypeVar("Command", bound=Callable[..., Any])


class Seconds(click.ParamType[float]):
    """A finite number of clock units, greater than 0 or at least 0."""

    name = "time"

    def __init__(self, positive: bool) -> None:
        self.positive = positive

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        try:
            return seconds(str(value), positive=self.positive)
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


class Assignment(click.ParamType[tuple[str, str]]):
    """`NAME=EXPRESSION`."""

    name = "name=expr"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Read both sides."""
        if isinstance(value, tuple):
            return value
        try:
            return assignment(str(value))
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


def file_options(command: Command) -> Command:
    """Add FILE, the definitions to replace, and how diagnostics are written."""
    return _with(
        command,
        click.argument("file"),
        click.option(
            "--def",
            "definitions",
            type=Assignment(),
            multiple=True,
            help="Give a `def NAME(…) = …` of the program another expression.",
        ),
        click.option(
            "--format",
            "form",
            type=click.Choice(["text", "concise", "json"]),
            default="text",
            help="How diagnostics are written, on stderr.",
        ),
    )


def program_options(command: Command) -> Command:
    """Add FILE and the options that say what the program is."""
    set_option = click.option(
        "--set", "sets", type=Assignment(), multiple=True, help="Give a `let` of the program another value."
    )
    return _with(command, file_options, set_option)


def run_options(command: Command) -> Command:
    """Add the options that stand in place of the program's run block and trace."""
    return _with(
        command,
        click.option("--seed", type=click.IntRange(0, SEED_MAX), help="Seed of the random streams."),
        click.option("--horizon", type=Seconds(positive=True), help="When the run stops at the latest."),
        click.option("--warmup", type=Seconds(positive=False), help="From when on it is measured."),
        click.option("--arrivals", type=click.IntRange(1, SEED_MAX), help="How many sessions arrive, and are drained."),
        click.option("--trace", metavar="FILE", help="Replay this trace in place of the program's."),
    )


def _with(command: Command, *decorators: Callable[[Command], Command]) -> Command:
    for decorator in reversed(decorators):
        command = decorator(command)
    return command
