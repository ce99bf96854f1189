"""N terminals that think and queue for one server, in SimPy.

Second implementation of `examples/queueing/closed.sq`: M/M/1//N with exponential thinking, first come first served.
"""

import random
from collections.abc import Generator
from dataclasses import dataclass

import simpy


@dataclass(frozen=True, slots=True)
class Parameters:
    """Times in [t].

    Attributes
    ----------
    customers : how many terminals there are
    think_mean, service_mean : [t] both exponential
    horizon, warmup : [t] when the run ends and when measuring begins
    """

    customers: int = 8
    think_mean: float = 4.0
    service_mean: float = 1.0
    horizon: float = 20_000.0
    warmup: float = 2_000.0


def run(parameters: Parameters, seed: int) -> dict[str, float]:
    """Simulate once.

    Returns
    -------
    sojourn : [t] mean wait and service of a visit that ends after the warm-up
    throughput : [1/t] visits that end after the warm-up, per time unit
    """
    generator = random.Random(seed)
    environment = simpy.Environment()
    server = simpy.Resource(environment, capacity=1)
    sojourns: list[float] = []

    def terminal() -> Generator[simpy.Event, None, None]:
        while True:
            yield environment.timeout(generator.expovariate(1.0 / parameters.think_mean))
            asked_at = environment.now
            with server.request() as turn:
                yield turn
                yield environment.timeout(generator.expovariate(1.0 / parameters.service_mean))
            if environment.now >= parameters.warmup:
                sojourns.append(environment.now - asked_at)

    for _ in range(parameters.customers):
        environment.process(terminal())
    environment.run(until=parameters.horizon)
    return {
        "sojourn": sum(sojourns) / len(sojourns),
        "throughput": len(sojourns) / (parameters.horizon - parameters.warmup),
    }
