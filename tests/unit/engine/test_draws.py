"""Distributions: the formulas of notes §7, and the laws of many draws.

A share of draws below a point has standard deviation √(p(1−p)/n); five of them are passed with a probability of 6e-7.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from serq.engine.streams import SESSION, Stream, absorb, purpose_state
from unit.engine.running import seen

COUNT = 8_000


def session_stream(session: int, seed: int = 1) -> Stream:
    return Stream(absorb(purpose_state(seed, SESSION), session))


def drawn(expression: str, count: int = COUNT) -> list[float]:
    """One draw in each of many sessions."""
    text = f"workload {{ arrive batch({count}); }} session {{ observe a = {expression}; }} run {{ horizon 1; }}"
    return [value for _, _, value in seen(text)]


def erlang_cdf(k: int, mean: float) -> Callable[[float], float]:
    rate = k / mean
    return lambda x: 1.0 - math.exp(-rate * x) * sum((rate * x) ** i / math.factorial(i) for i in range(k))


def h2_cdf(mean: float, cv2: float) -> Callable[[float], float]:
    """Balanced means: each phase carries half of the mean."""
    p = (1.0 + math.sqrt((cv2 - 1.0) / (cv2 + 1.0))) / 2.0
    first, second = mean / (2.0 * p), mean / (2.0 * (1.0 - p))
    return lambda x: 1.0 - p * math.exp(-x / first) - (1.0 - p) * math.exp(-x / second)


LAWS: list[tuple[str, Callable[[float], float], float, float]] = [
    ("~exp(2)", lambda x: 1.0 - math.exp(-x / 2.0), 2.0, 4.0),
    ("~uniform(1, 5)", lambda x: min(max((x - 1.0) / 4.0, 0.0), 1.0), 3.0, 16.0 / 12.0),
    ("~erlang(3, 2)", erlang_cdf(3, 2.0), 2.0, 4.0 / 3.0),
    ("~erlang(1, 2)", erlang_cdf(1, 2.0), 2.0, 4.0),
    ("~h2(2, 4)", h2_cdf(2.0, 4.0), 2.0, 16.0),
    ("~bernoulli(0.3)", lambda x: 0.0 if x < 0 else 0.7 if x < 1 else 1.0, 0.3, 0.21),
    ("~det(2)", lambda x: float(x >= 2.0), 2.0, 0.0),
]


@pytest.mark.parametrize(("expression", "cdf", "mean", "variance"), LAWS, ids=[law[0] for law in LAWS])
def test_law(expression: str, cdf: Callable[[float], float], mean: float, variance: float) -> None:
    """At nine points, and in the mean."""
    found = drawn(expression)
    for point in (0.1, 0.5, 0.99, 1.5, 2.0, 2.5, 3.5, 5.0, 8.0):
        share, p = sum(value <= point for value in found) / COUNT, cdf(point)
        assert abs(share - p) <= 5.0 * math.sqrt(p * (1.0 - p) / COUNT) + 1e-12, (point, share, p)
    assert abs(sum(found) / COUNT - mean) <= 5.0 * math.sqrt(variance / COUNT) + 1e-12


def test_the_exponential_is_the_logarithm_of_one_minus_a_uniform() -> None:
    assert drawn("~exp(3)", 5) == [-3.0 * math.log(1.0 - session_stream(session).uniform()) for session in range(5)]


def test_a_bernoulli_is_a_uniform_below_p() -> None:
    found = drawn("~bernoulli(0.4)", 50)
    assert found == [float(session_stream(session).uniform() < 0.4) for session in range(50)]


def test_short_circuits_skip_draws() -> None:
    """A draw that is not reached is not made."""
    text = "workload { arrive batch(1); } session { set x = 0 && ~exp(1); observe a = ~exp(1); } run { horizon 1; }"
    assert seen(text)[0][2] == drawn("~exp(1)", 1)[0]


def test_sessions_draw_from_streams_of_their_own() -> None:
    """What one session draws does not shift another's."""
    head = "workload { arrive batch(3); } session { "
    plain = seen(head + "observe a = ~exp(1); } run { horizon 1; }")
    more = seen(head + "branch (serial == 0) { set x = ~exp(1) + ~exp(1); } observe a = ~exp(1); } run { horizon 1; }")
    assert plain[1:] == more[1:]
    assert plain[0] != more[0]


def test_another_seed_draws_otherwise() -> None:
    from unit.engine.running import samples, simulate

    text = "workload { arrive batch(1); } session { observe a = ~exp(1); } run { horizon 1; }"
    assert samples(simulate(text, seed=1), "a") != samples(simulate(text, seed=2), "a")
