"""Nearest-rank quantiles by selection.

Input: samples. Output: one order statistic.

Invariants: the result is a value of the input and equals the one a full sort would give; no random pivot is drawn, so
the work is the same in every run.

Reference: language §3, Statistics and Gauges (the p99 of an observe).
"""

import math
from collections.abc import Iterable
from typing import Final

from librt.vecs import vec

SORT_BELOW: Final = 512
"""Under this many samples a sort is faster than a selection."""

PROBE_COUNT: Final = 256
PROBE_COUNT_OF_MANY: Final = 2048
"""Samples looked at to guess a threshold; a larger probe is sorted longer and leaves fewer to sort after it."""

MANY: Final = 100_000


def nearest_rank(values: Iterable[float], fraction: float) -> float:
    """Return the nearest-rank quantile `sorted(values)[ceil(fraction · n) - 1]` without sorting everything.

    Parameters
    ----------
    values : (n,) samples, in any order
    fraction : 0 < fraction <= 1

    Returns
    -------
    The order statistic; NaN when there is no sample or one of them is NaN, which has no place in an order.

    Raises
    ------
    ValueError
        When the fraction is outside (0, 1].

    Notes
    -----
    An evenly spaced probe is sorted, a threshold a little below the wanted rank is read from it, and only the samples
    at or above the threshold are sorted: 3 to 8 % of them for the 0.99 quantile. When the probe misled (too few
    samples reach the threshold) the threshold moves down the probe; its least value and at last everything end the
    search, so the result never depends on luck. O(n) comparisons and O((1 − fraction) n log n) for the sort, in the
    usual case.

    References
    ----------
    R. J. Hyndman, Y. Fan, Sample quantiles in statistical packages, The American Statistician 50 (1996), definition 1.
    R. W. Floyd, R. L. Rivest, Expected time bounds for selection, CACM 18 (1975): the threshold from a sample.

    Examples
    --------
    >>> nearest_rank([30.0, 10.0, 20.0], 0.5)
    20.0
    """
    if not 0.0 < fraction <= 1.0:
        raise ValueError(f"a quantile needs a fraction in (0, 1], got {fraction}")
    samples = vec[float](values)
    if len(samples) == 0:
        return math.nan
    if _has_nan(samples):
        return math.nan
    return rank_among(samples, fraction)


def rank_among(samples: vec[float], fraction: float) -> float:
    """Do the work of `nearest_rank` on one sample or more, none of them NaN."""
    count: int = len(samples)
    # in doubles the product may lie a rounding error above the whole number it means, which moves the rank by one;
    # recorded figures were made with this very product, so it is not corrected
    index = min(max(math.ceil(fraction * count) - 1, 0), count - 1)
    if count < SORT_BELOW:
        return sorted(samples)[index]
    from_top = count - index
    probe_count = PROBE_COUNT if count < MANY else PROBE_COUNT_OF_MANY
    probe = sorted([samples[place] for place in range(0, count, count // probe_count)])
    # a probe's rank has a standard deviation below sqrt(probe_count) / 2; start two of the widest below
    margin = int(math.sqrt(probe_count))
    rank = int(len(probe) * (index / count)) - margin
    while rank > 0:
        threshold = probe[rank]
        above = [value for value in samples if value >= threshold]
        if len(above) >= from_top:
            above.sort()
            return above[len(above) - from_top]
        rank -= 8 * margin
    return sorted(samples)[index]


def _has_nan(values: vec[float]) -> bool:
    """Tell whether some value is NaN; a comparison is several times faster than a call of `isnan` for each."""
    for value in values:  # noqa: SIM110 - a generator inside `any` would make a float object of each
        if value != value:
            return True
    return False
