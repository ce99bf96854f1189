"""Nearest-rank quantiles: ranks by hand, selection against a sort."""

import math
import random
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.statistics import nearest_rank, quantiles


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, 1.0),
        (2, 2.0),
        (99, 99.0),
        (100, 99.0),
        (101, 100.0),
        (200, 198.0),
        (201, 199.0),
    ],
)
def test_p99_rank_by_hand(count: int, expected: float) -> None:
    """Of 1, 2, …, n the 0.99 quantile is ceil(0.99 n)."""
    assert nearest_rank([float(value) for value in range(count, 0, -1)], 0.99) == expected


def test_no_sample_or_nan_has_no_quantile() -> None:
    """An empty array and an unordered value both give NaN."""
    assert math.isnan(nearest_rank([], 0.5))
    assert math.isnan(nearest_rank([1.0, math.nan, 2.0], 0.5))


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.1, math.nan])
def test_fraction_outside_the_unit_interval_is_an_error(fraction: float) -> None:
    """A quantile needs 0 < fraction <= 1."""
    with pytest.raises(ValueError, match="fraction"):
        nearest_rank([1.0], fraction)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(quantiles.SORT_BELOW, quantiles.SORT_BELOW + 3000),
    distinct=st.sampled_from([1, 2, 50, 10**9]),
    fraction=st.sampled_from([0.001, 0.5, 0.9, 0.99, 0.999, 1.0]),
    order=st.sampled_from(["random", "ascending", "descending", "spiked"]),
)
def test_selection_equals_sorting(seed: int, count: int, distinct: int, fraction: float, order: str) -> None:
    """Above the size where selection starts, ties, trends and hidden spikes give what a sort gives."""
    generator = random.Random(seed)
    values = [float(generator.randrange(distinct)) for _ in range(count)]
    if order == "ascending":
        values.sort()
    elif order == "descending":
        values.sort(reverse=True)
    elif order == "spiked":
        # every second value, all that an even probe sees at this size, lies above the rest: the probe misleads
        values[::2] = [value + 1e12 for value in values[::2]]
    assert nearest_rank(array("d", values), fraction) == sorted(values)[math.ceil(fraction * count) - 1]
