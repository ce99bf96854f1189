"""Sample summaries: each field by hand, then against a naive definition."""

import math
import statistics
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.statistics import SampleSummary, summarise_samples


def naive(values: list[float]) -> SampleSummary:
    """Say the definitions once more, with the standard library and without care for speed."""
    count = len(values)
    size = count // 20
    interval = math.inf
    if count >= 40:
        means = [statistics.fmean(values[size * batch : size * (batch + 1)]) for batch in range(20)]
        interval = 2.093 * statistics.stdev(means) / math.sqrt(20)
    mean = math.fsum(values) / count
    variation = statistics.variance(values) / mean**2 if count > 1 and mean != 0 else math.nan
    return SampleSummary(count, mean, interval, variation, sorted(values)[math.ceil(0.99 * count) - 1])


def test_no_sample() -> None:
    """Without a sample there is no mean, and the interval is infinite."""
    summary = summarise_samples([])
    assert summary.count == 0
    assert summary.ci == math.inf
    assert all(math.isnan(figure) for figure in (summary.mean, summary.cv2, summary.p99))


def test_one_sample() -> None:
    """One sample is its own mean and quantile and has no variance."""
    summary = summarise_samples([4.0])
    assert (summary.count, summary.mean, summary.ci, summary.p99) == (
        1,
        4.0,
        math.inf,
        4.0,
    )
    assert math.isnan(summary.cv2)


def test_variation_by_hand() -> None:
    """1, 2, 3: variance 1 over mean² 4."""
    assert summarise_samples([1.0, 2.0, 3.0]).cv2 == 0.25


def test_constant_zero_has_no_variation() -> None:
    """A test that never held, observed 50 times: mean 0, cv2 NaN, an interval of width 0."""
    summary = summarise_samples([0.0] * 50)
    assert (summary.mean, summary.ci, summary.p99) == (0.0, 0.0, 0.0)
    assert math.isnan(summary.cv2)


def test_samples_around_zero_vary_infinitely() -> None:
    """A mean of 0 with a variance above 0 has an infinite cv2, not an error."""
    assert summarise_samples([-1.0, 1.0]).cv2 == math.inf


def test_constant_other_than_zero_does_not_vary() -> None:
    """A constant 2 has cv2 0."""
    assert summarise_samples([2.0, 2.0, 2.0]).cv2 == 0.0


@pytest.mark.parametrize(("count", "finite"), [(39, False), (40, True)])
def test_interval_needs_forty_samples(count: int, finite: bool) -> None:
    """The interval begins with two samples a batch."""
    assert math.isfinite(summarise_samples([float(value % 7) for value in range(count)]).ci) is finite


def test_interval_by_hand_and_the_mean_keeps_the_tail() -> None:
    """Batches −1, 1, −1, … give 2.093/√19; a tail of 19 sevens moves the mean alone."""
    values = [-1.0, -1.0, 1.0, 1.0] * 10 + [7.0] * 19
    summary = summarise_samples(values)
    assert summary.ci == pytest.approx(2.093 / math.sqrt(19.0), rel=1e-15)
    assert summary.mean == 7.0 * 19 / 59


def test_far_from_zero_keeps_its_digits() -> None:
    """Around 1e9 the squares of 1 and 2 apart would drown; deviations do not."""
    values = [1e9, 1e9 + 1.0, 1e9 + 2.0]
    assert summarise_samples(values).cv2 == pytest.approx(1.0 / (1e9 + 1.0) ** 2, rel=1e-12)


def test_infinite_and_nan_samples_do_not_raise() -> None:
    """A sample that is not finite makes the mean so, and the report prints null."""
    assert summarise_samples([1.0, math.inf]).mean == math.inf
    assert math.isnan(summarise_samples([1.0, math.nan]).mean)
    assert math.isnan(summarise_samples([math.inf] * 50).ci)


@given(st.lists(st.floats(0.001, 1000.0), min_size=1, max_size=300))
def test_agrees_with_the_naive_definition(values: list[float]) -> None:
    """Positive samples of any length: every field equals the definition, from a list and from an array."""
    expected = naive(values)
    actual = summarise_samples(array("d", values))
    assert actual == summarise_samples(values) or math.isnan(actual.cv2)
    assert (actual.count, actual.p99) == (expected.count, expected.p99)
    assert actual.mean == pytest.approx(expected.mean, rel=1e-12)
    # a spread of 1000 leaves 1e-16 · 1000² in a cv2 near 0
    assert actual.cv2 == pytest.approx(expected.cv2, rel=1e-9, abs=1e-9, nan_ok=True)
    assert actual.ci == pytest.approx(expected.ci, rel=1e-9, abs=1e-9)
