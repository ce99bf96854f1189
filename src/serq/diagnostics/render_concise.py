"""Diagnostics as one line each, for editors and CI: `file:line:col: error[name]: message`.

Input: diagnostics. Output: text, sorted by file, offset, name.

`render_message` adds to each line when it happened and how to go on: the message of an exception, which has no carets.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics.diagnostic import Diagnostic
from serq.diagnostics.layout import in_order, where


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """Draw diagnostics one to a line; "" for none."""
    return "".join(f"{_line(diagnostic)}\n" for diagnostic in in_order(diagnostics))


def render_message(diagnostics: Iterable[Diagnostic]) -> str:
    """Draw diagnostics one to a line, below each the moment of a run and its helps; without a line feed at the end."""
    lines: list[str] = []
    for diagnostic in in_order(diagnostics):
        lines.append(_line(diagnostic))
        lines += [f"  {_flat(note)}" for note in diagnostic.notes if note.startswith(("at t = ", "replay: "))]
        lines += [f"  help: {_flat(text)}" for text in diagnostic.helps]
    return "\n".join(lines)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _line(diagnostic: Diagnostic) -> str:
    place = "" if diagnostic.primary is None else f"{where(diagnostic.primary.place)}: "
    message = " ".join(diagnostic.message.splitlines())
    return f"{place}{diagnostic.severity.value}[{diagnostic.name}]: {message}"
