"""What counts as a value of an option: text in, checked values out.

A value that cannot be meant is a `ValueError` whose message completes a usage error. Nothing here needs click, which
a plain `serq run` does without.
"""

from __future__ import annotations

import math
import re

from serq.diagnostics import ProgramError, SourceFile
from serq.syntax import parse_expression

SEED_MAX = 2**53 - 1
"""The IR keeps a seed as a double; above this one number would stand for several."""


def seconds(text: str, *, positive: bool) -> float:
    """Read a finite number of clock units, greater than 0 or at least 0."""
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{text!r} is not finite")
    if number < 0 or (positive and number == 0):
        raise ValueError(f"{text!r} is {'not above 0' if positive else 'negative'}")
    return number


def assignment(text: str) -> tuple[str, str]:
    """Split `NAME=EXPRESSION` at the first `=`; the expression is checked by the parser, its names by the program."""
    name, equals, expression = text.partition("=")
    name, expression = name.strip(), expression.strip()
    if not equals or not expression:
        raise ValueError(f"{text!r} needs the form name=expr")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"{name!r} is not a name")
    try:
        parse_expression(SourceFile(name, expression))
    except ProgramError as problem:
        raise ValueError(f"{expression!r} is not an expression: {problem.diagnostics[0].message}") from None
    return name, expression
