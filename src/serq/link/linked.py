"""The linked program: every name an index, every constant a number, every family written out.

Input: nothing (these are the types). The linker builds them, `engine.assemble` reads them.
Invariants: pools and stages are flat lists in the order declared, a family's members next to each other; attribute
slots are dense; every expression has a site, an index into `LinkedProgram.sites` (the IR path it came from, which the
pipeline turns back into a span of the text).
"""

from __future__ import annotations

from serq.records import dataclass, field

# Builtin attribute slots. The trace's five exist only in a program with a trace (or explicit turns that name them).
SERIAL, TURN_NO, CACHED, COMPUTED = 0, 1, 2, 3
BUILTIN_ATTRIBUTES = ("serial", "turn_no", "cached", "computed")
TRACE_ATTRIBUTES = ("new", "out", "think", "more", "forced")


@dataclass(frozen=True, slots=True)
class LinkedReference:
    """A pool or stage: member `base + index` of `count`; `index` None when it is known (then `count` is 1)."""

    base: int
    count: int
    index: LinkedExpression | None
    site: int


@dataclass(frozen=True, slots=True)
class LinkedExpression:
    """One expression node.

    op : "const" (number), "attribute" (slot), "context" (name: now, present, residents, …),
        "draw" (name: the distribution; arguments), a function's name (min, max, abs, floor, ceil, sqrt, exp, ln, pow),
        a binary operator ("+", …, "&&", "||"), "negate", "not", "if" (three arguments),
        or an observable (queue, busy, work, used, free, cachedin, holders, queued, budget_left, price, est_lambda,
        est_rho, est_wait) with its `reference`; price has two arguments (s_hit, ds). blocksize is folded.
        Constant subtrees are folded to "const"; aggregates are written out.
    """

    op: str
    arguments: tuple[LinkedExpression, ...] = ()
    number: float = 0.0
    slot: int = -1
    name: str = ""
    reference: LinkedReference | None = None
    site: int = -1


@dataclass(frozen=True, slots=True)
class LinkedTurn:
    """`turn;`"""

    site: int


@dataclass(frozen=True, slots=True)
class LinkedEnd:
    """`end;`"""

    site: int


@dataclass(frozen=True, slots=True)
class LinkedSet:
    """An attribute takes a value."""

    site: int
    slot: int
    value: LinkedExpression


@dataclass(frozen=True, slots=True)
class LinkedObserve:
    """`observe` is the index in `LinkedProgram.observes`."""

    site: int
    observe: int
    value: LinkedExpression


@dataclass(frozen=True, slots=True)
class LinkedClaim:
    """One pool of a hold."""

    pool: LinkedReference
    units: LinkedExpression
    reserve: LinkedExpression | None


@dataclass(frozen=True, slots=True)
class LinkedHold:
    """`leased` is the place in `claims` of the leased pool, or -1."""

    site: int
    claims: tuple[LinkedClaim, ...]
    reuse: LinkedExpression | None
    body: tuple[LinkedStatement, ...]
    cache: LinkedExpression | None
    leased: int
    lease_seconds: LinkedExpression | None


@dataclass(frozen=True, slots=True)
class LinkedGrow:
    """The innermost hold on a pool grows."""

    site: int
    pool: LinkedReference
    amount: LinkedExpression


@dataclass(frozen=True, slots=True)
class LinkedDrop:
    """The own cached prefix is discarded."""

    site: int
    pool: LinkedReference


@dataclass(frozen=True, slots=True)
class LinkedRelease:
    """An allocation is given back, or a lease ends."""

    site: int
    pool: LinkedReference


@dataclass(frozen=True, slots=True)
class LinkedLoad:
    """The KV of so many tokens arrived."""

    site: int
    pool: LinkedReference
    tokens: LinkedExpression


@dataclass(frozen=True, slots=True)
class LinkedRun:
    """`mode` is "", "prefill" or "decode"; several stages make one flow."""

    site: int
    stages: tuple[LinkedReference, ...]
    mode: str
    work: LinkedExpression
    growing: LinkedReference | None


@dataclass(frozen=True, slots=True)
class LinkedBranch:
    """A test."""

    site: int
    guard: LinkedExpression
    then: tuple[LinkedStatement, ...]
    otherwise: tuple[LinkedStatement, ...]


@dataclass(frozen=True, slots=True)
class LinkedLoop:
    """Again and again."""

    site: int
    body: tuple[LinkedStatement, ...]


