"""How numbers are written: exactly for files, shortly for people.

Invariants: `exact` reads back to the same double; neither depends on the locale.
"""

from __future__ import annotations

import math

from serq.engine.results import shown

MISSING = "–"
"""Stands for a figure that does not exist."""


def exact(value: float) -> str:
    """Give the shortest text that reads back to the same double."""
    return repr(float(value))


def plain(value: float) -> str:
    """Give a number inside a sentence: whole numbers without a point, others exactly."""
    return shown(float(value))


def short(value: float) -> str:
    """Give six significant digits, for a table.

    Examples
    --------
    >>> short(0.333333333), short(20000.0), short(float("nan")), short(float("inf"))
    ('0.333333', '20000', '–', '∞')
    """
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.6g}"
