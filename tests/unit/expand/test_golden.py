"""Every sugar against the kernel it stands for, one file of cases for each pass.

The recorded kernels do not stand alone. What they mean was compared with a second implementation when they were
recorded; here every one is held to the invariants below, and `test_kernels.py` holds chosen ones to kernels that were
written by hand from the reference.
"""

from __future__ import annotations

import pytest

from serq.diagnostics import SourceFile, Span
from serq.expand import assert_kernel, expand
from serq.expand.tree import walk
from serq.syntax import parse
from serq.syntax.printer import print_program

from .corpus import Case, read_cases, read_file, write_file

ALL = read_cases()
IDS = [f"{case.path.stem}-{case.name}" for case in ALL]
SOUND = [case for case in ALL if case.kind == "out"]


def test_update(request: pytest.FixtureRequest) -> None:
    """Record the outcomes anew when asked to (`--update-golden`), for a person to read the difference."""
    if not request.config.getoption("--update-golden"):
        pytest.skip("not asked to")
    for path in sorted({case.path for case in ALL}):
        cases = read_file(path)
        for case in cases:
            case.kind, case.expected = case.outcome()
        write_file(cases)


@pytest.mark.parametrize("case", ALL, ids=IDS)
def test_a_case_gives_what_is_recorded(case: Case, request: pytest.FixtureRequest) -> None:
    """The kernel text, or the name and the place of every mistake."""
    if request.config.getoption("--update-golden"):
        pytest.skip("recording")
    assert case.outcome() == (case.kind, case.expected)


@pytest.mark.parametrize("case", SOUND, ids=[f"{case.path.stem}-{case.name}" for case in SOUND])
class TestInvariants:
    """What holds for every kernel."""

    def test_nothing_but_kernel_is_left(self, case: Case) -> None:
        """The IR has a place for each node."""
        assert_kernel(case.kernel())

    def test_a_kernel_is_its_own_expansion(self, case: Case) -> None:
        """No pass touches what is kernel already."""
        kernel = case.kernel()
        assert expand(kernel) == kernel

    def test_a_kernel_is_a_program(self, case: Case) -> None:
        """Its text reads back as the same tree."""
        kernel = case.kernel()
        assert parse(SourceFile("kernel.sq", print_program(kernel))) == kernel

    def test_every_node_stands_in_the_text(self, case: Case) -> None:
        """Spans, and those of the forms they came through, lie in the files that were read."""
        known = {"program.sq", *case.files}
        for node in walk(case.kernel()):
            span: Span | None = node.span
            while span is not None:
                assert span.source.name in known
                assert 0 <= span.start <= span.end <= len(span.source.text)
                span = None if span.origin is None else span.origin.span
