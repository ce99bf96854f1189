"""Walking, rewriting, substituting: the traversals every pass shares.

Input: nodes. Output: new nodes; nothing is changed in place.
Invariants: a rewrite keeps every span it does not mean to change; `substitute` never lets an aggregate's index capture
a name of the expression put in.

Fields are found from the node classes themselves, so a new node needs no change here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar, cast

from serq.diagnostics.source import Origin, Span
from serq.records import fields, replace
from serq.syntax import nodes
from serq.syntax.nodes import (
    Aggregate,
    Binary,
    Branch,
    Call,
    Choose,
    Conditional,
    Draw,
    Expression,
    Hold,
    Indexed,
    Loop,
    Name,
    Node,
    Number,
    Observe,
    Reference,
    Request,
    SetStatement,
    Statement,
    Unary,
)
from serq.syntax.vocabulary import OBSERVABLES

EXPRESSIONS = (Number, Name, Indexed, Call, Draw, Unary, Binary, Conditional, Aggregate)
AnyNode = TypeVar("AnyNode", bound=Node)


class NotAReference(Exception):
    """An expression was put where the text names a pool, a stage or a queue.

    Attributes
    ----------
    name : the name that was to be replaced
    place : the reference it stands in
    """

    def __init__(self, name: str, place: Node) -> None:
        super().__init__(name)
        self.name = name
        self.place = place


def _part_names(kind: type[Node]) -> tuple[str, ...]:
    """Give the fields of a node class that may hold nodes (the spans hold none)."""
    return _PART_NAMES[kind]


_PART_NAMES: dict[type[Node], tuple[str, ...]] = {
    kind: tuple(f.name for f in fields(kind) if f.name not in ("span", "name_span"))
    for kind in vars(nodes).values()
    if isinstance(kind, type) and issubclass(kind, Node)
}
_SPAN_NAMES: dict[type[Node], tuple[str, ...]] = {
    kind: tuple(f.name for f in fields(kind) if f.name in ("span", "name_span")) for kind in _PART_NAMES
}


def children(node: Node) -> Iterator[Node]:
    """Give the direct parts of a node, in the order of its fields."""
    for name in _part_names(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            for part in value:
                if isinstance(part, Node):
                    yield part


def walk(*roots: Node) -> Iterator[Node]:
    """Give every node below (and with) the roots, parents first, in the order of the text."""
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(list(children(node))))


def rebuild(node: AnyNode, change: Callable[[Node], Node]) -> AnyNode:
    """Give the node with `change` applied to each direct part (the node itself when nothing changed)."""
    changes: dict[str, object] = {}
    for name in _part_names(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            new = change(value)
            if new is not value:
                changes[name] = new
        elif isinstance(value, tuple) and any(isinstance(part, Node) for part in value):
            parts = tuple(change(part) if isinstance(part, Node) else part for part in value)
            if any(new is not old for new, old in zip(parts, value)):
                changes[name] = parts
    return replace(node, **changes) if changes else node  # type: ignore[arg-type]


def map_nodes(node: AnyNode, change: Callable[[Node], Node]) -> AnyNode:
    """Rewrite bottom-up: `change` sees every node once, its parts already rewritten."""
    return cast(AnyNode, change(rebuild(node, lambda part: map_nodes(part, change))))


def map_expressions(node: AnyNode, change: Callable[[Expression], Expression]) -> AnyNode:
    """Rewrite every expression at or below a node, the innermost first."""
    return map_nodes(node, lambda part: change(part) if isinstance(part, EXPRESSIONS) else part)


def map_body(body: Iterable[Statement], change: Callable[[Statement], Iterable[Statement]]) -> tuple[Statement, ...]:
    """Rewrite statements, each into any number of them; `change` sees a statement after the bodies inside it."""
    result: list[Statement] = []
    for statement in body:
        result.extend(change(map_inner_bodies(statement, lambda inner: map_body(inner, change))))
    return tuple(result)


def map_inner_bodies(
    statement: Statement, change: Callable[[tuple[Statement, ...]], tuple[Statement, ...]]
) -> Statement:
    """Rewrite the statement lists directly inside a statement."""
    match statement:
        case Hold() | Loop():
            return replace(statement, body=change(statement.body))
        case Branch():
            return replace(statement, then=change(statement.then), otherwise=change(statement.otherwise))
        case _:
            return statement


def inner_bodies(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """Give the statement lists directly inside a statement."""
    match statement:
        case Hold() | Loop():
            return (statement.body,)
        case Branch():
            return (statement.then, statement.otherwise)
        case _:
            return ()


def each_statement(body: Iterable[Statement]) -> Iterator[Statement]:
    """Give every statement of a body, at any depth, in the order of the text."""
    for statement in body:
        yield statement
        for inner in inner_bodies(statement):
            yield from each_statement(inner)


def through(node: AnyNode, origin: Origin) -> AnyNode:
    """Give the node with one more expansion around every span in it."""
    return cast(AnyNode, _Through(origin).apply(node))


class _Through:
    """One expansion put around many spans. Nodes that came one way together go on sharing their chain."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        # By identity; the old origin is kept beside the new one, so that its identity stays its own.
        self._chains: dict[int, tuple[Origin, Origin]] = {}

    def apply(self, node: Node) -> Node:
        moved = rebuild(node, self.apply)
        spans: dict[str, Span] = {name: self._span(getattr(moved, name)) for name in _SPAN_NAMES[type(node)]}
        return replace(moved, **spans)

    def _span(self, span: Span) -> Span:
        inner = span.origin
        if inner is None:
            return Span(span.source, span.start, span.end, self.origin)
        if id(inner) not in self._chains:
            self._chains[id(inner)] = inner, Origin(inner.form, self._span(inner.span))
        return Span(span.source, span.start, span.end, self._chains[id(inner)][1])


