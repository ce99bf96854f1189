"""Programs that link and were surely not meant: one lint per module.

Input: a program that may have other faults. Output: findings; a lint is an error, since no sound program earns one.
What a sound program may earn is a remark, a note about a program that links.
Reference: language §3, Lints; notes §11.
"""

from __future__ import annotations

from collections.abc import Callable

from serq.diagnostics import Findings, Place
from serq.ir import model as ir
from serq.lint.guard import find_constant_guards
from serq.lint.remarks import find_remarks
from serq.lint.stale_header_read import find_stale_header_reads

__all__ = ["LINTS", "find_lints", "find_remarks"]

Lint = Callable[[ir.Program, Findings, Callable[[str], Place]], None]

LINTS: tuple[Lint, ...] = (find_constant_guards, find_stale_header_reads)


def find_lints(program: ir.Program, findings: Findings, place_of: Callable[[str], Place]) -> None:
    """Hear every lint about a program."""
    for lint in LINTS:
        lint(program, findings, place_of)
