"""Read a queue's entries: check what each sees and holds, and give it the program's names.

Input: an entry as written, in the queue's short names. Output: the same entry in long names: `kv` is `Q.kv`, the
queue's stage is the member's, what the entry sets is `Q.x`, `mark x` is `set Q.x = now`. What a call decides stays a
name: the parameters, `self`, the `from` name as a pool, and as a member's index `SOURCE_MEMBER`.

What an entry sees (language §2, "An entry sees its own"):

    header  the parameters, the queue's pools and stage, constants, `cached`, `computed`, the bindings before
    body    those and `now`, the request's hidden attributes, what the queue's entries set
    route   a gateway's entry is on the session's side: it reads and sets the request's attributes by their own names

Reports: entry-reads, entry-header-reads, foreign-pool, foreign-engine, own-member-indexed, source-as-number,
self-outside-entry, parameter-assigned, queue-pool-outside-entry, from-not-queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from serq.diagnostics import Label, Span
from serq.expand.report import Report, did_you_mean
from serq.expand.stations import Station
from serq.expand.tree import rebuild
from serq.records import dataclass, replace
from serq.syntax.nodes import (
    Aggregate,
    Binding,
    Branch,
    Call,
    Choose,
    Claim,
    Drop,
    Entry,
    EntryCall,
    Expression,
    Grow,
    Hold,
    Indexed,
    Lease,
    Load,
    Loop,
    Mark,
    Name,
    Node,
    Number,
    Observe,
    Reference,
    Release,
    Run,
    SetStatement,
    StageKind,
    Statement,
    Step,
)
from serq.syntax.vocabulary import CONTEXT_VARIABLES, MEMBER_FUNCTIONS

# The `from` name in an index: the source member's own index. No text can write this name.
SOURCE_MEMBER = "source member"
# What the admission and a preemption set: an entry's header and body read them.
SCHEDULER_ATTRIBUTES = frozenset(("cached", "computed"))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the program around the queues declares."""

    constants: frozenset[str]
    hidden: frozenset[str]
    stages: Mapping[str, StageKind]
    queue_pools: Mapping[str, Station]


