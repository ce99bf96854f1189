"""Time averages against the sum they stand for."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isclose
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from serq.engine.averages import RunningSum, TimeAverage

CHANGES = st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3), st.booleans()), max_size=20)


@given(CHANGES, st.integers(0, 10), st.integers(1, 10))
def test_the_mean_is_the_integral_over_the_window(
    changes: list[tuple[int, int, bool]], warmup_after: int, tail: int
) -> None:
    """Whole numbers, so that the integral is exact; the window begins at a restart."""
    average = TimeAverage()
    now, value, start = 0.0, 0.0, 0.0
    spans: list[tuple[float, float, float]] = []  # from, to, value
    for place, (gap, change, is_put) in enumerate(changes):
        spans.append((now, now + gap, value))
        now += gap
        if is_put:
            value = float(change)
            average.put(value, now)
        else:
            value += change
            average.add(float(change), now)
        if place == warmup_after:
            average.restart(now)
            start = now
    end = now + tail
    spans.append((now, end, value))
    area = sum((min(to, end) - max(since, start)) * level for since, to, level in spans if to > start)
    assert isclose(average.mean(start, end), area / (end - start), rel_tol=1e-12, abs_tol=1e-12)


def test_an_empty_window_has_no_average() -> None:
    average = TimeAverage()
    average.put(3.0, 1.0)
    assert average.mean(1.0, 1.0) == 0.0


@given(st.lists(st.floats(0.0, 1e9), max_size=30), st.floats(0.0, 1.0), st.randoms(use_true_random=False))
def test_a_running_sum_is_the_exact_sum_of_what_is_left(terms: list[float], share: float, random: Random) -> None:
    """Whatever went and in what order: a plain sum would keep the rounding of every term that passed through."""
    running = RunningSum()
    present: list[float] = []
    for term in terms:
        running.add(term)
        present.append(term)
        if random.random() < 0.4:
            running.take(present.pop(random.randrange(len(present))))
        level = share * min(present, default=0.0)
        exact = sum((Fraction(left) - Fraction(level) for left in present), Fraction(0))
        # three roundings: of the sum less the one half of the levels, less the other, and with what was rounded off
        error = 3 * Fraction(2) ** -53 * (exact + len(present) * Fraction(level)) + Fraction(1, 10**20)
        assert abs(Fraction(running.above(level)) - exact) <= error


def test_a_running_sum_forgets_an_infinite_term() -> None:
    """It is infinite as long as the term is there; an empty sum is 0 to the last bit."""
    running = RunningSum()
    running.add(0.1)
    running.add(inf)
    assert running.above(0.0) == inf
    running.take(inf)
    assert running.above(0.0) == 0.1
    running.add(1e17)
    running.take(0.1)
    running.take(1e17)
    assert running.above(0.0) == 0.0
