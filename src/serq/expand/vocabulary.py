"""The words an expansion must know: what may not be renamed, what reads live state, what the scheduler sets.

Reference: language §2, Expressions; notes §2 and §10.
"""

from __future__ import annotations

from serq.syntax.tokens import DISTRIBUTIONS, WORDS

# What a call may name: functions of numbers, and observables by what their first argument is.
FUNCTIONS = frozenset(("min", "max", "abs", "floor", "ceil", "sqrt", "exp", "ln", "pow"))
POOL_OBSERVABLES = frozenset(("used", "free", "cachedin", "holders", "queued"))
STAGE_OBSERVABLES = frozenset(("queue", "busy", "work", "budget_left", "price", "est_lambda", "est_rho", "est_wait"))
# `blocksize` is a constant of a pool, so it names a pool and reads nothing that changes.
OBSERVABLES = POOL_OBSERVABLES | STAGE_OBSERVABLES
MEMBER_FUNCTIONS = OBSERVABLES | {"blocksize"}

CONTEXT_VARIABLES = frozenset(
    (
        "now",
        "size",
        "age",
        "last",
        "waiting",
        "waited",
        "present",
        "residents",
        "decoders",
        "kv_decode",
        "kv_prefill",
        "tokens",
        "prefilled",
        "attention",
        "decoding",
        "admission",
        "remaining",
    )
)
BUILTIN_ATTRIBUTES = frozenset(("serial", "turn_no", "cached", "computed", "new", "out", "think", "more", "forced"))

# What a parameter may not be called. `wait`, `reject` and `unfit` are words of one pool option alone and stay free.
RESERVED_FOR_PARAMETERS = (WORDS - {"wait", "reject", "unfit"}) | FUNCTIONS | MEMBER_FUNCTIONS | {"link"}
RESERVED_FOR_DEFINITIONS = RESERVED_FOR_PARAMETERS | frozenset(DISTRIBUTIONS)
