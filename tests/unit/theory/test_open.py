"""Open queues: values by hand, and each formula against another route to the same mean."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq import theory

LOADS = st.floats(0.01, 0.98)
TIMES = st.floats(0.001, 1000.0)


def test_mm1_by_hand() -> None:
    """λ 3/4, s 1: number 3, sojourn 4, wait 3, line 9/4."""
    assert theory.mm1(0.75, 1.0) == theory.QueueFigures(0.75, 3.0, 4.0, 2.25, 3.0)


@given(load=LOADS, service=TIMES)
def test_mm1_number_is_the_mean_of_its_geometric_law(load: float, service: float) -> None:
    """Σ n(1 − ρ)ρⁿ, cut where the terms vanish, is the number of the formula."""
    figures = theory.mm1(load / service, service)
    number = math.fsum(n * (1.0 - load) * load**n for n in range(1, 4000))
    assert figures.number_mean == pytest.approx(number, rel=1e-9)


@pytest.mark.parametrize(
    ("cv2", "sojourn"),
    [(0.0, 3.0), (0.25, 3.5), (1.0, 5.0), (4.0, 11.0)],
    ids=["det", "erlang4", "exp", "h2"],
)
def test_pollaczek_khinchine_at_the_four_laws(cv2: float, sojourn: float) -> None:
    """λ 0.8, s 1: the wait is 2(1 + cv2), so the four laws give 3, 3.5, 5 and 11."""
    assert theory.mg1(0.8, 1.0, cv2).sojourn_mean == pytest.approx(sojourn, rel=1e-12)


def test_md1_waits_half_of_mm1() -> None:
    """A constant service waits half as long as an exponential one."""
    assert theory.md1(0.6, 1.0).wait_mean == pytest.approx(theory.mm1(0.6, 1.0).wait_mean / 2.0, rel=1e-15)


def test_md1_number_from_its_chain() -> None:
    """The chain of numbers left behind by departures, iterated by hand, has the mean of the formula."""
    load = 0.5
    arrivals = [math.exp(-load) * load**n / math.factorial(n) for n in range(60)]
    law = [1.0] + [0.0] * 59
    for _ in range(400):
        after = [0.0] * 60
        for present, mass in enumerate(law):
            for count in range(60 - max(present - 1, 0)):
                after[max(present - 1, 0) + count] += mass * arrivals[count]
        law = after
    number = sum(present * mass for present, mass in enumerate(law))
    assert theory.md1(0.5, 1.0).number_mean == pytest.approx(number, rel=1e-9)


def test_ps_sojourn_is_that_of_mm1_and_linear_in_size() -> None:
    """λ 0.7, s 1: 10/3 in the mean, and a job of 3 stays 10."""
    figures = theory.mg1_ps(0.7, 1.0)
    assert figures.sojourn_mean == pytest.approx(theory.mm1(0.7, 1.0).sojourn_mean, rel=1e-12)
    assert theory.ps_conditional_sojourn(3.0, 0.7) == pytest.approx(10.0, rel=1e-12)


def test_no_wait_at_a_delay() -> None:
    """λ 2, s 3: six think."""
    assert theory.mginf(2.0, 3.0) == theory.QueueFigures(0.0, 0.0, 3.0, 0.0, 6.0)


def test_erlang_b_and_c_by_hand() -> None:
    """Two servers at an offered load of 1: (1/2)/(1 + 1 + 1/2) is lost, 1/3 waits."""
    assert theory.erlang_b(2, 1.0) == pytest.approx(0.2, rel=1e-15)
    assert theory.erlang_c(2, 1.0) == pytest.approx(1.0 / 3.0, rel=1e-15)


@given(servers=st.integers(1, 60), share=LOADS)
def test_erlang_from_the_stationary_law(servers: int, share: float) -> None:
    """Weights aⁿ/n! up to c, then falling by the load, give both probabilities and the line."""
    offered = share * servers
    weights = [offered**n / math.factorial(n) for n in range(servers + 1)]
    assert theory.erlang_b(servers, offered) == pytest.approx(weights[-1] / math.fsum(weights), rel=1e-10)
    waiting = weights[-1] / (1.0 - share)
    total = math.fsum(weights[:-1]) + waiting
    assert theory.erlang_c(servers, offered) == pytest.approx(waiting / total, rel=1e-10)
    line = waiting / total * share / (1.0 - share)
    assert theory.mmc(offered, 1.0, servers).line_mean == pytest.approx(line, rel=1e-10)


@given(load=LOADS, service=TIMES)
def test_one_server_of_mmc_is_mm1(load: float, service: float) -> None:
    """M/M/c with c = 1 gives every figure of M/M/1."""
    one = theory.mmc(load / service, service, 1)
    single = theory.mm1(load / service, service)
    assert one.sojourn_mean == pytest.approx(single.sojourn_mean, rel=1e-9)
    assert one.number_mean == pytest.approx(single.number_mean, rel=1e-9)


@given(load=LOADS, service=TIMES, cv2=st.floats(0.0, 50.0))
def test_little_holds(load: float, service: float, cv2: float) -> None:
    """Number and line are the rate times the times."""
    figures = theory.mg1(load / service, service, cv2)
    assert figures.number_mean == theory.little_number(load / service, figures.sojourn_mean)
    assert figures.number_mean - figures.line_mean == pytest.approx(load, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.mm1(1.0, 1.0),
        lambda: theory.mm1(-1.0, 1.0),
        lambda: theory.mm1(math.nan, 1.0),
        lambda: theory.mg1(0.5, 1.0, -0.1),
        lambda: theory.mg1_ps(2.0, 1.0),
        lambda: theory.mmc(2.0, 1.0, 2),
        lambda: theory.mmc(0.5, 1.0, 0),
        lambda: theory.erlang_c(2, 2.0),
        lambda: theory.erlang_b(-1, 2.0),
        lambda: theory.ps_conditional_sojourn(1.0, 1.0),
        lambda: theory.little_number(math.inf, 1.0),
    ],
)
def test_no_steady_state_is_an_error(call) -> None:  # type: ignore[no-untyped-def]
    """An overloaded queue and a parameter that means nothing are refused."""
    with pytest.raises(ValueError):
        call()
