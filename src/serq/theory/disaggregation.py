"""Capacity of prefill and decode on one set of servers, or split over two with a link between.

Input: how many servers, mean works [t], speed-ups [1], the link. Output: the largest throughput [1/t].

Invariants: a capacity is the least of the capacities a request must pass; it does not depend on laws or orders, only on
means, because at saturation the busiest station never idles.

Reference: the tandem program of the disaggregation examples. Source: the utilisation law at the bottleneck, E. D.
Lazowska et al., Quantitative System Performance (1984), §5.2; the split is that of Y. Zhong et al., DistServe, OSDI
2024, §3.
"""

import math


def aggregated_capacity(
    server_count: int, prefill_mean: float, decode_mean: float, interference_mean: float = 0.0
) -> float:
    """Return the throughput [1/t] of servers that each do the prefill and the decode of a request.

    Parameters
    ----------
    server_count : N
    prefill_mean, decode_mean : [t] mean work of a request
    interference_mean : [t] what the two cost each other on one server

    Examples
    --------
    >>> aggregated_capacity(32, 1.0, 1.0, 0.5)
    12.8
    """
    _check_servers(server_count)
    total = prefill_mean + decode_mean + interference_mean
    for mean in (prefill_mean, decode_mean, interference_mean):
        if not (math.isfinite(mean) and mean >= 0.0):
            raise ValueError(f"a mean work must be non-negative and finite, not {mean}")
    if total == 0.0:
        raise ValueError("a request must need some work")
    return server_count / total


def split_capacity(
    prefill_servers: int,
    decode_servers: int,
    prefill_mean: float,
    decode_mean: float,
    *,
    prefill_gain: float = 1.0,
    decode_gain: float = 1.0,
    link_capacity: float = math.inf,
    transfer_mean: float = 1.0,
) -> float:
    """Return the throughput [1/t] of prefill servers, a link and decode servers in tandem.

    Parameters
    ----------
    prefill_servers, decode_servers : how many of each
    prefill_mean, decode_mean : [t] mean work of a request at gain 1
    prefill_gain, decode_gain : [1] how much faster a server is when it does one kind only
    link_capacity : [units/t] what the link moves; infinite for none
    transfer_mean : [units] mean size of what is moved for one request

    Notes
    -----
    min(N_P·g_P/s_P, N_D·g_D/s_D, bandwidth/K).

    Examples
    --------
    >>> split_capacity(10, 22, 1.0, 1.0, prefill_gain=2.0)
    20.0
    >>> split_capacity(10, 22, 1.0, 1.0, prefill_gain=2.0, link_capacity=10.0)
    10.0
    """
    _check_servers(prefill_servers)
    _check_servers(decode_servers)
    for value in (prefill_mean, decode_mean, prefill_gain, decode_gain, transfer_mean):
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"means and gains must be positive and finite, not {value}")
    if not link_capacity > 0.0:
        raise ValueError(f"a link must move something, not {link_capacity}")
    return min(
        prefill_servers * prefill_gain / prefill_mean,
        decode_servers * decode_gain / decode_mean,
        link_capacity / transfer_mean,
    )


def best_split(
    server_count: int,
    prefill_mean: float,
    decode_mean: float,
    *,
    prefill_gain: float = 1.0,
    decode_gain: float = 1.0,
    link_capacity: float = math.inf,
    transfer_mean: float = 1.0,
) -> tuple[int, float]:
    """Return how many of the servers should prefill, and the capacity [1/t]; the fewest of equally good ones.

    Examples
    --------
    With prefill twice as fast, a third of the servers (rounded up: 11 of 32) balances the two sides.

    >>> best_split(32, 1.0, 1.0, prefill_gain=2.0)
    (11, 21.0)
    """
    if server_count < 2:
        raise ValueError(f"a split needs two servers at least, not {server_count}")
    best = (0, 0.0)
    for prefill_servers in range(1, server_count):
        capacity = split_capacity(
            prefill_servers,
            server_count - prefill_servers,
            prefill_mean,
            decode_mean,
            prefill_gain=prefill_gain,
            decode_gain=decode_gain,
            link_capacity=link_capacity,
            transfer_mean=transfer_mean,
        )
        if capacity > best[1]:
            best = (prefill_servers, capacity)
    return best


def _check_servers(server_count: int) -> None:
    if server_count < 1:
        raise ValueError(f"a pool of servers needs one at least, not {server_count}")
