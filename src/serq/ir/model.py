"""The IR: what a serQ program *is*.

A program is its pools, stages, workload, session, run block, share policy and gauges. Everything is named as a person
would name it (no slots); definitions, `let` constants and the serving vocabulary are gone. Expressions are JSON
numbers, JSON strings (a name: an attribute, a context variable or `inf`) or objects with a `kind`; statements are
objects with a `do`. The JSON form is the published one (`serq ir`, `ir.schema.json`).

Invariants: nodes are immutable; two programs are the same program when they are equal.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

IR_VERSION = 1


class IRNode(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of all nodes."""


def fields_of(kind: type[Struct]) -> zip[tuple[str, str]]:
    """Give the fields of a node type and what they are called in JSON.

    `msgspec.structs.fields` would evaluate the annotations of the type for that, 0.3 ms each time.
    """
    return zip(kind.__struct_fields__, kind.__struct_encode_fields__)


# ------------------------------------------------------------------------------------------------ expressions


class Member(IRNode, frozen=True, tag_field="kind", tag="member"):
    """A member of a family: `kv[index]`."""

    name: str
    index: Expression


class Call(IRNode, frozen=True, tag_field="kind", tag="call"):
    """A function of numbers or an observable of a pool or stage."""

    function: str
    args: tuple[Expression, ...]


class Draw(IRNode, frozen=True, tag_field="kind", tag="draw"):
    """One draw from a distribution."""

    distribution: str
    args: tuple[Expression, ...]


class Unary(IRNode, frozen=True, tag_field="kind", tag="unary"):
    """`-` or `!`."""

    op: Literal["-", "!"]
    operand: Expression


class Binary(IRNode, frozen=True, tag_field="kind", tag="binary"):
    """An operator of two operands."""

    op: Literal["+", "-", "*", "/", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]
    left: Expression
    right: Expression


class Conditional(IRNode, frozen=True, tag_field="kind", tag="if"):
    """`test ? then : otherwise`."""

    test: Expression
    then: Expression
    otherwise: Expression


class Aggregate(IRNode, frozen=True, tag_field="kind", tag="aggregate"):
    """`max index in bound (body)`; the linker writes the terms out."""

    of: Literal["max", "min", "sum"]
    index: str
    bound: Expression
    body: Expression


Expression = float | str | Member | Call | Draw | Unary | Binary | Conditional | Aggregate
Reference = str | Member

# ------------------------------------------------------------------------------------------------- statements


class Turn(IRNode, frozen=True, tag_field="do", tag="turn"):
    """The next turn's attributes."""


class End(IRNode, frozen=True, tag_field="do", tag="end"):
    """The session leaves."""


class Set(IRNode, frozen=True, tag_field="do", tag="set"):
    """An attribute takes a value."""

    name: str
    value: Expression


class Observe(IRNode, frozen=True, tag_field="do", tag="observe"):
    """A sample."""

    name: str
    value: Expression


class Claim(IRNode, frozen=True):
    """One pool of a hold; without `reserve` the units are what must fit."""

    pool: Reference
    units: Expression
    reserve: Expression | None = None


class Lease(IRNode, frozen=True):
    """The pool whose allocation outlives the scope, and for how long."""

    pool: Reference
    seconds: Expression


class Hold(IRNode, frozen=True, tag_field="do", tag="hold"):
    """An admission, its scope and what stays after it. Without `cache` the hold is memory alone."""

    pools: tuple[Claim, ...]
    body: tuple[Statement, ...]
    reuse: Expression | None = None
    cache: Expression | None = None
    lease: Lease | None = None


class Grow(IRNode, frozen=True, tag_field="do", tag="grow"):
    """The innermost hold on a pool grows."""

    pool: Reference
    amount: Expression


class Drop(IRNode, frozen=True, tag_field="do", tag="drop"):
    """The own cached prefix is discarded."""

    pool: Reference


class Release(IRNode, frozen=True, tag_field="do", tag="release"):
    """The enclosing hold's allocation on a pool is given back now, or a lease of it ends."""

    pool: Reference


class Load(IRNode, frozen=True, tag_field="do", tag="load"):
    """The KV of so many tokens arrived from outside."""

    pool: Reference
    tokens: Expression


class Run(IRNode, frozen=True, tag_field="do", tag="run"):
    """A job at one stage, or one that holds several at once."""

    stages: tuple[Reference, ...]
    work: Expression
    mode: Literal["prefill", "decode"] | None = None
    growing: Reference | None = None


class Branch(IRNode, frozen=True, tag_field="do", tag="branch"):
    """A test."""

    guard: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


