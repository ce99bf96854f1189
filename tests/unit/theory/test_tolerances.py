"""Tolerances: Student's t against SciPy, and the false-alarm rate they promise."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.theory import agrees, difference_half_width, mean_half_width, student_quantile, student_tail

stats = pytest.importorskip("scipy.stats", reason="the second opinion on Student's t")


@given(threshold=st.floats(-50.0, 50.0), freedom=st.floats(0.5, 300.0))
def test_tail_equals_scipy(threshold: float, freedom: float) -> None:
    """The tail probability, small tails included."""
    assert student_tail(threshold, freedom) == pytest.approx(float(stats.t.sf(threshold, freedom)), rel=1e-9)


@pytest.mark.parametrize("freedom", [1, 2, 9, 19, 19.5, 199])
@pytest.mark.parametrize("tail", [5e-7, 0.005, 0.025, 0.3, 0.5])
def test_quantile_equals_scipy(freedom: float, tail: float) -> None:
    """The inverse, far out too."""
    expected = float(stats.t.isf(tail, freedom))
    assert student_quantile(1.0 - tail, freedom, upper=tail) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_quantiles_of_the_two_sides_mirror() -> None:
    """The 0.1 quantile is minus the 0.9 quantile."""
    assert student_quantile(0.1, 7) == pytest.approx(-student_quantile(0.9, 7), rel=1e-12)


def test_half_width_by_hand() -> None:
    """−1 and 1: sd/√2 is 1 and t of one degree of freedom at 0.75 is 1."""
    assert mean_half_width([-1.0, 1.0], 0.5) == pytest.approx(1.0, rel=1e-12)


def test_false_alarms_come_as_often_as_promised() -> None:
    """With a false-alarm probability of 0.1, of 2000 correct means about 200 are refused (five sd of the count)."""
    generator = random.Random(3)
    refused = sum(not agrees([generator.gauss(5.0, 2.0) for _ in range(10)], 5.0, 0.1) for _ in range(2000))
    assert abs(refused - 200) <= 5 * math.sqrt(2000 * 0.1 * 0.9)


def test_a_wrong_mean_is_noticed() -> None:
    """Twenty seeds with sd 1 notice an expectation 3 away, even with one false alarm in a million."""
    generator = random.Random(4)
    figures = [generator.gauss(0.0, 1.0) for _ in range(20)]
    assert agrees(figures, 0.0)
    assert not agrees(figures, 3.0)


def test_difference_equals_welch() -> None:
    """The half width is the one whose edge has the Welch p-value asked for."""
    first, second = [1.0, 2.0, 4.0, 8.0], [3.0, 3.5, 9.0]
    width = difference_half_width(first, second, 0.05)
    gap = sum(first) / 4 - sum(second) / 3
    shifted = [figure + gap + width for figure in second]
    assert float(stats.ttest_ind(first, shifted, equal_var=False).pvalue) == pytest.approx(0.05, rel=1e-9)


def test_constant_figures_have_no_tolerance() -> None:
    """Two deterministic programs must give the same figure."""
    assert difference_half_width([2.0, 2.0], [2.0, 2.0]) == 0.0
    assert mean_half_width([2.0, 2.0]) == 0.0


def test_one_figure_has_no_spread() -> None:
    """A tolerance needs two seeds."""
    with pytest.raises(ValueError, match="two figures"):
        mean_half_width([1.0])


@pytest.mark.parametrize("probability", [0.0, 1.0, math.nan])
def test_quantile_needs_a_probability(probability: float) -> None:
    """0, 1 and NaN have no quantile."""
    with pytest.raises(ValueError, match="probability"):
        student_quantile(probability, 5)


def test_freedom_must_be_positive() -> None:
    """No degree of freedom is no t."""
    with pytest.raises(ValueError, match="freedom"):
        student_tail(1.0, 0.0)
