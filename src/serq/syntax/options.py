"""Options in braces: each begins with a word, each is given once.

Input: a cursor before a `{`. Output: what the caller's option parsers keep, the cursor behind the `}`.
Invariants: an option that fails is reported and skipped; a second value of one option is reported with the first.
The reference lets the last of two values win; here both are shown, since one of them was not meant.

Reference: language §2, `poolopt`, `kind`, `wlitem`, `qitem`.
"""

from __future__ import annotations

from collections.abc import Callable

from serq.diagnostics import Label
from serq.syntax.cursor import ListFailure, SyntaxFailure, listed, nearest
from serq.syntax.statements import StatementParser
from serq.syntax.tokens import Token, TokenKind


class OptionParser(StatementParser):
    """The option layer."""

    def _options(
        self,
        owner: Token,
        noun: str,
        known: tuple[str, ...],
        parse: Callable[[Token], None],
        repeatable: tuple[str, ...] = (),
        other: Callable[[Token], bool] | None = None,
    ) -> None:
        """Parse options in braces: each begins with a known word and is given once.

        Parameters
        ----------
        owner : the word or name the braces belong to
        noun : what the options are options of, for messages ("a pool")
        parse : reads one option, whose word is taken by then
        other : reads what begins with another word, if it can, and tells whether it did
        """
        cursor = self.cursor
        opener = cursor.expect("{", f"and the options of `{owner.text}`")
        cursor.enter(opener)
        seen: dict[str, Token] = {}
        while not cursor.at("}"):
            self._hold_to_open(opener, owner, known)
            start, nesting = cursor.index, cursor.nesting
            try:
                word = cursor.token
                if word.kind is not TokenKind.NAME:
                    raise self._no_option(noun, known)
                if other is not None and other(word):
                    continue
                if word.text not in known:
                    raise self._unknown_option(word, noun, known)
                if word.text in seen and word.text not in repeatable:
                    self._duplicate_option(word, seen[word.text], owner, noun)
                seen.setdefault(word.text, word)
                parse(cursor.advance())
            except ListFailure:
                raise
            except SyntaxFailure:
                cursor.nesting = nesting
                self._recover_option(start, known)
        cursor.advance()
        cursor.leave()

    def _recover_option(self, start: int, known: tuple[str, ...]) -> None:
        """Go to the next option."""
        cursor = self.cursor
        if cursor.index == start and not cursor.at_one("{};"):
            cursor.advance()
        cursor.skip_to_end_of(frozenset(known))
        if cursor.at("{"):
            cursor.skip_group()
            cursor.take(";")

    def _no_option(self, noun: str, known: tuple[str, ...]) -> SyntaxFailure:
        """Say that no option begins here."""
        helps = ("leave this `;` out: nothing stands before it that needs one",) if self.cursor.at(";") else ()
        return self.cursor.failure(
            f"expected an option of {noun}",
            "expected an option",
            notes=(f"the options are {listed(known)}",),
            helps=helps,
        )

    def _unknown_option(self, word: Token, noun: str, known: tuple[str, ...]) -> SyntaxFailure:
        """Say that a word is no option, and what was perhaps meant."""
        meant = _OPTION_SYNONYMS.get(word.text)
        near = meant if meant in known else nearest(word.text, known)
        return self.cursor.failure(
            f"{noun} has no option `{word.text}`",
            f"did you mean `{near}`?" if near else "not an option",
            name="unknown-option",
            place=self.cursor.span_of(word),
            notes=(f"the options are {listed(known)}",) if noun != "a queue" else (_QUEUE_NOTE,),
        )

    def _duplicate_option(self, word: Token, first: Token, owner: Token, noun: str) -> None:
        """Report a second value for one option."""
        self.cursor.report(
            f"`{word.text}` is given twice in `{owner.text}`",
            "the second",
            name="duplicate-option",
            place=self.cursor.span_of(word),
            secondary=(Label(self.cursor.span_of(first), "the first"),),
            notes=(f"each option of {noun} has one value",),
            helps=("keep one of them",),
        )

    def _choice(self, word: Token, known: tuple[str, ...], forms: str, subject: str | None = None) -> Token:
        """Take one of a few words after an option's word, or fail and list them.

        Parameters
        ----------
        forms : how the words are written, for messages
        subject : what asks for one of them, when it is not the option's word
        """
        cursor = self.cursor
        if cursor.at_one(known):
            return cursor.advance()
        if cursor.token.kind is not TokenKind.NAME:
            raise cursor.failure(f"expected {forms} after `{word.text}`", "expected one of these words")
        near = nearest(cursor.token.text, known)
        raise cursor.failure(
            f"{subject or f'`{word.text}`'} takes {forms}, not `{cursor.token.text}`",
            f"did you mean `{near}`?" if near else "not one of them",
            name="unknown-choice",
        )


# Options by the names other tools give them.
_OPTION_SYNONYMS = {
    "capacity": "cap",
    "size": "cap",
    "limit": "cap",
    "block_size": "block",
    "eviction": "evict",
    "preemption": "preempt",
    "order": "queue",
    "tokens": "budget",
    "time": "cost",
    "duration": "cost",
    "arrival": "arrive",
    "arrivals": "arrive",
    "until": "horizon",
    "stage": "serve",
}

_QUEUE_NOTE = "a queue has pools, then `serve` and `nic`, then its entries: `VERB (a) from SOURCE { … }`"
