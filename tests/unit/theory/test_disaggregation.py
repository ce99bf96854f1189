"""Capacities of the tandem: the numbers of its program by hand."""

import math

import pytest

from serq import theory


@pytest.mark.parametrize(("prefill_servers", "expected"), [(10, 20.0), (11, 21.0), (12, 20.0)])
def test_split_at_the_balance_and_beside_it(prefill_servers: int, expected: float) -> None:
    """Of 32 servers, 2·NP prefills and 32 − NP decodes a time unit: 20 of 22, 21 of 22, 24 of 20."""
    assert theory.split_capacity(prefill_servers, 32 - prefill_servers, 1.0, 1.0, prefill_gain=2.0) == expected


def test_slow_link_limits() -> None:
    """A link that moves 10 units a time unit, one for each request, holds the tandem at 10."""
    assert theory.split_capacity(11, 21, 1.0, 1.0, prefill_gain=2.0, link_capacity=10.0, transfer_mean=1.0) == 10.0


def test_aggregated_by_hand() -> None:
    """32 servers of 1 + 1 + 0.5 a request."""
    assert theory.aggregated_capacity(32, 1.0, 1.0, 0.5) == pytest.approx(12.8, rel=1e-15)


def test_best_split_is_the_best_of_all() -> None:
    """Eleven of 32, as trying every split says."""
    assert theory.best_split(32, 1.0, 1.0, prefill_gain=2.0) == (11, 21.0)
    assert theory.best_split(2, 1.0, 1.0) == (1, 1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.split_capacity(0, 1, 1.0, 1.0),
        lambda: theory.split_capacity(1, 1, 0.0, 1.0),
        lambda: theory.split_capacity(1, 1, 1.0, 1.0, link_capacity=0.0),
        lambda: theory.aggregated_capacity(1, 0.0, 0.0),
        lambda: theory.aggregated_capacity(1, math.nan, 0.0),
        lambda: theory.best_split(1, 1.0, 1.0),
    ],
)
def test_what_has_no_capacity_is_an_error(call) -> None:  # type: ignore[no-untyped-def]
    """No server, no work and no link are refused."""
    with pytest.raises(ValueError):
        call()
