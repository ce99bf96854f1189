"""Orders by keys: evaluated, compared one after another.

Input: key expressions at the moment of the order. Output: their values; whether one precedes another.
Invariant: equal keys are no order; the caller falls back to a declared sequence number (language §3, Ties).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.engine.expressions import Expression
from serq.engine.results import RunError

if TYPE_CHECKING:
    from serq.engine.world import World


def evaluate_keys(w: World, keys: list[Expression]) -> list[float]:
    """Evaluate the keys of an order; NaN has no place in one."""
    values: list[float] = []
    for key in keys:
        value = key.evaluate(w)
        if value != value:
            raise RunError(
                "key-not-a-number", "a key of this order is NaN, which comes neither before nor after", key.site
            )
        values.append(value)
    return values


def precedes(keys: list[float], other: list[float]) -> bool:
    """Tell whether `keys` come strictly before `other`, compared in order."""
    for i in range(len(keys)):
        a = keys[i]
        b = other[i]
        if a < b:
            return True
        if a > b:
            return False
    return False
