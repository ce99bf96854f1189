"""THE TABLE: what an expression may read, by the moment it is read at.

Every position of a program belongs to one moment. A context variable exists at its moments alone, a hidden attribute
where the scheduler does not look, a draw where a repeated reading cannot change an order, and so on. Reading anything
elsewhere is an error rather than a 0.

Reference: language §2 (Expressions), §3 (hidden, Gauges, Waiting selection, Stages); notes §2.
"""

from __future__ import annotations

from serq.records import dataclass

TOTALS = frozenset({"residents", "decoders", "kv_decode", "kv_prefill"})
NOW = frozenset({"now"})


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment.

    Parameters
    ----------
    phrase : what a message calls its positions
    context : the context variables that exist
    attributes : whether a session is at hand whose attributes can be read
    hidden : whether what the scheduler may not know can be read
    draws : whether it may draw; when not, `no_draws` says why
    own_prefix : whether `cachedin`, the session's own prefix, can be read
    budget_left : whether it may ask for the budget an engine has left; when not, `no_budget` says why
    live : whether the state of pools and stages can be read at all
    still : whether the value is held between events, so that what moves between them cannot be read, and whether the
        members it names are known before the run
    """

    phrase: str
    context: frozenset[str]
    attributes: bool = True
    hidden: bool = False
    draws: bool = True
    no_draws: str = ""
    own_prefix: bool = True
    budget_left: bool = True
    no_budget: str = ""
    live: bool = True
    still: bool = False


_NEEDS_ORDER = "the key is read again and again, and a draw would change the order every time"
_DEFINES_ITSELF = "the budget that is left follows from this expression, which would define itself"

SESSION = Moment("a session statement, a run or a hold's `cache`", NOW, hidden=True)
ADMIT = Moment("a hold's header", NOW)
SELECT = Moment("a `queue by` key", NOW | {"waited"}, draws=False, no_draws=_NEEDS_ORDER)
EVICT = Moment("an eviction key or a spill clause", NOW | {"size", "age", "last", "waiting"})
VICTIM = Moment("a `preempt by` key", NOW, draws=False, no_draws=_NEEDS_ORDER)
PS = Moment("the capacity of a `ps` stage", NOW | {"present"}, attributes=False, own_prefix=False)
BUDGET = Moment(
    "a step stage's budget or chunk",
    NOW | TOTALS,
    attributes=False,
    own_prefix=False,
    budget_left=False,
    no_budget=_DEFINES_ITSELF,
)
COST = Moment(
    "a step stage's cost", NOW | TOTALS | {"tokens", "prefilled", "attention"}, attributes=False, own_prefix=False
)
SERVE = Moment(
    "a step stage's `serve by` key",
    NOW | TOTALS | {"decoding", "admission", "remaining"},
    draws=False,
    no_draws=_NEEDS_ORDER,
    budget_left=False,
    no_budget=_DEFINES_ITSELF,
)
GAUGE = Moment(
    "a gauge",
    frozenset(),
    attributes=False,
    draws=False,
    no_draws="a gauge only looks, and a draw would move the run's random numbers",
    own_prefix=False,
    budget_left=False,
    no_budget="it plans an iteration, which may draw, and a gauge only looks",
    still=True,
)
GAP = Moment("the gap between arrivals", frozenset(), attributes=False, own_prefix=False, live=False)
