"""Closed networks: a fixed number of customers that circulate.

Input: the demand of each station and the number of customers. Output: throughput, numbers and residence times.

Invariants: the numbers at all stations sum to the population; throughput × residence time = number, at each station.

Reference: language §3, Workload (`arrive closed`) and Stages.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StationFigures:
    """Steady-state means of one station in a closed network.

    Attributes
    ----------
    utilization : share of time its server is busy [1]
    residence_mean : time at the station in one cycle, wait and service [t]
    number_mean : customers there [1]
    """

    utilization: float
    residence_mean: float
    number_mean: float


@dataclass(frozen=True, slots=True)
class ClosedFigures:
    """Steady-state means of a closed network.

    Attributes
    ----------
    throughput : cycles a time unit [1/t]
    response_mean : time in a cycle outside the think time [t]
    thinking_mean : customers that think [1]
    stations : the stations' means, in the order given
    """

    throughput: float
    response_mean: float
    thinking_mean: float
    stations: tuple[StationFigures, ...]


def mean_value_analysis(demands: Sequence[float], think_mean: float, customers: int) -> ClosedFigures:
    """Solve a closed product-form network of single-server stations and a think time exactly.

    Parameters
    ----------
    demands : (stations,) [t] work a customer brings to each station in one cycle; several visits add up
    think_mean : [t] time a cycle spends at a delay; 0 for none
    customers : how many circulate, at least 1

    Returns
    -------
    The steady-state means.

    Raises
    ------
    ValueError
        For no customer, a negative or infinite time, or a cycle that takes no time.

    Notes
    -----
    Exact for first-come-first-served stations with exponential services, and for processor-sharing stations and think
    times of any law (the four kinds of station of Baskett, Chandy, Muntz and Palacios). An arriving customer sees the
    network as it is with one customer less; the recursion takes customers × stations steps and no number in it can
    overflow.

    References
    ----------
    M. Reiser, S. S. Lavenberg, Mean-value analysis of closed multichain queuing networks, J. ACM 27 (1980), §3.
    E. D. Lazowska et al., Quantitative System Performance (1984), §6.4.2. F. Baskett et al., J. ACM 22 (1975).

    Examples
    --------
    Two customers at one station without a think time: it never idles, and a customer waits for the other.

    >>> mean_value_analysis([3.0], 0.0, 2).response_mean
    6.0
    """
    _check_time("think time", think_mean)
    for demand in demands:
        _check_time("demand", demand)
    if customers < 1:
        raise ValueError(f"a closed network needs one customer at least, not {customers}")
    if think_mean + sum(demands) == 0.0:
        raise ValueError("a cycle must take some time")
    numbers = [0.0] * len(demands)
    residences = list(demands)
    throughput = 0.0
    for population in range(1, customers + 1):
        residences = [demand * (1.0 + number) for demand, number in zip(demands, numbers, strict=True)]
        throughput = population / (think_mean + sum(residences))
        numbers = [throughput * residence for residence in residences]
    return ClosedFigures(
        throughput=throughput,
        response_mean=sum(residences),
        thinking_mean=throughput * think_mean,
        stations=tuple(
            StationFigures(throughput * demand, residence, number)
            for demand, residence, number in zip(demands, residences, numbers, strict=True)
        ),
    )


def finite_source_distribution(customers: int, think_mean: float, service_mean: float) -> list[float]:
    """Return the law of the number at the server of M/M/1//N, the machine repair model.

    Parameters
    ----------
    customers : N, how many think or are served
    think_mean : [t], of any law
    service_mean : [t], of exponential services

    Returns
    -------
    (N + 1,) probabilities that 0, 1, …, N customers wait or are served

    Notes
    -----
    π(n) is proportional to N!/(N − n)! · (service/think)^n. The terms are built from the largest one outwards, so that
    neither a large N nor a long think time overflows.

    References
    ----------
    L. Kleinrock, Queueing Systems, vol. 1 (1975), §3.8.

    Examples
    --------
    >>> finite_source_distribution(1, 3.0, 1.0)
    [0.75, 0.25]
    """
    _check_time("think time", think_mean)
    _check_time("service time", service_mean)
    if customers < 1:
        raise ValueError(f"a finite source needs one customer at least, not {customers}")
    if not (think_mean > 0.0 and service_mean > 0.0):
        raise ValueError("a finite source needs a think time and a service time above 0")
    logarithms = [0.0]
    for present in range(customers):
        logarithms.append(logarithms[-1] + math.log((customers - present) * service_mean / think_mean))
    largest = max(logarithms)
    weights = [math.exp(logarithm - largest) for logarithm in logarithms]
    total = sum(weights)
    return [weight / total for weight in weights]


def finite_source(customers: int, think_mean: float, service_mean: float) -> ClosedFigures:
    """Return the means of M/M/1//N from its law; an independent route to `mean_value_analysis` with one station.

    Parameters
    ----------
    customers : N
    think_mean, service_mean : [t]

    References
    ----------
    L. Kleinrock, Queueing Systems, vol. 1 (1975), §3.8.
    """
    law = finite_source_distribution(customers, think_mean, service_mean)
    utilization = 1.0 - law[0]
    throughput = utilization / service_mean
    number = 0.0
    for present, probability in enumerate(law):
        number += present * probability
    response = number / throughput
    return ClosedFigures(throughput, response, customers - number, (StationFigures(utilization, response, number),))


def bottleneck_bounds(demands: Sequence[float], think_mean: float, customers: int) -> tuple[float, float]:
    """Return the asymptotic upper bound on throughput [1/t] and lower bound on the response time [t].

    Parameters
    ----------
    demands : (stations,) [t], at least one above 0
    think_mean : [t]
    customers : at least 1

    Notes
    -----
    X <= min(1/D_max, N/(D + Z)) and R >= max(D, N·D_max − Z), for any laws.

    References
    ----------
    E. D. Lazowska et al., Quantitative System Performance (1984), §5.2.
    """
    _check_time("think time", think_mean)
    for demand in demands:
        _check_time("demand", demand)
    largest = max(demands, default=0.0)
    total = sum(demands)
    if largest == 0.0 or customers < 1:
        raise ValueError("the bounds need one customer and one station with work at least")
    return min(1.0 / largest, customers / (total + think_mean)), max(total, customers * largest - think_mean)


def _check_time(what: str, value: float) -> None:
    if not (math.isfinite(value) and value >= 0.0):
        raise ValueError(f"a {what} must be non-negative and finite, not {value}")
