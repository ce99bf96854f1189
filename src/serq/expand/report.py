"""Where the passes put what they find.

One mistake in an entry or a definition is one finding, however often the text is spliced in: two findings are the same
when their name and their place in the text are, whatever expansions brought them there.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics import Findings, Label, Span, error
from serq.diagnostics.suggest import did_you_mean

__all__ = ["Report", "counted", "did_you_mean", "listed"]


class Report:
    """Findings of the expansion, each mistake once."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self._seen: set[tuple[str, int, int, int]] = set()

    def add(
        self,
        name: str,
        message: str,
        place: Span | None,
        label: str = "",
        *,
        secondary: Iterable[Label] = (),
        notes: Iterable[str] = (),
        helps: Iterable[str] = (),
    ) -> None:
        """Record an error at a place of the text."""
        if place is not None:
            key = (name, id(place.source), place.start, place.end)
            if key in self._seen:
                return
            self._seen.add(key)
        self.findings.add(
            error(name, message, place, label, secondary=tuple(secondary), notes=tuple(notes), helps=tuple(helps))
        )


def listed(words: Iterable[str], joint: str = "and") -> str:
    """Write names out for a message: "`a`, `b` and `c`"."""
    quoted = [f"`{word}`" for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {joint} {quoted[-1]}"


def counted(count: int, noun: str) -> str:
    """Write a count: "1 argument", "2 arguments"."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
