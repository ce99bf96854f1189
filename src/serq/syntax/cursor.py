"""Where a parse stands in its tokens: looking ahead, taking what is expected, failing and going on.

Input: the tokens of one file. Output: tokens one by one, spans, findings.
Invariants: one token never gets two findings; a text that was reported by the lexer is not reported again; the
cursor always stands on a token (the last is END, which is never passed).

Style §6: after an error the parse resumes at the next `;` or `}`.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics import Findings, Label, SourceFile, Span, error
from serq.syntax.tokens import Token, TokenKind

# Brackets and braces inside one another. The parser recurses over them, seven Python frames at the most for each, and
# Python gives a program a thousand.
NESTING_LIMIT = 64

_OPENERS = {"(": ")", "[": "]", "{": "}"}
_CLOSERS = frozenset(_OPENERS.values())


class SyntaxFailure(Exception):
    """The construct being parsed is abandoned; the finding is already recorded."""


class ListFailure(SyntaxFailure):
    """The enclosing braces were left open: every statement list up to the top level is abandoned."""


class Cursor:
    """A place in the tokens of one file, shared by the parser's layers."""

    def __init__(self, source: SourceFile, tokens: list[Token], findings: Findings) -> None:
        self.source = source
        self.tokens = tokens
        self.findings = findings
        self.index = 0
        self.nesting = 0
        self._reported_at = -1

    # ------------------------------------------------------------------------------------------- looking

    @property
    def token(self) -> Token:
        """The token the cursor stands on."""
        return self.tokens[self.index]

    def peek(self, ahead: int = 1) -> Token:
        """Give the token `ahead` places on (or back), or END."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    def at(self, text: str) -> bool:
        """Tell whether the cursor stands on this mark or word."""
        return self.is_text(self.token, text)

    def at_one(self, texts: Iterable[str]) -> bool:
        """Tell whether the cursor stands on one of these marks or words."""
        return any(self.at(text) for text in texts)

    def next_is(self, text: str, ahead: int = 1) -> bool:
        """Tell whether the token `ahead` places on is this mark or word."""
        return self.is_text(self.peek(ahead), text)

    def at_name(self, ahead: int = 0) -> bool:
        """Tell whether the token `ahead` places on is a name (any word is one)."""
        return self.peek(ahead).kind is TokenKind.NAME

    @staticmethod
    def is_text(token: Token, text: str) -> bool:
        """Tell whether a token is this mark or word (a string or a number never is)."""
        return token.text == text and token.kind in (TokenKind.NAME, TokenKind.MARK)

    def past_brackets(self, ahead: int) -> int:
        """Give how far ahead the token after a `[…]` group is, when one opens `ahead` places on; else `ahead`."""
        if not self.next_is("[", ahead):
            return ahead
        depth = 0
        while self.peek(ahead).kind is not TokenKind.END:
            token = self.peek(ahead)
            if token.kind is TokenKind.MARK:
                if token.text in _OPENERS:
                    depth += 1
                elif token.text in _CLOSERS:
                    depth -= 1
                elif token.text == ";":
                    return ahead
            ahead += 1
            if depth <= 0:
                return ahead
        return ahead

    def past_reference(self) -> int:
        """Give how far ahead the token after the name here is, with its dots and its index."""
        ahead = 1
        while True:
            if self.next_is(".", ahead) and self.at_name(ahead + 1):
                ahead += 2
            elif (beyond := self.past_brackets(ahead)) != ahead:
                ahead = beyond
            else:
                return ahead

    # -------------------------------------------------------------------------------------------- taking

    def advance(self) -> Token:
        """Take the token here (END stays)."""
        token = self.token
        if token.kind is not TokenKind.END:
            self.index += 1
        return token

    def take(self, text: str) -> bool:
        """Take this mark or word if the cursor stands on it."""
        if self.at(text):
            self.index += 1
            return True
        return False

    def expect(self, text: str, where: str) -> Token:
        """Take this mark or word, or fail: "expected `(` after `hold kv`"."""
        if self.at(text):
            return self.advance()
        raise self.failure(f"expected `{text}` {where}", f"expected `{text}`")

    def expect_name(self, what: str) -> Token:
        """Take a name, or fail: "expected a pool's name after `grow`"."""
        if self.token.kind is TokenKind.NAME:
            return self.advance()
        raise self.failure(f"expected {what}", "expected a name")

    def dotted_name(self, what: str) -> tuple[str, Span]:
        """Take a name that may have dots (`P.kv`), as one string, with its span."""
        first = self.expect_name(what)
        name = first.text
        last = first
        while self.at(".") and self.at_name(1):
            self.advance()
            last = self.advance()
            name += "." + last.text
        return name, self.span_between(first, last)

    def semicolon(self, after: str) -> None:
        """Take the `;` that ends a form; go on without it when what follows is clearly the next form.

        That is so at a line's first token and at a `}`: only the `;` was forgotten, and nothing is skipped.
        """
        if self.take(";"):
            return
        place = self.gap_span()
        failure = self.failure(f"expected `;` after {after}", "expected `;` here", place=place)
        if not (self.token.fresh_line or self.at("}") or self.token.kind is TokenKind.END):
            raise failure

    # ------------------------------------------------------------------------------------------- nesting

    def enter(self, opener: Token) -> None:
        """Go one bracket deeper, its opener just taken; beyond the limit, give it back and fail."""
        if self.nesting >= NESTING_LIMIT:
            self.index -= 1
            raise self.too_deep(opener)
        self.nesting += 1

    def leave(self) -> None:
        """Come one bracket back."""
        self.nesting -= 1

    def too_deep(self, opener: Token) -> SyntaxFailure:
        """Report brackets beyond the limit."""
        return self.failure(
            f"brackets and braces nest deeper than {NESTING_LIMIT}",
            f"number {NESTING_LIMIT + 1} inside one another",
            name="nesting-too-deep",
            place=self.span_of(opener),
            helps=("name a part of it: with `let`, `set`, or a `def`",),
        )

    # -------------------------------------------------------------------------------------------- spans

    def span_of(self, token: Token) -> Span:
        """Give the span of one token; the end of the text points at its last character."""
        if token.kind is TokenKind.END and token.start > 0:
            return Span(self.source, token.start, token.start)
        return Span(self.source, token.start, token.end)

    def span_between(self, first: Token, last: Token) -> Span:
        """Give the span from one token to a later one."""
        return Span(self.source, first.start, max(first.end, last.end))

    def since(self, first: Token) -> Span:
        """Give the span from a token to the one taken last."""
        last = self.tokens[self.index - 1] if self.index else first
        return self.span_between(first, last)

    def gap_span(self) -> Span:
        """Give the empty place right behind the token taken last, where something is missing."""
        end = self.tokens[self.index - 1].end if self.index else 0
        return Span(self.source, end, end)

    # ------------------------------------------------------------------------------------------ findings

    def failure(
        self,
        message: str,
        label: str,
        *,
        name: str = "unexpected-token",
        place: Span | None = None,
        secondary: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        helps: tuple[str, ...] = (),
    ) -> SyntaxFailure:
        """Record a finding at the token here, unless it has one, and give the exception to raise.

        An `unexpected-token` message says what was expected; what was found is added here.
        """
        token = self.token
        # A comment or string that is never closed may have swallowed what is missing at the end.
        swallowed = token.kind is TokenKind.END and self.index > 0 and self.peek(-1).kind is TokenKind.FAULT
        if token.kind is TokenKind.FAULT or swallowed or token.start == self._reported_at:
            self._reported_at = token.start
            return SyntaxFailure()
        self._reported_at = token.start
        if name == "unexpected-token":
            message = f"{message}, found {self.describe(token)}"
        self.report(message, label, name=name, place=place, secondary=secondary, notes=notes, helps=helps)
        return SyntaxFailure()

    def report(
        self,
        message: str,
        label: str,
        *,
        name: str,
        place: Span | None = None,
        secondary: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        helps: tuple[str, ...] = (),
    ) -> None:
        """Record a finding that does not stop the construct being parsed."""
        where = self.span_of(self.token) if place is None else place
        self.findings.add(error(name, message, where, label, secondary=secondary, notes=notes, helps=helps))

    @staticmethod
    def describe(token: Token) -> str:
        """Name a token in a message."""
        if token.kind is TokenKind.END:
            return "the end of the text"
        return f"`{token.text}`" if token.kind is not TokenKind.STRING else f"the string {token.text}"

    # ------------------------------------------------------------------------------------------ recovery

    def skip_group(self) -> None:
        """Take a whole `{…}`, `(…)` or `[…]`, however deep, without looking inside."""
        depth = 0
        while self.token.kind is not TokenKind.END:
            token = self.advance()
            if token.kind is TokenKind.MARK:
                if token.text in _OPENERS:
                    depth += 1
                elif token.text in _CLOSERS:
                    depth -= 1
            if depth <= 0:
                return

    def skip_to_end_of(self, starters: frozenset[str]) -> None:
        """Skip the rest of a failed form.

        Stops behind a `;`, before a `}` or a `{`, at the end, and before a word of `starters` that begins a line.
        """
        while self.token.kind is not TokenKind.END:
            token = self.token
            if token.kind is TokenKind.MARK:
                if token.text in ("{", "}"):
                    return
                if token.text == ";":  # even inside an open bracket: it does not swallow the next form
                    self.advance()
                    return
            elif token.fresh_line and token.text in starters:
                return
            self.advance()


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known word a misspelt one is closest to, if any is close."""
    from difflib import get_close_matches  # only a mistake pays for the import

    matches = get_close_matches(word, sorted(known), n=1, cutoff=0.7)
    return matches[0] if matches else None


def listed(words: Iterable[str]) -> str:
    """Write words out for a message: "`a`, `b` and `c`"."""
    quoted = [f"`{word}`" for word in words]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " and " + quoted[-1]
