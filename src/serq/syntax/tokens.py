"""The tokens of the text form and the words of the language.

No word is reserved: `cap`, `cost` and even `let` may name an attribute, and a word means something only where the
grammar asks for it. The sets below are therefore used for three things alone: to recognise where a statement or a
declaration begins, to propose a near name, and to keep `grammar.txt` honest (a test compares them).
"""

from __future__ import annotations

from enum import Enum

from serq.records import dataclass


class TokenKind(Enum):
    """What a stretch of text is; the value is how a message names it."""

    NAME = "a name"
    NUMBER = "a number"
    STRING = "a string"
    MARK = "a mark"
    FAULT = "text that is no token"
    END = "the end of the text"


@dataclass(frozen=True, slots=True)
class Token:
    """One token: `text` as written, offsets `start` to `end` in its file.

    `fresh_line` is True for the first token of a line: recovery takes such a token for a likely beginning.
    """

    kind: TokenKind
    text: str
    start: int
    end: int
    fresh_line: bool


# Of one character or two; the lexer takes `<=` before `<`.
MARKS = (
    "==",
    "!=",
    "<=",
    ">=",
    "&&",
    "||",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    ".",
    "?",
    "~",
    "!",
    "=",
    "<",
    ">",
    "+",
    "-",
    "*",
    "/",
    "^",
)

ITEM_WORDS = (
    "def",
    "gauge",
    "let",
    "pool",
    "queue",
    "run",
    "server",
    "session",
    "share",
    "stage",
    "use",
    "workload",
)

STATEMENT_WORDS = (
    "branch",
    "choose",
    "decode",
    "drop",
    "end",
    "grow",
    "hold",
    "load",
    "loop",
    "mark",
    "observe",
    "prefill",
    "release",
    "request",
    "run",
    "set",
    "tool",
    "transfer",
    "turn",
)

POOL_OPTIONS = ("admit", "block", "cap", "evict", "preempt", "queue", "spill", "unfit")
STEP_OPTIONS = ("budget", "chunk", "cost", "memory", "serve")
WORKLOAD_ITEMS = ("arrive", "hidden", "init", "session", "trace", "turn")
RUN_OPTIONS = ("arrivals", "horizon", "seed", "warmup")
QUEUE_ITEMS = ("nic", "pool", "serve")
STAGE_KINDS = ("delay", "fifo", "ps", "step")
ARRIVALS = ("batch", "closed", "none", "poisson", "renewal")
SHARES = ("bottleneck", "maxmin")
MODES = ("decode", "prefill")
SERVING_VERBS = ("decode", "prefill", "tool")
AGGREGATES = ("max", "min", "sum")

# The words that only ever stand inside a form another word began.
CONNECTING_WORDS = (
    "admission",
    "at",
    "by",
    "cache",
    "continue",
    "else",
    "exclusive",
    "first",
    "from",
    "growing",
    "in",
    "latency",
    "lease",
    "lifo",
    "lru",
    "on",
    "ordered",
    "pull",
    "reject",
    "reserve",
    "reuse",
    "stop",
    "then",
    "to",
    "via",
    "wait",
    "when",
    "with",
)

WORDS = frozenset().union(
    ITEM_WORDS,
    STATEMENT_WORDS,
    POOL_OPTIONS,
    STEP_OPTIONS,
    WORKLOAD_ITEMS,
    RUN_OPTIONS,
    QUEUE_ITEMS,
    STAGE_KINDS,
    ARRIVALS,
    SHARES,
    MODES,
    SERVING_VERBS,
    AGGREGATES,
    CONNECTING_WORDS,
)
