"""Which headers of a waiting hold need no second look: what the assembly tells a pool about them.

Input: a hold's header expressions. Output: those that are the same at every try, and what must be 0 or more for the
others to be amounts whatever the engine's state.
Why: the head of a line is tried in every iteration. When what it must find free depends on its own attributes alone,
and no less is used than when it was refused, it is refused again, and nothing of the header need be evaluated: it
draws nothing and cannot fail.
"""

from __future__ import annotations

from collections.abc import Collection

from serq.link import linked as li

NEVER_NEGATIVE = frozenset({"used", "cachedin", "holders", "queued", "queue", "busy"})


def is_fixed(e: li.LinkedExpression) -> bool:
    """Tell whether an expression is the same at every try of a session that waits: it reads its attributes alone."""
    return (
        e.op not in ("context", "draw") and e.reference is None and all(is_fixed(argument) for argument in e.arguments)
    )


def conditions(e: li.LinkedExpression, engines: Collection[int]) -> list[li.LinkedExpression] | None:
    """Give fixed expressions that make `e` a number of 0 or more when they are; None when nothing does.

    Parameters
    ----------
    engines : the step stages whose `budget_left` draws nothing and cannot fail
    """
    if is_fixed(e):
        return [e]
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
