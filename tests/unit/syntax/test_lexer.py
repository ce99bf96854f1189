"""Tokens, their places, and what is no token."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.diagnostics import DiagnosticLimit, Findings, SourceFile
from serq.syntax.lexer import number_value, tokenize
from serq.syntax.tokens import Token, TokenKind


def lex(text: str) -> tuple[list[Token], list[str]]:
    """Give the tokens of a text but the END, and what was found, as `name@offset`."""
    findings = Findings()
    tokens = tokenize(SourceFile("<test>", text), findings)
    assert tokens[-1].kind is TokenKind.END
    return tokens[:-1], [f"{d.name}@{d.primary.place.start}" for d in findings.items]


def texts(text: str) -> list[str]:
    return [token.text for token in lex(text)[0]]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("12", 12.0),
        ("1_000", 1000.0),
        ("1_000_000.25", 1000000.25),
        (".5", 0.5),
        ("5.", 5.0),
        ("1.5e2", 150.0),
        ("2E-3", 0.002),
        ("1e+3", 1000.0),
        ("1.e3", 1000.0),
        ("1_0.5_0", 10.5),
    ],
)
def test_numbers(text: str, value: float) -> None:
    """Digits, one dot, `_` for the eye and an exponent make one number."""
    tokens, found = lex(text)
    assert [token.kind for token in tokens] == [TokenKind.NUMBER]
    assert not found
    assert number_value(tokens[0].text) == value


@pytest.mark.parametrize("text", ["1.2.3", "1..2", "0x10", "1e", "1e5_0", "10ms", "1.foo", "3x", "1e400"])
def test_what_is_no_number_is_one_finding(text: str) -> None:
    """What sticks to a number is reported with it, once, over its whole length."""
    findings = Findings()
    source = SourceFile("<test>", f"a {text} b")
    tokens = tokenize(source, findings)
    assert [d.name for d in findings.items] == ["malformed-number"]
    assert findings.items[0].primary.place.text == text
    assert [token.kind.name for token in tokens] == ["NAME", "NUMBER", "NAME", "END"]


def test_marks_are_taken_longest_first() -> None:
    """`<=` is one mark; `= =` is two."""
    written = "a<=b==c!=d= =e&&f||!g"
    assert texts(written) == ["a", "<=", "b", "==", "c", "!=", "d", "=", "=", "e", "&&", "f", "||", "!", "g"]


def test_a_dot_after_a_bracket_or_name_is_a_mark() -> None:
    """Dots in names are marks of their own, with blanks around them or none."""
    assert texts("P[1].kv D . tok") == ["P", "[", "1", "]", ".", "kv", "D", ".", "tok"]


def test_names_are_of_any_script() -> None:
    """Letters are letters; a superscript digit is none."""
    assert texts("λ é_1 _x") == ["λ", "é_1", "_x"]
    assert lex("x²")[1] == ["unknown-character@1"]


def test_comments_separate_and_mean_nothing() -> None:
    """Both kinds of comments are blanks; block comments do not nest."""
    assert texts("a/* x /* y */b // c\nd") == ["a", "b", "d"]
    assert texts("a /* x */ */ b") == ["a", "*", "/", "b"]


def test_a_byte_order_mark_is_skipped() -> None:
    """Editors put one before the text; it is no part of the program."""
    assert lex("\ufefflet") == (lex("\ufefflet")[0], [])
    assert lex("a\ufeffb")[1] == ["unknown-character@1"]


def test_strings_end_on_their_line() -> None:
    """A missing quotation mark costs one line."""
    tokens, found = lex('use "a b";\nuse "c;\nlet')
    assert [token.text for token in tokens] == ["use", '"a b"', ";", "use", '"c;', "let"]
    assert found == ["unterminated-string@15"]


def test_unclosed_comment() -> None:
    """It is reported where it begins, and the text ends there."""
    tokens, found = lex("a /* b\nc")
    assert [token.kind for token in tokens] == [TokenKind.NAME, TokenKind.FAULT]
    assert found == ["unterminated-comment@2"]


def test_every_odd_character_is_reported() -> None:
    """Lexing goes on behind each; a run of one character is one finding."""
    tokens, found = lex("a @@ b $ c \x00")
    assert [token.text for token in tokens if token.kind is TokenKind.NAME] == ["a", "b", "c"]
    assert found == ["unknown-character@2", "unknown-character@7", "unknown-character@11"]


def test_lookalikes_have_a_proposal() -> None:
    """A typographic minus is answered with the one of the keyboard."""
    findings = Findings()
    tokenize(SourceFile("<test>", "1 − 2"), findings)
    assert findings.items[0].helps == ("write `-`",)


def test_lines_begin_with_fresh_tokens() -> None:
    """A comment between does not hide that a token is the first of its line."""
    tokens, _ = lex("a b\nc /* \n */ d // e\n f")
    assert [token.text for token in tokens if token.fresh_line] == ["a", "c", "d", "f"]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_tokens_cover_a_text_in_order(text: str) -> None:
    """Tokens stand in order, do not overlap, are the text at their place; between them are blanks and comments."""
    source = SourceFile("<test>", text)
    try:
        tokens = tokenize(source, Findings(limit=1000))
    except DiagnosticLimit:  # pragma: no cover - sixty characters have fewer faults
        pytest.fail("limit")
    at = 0
    for token in tokens:
        gap = text[at : token.start]
        assert at <= token.start <= token.end <= len(text)
        assert not gap.strip().strip("\ufeff") or gap.lstrip("\ufeff").lstrip().startswith(("//", "/*"))
        if token.text != "0":  # a malformed number stands as 0
            assert text[token.start : token.end] == token.text
        at = token.end
    assert at == len(text)
