"""Bandwidth sharing: the worked example, and the property that defines max-min fairness."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.theory import bottleneck_rates, maxmin_rates

EXAMPLE = [[0], [0, 1], [1]]


def test_worked_example() -> None:
    """A of 1 carries f1, f2 and B of 2 carries f2, f3: max-min gives f3 what f2 leaves, the other does not."""
    assert maxmin_rates([1.0, 2.0], EXAMPLE) == [0.5, 0.5, 1.5]
    assert bottleneck_rates([1.0, 2.0], EXAMPLE) == [0.5, 0.5, 1.0]


def test_no_flow() -> None:
    """Without flows there are no rates."""
    assert maxmin_rates([1.0], []) == []
    assert bottleneck_rates([1.0], []) == []


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[float], list[list[int]]]:
    """Draw up to five stages of whole capacities and up to eight flows over them."""
    capacities = [float(c) for c in draw(st.lists(st.integers(1, 20), min_size=1, max_size=5))]
    stages = st.lists(st.integers(0, len(capacities) - 1), min_size=1, max_size=len(capacities), unique=True)
    return capacities, draw(st.lists(stages, min_size=1, max_size=8))


@given(networks())
def test_maxmin_is_max_min_fair(network: tuple[list[float], list[list[int]]]) -> None:
    """No stage is overfull, and every flow has a full stage where no other flow is faster."""
    capacities, flows = network
    rates = maxmin_rates(capacities, flows)
    loads = [
        sum(rate for rate, stages in zip(rates, flows, strict=True) if stage in stages)
        for stage in range(len(capacities))
    ]
    for load, capacity in zip(loads, capacities, strict=True):
        assert load <= capacity * (1 + 1e-9)
    for rate, stages in zip(rates, flows, strict=True):
        assert any(
            loads[stage] >= capacities[stage] * (1 - 1e-9)
            and all(other <= rate * (1 + 1e-9) for other, others in zip(rates, flows, strict=True) if stage in others)
            for stage in stages
        )


@given(networks())
def test_bottleneck_never_gives_a_flow_more_than_maxmin(network: tuple[list[float], list[list[int]]]) -> None:
    """A flow's equal share at its tightest stage is a lower bound on its max-min rate."""
    capacities, flows = network
    for low, high in zip(bottleneck_rates(capacities, flows), maxmin_rates(capacities, flows), strict=True):
        assert low <= high * (1 + 1e-9)


@pytest.mark.parametrize(
    ("capacities", "flows"), [([0.0], [[0]]), ([1.0], [[]]), ([1.0], [[0, 0]]), ([1.0], [[1]]), ([1.0], [[-1]])]
)
def test_what_is_no_flow_is_an_error(capacities: list[float], flows: list[list[int]]) -> None:
    """No capacity, no stage, a stage twice and a stage that is not there are refused."""
    for solver in (maxmin_rates, bottleneck_rates):
        with pytest.raises(ValueError):
            solver(capacities, flows)
