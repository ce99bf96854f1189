"""The passes, in order. Loaded for a program that has something to expand.

Input and output of each: a `Program`; what it says goes to the `Report`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from serq.expand.admissions import expand_admissions
from serq.expand.branches import expand_branches
from serq.expand.definitions import expand_definitions
from serq.expand.pulls import expand_pulls
from serq.expand.queues import expand_queues
from serq.expand.report import Report
from serq.expand.serving import expand_serving
from serq.expand.sides import join_sides
from serq.expand.uses import Loader, load_nothing, read_libraries
from serq.records import dataclass, field
from serq.syntax.nodes import Expression, Program


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
