"""How flows that hold several shared stages at once divide them.

Input: the stages' capacities and each flow's stages. Output: each flow's rate.

Invariants: at no stage do the rates sum to more than its capacity (up to rounding); the same input gives the same bits,
since stages and flows are taken in the order of their numbers.

Reference: language §3, Stages (`share maxmin`, `share bottleneck`).
"""

import math
from collections.abc import Sequence


def maxmin_rates(capacities: Sequence[float], flows: Sequence[Sequence[int]]) -> list[float]:
    """Return the max-min fair rates by progressive filling.

    Parameters
    ----------
    capacities : (stages,) [work/t], each above 0
    flows : (flows,) the stages each flow holds, each stage at most once, at least one

    Returns
    -------
    (flows,) rates [work/t]

    Raises
    ------
    ValueError
        For a capacity that is not positive and finite, a flow without a stage, and one that names a stage twice or
        one that is not there.

    Notes
    -----
    Every rate rises together until a stage is full; the flows through it stop there and the others go on. Of stages
    that fill at once the lowest is taken first, which changes no rate.

    References
    ----------
    D. Bertsekas, R. Gallager, Data Networks, 2nd ed. (1992), §6.5.2.

    Examples
    --------
    Stage 0 of capacity 1 carries flows 0 and 1, stage 1 of capacity 2 carries 0 and 2:

    >>> maxmin_rates([1.0, 2.0], [[0, 1], [0], [1]])
    [0.5, 0.5, 1.5]
    """
    _check_flows(capacities, flows)
    rates = [0.0] * len(flows)
    filling = [True] * len(flows)
    left = [float(capacity) for capacity in capacities]
    while any(filling):
        tightest = -1
        level = math.inf
        for stage, room in enumerate(left):
            count = sum(1 for flow, stages in enumerate(flows) if filling[flow] and stage in stages)
            if count > 0 and room / count < level:
                tightest = stage
                level = room / count
        for flow, stages in enumerate(flows):
            if filling[flow] and tightest in stages:
                filling[flow] = False
                rates[flow] = level
                for stage in stages:
                    left[stage] = max(left[stage] - level, 0.0)
    return rates


def bottleneck_rates(capacities: Sequence[float], flows: Sequence[Sequence[int]]) -> list[float]:
    """Return each flow's equal share at the tightest of its stages; what that leaves elsewhere is used by nobody.

    Parameters
    ----------
    capacities : (stages,) [work/t], each above 0
    flows : (flows,) the stages each flow holds, each stage at most once, at least one

    Returns
    -------
    (flows,) rates [work/t]: min over the flow's stages of capacity / flows there

    References
    ----------
    J. Roberts, L. Massoulié, Bandwidth sharing and admission control for elastic traffic, Telecommunication Systems 15
    (2000), for the fair allocations this one is below.

    Examples
    --------
    >>> bottleneck_rates([1.0, 2.0], [[0, 1], [0], [1]])
    [0.5, 0.5, 1.0]
    """
    _check_flows(capacities, flows)
    counts = [sum(1 for stages in flows if stage in stages) for stage in range(len(capacities))]
    return [min(capacities[stage] / counts[stage] for stage in stages) for stages in flows]


def _check_flows(capacities: Sequence[float], flows: Sequence[Sequence[int]]) -> None:
    for capacity in capacities:
        if not (math.isfinite(capacity) and capacity > 0.0):
            raise ValueError(f"a shared stage needs a positive and finite capacity, not {capacity}")
    for flow, stages in enumerate(flows):
        if len(stages) == 0 or len(set(stages)) != len(stages):
            raise ValueError(f"flow {flow} must hold one stage at least, and each once")
        if min(stages) < 0 or max(stages) >= len(capacities):
            raise ValueError(f"flow {flow} names a stage that is not there")
