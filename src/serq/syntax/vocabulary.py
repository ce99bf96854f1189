"""What an expression may name: functions, observables, distributions, context variables. This is the one list.

The parser and the expansion read it here, the linker and its lints as `ir.vocabulary`. A word of the grammar, which
begins or joins a form, is in `tokens`.

Reference: language §2, Expressions; notes §2.
"""

from __future__ import annotations

# With how many arguments each takes.
FUNCTIONS = {"min": 2, "max": 2, "abs": 1, "floor": 1, "ceil": 1, "sqrt": 1, "exp": 1, "ln": 1, "pow": 2}
POOL_OBSERVABLES = {"used": 1, "free": 1, "cachedin": 1, "holders": 1, "queued": 1}
STAGE_OBSERVABLES = {
    "queue": 1,
    "busy": 1,
    "work": 1,
    "budget_left": 1,
    "price": 3,
    "est_lambda": 1,
    "est_rho": 1,
    "est_wait": 1,
}
BLOCK_SIZE = {"blocksize": 1}
"""Names a pool, but reads nothing that changes: the linker folds it."""

OBSERVABLES = {**POOL_OBSERVABLES, **STAGE_OBSERVABLES}
MEMBER_FUNCTIONS = {**OBSERVABLES, **BLOCK_SIZE}
"""Their first argument is a pool or a stage, not a number."""

DISTRIBUTIONS = {"exp": 1, "det": 1, "uniform": 2, "erlang": 2, "h2": 2, "bernoulli": 1}

CONTEXT_VARIABLES = {
    "now": "in every expression but a gauge",
    "size": "in an eviction key or a spill clause",
    "age": "in an eviction key or a spill clause",
    "last": "in an eviction key or a spill clause",
    "waiting": "in an eviction key or a spill clause",
    "waited": "in a pool's `queue by` key",
    "present": "in the capacity of a `ps` stage",
    "residents": "in a step stage's budget, chunk, cost or `serve by` key",
    "decoders": "in a step stage's budget, chunk, cost or `serve by` key",
    "kv_decode": "in a step stage's budget, chunk, cost or `serve by` key",
    "kv_prefill": "in a step stage's budget, chunk, cost or `serve by` key",
    "tokens": "in a step stage's cost",
    "prefilled": "in a step stage's cost",
    "attention": "in a step stage's cost",
    "decoding": "in a step stage's `serve by` key",
    "admission": "in a step stage's `serve by` key",
    "remaining": "in a step stage's `serve by` key",
}
"""Each context variable and where it exists, as a phrase for messages."""

SUPPLIED = frozenset(CONTEXT_VARIABLES) | {"inf"}
"""Names the language supplies, which nothing else may be called that is read where they are."""

BUILTIN_ATTRIBUTES = ("serial", "turn_no", "cached", "computed")
TRACE_ATTRIBUTES = ("new", "out", "think", "more", "forced")
