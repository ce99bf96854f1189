"""The syntax tree: what the parser builds, the expansions rewrite and the printer prints.

The surface tree and the kernel tree share these classes; the kernel is the subset `expand` leaves (marked K below).
Every node begins with its span, which does not take part in equality, so that `parse(print(tree)) == tree`.
Nodes are frozen: an expansion builds new ones.

Names with dots (`P.kv`, `D.nic`, `D.tok`) are one string. `P[j].kv` and `P.kv[j]` are one tree: Indexed("P.kv", j).
"""

from __future__ import annotations

from serq.diagnostics.source import Span
from serq.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Node:
    """A node and where it stands."""

    span: Span = field(compare=False, repr=False)


# ------------------------------------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class Number(Node):
    """K. A literal."""

    value: float


@dataclass(frozen=True, slots=True)
class Name(Node):
    """K. An attribute, constant, context variable, parameter, `inf`, or (as an argument) a pool or stage."""

    name: str


@dataclass(frozen=True, slots=True)
class Indexed(Node):
    """K. `kv[j]`: a member of a family, as an observable's argument."""

    name: str
    index: Expression


@dataclass(frozen=True, slots=True)
class Call(Node):
    """K after `def` expansion. `f(a, b)`: a function, an observable, or a definition."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Draw(Node):
    """K. `~exp(mean)`."""

    distribution: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """K. `-e` or `!e`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """K. Operators: + - * / ^ == != < <= > >= && ||."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """K. `test ? then : otherwise`."""

    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """K. `max j in n (e)`; kind is max, min or sum."""

    kind: str
    index: str
    bound: Expression
    body: Expression


Expression = Number | Name | Indexed | Call | Draw | Unary | Binary | Conditional | Aggregate


@dataclass(frozen=True, slots=True)
class Reference(Node):
    """K. A pool, stage or queue named by a statement or an option, with a member index or without."""

    name: str
    index: Expression | None = None


# ------------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Turn(Node):
    """K. `turn;`"""


@dataclass(frozen=True, slots=True)
class End(Node):
    """K. `end;`"""


@dataclass(frozen=True, slots=True)
class Request(Node):
    """`request;` or `request QUEUE;`"""

    gateway: str | None = None


@dataclass(frozen=True, slots=True)
class SetStatement(Node):
    """K. `set NAME = e;` (`name_span` covers the name)."""

    name: str
    value: Expression
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Observe(Node):
    """K. `observe NAME = e;`"""

    name: str
    value: Expression
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Claim(Node):
    """K. One pool of a hold: `kv (units) reserve (r)`."""

    pool: Reference
    units: Expression
    reserve: Expression | None = None


@dataclass(frozen=True, slots=True)
class Binding(Node):
    """`NAME = e` of an `at admission` clause."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Lease(Node):
    """K. `lease POOL (seconds)` after a hold."""

    pool: Reference
    seconds: Expression


@dataclass(frozen=True, slots=True)
class Hold(Node):
    """K when `bindings` is empty. `claims` is non-empty; `cache` None means the hold is memory alone."""

    claims: tuple[Claim, ...]
    reuse: Expression | None
    bindings: tuple[Binding, ...]
    body: tuple[Statement, ...]
    cache: Expression | None
    lease: Lease | None


@dataclass(frozen=True, slots=True)
class Grow(Node):
    """K. `grow POOL (amount);`"""

    pool: Reference
    amount: Expression


@dataclass(frozen=True, slots=True)
class Drop(Node):
    """K. `drop POOL;`"""

    pool: Reference


@dataclass(frozen=True, slots=True)
class Release(Node):
    """K. `release POOL;`"""

    pool: Reference


@dataclass(frozen=True, slots=True)
class Load(Node):
    """K. `load POOL (tokens);`"""

    pool: Reference
    tokens: Expression


@dataclass(frozen=True, slots=True)
class Run(Node):
    """K when `stages` is non-empty. `run a, b (w);`, `run E prefill (n) growing kv;`, and in an entry `run (w);`.

    `mode` is None, "prefill" or "decode".
    """

    stages: tuple[Reference, ...]
    mode: str | None
    work: Expression
    growing: Reference | None


@dataclass(frozen=True, slots=True)
class Serving(Node):
    """A serving form but transfer: verb is prefill, decode or tool; at most one of `index` and `stages` is given."""

    verb: str
    index: Expression | None
    stages: tuple[Reference, ...]
    work: Expression
    growing: Reference | None


@dataclass(frozen=True, slots=True)
class Transfer(Node):
    """`transfer [ [i] | on a[i], b[j] ] (work) from P to Q (tokens);`

    `source` and `target` are None when the clause is missing (an error the expansion words).
    """

    index: Expression | None
    stages: tuple[Reference, ...]
    work: Expression
    source: Reference | None
    target: Reference | None
    tokens: Expression | None


@dataclass(frozen=True, slots=True)
class Branch(Node):
    """K when not `drawn`. `branch (guard) {…} else {…}`; `drawn` is the form `branch with (p)`."""

    guard: Expression
    drawn: bool
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Loop(Node):
    """K. `loop {…}`"""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Choose(Node):
    """K. `choose NAME in bound by (keys);`"""

    name: str
    bound: Expression
    keys: tuple[Expression, ...]
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EntryCall(Node):
    """`D[j].decode (prompt) from P[i];` and `nic[j].transfer (n) from src to kv (m);`"""

    queue: Reference
    verb: str
    arguments: tuple[Expression, ...]
    source: Reference | None
    target: Reference | None
    tokens: Expression | None


@dataclass(frozen=True, slots=True)
class Mark(Node):
    """`mark NAME;`"""

    name: str


