"""Diagnostics as text with carets, for people.

    error[stale-header-read]: `hit` is read at admission but was set before the session queued
      --> vllm.sq:31:34
       |
    28 |   set hit = min(cachedin(kv), hitmax);
       |             ------------------------- reads the pool here, when the session joins the line
    ...
    31 |   hold reqs (1), kv (min(prompt, hit + budget_left(engine))) {
       |                                  ^^^ evaluated when the session is admitted
       |
       = note: the cache may change while the session waits
    help: bind it where it is read

Input: diagnostics. Output: text, sorted by file, offset, name, a blank line between two findings.

Invariants: marks stand under the characters they mean, also behind tabs (shown as four columns) and wide characters; a
line of any length is shown as a window of at most `WINDOW` columns; colour adds nothing that the text does not say.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from serq.diagnostics.diagnostic import Diagnostic, Label, Severity
from serq.diagnostics.layout import expansion_line, expansions, in_order, offsets, where
from serq.diagnostics.source import SourceFile, Span
from serq.records import dataclass

TAB_COLUMNS = 4
WINDOW = 160
"""Columns of a source line shown at most."""
WINDOW_BEFORE = 60
"""Columns kept before the first mark when a line is longer than the window."""

OWN_HEAD = ("at t = ", "replay: ")
"""Notes that bring their own head and are printed without `note:`."""

BOLD, RED, BLUE, GREEN, RESET = "\x1b[1m", "\x1b[1;31m", "\x1b[1;34m", "\x1b[1;32m", "\x1b[0m"


def render_text(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """Draw diagnostics with the lines they are about; "" for none."""
    return "\n".join(_diagnostic(diagnostic, colour) for diagnostic in in_order(diagnostics))


@dataclass(frozen=True, slots=True)
class _Mark:
    """What to draw under one line: columns `start` to `end` of the line's characters, a sign, a label or ""."""

    line: int
    start: int
    end: int
    sign: str
    label: str


def _diagnostic(diagnostic: Diagnostic, colour: bool) -> str:
    """Draw one finding: head, excerpts, notes, helps, the expansion chain, the way to replay."""
    labels = _labels(diagnostic)
    excerpts = _by_source(labels)
    gutter = _gutter_width(excerpts)
    head = f"{diagnostic.severity.value}[{diagnostic.name}]"
    tint = RED if diagnostic.severity is Severity.ERROR else BLUE
    lines = [f"{_paint(head, tint, colour)}{_paint(f': {diagnostic.message}', BOLD, colour)}"]
    primary = diagnostic.primary
    if primary is not None:
        lines.append(f"{' ' * gutter}{_paint('-->', BLUE, colour)} {where(primary.place)}")
    for number, (source, marks) in enumerate(excerpts):
        if number > 0 or primary is None or not isinstance(primary.place, Span):
            lines.append(
                f"{' ' * gutter}{_paint(':::', BLUE, colour)} {source.name}:{marks[0].line}:{marks[0].start + 1}"
            )
        lines.extend(_excerpt(source, marks, gutter, colour))
    for label in diagnostic.secondary:
        if not isinstance(label.place, Span):
            lines.append(f"{' ' * gutter}{_paint(':::', BLUE, colour)} {where(label.place)}: {label.text}")
    lines.extend(_remarks(diagnostic, gutter, colour))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _remarks(diagnostic: Diagnostic, gutter: int, colour: bool) -> list[str]:
    """Draw what stands below the excerpts."""
    bar = f"{' ' * (gutter + 1)}{_paint('=', BLUE, colour)}"
    indent = " " * (gutter + 3)
    replay = [note for note in diagnostic.notes if note.startswith("replay: ")]
    lines: list[str] = []
    for note in diagnostic.notes:
        if note not in replay:
            text = note if note.startswith(OWN_HEAD) else f"note: {note}"
            lines.append(f"{bar} {_continued(text, indent + '      ')}")
    for text in diagnostic.helps:
        lines.append(f"{_paint('help', GREEN, colour)}: {_continued(text, '      ')}")
    place = None if diagnostic.primary is None else diagnostic.primary.place
    lines.extend(f"{bar} {expansion_line(step)}" for step in expansions(place))
    lines.extend(f"{bar} {note}" for note in replay)
    return lines


def _continued(text: str, indent: str) -> str:
    """Indent the lines after the first."""
    return f"\n{indent}".join(text.splitlines())


def _labels(diagnostic: Diagnostic) -> list[tuple[Label, str]]:
    primary = [] if diagnostic.primary is None else [(diagnostic.primary, "^")]
    return primary + [(label, "-") for label in diagnostic.secondary]


