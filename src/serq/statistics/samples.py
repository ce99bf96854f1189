"""What the samples of one observe say.

Input: samples at or after the warm-up, in the order they were taken. Output: `SampleSummary`.

Invariants: `mean` uses every sample; only the interval drops the tail that fills no batch.

Reference: language §3, Statistics.
"""

import math
from collections.abc import Iterable

from librt.vecs import vec

from serq.statistics.batches import (
    SAMPLES_MIN,
    batch_half_width,
    mean_between,
    means_of_batches,
)
from serq.statistics.quantiles import nearest_rank, rank_among
from serq.statistics.summaries import SampleSummary


def summarise_samples(values: Iterable[float]) -> SampleSummary:
    """Estimate the mean of a stationary sequence, its interval, its variability and its 0.99 quantile.

    Parameters
    ----------
    values : (n,) samples in the order they were taken, warm-up removed; n may be 0

    Returns
    -------
    The estimates; nothing is raised for a sequence that is short, constant, infinite or NaN.

    Notes
    -----
    Estimands: the mean, squared coefficient of variation and 0.99 quantile of the samples' stationary distribution.
    Assumptions: the warm-up left a stationary sequence; for the interval, batches longer than its correlation time (see
    `batch_half_width`). Errors: the mean is unbiased under stationarity; the variance in cv2 divides by n − 1
    and is low by a factor of about 1 − 2τ/n for samples with correlation time τ; the quantile is biased by O(1/n).

    Sums run once from left to right in double precision: their relative error is at most n·1.1e-16 for samples of one
    sign, 1e-10 for a million. A compensated sum would move the last digits of every recorded figure and nothing else.
    The variance takes a second pass over deviations from the mean, so that samples far from 0 lose no digits.

    References
    ----------
    A. M. Law, Simulation Modeling and Analysis, 5th ed., §4.4 and §9.5.
    T. F. Chan, G. H. Golub, R. J. LeVeque, Algorithms for computing the sample variance, The American Statistician 37
    (1983): the two-pass form.

    Examples
    --------
    >>> summarise_samples([1.0, 2.0, 3.0])
    SampleSummary(count=3, mean=2.0, ci=inf, cv2=0.25, p99=3.0)
    """
    return summarise(vec[float](values))


def summarise(samples: vec[float]) -> SampleSummary:
    """Do the work of `summarise_samples` on an array, without a copy of it."""
    count: int = len(samples)
    if count == 0:
        return SampleSummary(count=0, mean=math.nan, ci=math.inf, cv2=math.nan, p99=math.nan)
    mean = mean_between(samples, 0, count)
    interval = batch_half_width(means_of_batches(samples)) if count >= SAMPLES_MIN else math.inf
    return SampleSummary(
        count=count,
        mean=mean,
        ci=interval,
        cv2=_squared_variation(samples, mean),
        # a sample that is NaN makes the mean NaN, so there is none to look for
        p99=rank_among(samples, 0.99) if mean == mean else nearest_rank(samples, 0.99),
    )


def _squared_variation(values: vec[float], mean: float) -> float:
    """Return variance / mean²: NaN when neither exists, infinite for samples that vary around 0."""
    count: int = len(values)
    if count < 2:
        return math.nan
    squares = 0.0
    for value in values:
        deviation = value - mean
        squares += deviation * deviation
    variance = squares / (count - 1)
    mean_square = mean * mean
    if mean_square == 0.0:
        return math.nan if variance == 0.0 or math.isnan(variance) else math.inf
    return variance / mean_square
