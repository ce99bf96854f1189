"""A program that is settled is one that every pass gives back as it is, and says nothing about."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from serq.diagnostics import Findings, ProgramError, SourceFile
from serq.expand import expand
from serq.expand.kernel import is_settled
from serq.expand.passes import PASSES, Inputs
from serq.expand.report import Report
from serq.expand.tree import walk
from serq.syntax import nodes, parse
from unit.syntax import strategies

from .corpus import read_cases
from .test_robust import mutants

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted(path for folder in ("examples", "tests", "verification") for path in (ROOT / folder).rglob("*.sq"))
KERNEL = "stage s : fifo; workload {{ arrive batch(1); }} session {{ {} end; }} run {{ horizon 1; }}"


def passes_leave(program: nodes.Program) -> None:
    """The passes give an equal program, each node with its span, and no finding."""
    findings = Findings()
    after = program
    for one in PASSES:
        after = one(after, Report(findings), Inputs())
    assert findings.items == [] and after == program
    assert [node.span for node in walk(after)] == [node.span for node in walk(program)]


def kernel_of(text: str) -> nodes.Program | None:
    try:
        return expand(parse(SourceFile("a.sq", text)))
    except ProgramError:
        return None


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
def test_what_a_case_expands_to(case) -> None:
    try:
        kernel = case.kernel()
    except ProgramError:
        return
    assert is_settled(kernel)
    passes_leave(kernel)


def test_programs_that_are_there() -> None:
    """Those of the examples and of the tests, as they are written; some are settled and some have faults."""
    settled = 0
    for path in PROGRAMS:
        try:
            program = parse(SourceFile(str(path), path.read_text(encoding="utf-8", errors="replace")))
        except ProgramError:
            continue
        if is_settled(program):
            settled += 1
            passes_leave(program)
    assert settled > 20


@settings(max_examples=300)
@given(strategies.programs)
def test_any_tree(program: nodes.Program) -> None:
    if is_settled(program):
        passes_leave(program)


@settings(max_examples=150)
@given(mutants())
def test_nearly_right_programs(text: str) -> None:
    """And what they expand to, when that is settled: a mutant may read `self` where nothing forbids it."""
    try:
        program = parse(SourceFile("mutant.sq", text))
    except ProgramError:
        return
    for made in (program, kernel_of(text)):
        if made is not None and is_settled(made):
            passes_leave(made)


@pytest.mark.parametrize(
    ("body", "settled"),
    [
        ("run s (1);", True),
        ("set self = 1; run s (self);", False),
        ("branch (x) { end; } run s (1);", True),
        ("branch with (0.5) { end; }", False),
        ("f (1);", False),
        ("prefill (3);", False),
        ("request;", False),
    ],
)
def test_one_surface_form_is_enough(body: str, settled: bool) -> None:
    assert is_settled(parse(SourceFile("a.sq", KERNEL.format(body)))) is settled


@pytest.mark.parametrize("block", ["session { end; }", "workload { }", "run { horizon 2; }"])
def test_a_second_block_is_the_passes_to_refuse(block: str) -> None:
    assert not is_settled(parse(SourceFile("a.sq", f"{KERNEL.format('')} {block}")))


def test_a_definition_that_is_set_from_outside_has_to_be_there() -> None:
    """A settled program has none, which only the passes say."""
    program = parse(SourceFile("a.sq", KERNEL.format("")))
    with pytest.raises(ProgramError, match="unknown-override"):
        expand(program, definitions={"f": nodes.Number(program.span, 1.0)})
