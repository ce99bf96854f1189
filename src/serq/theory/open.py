"""Open queues in steady state: M/M/1, M/M/c, M/G/1, M/G/1-PS, M/G/∞.

Input: an arrival rate [1/t], a mean service time [t], and what else the law needs. Output: `QueueFigures`.

Invariants: number = arrival rate × time, for the whole station and for its line, by construction (Little's law).

Reference: language §3, Stages. Sources are named by each function; throughout, Kleinrock is L. Kleinrock, Queueing
Systems, vol. 1: Theory (1975), and Harchol-Balter is M. Harchol-Balter, Performance Modeling and Design of Computer
Systems (2013).
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """Steady-state means of one station.

    Attributes
    ----------
    utilization : share of time a server is busy [1], averaged over the servers; for infinitely many servers 0
    wait_mean : time in the line [t]; 0 where every job is served at once
    sojourn_mean : wait and service [t]; the response time of a session that visits once
    line_mean : jobs in the line [1]
    number_mean : jobs at the station [1]
    """

    utilization: float
    wait_mean: float
    sojourn_mean: float
    line_mean: float
    number_mean: float


def little_number(arrival_rate: float, time_mean: float) -> float:
    """Return the mean number in a system from the rate at which jobs enter it and the mean time they stay.

    Parameters
    ----------
    arrival_rate : [1/t]
    time_mean : [t]

    Notes
    -----
    L = λW. It holds for any system in which what enters leaves, whatever the laws and the order of service.

    References
    ----------
    J. D. C. Little, A proof for the queuing formula L = λW, Operations Research 9 (1961). Kleinrock §2.1.
    """
    _check_positive("arrival rate", arrival_rate, zero=True)
    _check_positive("mean time", time_mean, zero=True)
    return arrival_rate * time_mean


def mm1(arrival_rate: float, service_mean: float) -> QueueFigures:
    """Return the means of M/M/1, first come first served.

    Parameters
    ----------
    arrival_rate : [1/t], of a Poisson stream
    service_mean : [t], of exponential services

    Raises
    ------
    ValueError
        Without a steady state: arrival_rate · service_mean >= 1.

    Notes
    -----
    Sojourn s/(1 − ρ) and number ρ/(1 − ρ), with ρ = λs.

    References
    ----------
    Kleinrock §3.2. Harchol-Balter §13.1.

    Examples
    --------
    >>> mm1(0.75, 1.0).sojourn_mean
    4.0
    """
    return mg1(arrival_rate, service_mean, 1.0)


def pollaczek_khinchine_wait(arrival_rate: float, service_mean: float, service_cv2: float) -> float:
    """Return the mean wait [t] of M/G/1 in any order that does not look at service times.

    Parameters
    ----------
    arrival_rate : [1/t], of a Poisson stream
    service_mean : [t]
    service_cv2 : [1] variance of the service time over its mean²; 0 for a constant, 1 exponential, 1/k Erlang

    Raises
    ------
    ValueError
        Without a steady state: arrival_rate · service_mean >= 1.

    Notes
    -----
    W = λE[S²] / 2(1 − ρ) = ρ/(1 − ρ) · s(1 + cv2)/2.

    References
    ----------
    Kleinrock §5.5 (mean queue length) and §5.7. Harchol-Balter ch. 23.
    """
    load = _load(arrival_rate, service_mean, 1)
    _check_positive("squared coefficient of variation", service_cv2, zero=True)
    return load / (1.0 - load) * service_mean * (1.0 + service_cv2) / 2.0


def mg1(arrival_rate: float, service_mean: float, service_cv2: float) -> QueueFigures:
    """Return the means of M/G/1, first come first served, by the Pollaczek–Khinchine formula.

    Parameters
    ----------
    arrival_rate : [1/t], of a Poisson stream
    service_mean : [t]
    service_cv2 : [1] variance of the service time over its mean²

    Raises
    ------
    ValueError
        Without a steady state: arrival_rate · service_mean >= 1.

    References
    ----------
    Kleinrock §5.5 and §5.7.

    Examples
    --------
    Constant services wait half as long as exponential ones:

    >>> mg1(0.5, 1.0, 0.0).wait_mean, mg1(0.5, 1.0, 1.0).wait_mean
    (0.5, 1.0)
    """
    wait = pollaczek_khinchine_wait(arrival_rate, service_mean, service_cv2)
    return _figures(arrival_rate, service_mean, wait, arrival_rate * service_mean)


def md1(arrival_rate: float, service: float) -> QueueFigures:
    """Return the means of M/D/1, first come first served.

    Parameters
    ----------
    arrival_rate : [1/t], of a Poisson stream
    service : [t], the same for every job

    Notes
    -----
    A step stage whose requests are one chunk of prefill each, of equal cost and one an iteration, is this queue: the
    iteration is the service.

    References
    ----------
    Kleinrock §5.5 (the special case b̄² = 0). Harchol-Balter ch. 23.
    """
    return mg1(arrival_rate, service, 0.0)


def mg1_ps(arrival_rate: float, service_mean: float) -> QueueFigures:
    """Return the means of M/G/1 under processor sharing, which depend on the service law through its mean alone.

    Parameters
    ----------
    arrival_rate : [1/t], of a Poisson stream
    service_mean : [t], of a job that is alone

    Raises
    ------
    ValueError
        Without a steady state: arrival_rate · service_mean >= 1.

    Notes
    -----
    Every job is served at once, so the wait is 0 and the whole delay is in the service. The number has the geometric
    law of M/M/1, whatever the service law (insensitivity).

    References
    ----------
    Harchol-Balter §30.1. L. Kleinrock, Queueing Systems, vol. 2 (1976), §4.4. F. P. Kelly, Reversibility and Stochastic
    Networks (1979), §3.3 (symmetric queues).
    """
    load = _load(arrival_rate, service_mean, 1)
    sojourn = service_mean / (1.0 - load)
    return QueueFigures(load, 0.0, sojourn, 0.0, arrival_rate * sojourn)


def ps_conditional_sojourn(size: float, load: float) -> float:
    """Return the mean sojourn [t] of a job that would need `size` [t] alone, under processor sharing at a load below 1.

    References
    ----------
    L. Kleinrock, Queueing Systems, vol. 2 (1976), §4.4: T(x) = x / (1 − ρ).
    """
    _check_positive("size", size, zero=True)
    if not 0.0 <= load < 1.0:
        raise ValueError(f"processor sharing has a steady state at a load in [0, 1), not at {load}")
    return size / (1.0 - load)


def mginf(arrival_rate: float, service_mean: float) -> QueueFigures:
    """Return the means of M/G/∞, where no job waits: a delay stage, a client's think time.

    References
    ----------
    Kleinrock §3.4. Harchol-Balter §15.2. F. P. Kelly, Reversibility and
    Stochastic Networks (1979), §3.3: any service law (a symmetric queue).
    """
    _check_positive("arrival rate", arrival_rate)
    _check_positive("mean service time", service_mean, zero=True)
    return QueueFigures(0.0, 0.0, service_mean, 0.0, arrival_rate * service_mean)


def erlang_b(server_count: int, offered_load: float) -> float:
    """Return the probability that an arrival to M/G/c/c finds every server busy.

    Parameters
    ----------
    server_count : c >= 0
    offered_load : [1] arrival rate × mean service; any non-negative number, since what is blocked is lost

    Notes
    -----
    The recursion B(c) = aB(c−1) / (c + aB(c−1)) has no factorials and only positive terms, so nothing overflows or
    cancels.

    References
    ----------
    Kleinrock §3.7 (the law). D. L. Jagerman, Some properties of the Erlang loss function, Bell System
    Technical Journal 53 (1974): the recursion.

    Examples
    --------
    >>> erlang_b(2, 1.0)
    0.2
    """
    if server_count < 0:
        raise ValueError(f"a station needs a number of servers, not {server_count}")
    _check_positive("offered load", offered_load, zero=True)
    blocked = 1.0
    for servers in range(1, server_count + 1):
        blocked = offered_load * blocked / (servers + offered_load * blocked)
    return blocked


def erlang_c(server_count: int, offered_load: float) -> float:
    """Return the probability that an arrival to M/M/c waits.

    Parameters
    ----------
    server_count : c >= 1
    offered_load : [1] arrival rate × mean service, below c

    References
    ----------
    Kleinrock §3.5. Harchol-Balter §14.3.

    Examples
    --------
    With one server the probability is the load:

    >>> erlang_c(1, 0.25)
    0.25
    """
    if not offered_load < server_count:
        raise ValueError(f"{server_count} servers have no steady state at an offered load of {offered_load}")
    blocked = erlang_b(server_count, offered_load)
    load = offered_load / server_count
    return blocked / (1.0 - load + load * blocked)


def mmc(arrival_rate: float, service_mean: float, server_count: int) -> QueueFigures:
    """Return the means of M/M/c, first come first served: a fifo(c) stage.

    Parameters
    ----------
    arrival_rate : [1/t], of a Poisson stream
    service_mean : [t], of exponential services
    server_count : c >= 1

    Raises
    ------
    ValueError
        Without a steady state: arrival_rate · service_mean >= server_count.

    References
    ----------
    Kleinrock §3.5. Harchol-Balter §14.3.
    """
    load = _load(arrival_rate, service_mean, server_count)
    wait = erlang_c(server_count, arrival_rate * service_mean) * service_mean / (server_count * (1.0 - load))
    return _figures(arrival_rate, service_mean, wait, load)


def _figures(arrival_rate: float, service_mean: float, wait: float, load: float) -> QueueFigures:
    sojourn = wait + service_mean
    return QueueFigures(
        utilization=load,
        wait_mean=wait,
        sojourn_mean=sojourn,
        line_mean=little_number(arrival_rate, wait),
        number_mean=little_number(arrival_rate, sojourn),
    )


def _load(arrival_rate: float, service_mean: float, server_count: int) -> float:
    """Return the load a server, having checked that a steady state exists."""
    _check_positive("arrival rate", arrival_rate)
    _check_positive("mean service time", service_mean)
    if server_count < 1:
        raise ValueError(f"a station needs one server at least, not {server_count}")
    load = arrival_rate * service_mean / server_count
    if not load < 1.0:
        raise ValueError(f"there is no steady state at a load of {load}")
    return load


def _check_positive(what: str, value: float, *, zero: bool = False) -> None:
    """Refuse a parameter that is negative, infinite, NaN, or 0 where that means nothing."""
    if not (math.isfinite(value) and (value > 0.0 or (zero and value == 0.0))):
        raise ValueError(f"the {what} must be {'non-negative' if zero else 'positive'} and finite, not {value}")
