"""Time averages against the sum they stand for."""

from __future__ import annotations

from math import isclose

from hypothesis import given
from hypothesis import strategies as st

from serq.engine.averages import TimeAverage

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
