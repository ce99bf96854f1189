"""Constants in the places that need one: capacities, blocks, counts, rates and the run block.

Input: an IR expression in a constant's place. Output: a number in the range the place allows; after a finding a number
that lets the rest be linked.

Reference: language §2, Expressions (NaN), §3, Workload; notes §7.
"""

from __future__ import annotations

import math

from serq.arithmetic import is_integer
from serq.ir import model as ir
from serq.ir.evaluate import number
from serq.link.context import Context
from serq.link.expressions import link_expression
from serq.link.linked import LinkedArrivals
from serq.link.moments import GAP
from serq.records import dataclass

MAX_SESSIONS = 10_000_000
MAX_SEED = 2.0**53
"""The greatest integer below which every integer is a float."""


@dataclass(frozen=True, slots=True)
class Range:
    """What a constant may be; `words` says so to a person."""

    words: str
    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    whole: bool = False
    finite: bool = False

    def holds(self, value: float) -> bool:
        """Tell whether a number is in the range; `above` leaves the least out."""
        return (
            (self.least < value if self.above else self.least <= value)
            and value <= self.most
            and (not self.whole or is_integer(value))
            and (not self.finite or math.isfinite(value))
        )


CAPACITY = Range("0 or more, or `inf`", 0.0)
BLOCK = Range("finite and above 0", 0.0, above=True, finite=True)
SERVERS = Range("a whole number, at least 1", 1.0, whole=True)
RATE = Range("finite and above 0", 0.0, above=True, finite=True)
COUNT = Range(f"a whole number from 0 to {MAX_SESSIONS}", 0.0, MAX_SESSIONS, whole=True)
HORIZON = Range("finite and above 0", 0.0, above=True, finite=True)
WARMUP = Range("finite and not negative", 0.0, finite=True)
SEED = Range("a whole number, not negative, below 2^53", 0.0, MAX_SEED - 1.0, whole=True)
LIMIT = Range("a whole number, at least 1", 1.0, MAX_SESSIONS, whole=True)


def constant_in(
    context: Context, expression: ir.Expression, path: str, what: str, allowed: Range, otherwise: float
) -> float:
    """Give a constant of a range, or `otherwise` after a finding."""
    value = context.constant(expression, path, what)
    if value is None:
        return otherwise
    if not allowed.holds(value):
        context.error(
            "constant-range", f"{what} is {number(value)}, and needs to be {allowed.words}", path, f"is {number(value)}"
        )
        return otherwise
    return value


def link_arrivals(context: Context) -> LinkedArrivals:
    """Link how sessions arrive."""
    arrive = context.program.workload.arrive
    path = "$.workload.arrive"
    match arrive:
        case ir.Poisson():
            rate = constant_in(context, arrive.rate, f"{path}.rate", "the rate of the arrivals", RATE, 1.0)
            return LinkedArrivals("poisson", rate)
        case ir.Renewal():
            gap = link_expression(context, arrive.gap, f"{path}.gap", GAP)
            if gap.op == "const" and not RATE.holds(gap.number):
                context.error(
                    "constant-range",
                    f"the gap between arrivals is {number(gap.number)}, and needs to be {RATE.words}",
                    f"{path}.gap",
                    f"is {number(gap.number)}",
                )
            return LinkedArrivals("renewal", gap=gap)
        case ir.Closed():
            what = "the population of sessions"
            return LinkedArrivals(
                "closed", constant_in(context, arrive.population, f"{path}.population", what, COUNT, 1.0)
            )
        case ir.Batch():
            what = "the number of sessions"
            return LinkedArrivals("batch", constant_in(context, arrive.count, f"{path}.count", what, COUNT, 1.0))
        case ir.NoArrivals():
            return LinkedArrivals("none")
    return LinkedArrivals("explicit", float(len(arrive.sessions)))


@dataclass(frozen=True, slots=True)
class RunConstants:
    """The run block in numbers; `arrivals_limit` is -1 without one."""

    horizon: float
    warmup: float
    seed: int
    arrivals_limit: int


def link_run(context: Context) -> RunConstants:
    """Link the run block."""
    run = context.program.run
    before = len(context.findings.items)
    horizon = constant_in(context, run.horizon, "$.run.horizon", "the horizon", HORIZON, 1.0)
    warmup = constant_in(context, run.warmup, "$.run.warmup", "the warm-up", WARMUP, 0.0)
    if warmup >= horizon and len(context.findings.items) == before:
        context.error(
            "warmup-after-horizon",
            f"the warm-up ends at {number(warmup)} and the run at {number(horizon)}: nothing is left to measure",
            "$.run.warmup",
            f"{number(warmup)} or later",
            also=(("$.run.horizon", "the horizon"),),
        )
    seed = constant_in(context, run.seed, "$.run.seed", "the seed", SEED, 1.0)
    limit = -1.0
    if run.arrivals is not None:
        limit = constant_in(context, run.arrivals, "$.run.arrivals", "the number of arrivals", LIMIT, 1.0)
        if not isinstance(context.program.workload.arrive, ir.Poisson | ir.Renewal):
            context.error(
                "arrivals-not-open",
                "`arrivals` in the run block counts those of an open workload, and this one is not",
                "$.run.arrivals",
                "counts what?",
                also=(("$.workload.arrive", "how sessions arrive"),),
                helps=("use `arrive poisson` or `arrive renewal`, or leave `arrivals` out",),
            )
    return RunConstants(horizon, warmup, int(seed), int(limit))
