"""Text to tokens.

Input: one `SourceFile`. Output: its tokens, the last of kind END. Every stretch that is no token is reported with
its place, leaves a FAULT token (so that the parser neither trips over it nor reports it again), and lexing goes on.
Invariant: tokens stand in the order of the text, do not overlap, and skip only blanks and comments.

A number is digits, at most one dot (which may come first or last), `_` between digits for the eye, and an exponent.
A name begins with a letter or `_`, in any script. Strings have no escapes and end on their line.

Reference: language §2; notes §1.
"""

from __future__ import annotations

import math
import re

from serq.diagnostics import Findings, SourceFile, Span, error
from serq.syntax.tokens import MARKS, Token, TokenKind

_BLANKS = re.compile(r"\s+")
_NUMBER = re.compile(r"(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?")
# What sticks to a number and makes neither it nor a token of its own: `1.2.3`, `0x10`, `1e`, `10ms`.
_STUCK = re.compile(r"[\w.]+")
_MARKS = frozenset(MARKS)

# Characters that word processors put in place of the one meant.
_LOOKALIKES = {
    "−": "-",
    "–": "-",
    "—": "-",
    "×": "*",
    "·": "*",
    "÷": "/",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "“": '"',
    "”": '"',
    "„": '"',
    "‘": '"',
    "’": '"',
    "'": '"',
    "；": ";",
    "，": ",",
    "（": "(",
    "）": ")",
    "：": ":",
    "&": "&&",
    "|": "||",
    "#": "//",
}


def number_value(text: str) -> float:
    """Give the value of a number token (`1_000` is 1000; `5.` and `.5` are numbers)."""
    return float(text.replace("_", ""))


def tokenize(source: SourceFile, findings: Findings) -> list[Token]:
    """Split a text into tokens and report what is none."""
    return _Lexer(source, findings).run()


class _Lexer:
    """The state of one pass over one text."""

    def __init__(self, source: SourceFile, findings: Findings) -> None:
        self.source = source
        self.text = source.text
        self.findings = findings
        self.tokens: list[Token] = []
        self.at = 0

    def run(self) -> list[Token]:
        """Go through the whole text."""
        text, end = self.text, len(self.text)
        if text.startswith("\ufeff"):  # a byte order mark says nothing about the program
            self.at = 1
        while self.at < end:
            if blank := _BLANKS.match(text, self.at):
                self.at = blank.end()
            elif text.startswith("//", self.at):
                line_end = text.find("\n", self.at)
                self.at = end if line_end < 0 else line_end
            elif text.startswith("/*", self.at):
                self._block_comment()
            else:
                self._token(text[self.at])
        self._add(TokenKind.END, end, end)
        return self.tokens

    def _token(self, character: str) -> None:
        """Take the one token, or the one stretch that is no token, that begins here."""
        if character in "0123456789." and (number := _NUMBER.match(self.text, self.at)):
            self._number(number.end())
        elif character.isidentifier():
            end = self.at + 1
            while end < len(self.text) and ("_" + self.text[end]).isidentifier():
                end += 1
            self._add(TokenKind.NAME, self.at, end)
        elif (mark := self.text[self.at : self.at + 2]) in _MARKS or (mark := character) in _MARKS:
            self._add(TokenKind.MARK, self.at, self.at + len(mark))
        elif character == '"':
            self._string()
        else:
            self._unknown()

    def _number(self, end: int) -> None:
        """Take a number, with whatever sticks to it and makes it none."""
        # A name may follow a dot (`s[1].kv` has no number there), so only `5.` and `.5` reach this with a dot.
        stuck = _STUCK.match(self.text, end)
        stop = stuck.end() if stuck else end
        text = self.text[self.at : stop]
        start = self.at
        self._add(TokenKind.NUMBER, start, stop)
        if stuck:
            self.findings.add(
                error(
                    "malformed-number",
                    f"`{text}` is not a number",
                    self._span(start, stop),
                    f"the number ends after `{self.text[start:end]}`",
                    notes=("a number is digits, `_` for the eye, at most one dot, an exponent: `1_000`, `2.5e-3`",),
                )
            )
            self.tokens[-1] = Token(TokenKind.NUMBER, "0", start, stop, self.tokens[-1].fresh_line)
        elif math.isinf(number_value(text)):
            self.findings.add(
                error(
                    "malformed-number",
                    f"`{text}` is larger than any number the language has",
                    self._span(start, stop),
                    "above 1.8e308",
                    helps=("write `inf` for no limit",),
                )
            )

    def _string(self) -> None:
        """Take a string: everything up to the next `"` on the same line."""
        start = self.at
        line_end = self.text.find("\n", start)
        line_end = len(self.text) if line_end < 0 else line_end
        close = self.text.find('"', start + 1, line_end)
        if close >= 0:
            self._add(TokenKind.STRING, start, close + 1)
            return
        self.findings.add(
            error(
                "unterminated-string",
                "a string does not end on its line",
                self._span(start, start + 1),
                "begins here",
                helps=('end it with `"`',),
            )
        )
        self._add(TokenKind.FAULT, start, line_end)

    def _block_comment(self) -> None:
        """Skip a `/* … */`; they do not nest."""
        start = self.at
        close = self.text.find("*/", start + 2)
        if close >= 0:
            self.at = close + 2
            return
        self.findings.add(
            error(
                "unterminated-comment",
                "a comment is never closed",
                self._span(start, start + 2),
                "begins here",
                notes=("everything below it is comment",),
                helps=("close it with `*/`",),
            )
        )
        self._add(TokenKind.FAULT, start, len(self.text))

    def _unknown(self) -> None:
        """Report a run of one unknown character as one finding."""
        start = self.at
        character = self.text[start]
        end = start + 1
        while end < len(self.text) and self.text[end] == character:
            end += 1
        shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
        meant = _LOOKALIKES.get(character)
        self.findings.add(
            error(
                "unknown-character",
                f"no word or mark of the language has {shown}",
                self._span(start, end),
                "not a token",
                helps=(f"write `{meant}`",) if meant else (),
            )
        )
        self._add(TokenKind.FAULT, start, end)

    def _add(self, kind: TokenKind, start: int, end: int) -> None:
        """Append a token and go past it."""
        last_end = self.tokens[-1].end if self.tokens else 0
        fresh = not self.tokens or self.text.find("\n", last_end, start) >= 0
        self.tokens.append(Token(kind, self.text[start:end], start, end, fresh))
        self.at = end

    def _span(self, start: int, end: int) -> Span:
        """Give the span of two offsets."""
        return Span(self.source, start, end)
