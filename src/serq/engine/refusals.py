"""Which headers of a waiting hold need no second look: what the assembly tells a pool about them.

Input: a hold's header expressions. Output: those that are the same at every try, and what must be 0 or more for the
others to be amounts whatever the engine's state.
Why: the head of a line is tried in every iteration. When what it must find free depends on its own attributes alone,
and no less is used than when it was refused, it is refused again, and nothing of the header need be evaluated: it
draws nothing and cannot fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from serq.link import linked as li

PARTS_MAX = 256
"""The parts of the largest header whose `conditions` are looked for."""
NEVER_NEGATIVE = frozenset({"used", "cachedin", "holders", "queued", "queue", "busy"})


def parts_of(e: li.LinkedExpression) -> Iterator[li.LinkedExpression]:
    """Give an expression and all its parts, indices included; no recursion, for aggregates are deep."""
    pending = [e]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(part.arguments)
        if part.reference is not None and part.reference.index is not None:
            pending.append(part.reference.index)


def reads_only(e: li.LinkedExpression, names: frozenset[str]) -> bool:
    """Tell whether an expression reads nothing but attributes and some context variables: no state, no draw."""
    return all(
        part.op != "draw" and part.reference is None and (part.op != "context" or part.name in names)
        for part in parts_of(e)
    )


def is_fixed(e: li.LinkedExpression) -> bool:
    """Tell whether an expression is the same at every try of a session that waits: it reads its attributes alone."""
    return reads_only(e, frozenset())


def conditions(e: li.LinkedExpression, engines: Collection[int]) -> list[li.LinkedExpression] | None:
    """Give fixed expressions that make `e` a number of 0 or more when they are; None when nothing does.

    Parameters
    ----------
    engines : the step stages whose `budget_left` draws nothing and cannot fail
    """
    if is_fixed(e):
        return [e]
    if len(list(islice(parts_of(e), PARTS_MAX))) == PARTS_MAX:
        return None  # an aggregate written out is deep; it is read at every try
    if e.reference is not None:
        if e.reference.index is not None and not is_fixed(e.reference.index):
            return None
        if e.op == "budget_left" and e.reference.count == 1 and e.reference.base in engines:
            return []
        return [] if e.op in NEVER_NEGATIVE else None
    if e.op in ("+", "min", "max", "floor", "ceil"):
        parts = [conditions(argument, engines) for argument in e.arguments]
        found: list[li.LinkedExpression] = []
        for part in parts:
            if part is None:
                return None
            found.extend(part)
        return found
    return None
