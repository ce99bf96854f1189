"""Batch means: sizes, the half width, the correlation that warns."""

import math

import pytest

from serq.statistics import batch_half_width, batch_means, lag1_autocorrelation


def test_twenty_batches_drop_the_tail() -> None:
    """59 samples make 20 batches of 2; the last 19 are in none of them."""
    values = [0.0] * 40 + [1000.0] * 19
    assert batch_means(values) == [0.0] * 20


def test_batches_are_consecutive() -> None:
    """The first batch of 0, 1, 2, … in threes has mean 1, the next 4."""
    assert batch_means([float(value) for value in range(60)]) == [3.0 * batch + 1.0 for batch in range(20)]


def test_too_few_samples_for_batches_is_an_error() -> None:
    """19 samples cannot fill 20 batches."""
    with pytest.raises(ValueError, match="20 samples"):
        batch_means([1.0] * 19)


def test_half_width_by_hand() -> None:
    """Ten means of −1 and ten of 1 have sd √(20/19), so the half width is 2.093/√19."""
    assert batch_half_width([-1.0, 1.0] * 10) == pytest.approx(2.093 / math.sqrt(19.0), rel=1e-15)


def test_half_width_belongs_to_twenty_batches() -> None:
    """The Student quantile is that of 19 degrees of freedom, so another number of means is refused."""
    with pytest.raises(ValueError, match="20 batches"):
        batch_half_width([1.0, 2.0])


def test_lag1_of_alternating_means() -> None:
    """1, −1, 1, −1 has three products of −1 over four squares."""
    assert lag1_autocorrelation([1.0, -1.0, 1.0, -1.0]) == -0.75


def test_lag1_of_constant_or_single_means_does_not_exist() -> None:
    """Without variation, or without a neighbour, there is no correlation."""
    assert math.isnan(lag1_autocorrelation([2.0, 2.0, 2.0]))
    assert math.isnan(lag1_autocorrelation([2.0]))


def test_coverage_of_independent_samples_is_near_95_percent() -> None:
    """Of 400 intervals around the mean of independent uniforms, 95 % cover 1/2 (binomial, false alarm under 1e-6)."""
    import random

    generator = random.Random(7)
    covered = 0
    for _ in range(400):
        values = [generator.random() for _ in range(200)]
        if abs(sum(values) / 200 - 0.5) <= batch_half_width(batch_means(values)):
            covered += 1
    # sd of the count is √(400·0.95·0.05) = 4.36; five of them
    assert 358 <= covered <= 400
