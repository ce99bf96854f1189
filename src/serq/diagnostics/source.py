"""Where a piece of a program came from: files, spans, and the chain of expansions behind a span.

Input: file names and text. Output: immutable positions every later stage carries along.
Invariant: a span never leaves its file (0 <= start <= end <= len(text)).
"""

from __future__ import annotations

from bisect import bisect_right

from serq.records import dataclass, field, replace


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """One text as it was read.

    Parameters
    ----------
    name : what to call it in messages (a path as the user gave it, or `<text>`)
    text : the whole text
    """

    name: str
    text: str
    line_starts: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        object.__setattr__(self, "line_starts", tuple(starts))

    def line_column(self, offset: int) -> tuple[int, int]:
        """Give the line and column of an offset, both counted from 1."""
        line = bisect_right(self.line_starts, offset) - 1
        return line + 1, offset - self.line_starts[line] + 1

    def line_text(self, line: int) -> str:
        """Give the text of a line counted from 1, without its line ending."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Origin:
    """The expansion that put a node where it is.

    `form` is a finished phrase for a note, such as "in the entry `decode` of queue `D`" or
    "`transfer` here means: run link (…); load Q (…); release P;"; `span` is the place in the user's text that
    was expanded (for a definition: the call), itself possibly inside another expansion (`span.origin`).
    """

    form: str
    span: Span


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one file: offsets `start` to `end` (end excluded), and the expansion it passed through."""

    source: SourceFile
    start: int
    end: int
    origin: Origin | None = None

    def to(self, other: Span) -> Span:
        """Give the span from the start of this one to the end of another in the same file."""
        return replace(self, end=max(self.end, other.end))

    def through(self, origin: Origin) -> Span:
        """Give this span with one more expansion around it (the outermost of its chain)."""
        if self.origin is None:
            return replace(self, origin=origin)
        inner = self.origin
        return replace(self, origin=Origin(inner.form, inner.span.through(origin)))

    @property
    def text(self) -> str:
        """The characters covered."""
        return self.source.text[self.start : self.end]