class Loop(IRNode, frozen=True, tag_field="do", tag="loop"):
    """Again and again."""

    body: tuple[Statement, ...]


class Choose(IRNode, frozen=True, tag_field="do", tag="choose"):
    """`name` becomes the argmin over 0 … bound-1 of the keys, in order, then the smallest index."""

    name: str
    bound: Expression
    keys: tuple[Expression, ...]


Statement = Turn | End | Set | Observe | Hold | Grow | Drop | Release | Load | Run | Branch | Loop | Choose

# ----------------------------------------------------------------------------------------------- declarations


class Spill(IRNode, frozen=True):
    """Evicted pieces are written to another pool over a stage."""

    pool: Reference
    stage: Reference
    work: Expression
    when: Expression


class Pool(IRNode, frozen=True):
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


class Fifo(IRNode, frozen=True, tag_field="kind", tag="fifo"):
    """So many servers, one job each."""

    servers: Expression = 1.0


class ProcessorSharing(IRNode, frozen=True, tag_field="kind", tag="ps"):
    """Every job at once, each at capacity(present)/present."""

    capacity: Expression


class Delay(IRNode, frozen=True, tag_field="kind", tag="delay"):
    """Every job on its own at rate 1."""


class Step(IRNode, frozen=True, tag_field="kind", tag="step"):
    """An engine that runs iterations. `serve` empty is admission order."""

    budget: Expression
    cost: Expression
    chunk: Expression | None = None
    serve: Literal["exclusive prefill"] | tuple[Expression, ...] = ()
    memory: Reference | None = None


class Stage(IRNode, frozen=True):
    """A stage; `size` makes it a family."""

    name: str
    kind: Fifo | ProcessorSharing | Delay | Step
    size: Expression | None = None


class ExplicitSession(IRNode, frozen=True):
    """One session of a scenario: when it arrives, its preset attributes, and the attributes of each turn in order."""

    at: float = 0.0
    attributes: dict[str, float] = {}
    turns: tuple[dict[str, float], ...] = ()


class Poisson(IRNode, frozen=True, tag_field="kind", tag="poisson"):
    """First arrival at 0, then exponential gaps."""

    rate: Expression


class Renewal(IRNode, frozen=True, tag_field="kind", tag="renewal"):
    """Independent gaps; the first arrival after one gap."""

    gap: Expression


class Closed(IRNode, frozen=True, tag_field="kind", tag="closed"):
    """A fixed population."""

    population: Expression


class Batch(IRNode, frozen=True, tag_field="kind", tag="batch"):
    """So many sessions at time 0."""

    count: Expression


class NoArrivals(IRNode, frozen=True, tag_field="kind", tag="none"):
    """No session arrives."""


class Explicit(IRNode, frozen=True, tag_field="kind", tag="explicit"):
    """The sessions are given one by one; serial numbers are their places in the list."""

    sessions: tuple[ExplicitSession, ...]


Arrivals = Poisson | Renewal | Closed | Batch | NoArrivals | Explicit


class TraceRow(IRNode, frozen=True):
    """One turn of a recorded session."""

    new: float
    out: float
    think: float
    forced: float = 0.0


class TraceFile(IRNode, frozen=True, tag_field="kind", tag="file"):
    """A trace to be read from a file; a relative path is relative to the program's (or the IR's) file."""

    path: str
    ordered: bool = False


class InlineTrace(IRNode, frozen=True, tag_field="kind", tag="inline"):
    """A trace inside the program: sessions, each a list of turns."""

    sessions: tuple[tuple[TraceRow, ...], ...]
    ordered: bool = False


class Workload(IRNode, frozen=True):
    """How sessions arrive and how their turns evolve; init and turn hold only set and observe."""

    arrive: Arrivals = NoArrivals()
    trace: TraceFile | InlineTrace | None = None
    init: tuple[Statement, ...] = ()
    turn: tuple[Statement, ...] = ()
    hidden: tuple[str, ...] = ()


class RunBlock(IRNode, frozen=True):
    """How long, from when it counts, the seed, and how many arrivals."""

    horizon: Expression
    warmup: Expression = 0.0
    seed: Expression = 1.0
    arrivals: Expression | None = None


class Gauge(IRNode, frozen=True):
    """The time average of a function of the state."""

    name: str
    value: Expression


class Program(IRNode, frozen=True, kw_only=True):
    """A program."""

    version: int
    pools: tuple[Pool, ...] = ()
    stages: tuple[Stage, ...] = ()
    share: Literal["maxmin", "bottleneck"] | None = None
    workload: Workload
    session: tuple[Statement, ...]
    gauges: tuple[Gauge, ...] = ()
    run: RunBlock
