"""Gauge summaries: by hand, at the edges of the interval, and against a naive integral in fractions."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.statistics import summarise_gauge


def test_time_average_by_hand() -> None:
    """1 over [10, 16), 4 over [16, 18), 0 over [18, 20]: (6 + 8)/10."""
    summary = summarise_gauge([0.0, 16.0, 18.0], [1.0, 4.0, 0.0], 10.0, 20.0)
    assert (summary.mean, summary.min, summary.max) == (1.4, 0.0, 4.0)


def test_interval_of_a_step_by_hand() -> None:
    """Ten windows of 0 and ten of 2 are one apart from their mean: the half width is 2.093/√19."""
    summary = summarise_gauge([0.0, 50.0], [0.0, 2.0], 0.0, 100.0)
    assert summary.ci == pytest.approx(2.093 / math.sqrt(19.0), rel=1e-14)


def test_one_change_inside_one_window() -> None:
    """A pulse of height 20 and a quarter window puts 5 into one window mean: sd √(25·(1 − 1/20)/19)."""
    summary = summarise_gauge([0.0, 3.5, 3.75], [0.0, 20.0, 0.0], 0.0, 20.0)
    assert summary.mean == 0.25
    assert summary.ci == pytest.approx(2.093 * math.sqrt(25.0 * 0.95 / 19.0) / math.sqrt(20.0), rel=1e-14)


def test_value_before_the_warmup_does_not_count() -> None:
    """What was held until exactly the warm-up is neither in the mean nor in the extremes."""
    summary = summarise_gauge([0.0, 5.0], [99.0, 1.0], 5.0, 10.0)
    assert (summary.mean, summary.ci, summary.min, summary.max) == (1.0, 0.0, 1.0, 1.0)


def test_value_held_for_no_time_does_not_count() -> None:
    """A value replaced at its own instant, taken at the end or after it, leaves the extremes alone."""
    summary = summarise_gauge([0.0, 4.0, 4.0, 8.0, 9.0], [1.0, 50.0, 2.0, 60.0, 70.0], 0.0, 8.0)
    assert (summary.mean, summary.min, summary.max) == (1.5, 1.0, 2.0)


def test_infinite_value_is_not_a_nan() -> None:
    """The free units of an unbounded pool average to infinity."""
    summary = summarise_gauge([0.0, 5.0], [math.inf, 1.0], 0.0, 10.0)
    assert (summary.mean, summary.min, summary.max) == (math.inf, 1.0, math.inf)


def test_nan_value_has_no_extremes() -> None:
    """NaN compares with nothing."""
    summary = summarise_gauge([0.0, 5.0], [math.nan, 1.0], 0.0, 10.0)
    assert all(math.isnan(figure) for figure in (summary.mean, summary.min, summary.max))


@pytest.mark.parametrize(
    ("times", "values", "warmup", "end"),
    [
        ([], [], 0.0, 1.0),
        ([0.0], [1.0, 2.0], 0.0, 1.0),
        ([0.0], [1.0], 1.0, 1.0),
        ([0.0], [1.0], 0.0, math.inf),
        ([2.0], [1.0], 0.0, 3.0),
    ],
)
def test_what_cannot_be_averaged_is_an_error(
    times: list[float], values: list[float], warmup: float, end: float
) -> None:
    """No signal, unequal arrays, an empty or endless interval, and a signal that starts late are refused."""
    with pytest.raises(ValueError):
        summarise_gauge(times, values, warmup, end)


@given(
    gaps=st.lists(st.integers(0, 40), min_size=1, max_size=30),
    levels=st.lists(st.integers(-5, 5), min_size=31, max_size=31),
    warmup=st.integers(0, 30),
    length=st.integers(1, 400),
)
def test_agrees_with_the_naive_definition(gaps: list[int], levels: list[int], warmup: int, length: int) -> None:
    """Window by window in exact fractions: the mean, the interval and the extremes."""
    times = [0]
    for gap in gaps:
        times.append(times[-1] + gap)
    values = levels[: len(times)]
    end = warmup + length

    def integral(start: Fraction, stop: Fraction) -> Fraction:
        total = Fraction(0)
        for index, value in enumerate(values):
            until = Fraction(times[index + 1]) if index + 1 < len(times) else Fraction(end)
            held = min(until, stop) - max(Fraction(times[index]), start)
            total += value * max(held, Fraction(0))
        return total

    held_values = [
        value
        for index, value in enumerate(values)
        if min(times[index + 1] if index + 1 < len(times) else end, end) > max(times[index], warmup)
    ]
    edges = [Fraction(warmup) + Fraction(length * window, 20) for window in range(21)]
    means = [integral(left, right) / Fraction(length, 20) for left, right in pairwise(edges)]
    centre = sum(means) / 20
    spread = math.sqrt(float(sum((mean - centre) ** 2 for mean in means) / 19))

    actual = summarise_gauge(times, values, warmup, end)
    assert actual.mean == pytest.approx(float(integral(Fraction(warmup), Fraction(end)) / length), rel=1e-12, abs=1e-12)
    assert actual.ci == pytest.approx(2.093 * spread / math.sqrt(20), rel=1e-9, abs=1e-9)
    assert (actual.min, actual.max) == (min(held_values), max(held_values))


def test_recorded_signal() -> None:
    """Arrivals every 2, three places, 7 a job: mean and interval of the units used agree with a recorded report."""
    horizon, warmup = 40.3125, 4.0
    starts: list[float] = []
    for job in range(20):
        arrival = 2.0 * (job + 1)
        starts.append(arrival if job < 3 else max(arrival, starts[job - 3] + 7.0))
    changes = sorted([(start, 3.0) for start in starts] + [(start + 7.0, -3.0) for start in starts])
    times, values = [0.0], [0.0]
    for at, step in changes:
        times.append(at)
        values.append(values[-1] + step)
    summary = summarise_gauge(times, values, warmup, horizon)
    assert summary.mean == pytest.approx(8.834767641996558, rel=1e-9)
    assert summary.ci == pytest.approx(0.3138907891289276, rel=1e-9)
    assert (summary.min, summary.max) == (6.0, 9.0)
