"""Prefill and decode on one set of servers, or split over two with a link between, in SimPy.

Second implementation of `examples/pd-disaggregation/tandem.sq`: a fixed number of jobs circulates, so the throughput is
the capacity.
"""

import random
from collections.abc import Generator
from dataclasses import dataclass

import simpy


@dataclass(frozen=True, slots=True)
class Parameters:
    """A tandem of servers; times in [t], sizes in [units].

    Attributes
    ----------
    jobs : how many circulate
    server_count : servers in all
    prefill_servers : how many of them prefill; 0 for the aggregated deployment
    prefill_mean, decode_mean : [t] exponential works at gain 1
    prefill_gain, decode_gain : [1] speed of a server that does one kind only
    transfer_mean : [units] exponential size of what the link moves for a job
    bandwidth : [units/t]
    interference : [t] added to each aggregated service
    horizon, warmup : [t]
    """

    jobs: int = 320
    server_count: int = 32
    prefill_servers: int = 11
    prefill_mean: float = 1.0
    decode_mean: float = 1.0
    prefill_gain: float = 2.0
    decode_gain: float = 1.0
    transfer_mean: float = 1.0
    bandwidth: float = 1_000.0
    interference: float = 0.5
    horizon: float = 1_000.0
    warmup: float = 100.0


def run(parameters: Parameters, seed: int) -> dict[str, float]:
    """Simulate once.

    Returns
    -------
    throughput : [1/t] decodes that end after the warm-up, per time unit
    """
    generator = random.Random(seed)
    environment = simpy.Environment()
    finished = 0

    def exponential(mean: float) -> float:
        return generator.expovariate(1.0 / mean)

    def occupy(station: simpy.Resource, time: float) -> Generator[simpy.Event, None, None]:
        with station.request() as turn:
            yield turn
            yield environment.timeout(time)

    def split_job() -> Generator[simpy.Event, None, None]:
        nonlocal finished
        while True:
            yield from occupy(prefill, exponential(parameters.prefill_mean) / parameters.prefill_gain)
            yield from occupy(link, exponential(parameters.transfer_mean) / parameters.bandwidth)
            yield from occupy(decode, exponential(parameters.decode_mean) / parameters.decode_gain)
            finished += environment.now >= parameters.warmup

    def aggregated_job() -> Generator[simpy.Event, None, None]:
        nonlocal finished
        while True:
            work = exponential(parameters.prefill_mean) + exponential(parameters.decode_mean)
            yield from occupy(servers, work + parameters.interference)
            finished += environment.now >= parameters.warmup

    if parameters.prefill_servers == 0:
        servers = simpy.Resource(environment, capacity=parameters.server_count)
        for _ in range(parameters.jobs):
            environment.process(aggregated_job())
    else:
        prefill = simpy.Resource(environment, capacity=parameters.prefill_servers)
        link = simpy.Resource(environment, capacity=1)
        decode = simpy.Resource(environment, capacity=parameters.server_count - parameters.prefill_servers)
        for _ in range(parameters.jobs):
            environment.process(split_job())
    environment.run(until=parameters.horizon)
    return {"throughput": finished / (parameters.horizon - parameters.warmup)}
