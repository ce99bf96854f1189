"""Closed forms that someone published, and what a test needs to compare a simulation with one.

Input: parameters of a model (rates in [1/t], times in [t]). Output: its exact steady-state means.

Invariants: nothing here samples or simulates; a model without a steady state is a `ValueError`, never an infinite or
negative mean. Every formula names its source.

The stages meant: `fifo` is M/M/1, M/G/1 and M/M/c; `ps` is M/G/1-PS; `delay` is M/G/∞; `arrive closed(n)` with a delay
is a finite source; a `step` stage that only prefills one chunk an iteration is M/D/1 or M/G/1; a run over several
stages is a flow of `sharing`. Reference: language §3, Stages.
"""

from serq.theory.closed import (
    ClosedFigures,
    StationFigures,
    bottleneck_bounds,
    finite_source,
    finite_source_distribution,
    mean_value_analysis,
)
from serq.theory.disaggregation import aggregated_capacity, best_split, split_capacity
from serq.theory.open import (
    QueueFigures,
    erlang_b,
    erlang_c,
    little_number,
    md1,
    mg1,
    mg1_ps,
    mginf,
    mm1,
    mmc,
    pollaczek_khinchine_wait,
    ps_conditional_sojourn,
)
from serq.theory.sharing import bottleneck_rates, maxmin_rates
from serq.theory.tolerances import (
    FALSE_ALARM,
    agrees,
    difference_half_width,
    mean_half_width,
    student_quantile,
    student_tail,
)

__all__ = [
    "FALSE_ALARM",
    "ClosedFigures",
    "QueueFigures",
    "StationFigures",
    "aggregated_capacity",
    "agrees",
    "best_split",
    "bottleneck_bounds",
    "bottleneck_rates",
    "difference_half_width",
    "erlang_b",
    "erlang_c",
    "finite_source",
    "finite_source_distribution",
    "little_number",
    "maxmin_rates",
    "md1",
    "mean_half_width",
    "mean_value_analysis",
    "mg1",
    "mg1_ps",
    "mginf",
    "mm1",
    "mmc",
    "pollaczek_khinchine_wait",
    "ps_conditional_sojourn",
    "split_capacity",
    "student_quantile",
    "student_tail",
]
