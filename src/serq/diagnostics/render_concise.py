"""Diagnostics as one line each, for editors and CI: `file:line:col: error[name]: message`.

Input: diagnostics. Output: text, sorted by file, offset, name.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics.diagnostic import Diagnostic
from serq.diagnostics.layout import in_order, where


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """Draw diagnostics one to a line; "" for none."""
    return "".join(f"{_line(diagnostic)}\n" for diagnostic in in_order(diagnostics))


def _line(diagnostic: Diagnostic) -> str:
    place = "" if diagnostic.primary is None else f"{where(diagnostic.primary.place)}: "
    message = " ".join(diagnostic.message.splitlines())
    return f"{place}{diagnostic.severity.value}[{diagnostic.name}]: {message}"
