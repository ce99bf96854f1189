"""Whatever parses, expands to kernel or is refused; an expansion never fails in another way."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from serq.diagnostics import ProgramError, SourceFile
from serq.expand import assert_kernel, expand
from serq.syntax import nodes, parse
from unit.syntax import strategies

from .corpus import read_cases

TEXTS = [case.text for case in read_cases()]
TOKEN = re.compile(r'"[^"\n]*"|[\w.]+|\s+|[<>=!]=|&&|\|\||.')
# What the texts are made of; more of the words that name things across them, to make them meet.
PIECES = sorted({piece for text in TEXTS for piece in TOKEN.findall(text) if not piece.isspace()})
NAMES = ("P", "D", "kv", "src", "self", "P.kv", "D.nic", "prompt", "h", "z", "j", "now", "request", "mark", "transfer")


def refused_or_kernel(program: nodes.Program) -> None:
    try:
        kernel = expand(program)
    except ProgramError as failure:
        assert failure.diagnostics
    else:
        assert_kernel(kernel)
        assert expand(kernel) == kernel


@given(strategies.programs)
def test_any_tree(program: nodes.Program) -> None:
    """Trees of every shape the parser can build."""
    refused_or_kernel(program)


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """Take a case and change a few of its tokens for others, for nothing, or for themselves twice."""
    tokens = TOKEN.findall(draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(tokens) - 1))
        new = draw(st.one_of(st.sampled_from(NAMES), st.sampled_from(PIECES), st.just(""), st.just(tokens[place] * 2)))
        tokens[place] = new
    return "".join(tokens)


@settings(max_examples=150)
@given(mutants())
def test_nearly_right_programs(text: str) -> None:
    """Programs a token or two away from ones that mean something."""
    try:
        program = parse(SourceFile("mutant.sq", text))
    except ProgramError:
        return
    refused_or_kernel(program)
