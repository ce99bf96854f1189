"""Least squares and quantiles, in plain Python: what the validation fits, and how it sums up.

The problems are small (five columns, a few thousand rows), so nothing but the standard library is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def least_squares(
    rows: Sequence[Sequence[float]], values: Sequence[float], weights: Sequence[float]
) -> tuple[float, ...]:
    """Give the coefficients x that minimise Σ (weight · (row · x − value))².

    By Householder reflections, which do not square the condition number as normal equations do.

    Raises
    ------
    ValueError : fewer rows than columns, or columns that depend on one another
    """
    columns = len(rows[0])
    if len(rows) < columns:
        raise ValueError(f"{len(rows)} rows do not determine {columns} coefficients")
    matrix = [[w * x for x in row] + [w * v] for row, v, w in zip(rows, values, weights, strict=True)]
    scale = [math.sqrt(sum(row[j] ** 2 for row in matrix)) or 1.0 for j in range(columns)]
    for row in matrix:
        for j in range(columns):
            row[j] /= scale[j]
    for k in range(columns):
        norm = math.sqrt(sum(row[k] ** 2 for row in matrix[k:]))
        if norm < 1e-12:
            raise ValueError("a column depends on those before it")
        if matrix[k][k] > 0:
            norm = -norm
        mirror = [row[k] for row in matrix[k:]]
        mirror[0] -= norm
        length = sum(x * x for x in mirror)
        for j in range(k, columns + 1):
            factor = 2.0 * sum(m * row[j] for m, row in zip(mirror, matrix[k:], strict=True)) / length
            for m, row in zip(mirror, matrix[k:], strict=True):
                row[j] -= factor * m
    solution = [0.0] * columns
    for k in reversed(range(columns)):
        known = sum(matrix[k][j] * solution[j] for j in range(k + 1, columns))
        solution[k] = (matrix[k][columns] - known) / matrix[k][k]
    return tuple(x / s for x, s in zip(solution, scale, strict=True))


def predicted(row: Sequence[float], coefficients: Sequence[float]) -> float:
    """Give the fitted value of a row."""
    return sum(x * c for x, c in zip(row, coefficients, strict=True))


def mean(values: Sequence[float]) -> float:
    """Give the arithmetic mean."""
    return math.fsum(values) / len(values)


def quantile(values: Sequence[float], share: float) -> float:
    """Give a quantile, linear between the two samples beside it (what the measured summaries used)."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def mean_log_ratio(pairs: Sequence[tuple[float, float]]) -> float:
    """Give the mean of |ln(model / measured)|: 0.1 is about a tenth off, either way."""
    return mean([abs(math.log(model / measured)) for measured, model in pairs])
