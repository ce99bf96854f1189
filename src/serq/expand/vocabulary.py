"""The words an expansion must keep apart from names of the program; the lists themselves are `syntax.vocabulary`'s.

Reference: language §2, Expressions; notes §10.
"""

from __future__ import annotations

from serq.syntax.tokens import WORDS
from serq.syntax.vocabulary import BUILTIN_ATTRIBUTES, DISTRIBUTIONS, FUNCTIONS, MEMBER_FUNCTIONS, TRACE_ATTRIBUTES

# An expansion does not ask whether the program has a trace.
SUPPLIED_ATTRIBUTES = frozenset((*BUILTIN_ATTRIBUTES, *TRACE_ATTRIBUTES))

# What a parameter may not be called. The words that only our own pool options have stay free.
RESERVED_FOR_PARAMETERS = (WORDS - {"wait", "reject", "unfit", "then", "stop", "continue"}) | {
    *FUNCTIONS,
    *MEMBER_FUNCTIONS,
    "link",
}
RESERVED_FOR_DEFINITIONS = RESERVED_FOR_PARAMETERS | {*DISTRIBUTIONS}