@dataclass(frozen=True, slots=True)
class DefinitionCall(Node):
    """`NAME (args);`: a statement definition in its place."""

    name: str
    arguments: tuple[Expression, ...]


Statement = (
    Turn
    | End
    | Request
    | SetStatement
    | Observe
    | Hold
    | Grow
    | Drop
    | Release
    | Load
    | Run
    | Serving
    | Transfer
    | Branch
    | Loop
    | Choose
    | EntryCall
    | Mark
    | DefinitionCall
)

# ----------------------------------------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Let(Node):
    """K. `let NAME = e;`"""

    name: str
    value: Expression
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Use(Node):
    """`use "file.sq";`"""

    path: str


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A parameter of a definition or an entry."""

    name: str


@dataclass(frozen=True, slots=True)
class ExpressionDefinition(Node):
    """`def NAME(a, b) = e;`"""

    name: str
    parameters: tuple[Parameter, ...]
    value: Expression
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StatementDefinition(Node):
    """`def NAME(a, b) {…}`"""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Spill(Node):
    """K. `spill POOL via STAGE (work) when (predicate);`"""

    pool: Reference
    stage: Reference
    work: Expression
    predicate: Expression


@dataclass(frozen=True, slots=True)
class Pool(Node):
    """K. `pool NAME[size] {…}`. A missing option is None: `cap` inf, `block` none, `evict` lru, `preempt` none,
    `preempt_then` stop, `waiting` fifo, `unfit` reject.

    `evict` and `waiting` are key tuples: () is `lru` (`fifo`). `preempt` is "none", "lifo" or a key tuple
    (`preempt by`). `preempt_then` is "stop" or "continue". `unfit` is "wait" or "reject".
    """

    name: str
    size: Expression | None
    cap: Expression | None
    block: Expression | None
    evict: tuple[Expression, ...] | None
    preempt: str | tuple[Expression, ...] | None
    preempt_then: str | None
    waiting: tuple[Expression, ...] | None
    admit_via: Reference | None
    spill: Spill | None
    unfit: str | None
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Fifo(Node):
    """K. `fifo(c)`; None is one server."""

    server_count: Expression | None


@dataclass(frozen=True, slots=True)
class ProcessorSharing(Node):
    """K. `ps(capacity)`; the capacity may read `present`."""

    capacity: Expression


@dataclass(frozen=True, slots=True)
class Delay(Node):
    """K. `delay`."""


@dataclass(frozen=True, slots=True)
class Step(Node):
    """K. `step {…}`. `serve` None or () is admission order; keys otherwise; "exclusive prefill" is the batch rule.

    The forms `serve admission` and `serve decode first` are parsed to `serve = "admission"` and "decode first".
    """

    budget: Expression
    cost: Expression
    chunk: Expression | None
    serve: str | tuple[Expression, ...] | None
    memory: Reference | None


StageKind = Fifo | ProcessorSharing | Delay | Step


@dataclass(frozen=True, slots=True)
class Stage(Node):
    """K. `stage NAME[size] : kind;`"""

    name: str
    size: Expression | None
    kind: StageKind
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Arrive(Node):
    """K. kind is poisson, renewal, closed, batch or none; `argument` None only for none."""

    kind: str
    argument: Expression | None


@dataclass(frozen=True, slots=True)
class Trace(Node):
    """K. `trace "file.csv" ordered;`"""

    path: str
    ordered: bool


@dataclass(frozen=True, slots=True)
class Workload(Node):
    """K when `session` is None. `hidden` are the names in order, each a Name node."""

    arrive: Arrive | None
    trace: Trace | None
    init: tuple[Statement, ...]
    turn: tuple[Statement, ...]
    session: tuple[Statement, ...] | None
    hidden: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Session(Node):
    """K. `session {…}` at top level."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Server(Node):
    """`server {…}`"""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Serve(Node):
    """A queue's stage: `serve kind latency x;`"""

    kind: StageKind
    latency: Expression | None


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """`VERB (a, b) from src {…}`; the route of a gateway has no parameters."""

    verb: str
    parameters: tuple[Parameter, ...]
    source: Parameter | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Queue(Node):
    """`queue NAME[size] : roles {…}`; `nic` is the kind of the queue's NIC stage."""

    name: str
    size: Expression | None
    roles: tuple[Name, ...]
    pools: tuple[Pool, ...]
    serve: Serve | None
    nic: StageKind | None
    entries: tuple[Entry, ...]
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RunBlock(Node):
    """K. `run { horizon …; warmup …; seed …; arrivals …; }`; a missing one is None."""

    horizon: Expression | None
    warmup: Expression | None
    seed: Expression | None
    arrivals: Expression | None


@dataclass(frozen=True, slots=True)
class Share(Node):
    """K. `share maxmin;` or `share bottleneck;`"""

    policy: str


@dataclass(frozen=True, slots=True)
class Pull(Node):
    """`D pull P latency x share maxmin;`; `policy` None when the clause is missing (worded by the expansion)."""

    reader: Reference
    source: Reference
    latency: Expression | None
    policy: str | None


@dataclass(frozen=True, slots=True)
class Gauge(Node):
    """K. `gauge NAME = e;`"""

    name: str
    value: Expression
    name_span: Span = field(compare=False, repr=False)


Item = (
    Let
    | Use
    | ExpressionDefinition
    | StatementDefinition
    | Pool
    | Stage
    | Workload
    | Session
    | Server
    | Queue
    | RunBlock
    | Share
    | Pull
    | Gauge
)


@dataclass(frozen=True, slots=True)
class Program(Node):
    """A whole program: its items in the order written (order matters: a name is visible below its declaration)."""

    items: tuple[Item, ...]
