"""Substitute what a hold's header is written in terms of: `at admission (hit = e, …)`.

Before:  hold kv (min(n, hit + 8)) at admission (hit = min(cachedin(kv), k), top = 2 * n) { run z (top); }
After:   hold kv (min(n, min(cachedin(kv), k) + 8)) { set top = 2 * n; run z (top); }

A later binding sees the earlier ones. A binding the body reads is set at its top, where it has its admission value
because it reads only attributes and constants; so one that reads live state cannot be read there. `cache` and `lease`,
which are read when the hold ends, are written in the same terms and read the expression then.

Reference: language §3, at admission.   Relies on: definitions and queues expanded.
Establishes: every hold's `bindings` is empty.
Reports: binding-draws, binding-order, binding-twice, binding-live, binding-name-taken, binding-read-outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from serq.diagnostics import Label, Origin, Span
from serq.expand.items import Body, declared_kinds, item_bodies, map_item_bodies
from serq.expand.limits import substitute_within
from serq.expand.report import Report
from serq.expand.tree import (
    children,
    each_statement,
    free_names,
    live_reads,
    map_inner_bodies,
    walk,
)
from serq.expand.vocabulary import SUPPLIED_ATTRIBUTES
from serq.records import dataclass, replace
from serq.syntax.nodes import (
    Aggregate,
    Binding,
    Call,
    Choose,
    Draw,
    Expression,
    Hold,
    Indexed,
    Name,
    Node,
    Program,
    SetStatement,
    Statement,
)
from serq.syntax.vocabulary import CONTEXT_VARIABLES, MEMBER_FUNCTIONS


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a name stands for in the program, besides a binding."""

    declared: dict[str, tuple[str, Span]]
    assigned: dict[str, Span]

    def of(self, name: str) -> tuple[str, Span | None] | None:
        """Give what a name is already and where, or None when it is free."""
        if name in self.declared:
            return self.declared[name]
        if name in self.assigned:
            return "an attribute the program sets", self.assigned[name]
        if name in SUPPLIED_ATTRIBUTES:
            return "an attribute the language sets", None
        if name in CONTEXT_VARIABLES or name == "inf":
            return "a name the language supplies", None
        return None


def expand_admissions(program: Program, report: Report) -> Program:
    """Substitute every binding, and set the ones the bodies read."""
    taken = _Taken(declared_kinds(program), _assigned(program))
    read_in_bodies: dict[str, Span] = {}

    def expanded(body: Body) -> Body:
        # From the outside in: who reads a binding is asked of the body as written, with the inner bindings there.
        return tuple(map_inner_bodies(_expanded(s, taken, read_in_bodies, report), expanded) for s in body)

    items = tuple(map_item_bodies(item, expanded) for item in program.items)
    for name, span in _reads_outside(program):
        # `Q.x` as the caller of an entry writes it asks for what the queue set last, and says so.
        if name in read_in_bodies and not ("." in name and span.text == name):
            report.add(
                "binding-read-outside",
                f"`{_short(name)}` is read outside the holds that bind it",
                span,
                "bound `at admission`, and not set here",
                secondary=(Label(read_in_bodies[name], "the binding"),),
                helps=("copy it in the body: `set x = …;`, and read the `x`",),
            )
    return Program(program.span, items)


def _assigned(program: Program) -> dict[str, Span]:
    """Give the attributes the program assigns by `set` and `choose`."""
    names: dict[str, Span] = {}
    for item in program.items:
        for body in item_bodies(item):
            for statement in each_statement(body):
                if isinstance(statement, SetStatement | Choose):
                    names.setdefault(statement.name, statement.name_span)
    return names


def _short(name: str) -> str:
    """Give a name as the user wrote it: the queue pass puts the queue in front."""
    return name.rpartition(".")[2]


def _expanded(hold: Statement, taken: _Taken, read_in_bodies: dict[str, Span], report: Report) -> Statement:
    """Substitute the bindings of a statement that is a hold; the holds inside keep theirs."""
    if not isinstance(hold, Hold) or not hold.bindings:
        return hold
    values = _values(hold, taken, report)

    def put_in(expression: Expression) -> Expression:
        return _put_in(report, "the header of this `hold`", expression.span, expression, values)

    sets: list[Statement] = []
    for binding in hold.bindings:
        place = _read_in(hold.body, binding.name)
        if place is None:
            continue
        value = values[binding.name]
        if _body_may_read(binding, value, place, taken, report):
            read_in_bodies.setdefault(binding.name, binding.span)
            origin = Origin(f"`at admission` sets `{_short(binding.name)}` here, for the body reads it", place)
            sets.append(SetStatement(binding.span.through(origin), binding.name, value, binding.span))
    claims = tuple(
        replace(claim, units=put_in(claim.units), reserve=None if claim.reserve is None else put_in(claim.reserve))
        for claim in hold.claims
    )
    lease = hold.lease
    return replace(
        hold,
        claims=claims,
        reuse=None if hold.reuse is None else put_in(hold.reuse),
        bindings=(),
        body=(*sets, *hold.body),
        cache=None if hold.cache is None else put_in(hold.cache),
        lease=None if lease is None else replace(lease, seconds=put_in(lease.seconds)),
    )


