"""One server under Poisson arrivals, first come first served or processor sharing, in Ciw.

Second implementation of `examples/queueing/mg1.sq` and `examples/queueing/ps.sq`, with the four service laws of mean 1.
"""

import math
from dataclasses import dataclass
from typing import Literal

import ciw

Law = Literal["det", "exp", "erlang", "h2"]


@dataclass(frozen=True, slots=True)
class Parameters:
    """A queue whose services have mean 1.

    Attributes
    ----------
    arrival_rate : [1/t]
    law : constant, exponential, Erlang-4, or hyperexponential with balanced means and
        squared coefficient of variation 4
    sharing : whether the server shares itself among all that are present
    horizon, warmup : [t]
    """

    arrival_rate: float = 0.8
    law: Law = "exp"
    sharing: bool = False
    horizon: float = 20_000.0
    warmup: float = 2_000.0


def run(parameters: Parameters, seed: int) -> dict[str, float]:
    """Simulate once.

    Returns
    -------
    sojourn : [t] mean time from arrival to departure of those that depart after the warm-up
    """
    ciw.seed(seed)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=parameters.arrival_rate)],
        service_distributions=[_service(parameters.law)],
        number_of_servers=[math.inf if parameters.sharing else 1],
    )
    simulation = ciw.Simulation(network, node_class=ciw.PSNode if parameters.sharing else ciw.Node)
    simulation.simulate_until_max_time(parameters.horizon)
    sojourns = [
        record.exit_date - record.arrival_date
        for record in simulation.get_all_records()
        if record.exit_date >= parameters.warmup
    ]
    return {"sojourn": math.fsum(sojourns) / len(sojourns)}


def _service(law: Law) -> ciw.dists.Distribution:
    if law == "det":
        return ciw.dists.Deterministic(value=1.0)
    if law == "exp":
        return ciw.dists.Exponential(rate=1.0)
    if law == "erlang":
        return ciw.dists.Erlang(rate=4.0, num_phases=4)
    # two phases that bring half of the work each: cv² = 1/(2pq) − 1 = 4, so pq = 1/10
    rare = 0.5 - math.sqrt(0.25 - 0.1)
    return ciw.dists.HyperExponential(rates=[2.0 * rare, 2.0 * (1.0 - rare)], probs=[rare, 1.0 - rare])
