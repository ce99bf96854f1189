"""Online estimates and the price of a miss (notes §7)."""

from __future__ import annotations

from math import isclose

import pytest

from serq.engine.estimators import Estimates
from unit.engine.running import seen


def recorded(*jobs: tuple[float, float, float]) -> Estimates:
    """Record jobs given as (start, wait, service)."""
    estimates = Estimates()
    for job in jobs:
        estimates.record(*job)
    return estimates


def test_the_price_of_the_notes() -> None:
    """λ 0.5, service 1, W 1, s_h = 1, ds = 1: 1 + 0.5·(4 − 1)/(2·0.5) + 0.5·1·1/0.5 = 3.5."""
    estimates = recorded((0.0, 1.0, 1.0), (2.0, 1.0, 1.0))
    assert (estimates.rate(), estimates.load(), estimates.wait()) == (0.5, 0.5, 1.0)
    assert estimates.price(1.0, 1.0) == 3.5


def test_before_any_completion_everything_is_zero() -> None:
    estimates = recorded()
    assert (estimates.rate(), estimates.load(), estimates.wait()) == (0.0, 0.0, 0.0)
    assert estimates.price(3.0, 2.0) == 2.0


def test_one_completion_gives_a_wait_and_no_rate() -> None:
    """λ needs two starts."""
    estimates = recorded((4.0, 2.0, 3.0))
    assert (estimates.rate(), estimates.load(), estimates.wait()) == (0.0, 0.0, 2.0)


def test_the_first_sample_is_taken_whole_and_the_others_by_a_hundredth() -> None:
    estimates = recorded((0.0, 1.0, 2.0), (4.0, 5.0, 10.0), (14.0, 0.0, 0.0))
    assert isclose(estimates.rate(), 1.0 / (4.0 + 0.01 * (10.0 - 4.0)))
    wait = 1.0 + 0.01 * 4.0
    assert isclose(estimates.wait(), wait - 0.01 * wait)


def test_the_load_stays_below_one() -> None:
    """At most 0.99, so that a price is finite."""
    estimates = recorded((0.0, 0.0, 50.0), (1.0, 0.0, 50.0))
    assert estimates.load() == 0.99
    assert isclose(estimates.price(0.0, 1.0), 1.0 + 1.0 / (2.0 * (1.0 - 0.99)))


def test_gaps_are_signed_and_a_mean_gap_of_zero_or_less_is_no_rate() -> None:
    """Starts are recorded in the order of completion, so a gap can be negative."""
    assert recorded((5.0, 0.0, 1.0), (3.0, 0.0, 9.0)).rate() == 0.0
    assert recorded((5.0, 0.0, 1.0), (5.0, 0.0, 1.0)).rate() == 0.0


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        # services of 1 back to back from 0: starts 0, 1, 2; waits 0, 1, 2
        ("est_lambda(s)", [0.0, 1.0, 1.0]),
        ("est_wait(s)", [0.0, 0.01, 0.01 + 0.01 * (2.0 - 0.01)]),
        ("est_rho(s)", [0.0, 0.99, 0.99]),
        ("price(s, 0, 1)", [1.0, 1.0 + 1.0 / 0.02 + 0.01 / 0.01, 1.0 + 1.0 / 0.02 + 0.0299 / 0.01]),
    ],
)
def test_a_session_reads_them_after_its_own_completion(expression: str, values: list[float]) -> None:
    """The estimates are updated before the finished session runs."""
    text = f"stage s : fifo; workload {{ arrive batch(3); }} session {{ run s (1); observe a = {expression}; }}"
    found = [value for _, _, value in seen(text)]
    assert all(isclose(x, y, rel_tol=1e-12) for x, y in zip(found, values, strict=True)), found


def test_work_of_zero_leaves_no_sample() -> None:
    text = "stage s : fifo; session { run s (0); run s (0); observe a = est_wait(s) + est_lambda(s); }"
    assert seen("workload { arrive batch(1); }" + text) == [(0.0, 0, 0.0)]
