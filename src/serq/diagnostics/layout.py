"""Where a place is on the page: what every renderer needs to know of spans and IR paths.

Input: diagnostics. Output: positions in lines and columns (both from 1), expansion chains, and the order to print in.

Invariants: one place has one position in every format; a mark after the last character points at the end of the last
line that has text, never at an empty line behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from serq.diagnostics.diagnostic import Diagnostic, Path, Place
from serq.diagnostics.source import Span
from serq.records import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A stretch of a file in lines and columns, counted in characters from 1; the end is excluded."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Expansion:
    """One step of the chain behind a span: a phrase, and the form that was expanded."""

    phrase: str
    span: Span


def offsets(span: Span) -> tuple[int, int]:
    """Give the offsets to mark: those of the span, moved to the last text when it lies behind it."""
    text = span.source.text
    if span.start >= len(text.rstrip()):
        end_of_text = len(text.rstrip())
        return end_of_text, end_of_text
    return span.start, max(span.start, min(span.end, len(text)))


def position(span: Span) -> Position:
    """Give the lines and columns of a span."""
    start, end = offsets(span)
    line, column = span.source.line_column(start)
    end_line, end_column = span.source.line_column(end)
    return Position(span.source.name, line, column, end_line, end_column)


def where(place: Place) -> str:
    """Give a place in one line: `file:line:column`, `document at $.path` for IR, an option's name for its value."""
    if isinstance(place, Path):
        return f"{place.document} at {place.text}"
    if place.source.name.startswith("--"):
        return place.source.name
    at = position(place)
    return f"{at.file}:{at.line}:{at.column}"


def expansions(place: Place | None) -> list[Expansion]:
    """Give the chain of expansions behind a place, the innermost first."""
    chain: list[Expansion] = []
    span = place if isinstance(place, Span) else None
    while span is not None and span.origin is not None:
        chain.append(Expansion(span.origin.form, span.origin.span))
        span = span.origin.span
    return chain


def expansion_line(expansion: Expansion) -> str:
    """Word one step of the chain: a phrase that begins with "in" names a body that was called from somewhere."""
    if expansion.phrase.startswith("in "):
        return f"{expansion.phrase}, called at {where(expansion.span)}"
    return expansion.phrase


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort by file, offset (or IR path, its numbers by value), then name; those without a place come first."""
    return sorted(diagnostics, key=_key)


def _key(diagnostic: Diagnostic) -> tuple[str, int, list[tuple[int, str]], str]:
    place = None if diagnostic.primary is None else diagnostic.primary.place
    if place is None:
        return ("", -1, [], diagnostic.name)
    if isinstance(place, Path):
        parts = [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", place.text)]
        return (place.document, 0, parts, diagnostic.name)
    return (place.source.name, place.start, [], diagnostic.name)
