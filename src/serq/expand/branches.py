"""Turn the draw `branch with (p)` into a test of one Bernoulli draw.

Before:  branch with (0.3) { … } else { … }
After:   branch (~bernoulli(0.3)) { … } else { … }

Reference: language §3, Branching.   Relies on: definitions expanded.   Reports: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics import Origin
from serq.expand.items import map_item_bodies
from serq.expand.tree import map_body
from serq.records import replace
from serq.syntax.nodes import Branch, Draw, Program, Statement


def expand_branches(program: Program) -> Program:
    """Replace every drawn branch by a test."""

    def statement(one: Statement) -> Iterable[Statement]:
        if not isinstance(one, Branch) or not one.drawn:
            return (one,)
        origin = Origin("`branch with (p)` means: branch (~bernoulli(p))", one.span)
        guard = Draw(one.guard.span.through(origin), "bernoulli", (one.guard,))
        return (replace(one, guard=guard, drawn=False),)

    items = tuple(map_item_bodies(item, lambda body: map_body(body, statement)) for item in program.items)
    return Program(program.span, items)
