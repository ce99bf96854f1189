"""Batch means: an interval for the mean of a correlated sequence.

Input: a sequence, or the means of its batches. Output: batch means, a half width, their lag-1 correlation.

Invariants: there are always `BATCH_COUNT` batches of one size; a tail that does not fill a batch is left out of the
batches (never out of the mean).

Reference: language §3, Statistics and Gauges.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from librt.vecs import vec
from mypy_extensions import i64

BATCH_COUNT: Final = 20
"""Batches of a sample sequence, and windows of a gauge."""

STUDENT_T_975_DF19: Final = 2.093
"""Student's 0.975 quantile with 19 degrees of freedom, to the three digits every recorded figure was made with."""

SAMPLES_MIN: Final = 2 * BATCH_COUNT
"""Fewer samples than two a batch give no interval."""


def mean_between(values: vec[float], start: i64, stop: i64) -> float:
    """Return the mean of `values[start:stop]`, summed from left to right.

    Parameters
    ----------
    values : (n,) samples
    start, stop : 0 <= start < stop <= n
    """
    total = 0.0
    for index in range(start, stop):
        total += values[index]
    return total / float(stop - start)


def batch_means(values: Iterable[float]) -> list[float]:
    """Average 20 consecutive, equally long batches of a sequence.

    Parameters
    ----------
    values : (n,) samples in the order they were taken, n >= 20

    Returns
    -------
    (20,) means of floor(n / 20) samples each; the last n mod 20 samples are in no batch

    Raises
    ------
    ValueError
        With fewer samples than batches, since a batch would be empty.

    Examples
    --------
    >>> batch_means(range(43))[:3]
    [0.5, 2.5, 4.5]
    """
    samples = vec[float](values)
    if len(samples) < BATCH_COUNT:
        raise ValueError(f"{BATCH_COUNT} batches need {BATCH_COUNT} samples, there are {len(samples)}")
    return means_of_batches(samples)


def means_of_batches(samples: vec[float]) -> list[float]:
    """Do the work of `batch_means` on 20 samples or more."""
    size: i64 = len(samples) // BATCH_COUNT
    return [mean_between(samples, size * batch, size * (batch + 1)) for batch in range(BATCH_COUNT)]


def batch_half_width(means: Sequence[float]) -> float:
    """Estimate the half width of a 95 % interval for the mean of a stationary sequence from its 20 batch means.

    Parameters
    ----------
    means : (20,) means of consecutive batches or windows of one length

    Returns
    -------
    2.093 · sd / √20, where sd is the sample standard deviation (19 in the denominator) of the batch means

    Notes
    -----
    The estimand is the half width of a Student interval around the steady-state mean. It supposes that the sequence is
    stationary and that batch means are nearly independent and normal, which fails when the correlation time is near a
    batch's length: `lag1_autocorrelation` of the same means shows it, and the true coverage is then below 95 %.

    References
    ----------
    A. M. Law, Simulation Modeling and Analysis, 5th ed., §9.5.3 (batch means).
    S. Asmussen, P. W. Glynn, Stochastic Simulation, §IV.5.
    """
    count = len(means)
    if count != BATCH_COUNT:
        raise ValueError(f"the quantile belongs to {BATCH_COUNT} batches, there are {count}")
    centre = mean_between(vec[float](means), 0, count)
    squares = 0.0
    for mean in means:
        deviation = mean - centre
        squares += deviation * deviation
    return STUDENT_T_975_DF19 * math.sqrt(squares / (count - 1)) / math.sqrt(count)


def lag1_autocorrelation(means: Sequence[float]) -> float:
    """Estimate the correlation between neighbouring batch means; NaN when they do not vary.

    Notes
    -----
    With 20 independent batches the estimate has mean about −1/20 and standard deviation about 1/√20 = 0.22. A value
    above 0.4 says that the interval of `batch_half_width` is too short.

    References
    ----------
    P. J. Brockwell, R. A. Davis, Introduction to Time Series and Forecasting, 3rd ed., §1.4.1 and §1.6.

    Examples
    --------
    >>> lag1_autocorrelation([1.0, -1.0, 1.0, -1.0])
    -0.75
    """
    count = len(means)
    if count < 2:
        return math.nan
    centre = mean_between(vec[float](means), 0, count)
    products = 0.0
    squares = 0.0
    before = 0.0
    for index in range(count):
        deviation = means[index] - centre
        squares += deviation * deviation
        products += before * deviation
        before = deviation
    return products / squares if squares > 0.0 else math.nan