def _by_source(labels: list[tuple[Label, str]]) -> list[tuple[SourceFile, list[_Mark]]]:
    """Group the marks by file, the primary's file first; in a file by line, the primary before others on its line."""
    groups: list[tuple[SourceFile, list[_Mark]]] = []
    for label, sign in labels:
        if not isinstance(label.place, Span):
            continue
        source = label.place.source
        marks = next((known for other, known in groups if other is source), None)
        if marks is None:
            marks = []
            groups.append((source, marks))
        marks.extend(_marks(label.place, sign, label.text))
    for _, marks in groups:
        marks.sort(key=lambda mark: mark.line)
    return groups


def _marks(span: Span, sign: str, label: str) -> list[_Mark]:
    """Give the marks of a span: one, or for a span over lines one under its first line and one under its last."""
    source = span.source
    start, end = offsets(span)
    line, column = source.line_column(start)
    last_line, last_column = source.line_column(end)
    if last_line > line and last_column == 1:  # the end is the line feed of the line before
        last_line -= 1
        last_column = len(source.line_text(last_line)) + 1
    if last_line == line:
        return [_Mark(line, column - 1, max(last_column - 1, column), sign, label)]
    last = source.line_text(last_line)
    margin = min(len(last) - len(last.lstrip()), last_column - 1)
    return [
        _Mark(line, column - 1, max(len(source.line_text(line)), column), sign, "from here"),
        _Mark(last_line, margin, max(last_column - 1, margin + 1), sign, label or "to here"),
    ]


def _gutter_width(excerpts: list[tuple[SourceFile, list[_Mark]]]) -> int:
    return max((len(str(mark.line)) for _, marks in excerpts for mark in marks), default=1)


def _excerpt(source: SourceFile, marks: list[_Mark], gutter: int, colour: bool) -> list[str]:
    """Draw the marked lines of one file in order, `...` where lines are left out."""
    empty = f"{' ' * (gutter + 1)}{_paint('|', BLUE, colour)}"
    lines = [empty]
    shown = 0
    for line in sorted({mark.line for mark in marks}):
        if shown and line == shown + 2:  # one line left out takes no more room than the dots
            lines.append(_numbered(source, shown + 1, gutter, colour, 0)[0])
        elif shown and line > shown + 2:
            lines.append("...")
        here = [mark for mark in marks if mark.line == line]
        text, columns = _numbered(source, line, gutter, colour, min(mark.start for mark in here))
        lines.append(text)
        for mark in here:
            start, end = columns.at(mark.start), columns.at(mark.end)
            sign = _paint(mark.sign * max(end - start, 1), RED if mark.sign == "^" else BLUE, colour)
            label = f" {mark.label}" if mark.label else ""
            lines.append(f"{empty} {' ' * start}{sign}{label}")
        shown = line
    lines.append(empty)
    return lines


@dataclass(frozen=True, slots=True)
class _Columns:
    """Display columns of a shown line: `of[i]` is where character i begins, seen through a window."""

    of: tuple[int, ...]
    shift: int
    limit: int

    def at(self, character: int) -> int:
        """Give the column of a character on the page, inside the window; past the end of the line, one step each."""
        last = len(self.of) - 1
        column = self.of[character] if character <= last else self.of[last] + character - last
        return max(0, min(column - self.shift, self.limit))


def _numbered(source: SourceFile, line: int, gutter: int, colour: bool, mark_start: int) -> tuple[str, _Columns]:
    """Give a source line with its number, and the columns of its characters."""
    raw = source.line_text(line)
    shown: list[str] = []
    of = [0]
    for character in raw:
        piece, width = _shown(character, of[-1])
        shown.append(piece)
        of.append(of[-1] + width)
    shift = 0
    if of[-1] > WINDOW:
        first = _first_in_window(of, mark_start)
        shift = of[first] - 1 if first else 0
        last = first
        while last < len(raw) and of[last + 1] - shift < WINDOW:
            last += 1
        text = ("…" if first else "") + "".join(shown[first:last]) + ("…" if last < len(raw) else "")
    else:
        text = "".join(shown)
    number = _paint(f"{line:>{gutter}} |", BLUE, colour)
    return f"{number} {text}", _Columns(tuple(of), shift, WINDOW)


def _first_in_window(of: list[int], mark_start: int) -> int:
    """Give the first character to show of a line longer than the window."""
    wanted = of[min(mark_start, len(of) - 1)] - WINDOW_BEFORE
    return next(index for index, column in enumerate(of) if column >= wanted)


def _shown(character: str, column: int) -> tuple[str, int]:
    """Give how a character is shown and how many columns it takes."""
    if character == "\t":
        width = TAB_COLUMNS - column % TAB_COLUMNS
        return " " * width, width
    if character.isascii():
        return (character, 1) if character.isprintable() else ("\N{REPLACEMENT CHARACTER}", 1)
    category = unicodedata.category(character)
    if category in {"Mn", "Me"}:
        return character, 0
    if category[0] == "C":  # control, format (bidirectional marks), surrogate, unassigned: never sent to a terminal
        return "\N{REPLACEMENT CHARACTER}", 1
    return character, 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _paint(text: str, tint: str, colour: bool) -> str:
    return f"{tint}{text}{RESET}" if colour else text
