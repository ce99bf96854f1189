"""grammar.txt, the parser's docstrings and the language's words say the same."""

import ast
import re
from importlib import resources
from pathlib import Path

import serq.syntax
from serq.syntax.tokens import MARKS, WORDS
from serq.syntax.vocabulary import DISTRIBUTIONS

PRODUCTION = re.compile(r"^[ ]*([a-z]+(?: [a-z]+)?) = (.*?) ;$", re.MULTILINE | re.DOTALL)
LAYERS = ("expressions", "statements", "options", "resources", "queues", "parser")


def productions(text: str) -> list[tuple[str, str]]:
    """Give the productions in a text, with their blanks made even."""
    return [(name, " ".join(body.split())) for name, body in PRODUCTION.findall(text)]


def grammar() -> str:
    """Give the grammar without its comments."""
    text = resources.files(serq.syntax).joinpath("grammar.txt").read_text(encoding="utf-8")
    return re.sub(r"\(\* .*? \*\)", "", text, flags=re.DOTALL)


def layer_trees() -> list[ast.Module]:
    folder = Path(serq.syntax.__file__).parent
    return [ast.parse((folder / f"{layer}.py").read_text(encoding="utf-8")) for layer in LAYERS]


def quoted() -> list[tuple[str, str]]:
    """Give the productions quoted in the parser's docstrings."""
    found = []
    for tree in layer_trees():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                found += productions(ast.get_docstring(function) or "")
    return found


def test_every_production_is_quoted_once_and_as_it_stands() -> None:
    """The grammar and the docstrings hold the same productions."""
    assert sorted(quoted()) == sorted(productions(grammar()))


def test_productions_are_found() -> None:
    """The comparison above compares something: each `=` at a line's beginning in the grammar was read."""
    heads = re.findall(r"^[a-z][a-z ]* = ", grammar(), re.MULTILINE)
    assert len(productions(grammar())) == len(heads) > 60


def test_every_name_in_the_grammar_is_produced() -> None:
    """No production names one that is not there; tokens are the only primitives."""
    rules = dict(productions(grammar()))
    used = set()
    for body in rules.values():
        bare = re.sub(r'"[^"]*"', "", body)
        used |= {" ".join(part.split()) for part in re.split(r"[|,\[\]{}()]", bare) if part.strip()}
    assert used - set(rules) == {"name", "number", "string"}
    assert set(rules) - used == {"program"}


def test_the_literals_are_the_words_and_marks() -> None:
    """What stands in quotes in the grammar is what `tokens` knows."""
    literals = {literal for _, body in productions(grammar()) for literal in re.findall(r'"([^"]+)"', body)}
    assert {literal for literal in literals if literal.isidentifier()} == WORDS | set(DISTRIBUTIONS)
    assert {literal for literal in literals if not literal.isidentifier()} == set(MARKS)


def test_the_parser_asks_for_known_words_only() -> None:
    """Every text the parser compares a token with is a word or a mark of the language."""
    asked = set()
    for tree in layer_trees():
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                name = call.func.attr
                if name in ("at", "take", "expect", "next_is", "at_one"):
                    asked |= {part.value for part in ast.walk(call.args[0]) if isinstance(part, ast.Constant)}
    assert asked - {"{};"} <= WORDS | set(MARKS)
    assert asked > {"on", "pull", "growing", "latency", "(", "?"}