@dataclass(frozen=True, slots=True)
class LinkedChoose:
    """The keys read the candidate as attribute `slot`, which keeps the winner; `bound` may read attributes."""

    site: int
    slot: int
    bound: LinkedExpression
    keys: tuple[LinkedExpression, ...]


LinkedStatement = (
    LinkedTurn
    | LinkedEnd
    | LinkedSet
    | LinkedObserve
    | LinkedHold
    | LinkedGrow
    | LinkedDrop
    | LinkedRelease
    | LinkedLoad
    | LinkedRun
    | LinkedBranch
    | LinkedLoop
    | LinkedChoose
)


@dataclass(frozen=True, slots=True)
class LinkedSpill:
    """Ids of the tier pool and the link stage of this member."""

    pool: int
    stage: int
    work: LinkedExpression
    when: LinkedExpression


@dataclass(frozen=True, slots=True)
class LinkedPool:
    """One pool (a family's member has its `index`, else None). `block` 0 is no blocks.

    `admit_via` is the step stage's id or -1; `memory_of` the step stages whose memory it is.
    `preempt` is "none", "lifo" or "by" with `preempt_keys`; `serves_on` is its `then continue`.
    `unfit_waits` is the option `unfit wait`.
    """

    name: str
    index: int | None
    cap: float
    block: float
    evict: tuple[LinkedExpression, ...]
    preempt: str
    preempt_keys: tuple[LinkedExpression, ...]
    serves_on: bool
    queue: tuple[LinkedExpression, ...]
    admit_via: int
    memory_of: tuple[int, ...]
    spill: LinkedSpill | None
    unfit_waits: bool


@dataclass(frozen=True, slots=True)
class LinkedStage:
    """One stage. kind is fifo, ps, delay or step; only that kind's fields mean something.

    `shared` is true for a ps stage some run holds together with another: it is served by the share policy.
    `serve` keys empty is admission order. `memory` is the pool's id or -1; `serves` the ids of the pools admitted via
    it, in the order declared.
    """

    name: str
    index: int | None
    kind: str
    server_count: int = 1
    capacity: LinkedExpression | None = None
    shared: bool = False
    budget: LinkedExpression | None = None
    cost: LinkedExpression | None = None
    chunk: LinkedExpression | None = None
    serve: tuple[LinkedExpression, ...] = ()
    exclusive_prefill: bool = False
    memory: int = -1
    serves: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkedArrivals:
    """kind is poisson (number: the rate), renewal (`gap`), closed, batch (number: how many), none or explicit."""

    kind: str
    number: float = 0.0
    gap: LinkedExpression | None = None


@dataclass(frozen=True, slots=True)
class LinkedExplicitSession:
    """Slots and values preset at arrival; for each turn the slots and values it loads."""

    at: float
    attributes: tuple[tuple[int, float], ...]
    turns: tuple[tuple[tuple[int, float], ...], ...]


@dataclass(frozen=True, slots=True)
class LinkedGauge:
    """The time average of a function of the state."""

    name: str
    value: LinkedExpression


@dataclass(frozen=True, slots=True)
class LinkedObserveName:
    """An observe's name; `is_test` when its outermost operator is a comparison, &&, || or ! (for the constant note)."""

    name: str
    is_test: bool


@dataclass(frozen=True, slots=True)
class LinkedProgram:
    """A program ready to be assembled into an engine.

    trace : sessions of (new, out, think, forced) rows, () without a trace; `trace_ordered` as in the program
    trace_slots : slots of new, out, think, more, forced, or () without a trace and explicit turns
    more_slot : slot of `more`, or -1
    arrivals_limit : `run { arrivals N; }`, or -1
    share : "maxmin", "bottleneck" or ""
    """

    pools: tuple[LinkedPool, ...]
    stages: tuple[LinkedStage, ...]
    share: str
    attributes: tuple[str, ...]
    observes: tuple[LinkedObserveName, ...]
    gauges: tuple[LinkedGauge, ...]
    arrivals: LinkedArrivals
    explicit: tuple[LinkedExplicitSession, ...]
    trace: tuple[tuple[tuple[float, float, float, float], ...], ...]
    trace_ordered: bool
    trace_slots: tuple[int, ...]
    more_slot: int
    init: tuple[LinkedStatement, ...]
    turn: tuple[LinkedStatement, ...]
    session: tuple[LinkedStatement, ...]
    horizon: float
    warmup: float
    seed: int
    arrivals_limit: int
    sites: tuple[str, ...] = field(repr=False)
