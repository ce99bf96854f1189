"""Surface tree to kernel tree: every sugar of the language, one pass each.

Input: the parser's `Program`. Output: a `Program` of kernel nodes alone (`assert_kernel`), each with the span of the
text it came from and the chain of expansions it went through. Errors: `ProgramError` with every independent finding.

Read `PASSES` first, then the module of the sugar you are after. Each begins with a before and an after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from serq.diagnostics import DiagnosticLimit, Findings
from serq.expand.admissions import expand_admissions
from serq.expand.branches import expand_branches
from serq.expand.definitions import expand_definitions
from serq.expand.kernel import NotKernel, assert_kernel
from serq.expand.limits import hold_to_depth
from serq.expand.pulls import expand_pulls
from serq.expand.queues import expand_queues
from serq.expand.report import Report
from serq.expand.serving import expand_serving
from serq.expand.sides import join_sides
from serq.expand.uses import Loader, NoBaseFile, load_beside, load_nothing, read_libraries
from serq.records import dataclass, field
from serq.syntax.nodes import Expression, Program

__all__ = [
    "PASSES",
    "Inputs",
    "Loader",
    "NoBaseFile",
    "NotKernel",
    "assert_kernel",
    "expand",
    "load_beside",
    "load_nothing",
]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What an expansion is given besides the program.

    Parameters
    ----------
    loader : reads the library a `use` names
    definitions : bodies that take the place of expression definitions' own (`--def NAME=EXPR`)
    """

    loader: Loader = load_nothing
    definitions: Mapping[str, Expression] = field(default_factory=dict)


Pass = Callable[[Program, Report, Inputs], Program]

# In this order, because
#   uses         bring definitions the program calls;
#   definitions  may hold any other sugar, and take pools, stages and queues as arguments;
#   pulls        write a read as `transfer on` with two NICs, which
#   serving      then turns into a run like any other; a form means a stage declared above the place it is written
#                at, so this must happen before
#   sides        move the server's statements into the session, and
#   queues       move the entries' to their calls, wherever those stand;
#   admissions   ask which names the whole program sets, and the queues name theirs `Q.x`;
#   branches     are any pass's neighbour, and last because nothing needs to see their draw.
PASSES: tuple[Pass, ...] = (
    lambda program, report, inputs: read_libraries(program, report, inputs.loader),
    lambda program, report, inputs: expand_definitions(program, report, inputs.definitions),
    lambda program, report, inputs: expand_pulls(program, report),
    lambda program, report, inputs: expand_serving(program, report),
    lambda program, report, inputs: join_sides(program, report),
    lambda program, report, inputs: expand_queues(program, report),
    lambda program, report, inputs: expand_admissions(program, report),
    lambda program, report, inputs: expand_branches(program),
)
# After these nothing can be said of a program with errors: a library that is missing defines what the rest calls.
STOPS_AFTER = PASSES[:1]


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
    inputs = Inputs(loader, definitions or {})
    try:
        for expand_one in PASSES:
            program = expand_one(program, report, inputs)
            if expand_one in STOPS_AFTER:
                findings.stop_if_any()
        hold_to_depth(report, "the program", None, *program.items)
    except DiagnosticLimit:
        pass
    findings.stop_if_any()
    assert_kernel(program)
    return program