def _put_in(
    report: Report, what: str, place: Span, expression: Expression, values: Mapping[str, Expression]
) -> Expression:
    """Substitute bindings, which are numbers: one may not have the name of a pool or stage that is looked at."""
    for call in walk(expression):
        if isinstance(call, Call) and call.function in MEMBER_FUNCTIONS and call.arguments:
            first = call.arguments[0]
            if isinstance(first, Name) and first.name in values:
                report.add(
                    "binding-name-taken",
                    f"`{_short(first.name)}` is bound `at admission`, and `{call.function}` looks at one of that name",
                    first.span,
                    "a number here",
                    helps=("give the binding a name of its own",),
                )
    return substitute_within(report, what, place, expression, values, numbers_only=True)


def _values(hold: Hold, taken: _Taken, report: Report) -> dict[str, Expression]:
    """Give what each binding stands for, the earlier ones put into the later."""
    values: dict[str, Expression] = {}
    first: dict[str, Span] = {}
    later = {binding.name: binding.span for binding in hold.bindings}
    for binding in hold.bindings:
        draw = next((node for node in walk(binding.value) if isinstance(node, Draw)), None)
        if draw is not None:
            report.add(
                "binding-draws",
                f"`{_short(binding.name)}` is bound to a draw, and would be drawn anew wherever the header reads it",
                draw.span,
                "draws",
                notes=("a binding is substituted, and a header is read at every attempt to admit",),
                helps=("draw first: `set x = …;` above the hold",),
            )
        if binding.name in first:
            report.add(
                "binding-twice",
                f"`{_short(binding.name)}` is bound twice in one `at admission`",
                binding.span,
                "a second time",
                secondary=(Label(first[binding.name], "the first"),),
            )
            continue
        first[binding.name] = binding.span
        for read, place in free_names(binding.value).items():
            if read in later and read not in first and taken.of(read) is None:
                report.add(
                    "binding-order",
                    f"`{_short(binding.name)}` reads `{_short(read)}`, which is bound after it",
                    place,
                    "not bound yet",
                    secondary=(Label(later[read], "bound here"),),
                    helps=("a binding sees the ones before it: change their order",),
                )
        what = f"`{_short(binding.name)}`"
        values[binding.name] = _put_in(report, what, binding.span, binding.value, values)
    return values


def _body_may_read(binding: Binding, value: Expression, place: Span, taken: _Taken, report: Report) -> bool:
    """Check that a binding has in the body the value it has in the header, and a name of its own."""
    name = _short(binding.name)
    owner = taken.of(binding.name)
    if owner is not None:
        kind, where = owner
        report.add(
            "binding-name-taken",
            f"the body reads `{name}`, which is bound `at admission` and is already {kind}",
            place,
            "which of the two?",
            secondary=(
                Label(binding.span, "the binding"),
                *(() if where is None else (Label(where, kind.removeprefix("an attribute ")),)),
            ),
            helps=("give the binding a name of its own",),
        )
        return False
    live = next(iter(live_reads(value)), None)
    if live is None:
        live = next(
            (
                (node.name, node.span)
                for node in walk(value)
                if isinstance(node, Name) and (node.name == "cached" or node.name in CONTEXT_VARIABLES)
            ),
            None,
        )
    if live is not None:
        read, where = live
        report.add(
            "binding-live",
            f"the body reads `{name}`, which is bound to `{read}`, and that is another value there",
            place,
            "no longer the admission's value",
            secondary=(Label(where, f"reads `{read}` at admission"),),
            notes=("the body sees a binding that reads only attributes and constants",),
            helps=("what the admission found is `cached`, which the body reads",),
        )
        return False
    return True


# ------------------------------------------------------------------------------------------ who reads a name


def _read_in(body: Iterable[Statement], name: str) -> Span | None:
    """Give where a body reads a name first, or None (a hold inside that binds the name reads its own)."""
    for statement in body:
        for read, span in _reads(statement, frozenset()):
            if read == name:
                return span
    return None


def _reads_outside(program: Program) -> Iterable[tuple[str, Span]]:
    """Give every name the program reads, where no hold around binds it."""
    for item in program.items:
        yield from _reads(item, frozenset())


def _reads(node: Node, bound: frozenset[str]) -> Iterable[tuple[str, Span]]:
    """Give every read of a name below a node, but for names an aggregate or a hold around binds."""
    match node:
        case Name() | Indexed():
            if node.name not in bound:
                yield node.name, node.span
        case Aggregate():
            yield from _reads(node.bound, bound)
            yield from _reads(node.body, bound | {node.index})
            return
        case Hold() if node.bindings:
            # Which member a hold means is read when it is reached, before its bindings are.
            for claim in node.claims:
                yield from _reads(claim.pool, bound)
            inner = bound
            for binding in node.bindings:
                yield from _reads(binding.value, inner)
                inner |= {binding.name}
            terms: list[Node | None] = [node.reuse, node.cache, node.lease, *node.body]
            terms += [part for claim in node.claims for part in (claim.units, claim.reserve)]
            for term in terms:
                if term is not None:
                    yield from _reads(term, inner)
            return
        case _:
            pass
    for part in children(node):
        yield from _reads(part, bound)