# ------------------------------------------------------------------------------------------------- questions


def draws(*roots: Node) -> bool:
    """Tell whether a draw stands anywhere below."""
    return any(isinstance(node, Draw) for node in walk(*roots))


def assigned_names(body: Iterable[Statement]) -> dict[str, Span]:
    """Give the attributes a body assigns, and where first: by `set`, `choose` and `at admission`."""
    names: dict[str, Span] = {}
    for statement in each_statement(body):
        match statement:
            case SetStatement() | Choose():
                names.setdefault(statement.name, statement.name_span)
            case Hold():
                for binding in statement.bindings:
                    names.setdefault(binding.name, binding.span)
            case _:
                pass
    return names


def free_names(*roots: Node) -> dict[str, Span]:
    """Give every name read below that no aggregate there binds, with its first place.

    Names of pools and stages that an observable or a statement names count too.
    """
    names: dict[str, Span] = {}

    def visit(node: Node, bound: frozenset[str]) -> None:
        match node:
            case Name() | Indexed() | Reference():
                if node.name not in bound:
                    names.setdefault(node.name, node.span)
            case Aggregate():
                visit(node.bound, bound)
                visit(node.body, bound | {node.index})
                return
            case _:
                pass
        for part in children(node):
            visit(part, bound)

    for root in roots:
        visit(root, frozenset())
    return names


def live_reads(*roots: Node) -> Iterator[tuple[str, Span]]:
    """Give what is read below that other sessions or the clock change: observables and `now`."""
    for node in walk(*roots):
        match node:
            case Call() if node.function in OBSERVABLES:
                yield f"{node.function}(…)", node.span
            case Name(name="now"):
                yield "now", node.span
            case _:
                pass


# ---------------------------------------------------------------------------------------------- substitution


