"""Closed networks: by hand, by two routes, and against a Markov chain solved directly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq import theory


def test_two_customers_by_hand() -> None:
    """Think 1, service 1, N = 2: weights 1, 2, 2; the server works 4/5 of the time and two are answered in 3/2."""
    figures = theory.finite_source(2, 1.0, 1.0)
    assert theory.finite_source_distribution(2, 1.0, 1.0) == pytest.approx([0.2, 0.4, 0.4], rel=1e-14)
    assert figures.throughput == pytest.approx(0.8, rel=1e-14)
    assert figures.response_mean == pytest.approx(1.5, rel=1e-14)
    assert figures.thinking_mean == pytest.approx(0.8, rel=1e-14)


@given(customers=st.integers(1, 200), think=st.floats(0.01, 100.0), service=st.floats(0.01, 100.0))
def test_mean_value_analysis_agrees_with_the_law_of_a_finite_source(
    customers: int, think: float, service: float
) -> None:
    """Recursion over the population and birth–death weights are two routes to the same means."""
    recursion = theory.mean_value_analysis([service], think, customers)
    law = theory.finite_source(customers, think, service)
    assert recursion.throughput == pytest.approx(law.throughput, rel=1e-9)
    assert recursion.response_mean == pytest.approx(law.response_mean, rel=1e-9)
    assert recursion.stations[0].utilization == pytest.approx(law.stations[0].utilization, rel=1e-9)


def test_two_stations_against_their_markov_chain() -> None:
    """Three customers, think 2, services 1 and 1/2: the balance equations give the throughput of the recursion."""
    np = pytest.importorskip("numpy")
    customers, think, services = 3, 2.0, (1.0, 0.5)
    states = [(a, b) for a in range(customers + 1) for b in range(customers + 1 - a)]
    index = {state: number for number, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    for (first, second), row in index.items():
        moves = []
        if first + second < customers:
            moves.append(((first + 1, second), (customers - first - second) / think))
        if first > 0:
            moves.append(((first - 1, second + 1), 1.0 / services[0]))
        if second > 0:
            moves.append(((first, second - 1), 1.0 / services[1]))
        for target, rate in moves:
            rates[row, index[target]] += rate
            rates[row, row] -= rate
    system = np.vstack([rates.T, np.ones(len(states))])
    law = np.linalg.lstsq(system, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    throughput = sum(law[row] for (_, second), row in index.items() if second > 0) / services[1]
    figures = theory.mean_value_analysis(services, think, customers)
    assert figures.throughput == pytest.approx(throughput, rel=1e-9)
    number = sum(law[row] * first for (first, _), row in index.items())
    assert figures.stations[0].number_mean == pytest.approx(number, rel=1e-9)


@given(
    demands=st.lists(st.floats(0.01, 10.0), min_size=1, max_size=5),
    think=st.floats(0.0, 50.0),
    customers=st.integers(1, 100),
)
def test_population_is_conserved_and_bounds_hold(demands: list[float], think: float, customers: int) -> None:
    """Numbers and thinkers sum to the population; throughput and response keep to the asymptotic bounds."""
    figures = theory.mean_value_analysis(demands, think, customers)
    present = sum(station.number_mean for station in figures.stations)
    assert present + figures.thinking_mean == pytest.approx(customers, rel=1e-9)
    fastest, shortest = theory.bottleneck_bounds(demands, think, customers)
    assert figures.throughput <= fastest * (1 + 1e-9)
    assert figures.response_mean >= shortest * (1 - 1e-9)


def test_one_customer_never_waits() -> None:
    """Alone, the response is the sum of the demands."""
    assert theory.mean_value_analysis([1.0, 2.0, 3.0], 4.0, 1).response_mean == 6.0


def test_large_population_does_not_overflow() -> None:
    """100 000 customers: the server never idles and the law still sums to 1."""
    law = theory.finite_source_distribution(100_000, 4.0, 1.0)
    assert sum(law) == pytest.approx(1.0, rel=1e-9)
    assert theory.finite_source(100_000, 4.0, 1.0).throughput == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.mean_value_analysis([1.0], 1.0, 0),
        lambda: theory.mean_value_analysis([-1.0], 1.0, 1),
        lambda: theory.mean_value_analysis([], 0.0, 1),
        lambda: theory.finite_source(0, 1.0, 1.0),
        lambda: theory.finite_source(1, 0.0, 1.0),
        lambda: theory.bottleneck_bounds([], 1.0, 1),
    ],
)
def test_what_is_no_network_is_an_error(call) -> None:  # type: ignore[no-untyped-def]
    """No customer, a negative time and a cycle without time are refused."""
    with pytest.raises(ValueError):
        call()
