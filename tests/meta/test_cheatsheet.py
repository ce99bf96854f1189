"""The page of everything has everything: whoever adds a word adds its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from serq.syntax.tokens import WORDS
from serq.syntax.vocabulary import (
    BUILTIN_ATTRIBUTES,
    CONTEXT_VARIABLES,
    DISTRIBUTIONS,
    FUNCTIONS,
    MEMBER_FUNCTIONS,
    SUPPLIED,
    TRACE_ATTRIBUTES,
)

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/cheatsheet.md"
TEXT = PAGE.read_text(encoding="utf-8")
CODE = " ".join(re.findall(r"`([^`]+)`", TEXT))
"""What stands as code: a word in a sentence about something else does not count."""


@pytest.mark.parametrize("word", sorted(WORDS | SUPPLIED | {*BUILTIN_ATTRIBUTES, *TRACE_ATTRIBUTES}))
def test_every_word_is_there(word: str) -> None:
    """Words of the grammar, names the language supplies."""
    assert re.search(rf"(?<![\w]){word}(?![\w])", CODE)


@pytest.mark.parametrize(("name", "arity"), sorted((FUNCTIONS | MEMBER_FUNCTIONS).items()))
def test_every_function_is_there_with_its_arguments(name: str, arity: int) -> None:
    """Functions of numbers and observables."""
    assert arity in [len(given.split(",")) for given in re.findall(rf"(?<![\w~]){name}\(([^)]+)\)", CODE)]


@pytest.mark.parametrize(("name", "arity"), sorted(DISTRIBUTIONS.items()))
def test_every_distribution_is_there_with_its_parameters(name: str, arity: int) -> None:
    """With the tilde that draws."""
    assert [len(given.split(",")) for given in re.findall(rf"~{name}\(([^)]+)\)", CODE)] == [arity]


def test_a_context_variable_stands_where_messages_say() -> None:
    """Each row's places are those the linker words."""
    rows = dict(re.findall(r"^\| ((?:`\w+` ?)+)\| (.*) \|$", TEXT[TEXT.index("| context variable") :], re.MULTILINE))
    places = {name: where for names, where in rows.items() for name in re.findall(r"\w+", names)}
    assert {*CONTEXT_VARIABLES} <= {*places}
    for name, phrase in CONTEXT_VARIABLES.items():
        for word in re.findall(r"`(\w+ by)`|(budget|chunk|cost|spill|eviction|gauge)", phrase):
            assert (word[0] or word[1].replace("eviction", "evict by")) in places[name], name
