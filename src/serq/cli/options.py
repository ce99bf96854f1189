"""The options that several commands share, and what counts as a value for each.

Input: text from the command line. Output: checked values. A value that cannot be meant is a usage error, told before
any file is opened.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from serq.diagnostics import ProgramError, SourceFile
from serq.syntax import parse_expression

SEED_MAX = 2**53 - 1
"""The IR keeps a seed as a double; above this one number would stand for several."""

Command = TypeVar("Command", bound=Callable[..., Any])


class Seconds(click.ParamType[float]):
    """A finite number of clock units, greater than 0 or at least 0."""

    name = "time"

    def __init__(self, positive: bool) -> None:
        self.positive = positive

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not finite", param, ctx)
        if number < 0 or (self.positive and number == 0):
            self.fail(f"{value!r} is {'not above 0' if self.positive else 'negative'}", param, ctx)
        return number


class Assignment(click.ParamType[tuple[str, str]]):
    """`NAME=EXPRESSION`; the expression is checked by the parser, its names later by the program."""

    name = "name=expr"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Split at the first `=`, and see that the right side is one expression."""
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        name, text = name.strip(), text.strip()
        if not equals or not text:
            self.fail(f"{value!r} needs the form name=expr", param, ctx)
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            self.fail(f"{name!r} is not a name", param, ctx)
        try:
            parse_expression(SourceFile(name, text))
        except ProgramError as problem:
            self.fail(f"{text!r} is not an expression: {problem.diagnostics[0].message}", param, ctx)
        return name, text


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