class EntryReader:
    """The reading of one entry."""

    def __init__(self, station: Station, entry: Entry, around: Surroundings, report: Report) -> None:
        self.station = station
        self.entry = entry
        self.around = around
        self.report = report
        self.is_route = entry.verb == "route"
        self.form = f"`{station.name}.{entry.verb}`"
        self.parameters = frozenset(parameter.name for parameter in entry.parameters)
        self.source = None if entry.source is None else entry.source.name

    def read(self) -> Entry:
        """Give the entry in the program's names."""
        return replace(self.entry, body=self._body(self.entry.body))

    def _body(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(self._statement(statement) for statement in body)

    # ---------------------------------------------------------------------------------------- statements

    def _statement(self, statement: Statement) -> Statement:
        match statement:
            case SetStatement():
                name = self._assigned(statement.name, statement.name_span)
                return replace(statement, name=name, value=self._value(statement.value))
            case Choose():
                name = self._assigned(statement.name, statement.name_span)
                keys = tuple(self._value(key) for key in statement.keys)
                return replace(statement, name=name, bound=self._value(statement.bound), keys=keys)
            case Observe():
                return replace(statement, value=self._value(statement.value))
            case Mark():
                span = statement.span
                return SetStatement(span, f"{self.station.name}.{statement.name}", Name(span, "now"), span)
            case Hold():
                return self._hold(statement)
            case Grow():
                return replace(
                    statement, pool=self._pool(statement.pool, "grows"), amount=self._value(statement.amount)
                )
            case Load():
                return replace(
                    statement, pool=self._pool(statement.pool, "loads"), tokens=self._value(statement.tokens)
                )
            case Drop():
                return replace(statement, pool=self._pool(statement.pool, "drops"))
            case Release():
                return replace(statement, pool=self._pool(statement.pool, "releases"))
            case Run():
                growing = None if statement.growing is None else self._pool(statement.growing, "grows")
                stages = tuple(self._stage(stage) for stage in statement.stages)
                return replace(statement, stages=stages, work=self._value(statement.work), growing=growing)
            case Branch():
                then, otherwise = self._body(statement.then), self._body(statement.otherwise)
                return replace(statement, guard=self._value(statement.guard), then=then, otherwise=otherwise)
            case Loop():
                return replace(statement, body=self._body(statement.body))
            case EntryCall():
                return self._call(statement)
            case _:
                return statement

    def _assigned(self, name: str, span: Span) -> str:
        """Give the name of an attribute the entry assigns."""
        if name in self.parameters or name == self.source:
            self.report.add(
                "parameter-assigned",
                f"`{name}` is a parameter of {self.form}, and the entry assigns it",
                span,
                "names what is assigned",
                notes=("a parameter stands for the caller's expression, which has no value of its own to change",),
                helps=("assign another name",),
            )
            return name
        return name if self.is_route or "." in name else f"{self.station.name}.{name}"

    def _hold(self, hold: Hold) -> Hold:
        """Read a hold: the header sees less than the body."""
        bindings: list[Binding] = []
        known: dict[str, str] = {}
        for binding in hold.bindings:
            value = self._header(binding.value, known)
            name = self._assigned(binding.name, binding.span)
            known[binding.name] = name
            bindings.append(replace(binding, name=name, value=value))
        claims = tuple(
            Claim(
                claim.span,
                self._pool(claim.pool, "holds"),
                self._header(claim.units, known),
                None if claim.reserve is None else self._header(claim.reserve, known),
            )
            for claim in hold.claims
        )
        reuse = None if hold.reuse is None else self._header(hold.reuse, known)
        lease = hold.lease
        if lease is not None:
            lease = Lease(lease.span, self._pool(lease.pool, "leases"), self._value(lease.seconds))
        cache = None if hold.cache is None else self._value(hold.cache)
        return replace(
            hold,
            claims=claims,
            reuse=reuse,
            bindings=tuple(bindings),
            body=self._body(hold.body),
            cache=cache,
            lease=lease,
        )

    def _call(self, call: EntryCall) -> EntryCall:
        """Read the call of another entry; where the KV comes from and goes to are the queue's own."""
        queue = call.queue
        if queue.index is not None:
            queue = replace(queue, index=self._index(queue.index))
        source = call.source
        if source is not None and (source.name == self.source or source.name in self.station.pools):
            source = self._pool(source, "takes from")
        elif source is not None and source.name in self.around.queue_pools:
            report_from(self.report, source, {s.name for s in self.around.queue_pools.values()})
        elif source is not None and source.index is not None:
            source = replace(source, index=self._index(source.index))
        return replace(
            call,
            queue=queue,
            arguments=tuple(self._value(argument) for argument in call.arguments),
            source=source,
            target=None if call.target is None else self._pool(call.target, "fills"),
            tokens=None if call.tokens is None else self._value(call.tokens),
        )

    # ---------------------------------------------------------------------------------------- references

    def _own(self, name: str, span: Span) -> Expression:
        """Give an own pool or stage by its long name: the member's, in a family."""
        long = f"{self.station.name}.{name}" if name in self.station.pools else name
        return Indexed(span, long, Name(span, "self")) if self.station.is_family else Name(span, long)

    def _own_reference(self, reference: Reference) -> Reference:
        """Give a reference to an own pool or stage, which names no member: it is this one's."""
        if reference.index is not None:
            self._report_indexed(reference.name, reference.span)
        match self._own(reference.name, reference.span):
            case Indexed(name=name, index=index):
                return Reference(reference.span, name, index)
            case Name(name=name):
                return Reference(reference.span, name)
            case _:
                raise AssertionError("an own pool or stage is a name")

    def _report_indexed(self, name: str, span: Span) -> None:
        self.report.add(
            "own-member-indexed",
            f"`{name}[…]` inside queue `{self.station.name}`: the queue's own pools and stage are this member's",
            span,
            "names a member",
            helps=(f"write `{name}`",),
        )

    def _pool(self, reference: Reference, verb: str) -> Reference:
        """Read the pool a statement holds, grows, releases …: an own one, or the source's."""
        name = reference.name
        if name == self.source and reference.index is None:
            return reference
        if name in self.station.pools:
            return self._own_reference(reference)
        short = name.removeprefix(f"{self.station.name}.")
        owner = self.around.queue_pools.get(name)
        if short in self.station.pools:
            self._report_pool(reference, verb, "the queue's own pools go by their short names", f"write `{short}`")
        elif self.is_route and owner is not None:
            report_queue_pool(self.report, reference, owner)
        elif not self.is_route:
            self._report_pool(reference, verb, "an entry allocates its queue's own pools", None)
        if reference.index is not None:
            return replace(reference, index=self._index(reference.index))
        return reference

    def _report_pool(self, reference: Reference, verb: str, reason: str, help_text: str | None) -> None:
        self.report.add(
            "foreign-pool",
            f"{self.form} {verb} `{reference.name}`, which is not a pool of `{self.station.name}`",
            reference.span,
            "not this queue's",
            secondary=(Label(self.station.queue.name_span, "its pools are declared in here"),),
            notes=(reason,),
            helps=() if help_text is None else (help_text,),
        )

    def _stage(self, reference: Reference) -> Reference:
        """Read a stage to run on: the own one, or another that is no step engine."""
        if reference.name in self.station.stages:
            return self._own_reference(reference)
        kind = self.around.stages.get(reference.name)
        if isinstance(kind, Step) and not self.is_route:
            self.report.add(
                "foreign-engine",
                f"{self.form} runs on `{reference.name}`, a step engine that is not the queue's own",
                reference.span,
                "another's engine",
                notes=("an entry may name the stages that are no step engines, as a server does",),
                helps=("call an entry of the queue whose engine it is",),
            )
        if reference.index is not None:
            return replace(reference, index=self._index(reference.index))
        return reference

    # --------------------------------------------------------------------------------------- expressions

    def _value(self, expression: Expression) -> Expression:
        """Read an expression of the body."""
        return self._read(expression, _Scope(None, frozenset(), False))

    def _index(self, expression: Expression) -> Expression:
        """Read an index, where the `from` name is the source member's."""
        return self._read(expression, _Scope(None, frozenset(), True))

    def _header(self, expression: Expression, bindings: Mapping[str, str]) -> Expression:
        """Read an expression of a hold's header."""
        return self._read(expression, _Scope(dict(bindings), frozenset(), False))

    def _read(self, expression: Expression, scope: _Scope) -> Expression:
        match expression:
            case Name():
                return self._name(expression, scope)
            case Indexed():
                self._report_reads(expression.name, expression.span, scope)
                return expression
            case Call(function=function, arguments=(first, *rest)) if function in MEMBER_FUNCTIONS:
                arguments = (self._member(first, scope), *(self._read(part, scope) for part in rest))
                return replace(expression, arguments=arguments)
            case Aggregate():
                if expression.index in ("self", self.source):
                    self.report.add(
                        "parameter-assigned",
                        f"`{expression.index}` is a name of the entry, and an aggregate gives it to its index",
                        expression.span,
                        f"binds `{expression.index}`",
                        helps=("name the index otherwise",),
                    )
                inner = replace(scope, bound=scope.bound | {expression.index})
                return replace(
                    expression, bound=self._read(expression.bound, scope), body=self._read(expression.body, inner)
                )
            case _:
                return rebuild(expression, lambda part: self._part(part, scope))

    def _part(self, part: Node, scope: _Scope) -> Node:
        return self._read(cast(Expression, part), scope)

    def _name(self, name: Name, scope: _Scope) -> Expression:
        """Read a name as a number."""
        word = name.name
        if word in scope.bound or word in self.parameters:
            return name
        if word == self.source:
            if scope.in_index:
                return replace(name, name=SOURCE_MEMBER)
            self.report.add(
                "source-as-number",
                f"{self.form} reads `{word}` as a number, and it is the source's pool",
                name.span,
                "a pool",
                notes=("in an index, as in `run link[src] (n)`, it is the source member's index",),
            )
            return Number(name.span, 0.0)
        if word == "self":
            if not self.station.is_family:
                self.report.add(
                    "self-outside-entry",
                    f"`self` is a member's index, and queue `{self.station.name}` is not a family",
                    name.span,
                    "there is no member",
                    secondary=(Label(self.station.queue.name_span, "declared here without a size"),),
                )
            return name
        if scope.bindings is not None and word in scope.bindings:
            return replace(name, name=scope.bindings[word])
        if self.is_route or word in self.around.constants or word in SCHEDULER_ATTRIBUTES or word == "inf":
            return name
        if scope.bindings is None:
            if word in self.station.attributes:
                return replace(name, name=f"{self.station.name}.{word}")
            if word in CONTEXT_VARIABLES or word in self.around.hidden:
                return name  # where a context variable exists is the linker's table
        self._report_reads(word, name.span, scope)
        return name

    def _member(self, expression: Expression, scope: _Scope) -> Expression:
        """Read the pool or stage an observable looks at."""
        match expression:
            case Name(name=name) if name == self.source and name not in scope.bound:
                return expression
            case Name(name=name, span=span) if name in self.station.pools or name in self.station.stages:
                return self._own(name, span)
            case Indexed(name=name, span=span) if name in self.station.pools or name in self.station.stages:
                self._report_indexed(name, span)
                return self._own(name, span)
            case Name() if self.is_route:
                return expression
            case Indexed() if self.is_route:
                return replace(expression, index=self._read(expression.index, replace(scope, in_index=True)))
            case Name(name=name, span=span) | Indexed(name=name, span=span):
                self._report_reads(name, span, scope)
                return expression
            case _:
                return self._read(expression, scope)

    def _report_reads(self, name: str, span: Span, scope: _Scope) -> None:
        """Report a read of what is not the entry's to see."""
        if self.is_route:
            return
        if scope.bindings is not None:
            self.report.add(
                "entry-header-reads",
                f"the header of a hold in {self.form} reads `{name}`, which it does not see",
                span,
                "not the queue's to see at admission",
                notes=(
                    "a header sees the entry's parameters, the queue's own pools and stage, constants, `cached` and "
                    "`computed`",
                ),
                helps=("give it to the entry as its argument",),
            )
            return
        self.report.add(
            "entry-reads",
            f"{self.form} reads `{name}`, which is not the queue's to see",
            span,
            "set or declared outside the queue",
            notes=(
                "an entry sees its parameters, the queue's own pools and stage, what the queue sets, `now`, `cached`, "
                "`computed`, constants and the request's hidden attributes",
            ),
            helps=("give it to the entry as its argument, or let the gateway read it",),
        )


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where an expression of an entry stands: `bindings` is None in the body, the bindings above in a header."""

    bindings: Mapping[str, str] | None
    bound: frozenset[str]
    in_index: bool


def report_from(report: Report, reference: Reference, known: Iterable[str]) -> None:
    """Report a `from` that names no queue."""
    queue = reference.name.partition(".")[0]
    report.add(
        "from-not-queue",
        f"`from {reference.name}`: a call takes from a queue, which knows the pool it leases",
        reference.span,
        "not a queue",
        helps=(f"write `from {queue}`",) if queue in known else did_you_mean(queue, known),
    )


def report_queue_pool(report: Report, reference: Reference, owner: Station) -> None:
    """Report that a pool of a queue is named by a statement outside its entries."""
    report.add(
        "queue-pool-outside-entry",
        f"`{reference.name}` is a pool of queue `{owner.name}`, and only `{owner.name}`'s entries hold it",
        reference.span,
        "the queue's own",
        secondary=(Label(owner.queue.name_span, "declared here"),),
        helps=(f"call an entry: `{owner.name}.VERB (…);`",),
    )