def substitute(node: AnyNode, values: Mapping[str, Expression], *, numbers_only: bool = False) -> AnyNode:
    """Replace names by expressions, wherever they are read or name a pool, a stage or a queue.

    `q.kv` with `q` replaced by `P` is `P.kv`, by `P[i]` is `P.kv[i]`. With `numbers_only`, names of members, of
    what statements hold and of what a queue has (`q.x`) are left alone.

    Raises
    ------
    NotAReference : an expression other than a name or a member would stand where a pool or stage is named
    """
    if not values:
        return node
    return cast(AnyNode, _Substitution(values, numbers_only).apply(node))


class _Substitution:
    """One substitution under way."""

    def __init__(self, values: Mapping[str, Expression], numbers_only: bool) -> None:
        self.values = values
        self.numbers_only = numbers_only

    def apply(self, node: Node) -> Node:
        match node:
            case Name() if self.numbers_only:
                return self.values.get(node.name) or node
            case Name():
                return self.values.get(node.name) or self._dotted_name(node)
            case Indexed() | Reference() | Request() if self.numbers_only:
                return rebuild(node, self.apply)
            case Indexed():
                name = self._new_name(node.name, node)
                return Indexed(node.span, name, cast(Expression, self.apply(node.index)))
            case Reference():
                return self._reference(node)
            case Aggregate():
                return self._aggregate(node)
            case Request(gateway=str() as gateway) if gateway in self.values:
                return replace(node, gateway=self._new_name(gateway, node))
            case _:
                return rebuild(node, self.apply)

    def _dotted_name(self, node: Name) -> Expression:
        """Replace the queue in front of a dot."""
        first, dot, rest = node.name.partition(".")
        match self.values.get(first) if dot else None:
            case None:
                return node
            case Name(name=name):
                return replace(node, name=f"{name}.{rest}")
            case Indexed(name=name, index=index):
                return Indexed(node.span, f"{name}.{rest}", index)
            case _:
                raise NotAReference(first, node)

    def _new_name(self, name: str, place: Node) -> str:
        """Give the name a reference has after the substitution, where it can take no further index."""
        first, dot, rest = name.partition(".")
        match self.values.get(name) or self.values.get(first):
            case None:
                return name
            case Name(name=new):
                return new if name in self.values else new + dot + rest
            case _:
                raise NotAReference(name if name in self.values else first, place)

    def _reference(self, node: Reference) -> Reference:
        """Replace what a statement or an option names."""
        if node.index is not None:
            name = self._new_name(node.name, node)
            return replace(node, name=name, index=cast(Expression, self.apply(node.index)))
        match self.apply(Name(node.span, node.name)):
            case Name(name=name):
                return replace(node, name=name)
            case Indexed(name=name, index=index):
                return replace(node, name=name, index=index)
            case _:
                raise NotAReference(node.name, node)

    def _aggregate(self, node: Aggregate) -> Aggregate:
        """Go into an aggregate; its index hides the name, and is renamed when it would capture one put in."""
        bound = cast(Expression, self.apply(node.bound))
        read = {part for name in free_names(node.body) for part in (name, name.partition(".")[0])} - {node.index}
        inner = {name: value for name, value in self.values.items() if name in read}
        taken = set(free_names(*inner.values()))
        index, body = node.index, node.body
        if index in taken:
            taken |= set(free_names(body)) | set(inner)
            index = next(new for n in range(2, len(taken) + 3) if (new := f"{node.index}_{n}") not in taken)
            body = substitute(body, {node.index: Name(node.span, index)})
        body = substitute(body, inner, numbers_only=self.numbers_only)
        return Aggregate(node.span, node.kind, index, bound, body)


def member(reference: Reference) -> Expression:
    """Give a reference as the argument of an observable."""
    if reference.index is None:
        return Name(reference.span, reference.name)
    return Indexed(reference.span, reference.name, reference.index)


def observed_names(body: Iterable[Statement]) -> dict[str, Span]:
    """Give the names a body observes, and where first."""
    return {s.name: s.name_span for s in reversed(list(each_statement(body))) if isinstance(s, Observe)}
