"""What an expression of the IR may name: the list of the language, for the stages that read no text."""

from __future__ import annotations

from serq.syntax.vocabulary import (
    BLOCK_SIZE,
    BUILTIN_ATTRIBUTES,
    CONTEXT_VARIABLES,
    DISTRIBUTIONS,
    FUNCTIONS,
    MEMBER_FUNCTIONS,
    OBSERVABLES,
    POOL_OBSERVABLES,
    STAGE_OBSERVABLES,
    SUPPLIED,
    TRACE_ATTRIBUTES,
)

__all__ = [
    "BLOCK_SIZE",
    "BUILTIN_ATTRIBUTES",
    "CONTEXT_VARIABLES",
    "DISTRIBUTIONS",
    "FUNCTIONS",
    "MEMBER_FUNCTIONS",
    "OBSERVABLES",
    "POOL_OBSERVABLES",
    "STAGE_OBSERVABLES",
    "SUPPLIED",
    "TRACE_ATTRIBUTES",
]
