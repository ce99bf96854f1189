"""A `branch` whose guard is a constant that is neither 0 nor 1.

A guard is a test and has two answers. A constant strictly between them reads as a test and was meant as a draw.

Reference: language §3, Branching and Lints.
"""

from __future__ import annotations

from collections.abc import Callable

from serq.diagnostics import Findings, Place, error
from serq.ir import model as ir
from serq.ir.evaluate import NotConstant, Terms, evaluate, number
from serq.ir.walk import bodies


def find_constant_guards(program: ir.Program, findings: Findings, place_of: Callable[[str], Place]) -> None:
    """Report every constant guard other than 0 and 1."""
    for body, path in bodies(program):
        for i, statement in enumerate(body):
            if not isinstance(statement, ir.Branch):
                continue
            here = f"{path}[{i}].guard"
            try:
                value = evaluate(statement.guard, here, Terms())
            except NotConstant:
                continue
            if value in (0.0, 1.0):
                continue
            helps: tuple[str, ...] = ()
            if 0.0 < value < 1.0:
                helps = (f"to draw with probability {number(value)}, write `branch with ({number(value)})`",)
            findings.add(
                error(
                    "constant-guard",
                    f"the guard is always {number(value)}, and a guard is 0 or 1",
                    place_of(here),
                    f"is {number(value)}",
                    notes=("a guard is a test, and a test has two answers",),
                    helps=helps,
                )
            )
