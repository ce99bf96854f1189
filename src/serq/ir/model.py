"""The IR: what a serQ program *is*.

A program is its pools, stages, workload, session, run block, share policy and gauges. Everything is named as a person
would name it (no slots); definitions, `let` constants and the serving vocabulary are gone. Expressions are JSON
numbers, JSON strings (a name: an attribute, a context variable or `inf`) or objects with a `kind`; statements are
objects with a `do`. The JSON form is the published one (`serq ir`, `ir.schema.json`).

Invariants: nodes are immutable; two programs are the same program when they are equal.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from serq.records import dataclass, field

IR_VERSION = 1


@dataclass(frozen=True, slots=True)
class IRNode:
    """Base of all nodes. `TAG` is the JSON member that tells a node's kind, and the kind; None where its place does."""

    TAG: ClassVar[tuple[str, str] | None] = None


# ------------------------------------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class Member(IRNode):
    """A member of a family: `kv[index]`."""

    TAG = ("kind", "member")
    name: str
    index: Expression


@dataclass(frozen=True, slots=True)
class Call(IRNode):
    """A function of numbers or an observable of a pool or stage."""

    TAG = ("kind", "call")
    function: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Draw(IRNode):
    """One draw from a distribution."""

    TAG = ("kind", "draw")
    distribution: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Unary(IRNode):
    """`-` or `!`."""

    TAG = ("kind", "unary")
    op: Literal["-", "!"]
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(IRNode):
    """An operator of two operands."""

    TAG = ("kind", "binary")
    op: Literal["+", "-", "*", "/", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional(IRNode):
    """`test ? then : otherwise`."""

    TAG = ("kind", "if")
    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Aggregate(IRNode):
    """`max index in bound (body)`; the linker writes the terms out."""

    TAG = ("kind", "aggregate")
    of: Literal["max", "min", "sum"]
    index: str
    bound: Expression
    body: Expression


Expression = float | str | Member | Call | Draw | Unary | Binary | Conditional | Aggregate
Reference = str | Member

# ------------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Turn(IRNode):
    """The next turn's attributes."""

    TAG = ("do", "turn")


@dataclass(frozen=True, slots=True)
class End(IRNode):
    """The session leaves."""

    TAG = ("do", "end")


@dataclass(frozen=True, slots=True)
class Set(IRNode):
    """An attribute takes a value."""

    TAG = ("do", "set")
    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Observe(IRNode):
    """A sample."""

    TAG = ("do", "observe")
    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Claim(IRNode):
    """One pool of a hold; without `reserve` the units are what must fit."""

    pool: Reference
    units: Expression
    reserve: Expression | None = None


@dataclass(frozen=True, slots=True)
class Lease(IRNode):
    """The pool whose allocation outlives the scope, and for how long."""

    pool: Reference
    seconds: Expression


@dataclass(frozen=True, slots=True)
class Hold(IRNode):
    """An admission, its scope and what stays after it. Without `cache` the hold is memory alone."""

    TAG = ("do", "hold")
    pools: tuple[Claim, ...]
    body: tuple[Statement, ...]
    reuse: Expression | None = None
    cache: Expression | None = None
    lease: Lease | None = None


@dataclass(frozen=True, slots=True)
class Grow(IRNode):
    """The innermost hold on a pool grows."""

    TAG = ("do", "grow")
    pool: Reference
    amount: Expression


@dataclass(frozen=True, slots=True)
class Drop(IRNode):
    """The own cached prefix is discarded."""

    TAG = ("do", "drop")
    pool: Reference


@dataclass(frozen=True, slots=True)
class Release(IRNode):
    """The enclosing hold's allocation on a pool is given back now, or a lease of it ends."""

    TAG = ("do", "release")
    pool: Reference


@dataclass(frozen=True, slots=True)
class Load(IRNode):
    """The KV of so many tokens arrived from outside."""

    TAG = ("do", "load")
    pool: Reference
    tokens: Expression


@dataclass(frozen=True, slots=True)
class Run(IRNode):
    """A job at one stage, or one that holds several at once."""

    TAG = ("do", "run")
    stages: tuple[Reference, ...]
    work: Expression
    mode: Literal["prefill", "decode"] | None = None
    growing: Reference | None = None


@dataclass(frozen=True, slots=True)
class Branch(IRNode):
    """A test."""

    TAG = ("do", "branch")
    guard: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop(IRNode):
    """Again and again."""

    TAG = ("do", "loop")
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Choose(IRNode):
    """`name` becomes the argmin over 0 … bound-1 of the keys, in order, then the smallest index."""

    TAG = ("do", "choose")
    name: str
    bound: Expression
    keys: tuple[Expression, ...]


Statement = Turn | End | Set | Observe | Hold | Grow | Drop | Release | Load | Run | Branch | Loop | Choose

# ----------------------------------------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Spill(IRNode):
    """Evicted pieces are written to another pool over a stage."""

    pool: Reference
    stage: Reference
    work: Expression
    when: Expression


@dataclass(frozen=True, slots=True)
class Pool(IRNode):
    """A counted resource. `size` makes it a family; `evict` and `queue` empty are lru and fifo."""

    name: str
    size: Expression | None = None
    cap: Expression = "inf"
    block: Expression | None = None
    evict: tuple[Expression, ...] = ()
    preempt: Literal["none", "lifo"] | tuple[Expression, ...] = "none"
    preempt_then: Literal["stop", "continue"] = "stop"
    queue: tuple[Expression, ...] = ()
    admit_via: Reference | None = None
    spill: Spill | None = None
    unfit: Literal["reject", "wait"] = "reject"


@dataclass(frozen=True, slots=True)
class Fifo(IRNode):
    """So many servers, one job each."""

    TAG = ("kind", "fifo")
    servers: Expression = 1.0


@dataclass(frozen=True, slots=True)
class ProcessorSharing(IRNode):
    """Every job at once, each at capacity(present)/present."""

    TAG = ("kind", "ps")
    capacity: Expression


@dataclass(frozen=True, slots=True)
class Delay(IRNode):
    """Every job on its own at rate 1."""

    TAG = ("kind", "delay")


@dataclass(frozen=True, slots=True)
class Step(IRNode):
    """An engine that runs iterations. `serve` empty is admission order."""

    TAG = ("kind", "step")
    budget: Expression
    cost: Expression
    chunk: Expression | None = None
    serve: Literal["exclusive prefill"] | tuple[Expression, ...] = ()
    memory: Reference | None = None


@dataclass(frozen=True, slots=True)
class Stage(IRNode):
    """A stage; `size` makes it a family."""

    name: str
    kind: Fifo | ProcessorSharing | Delay | Step
    size: Expression | None = None


@dataclass(frozen=True, slots=True)
class ExplicitSession(IRNode):
    """One session of a scenario: when it arrives, its preset attributes, and the attributes of each turn in order."""

    at: float = 0.0
    attributes: dict[str, float] = field(default_factory=dict)
    turns: tuple[dict[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Poisson(IRNode):
    """First arrival at 0, then exponential gaps."""

    TAG = ("kind", "poisson")
    rate: Expression


@dataclass(frozen=True, slots=True)
class Renewal(IRNode):
    """Independent gaps; the first arrival after one gap."""

    TAG = ("kind", "renewal")
    gap: Expression


@dataclass(frozen=True, slots=True)
class Closed(IRNode):
    """A fixed population."""

    TAG = ("kind", "closed")
    population: Expression


@dataclass(frozen=True, slots=True)
class Batch(IRNode):
    """So many sessions at time 0."""

    TAG = ("kind", "batch")
    count: Expression


@dataclass(frozen=True, slots=True)
class NoArrivals(IRNode):
    """No session arrives."""

    TAG = ("kind", "none")


@dataclass(frozen=True, slots=True)
class Explicit(IRNode):
    """The sessions are given one by one; serial numbers are their places in the list."""

    TAG = ("kind", "explicit")
    sessions: tuple[ExplicitSession, ...]


Arrivals = Poisson | Renewal | Closed | Batch | NoArrivals | Explicit


@dataclass(frozen=True, slots=True)
class TraceRow(IRNode):
    """One turn of a recorded session."""

    new: float
    out: float
    think: float
    forced: float = 0.0


@dataclass(frozen=True, slots=True)
class TraceFile(IRNode):
    """A trace to be read from a file; a relative path is relative to the program's (or the IR's) file."""

    TAG = ("kind", "file")
    path: str
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class InlineTrace(IRNode):
    """A trace inside the program: sessions, each a list of turns."""

    TAG = ("kind", "inline")
    sessions: tuple[tuple[TraceRow, ...], ...]
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Workload(IRNode):
    """How sessions arrive and how their turns evolve; init and turn hold only set and observe."""

    arrive: Arrivals = NoArrivals()
    trace: TraceFile | InlineTrace | None = None
    init: tuple[Statement, ...] = ()
    turn: tuple[Statement, ...] = ()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunBlock(IRNode):
    """How long, from when it counts, the seed, and how many arrivals."""

    horizon: Expression
    warmup: Expression = 0.0
    seed: Expression = 1.0
    arrivals: Expression | None = None


@dataclass(frozen=True, slots=True)
class Gauge(IRNode):
    """The time average of a function of the state."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(IRNode):
    """A program."""

    version: int
    pools: tuple[Pool, ...] = ()
    stages: tuple[Stage, ...] = ()
    share: Literal["maxmin", "bottleneck"] | None = None
    workload: Workload
    session: tuple[Statement, ...]
    gauges: tuple[Gauge, ...] = ()
    run: RunBlock
