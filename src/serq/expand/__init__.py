"""Surface tree to kernel tree: every sugar of the language, one pass each.

Input: the parser's `Program`. Output: a `Program` of kernel nodes alone (`assert_kernel`), each with the span of the
text it came from and the chain of expansions it went through. Errors: `ProgramError` with every independent finding.

Read `PASSES` in `passes.py` first, then the module of the sugar you are after. Each begins with a before and an after.
A program that is written in the kernel already needs none of them, and they are not loaded for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from serq.diagnostics import DiagnosticLimit, Findings
from serq.expand.kernel import NotKernel, assert_kernel, is_settled
from serq.expand.limits import hold_to_depth
from serq.expand.report import Report
from serq.expand.uses import Loader, NoBaseFile, load_beside, load_nothing
from serq.syntax.nodes import Expression, Program

__all__ = [
    "Loader",
    "NoBaseFile",
    "NotKernel",
    "assert_kernel",
    "expand",
    "load_beside",
    "load_nothing",
]


def expand(
    program: Program, *, loader: Loader = load_nothing, definitions: Mapping[str, Expression] | None = None
) -> Program:
    """Expand every sugar of a program.

    Parameters
    ----------
    loader : reads a library: (the file that holds the `use`, the path there) -> the file; `load_beside` reads from
        disk, `load_nothing` is for a program given as text. The libraries shipped with serQ need none.
    definitions : bodies set from outside, by the name of an expression definition

    Raises
    ------
    ProgramError : with every independent finding; a pass goes on with what is sound, and so do the next
    NotKernel : a pass left a surface form (an error of ours)
    """
    findings = Findings()
    report = Report(findings)
    settled = not definitions and is_settled(program)
    try:
        if not settled:
            program = _expanded(program, report, loader, definitions or {})
        hold_to_depth(report, "the program", None, *program.items)
    except DiagnosticLimit:
        pass
    findings.stop_if_any()
    if not settled:
        assert_kernel(program)
    return program


def _expanded(program: Program, report: Report, loader: Loader, definitions: Mapping[str, Expression]) -> Program:
    from serq.expand.passes import PASSES, STOPS_AFTER, Inputs

    inputs = Inputs(loader, definitions)
    for expand_one in PASSES:
        program = expand_one(program, report, inputs)
        if expand_one in STOPS_AFTER:
            report.findings.stop_if_any()
    return program
