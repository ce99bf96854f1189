"""Limits on what a program expands to, so that no text fills the memory or a later stage's stack.

Each use of a form stands for a copy. Definitions, entries or bindings that use the one before them twice double with
every step, and forty lines would be more text than there is memory. No program a person means comes near the limits.

Establishes: no expression and no nesting is deeper than the parser's own limits, which later stages rely on where they
recurse.   Reports: expansion-too-large, and stops: what comes after would only grow further.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from serq.diagnostics import DiagnosticLimit, Span
from serq.expand.report import Report
from serq.expand.tree import EXPRESSIONS, AnyNode, children, substitute, walk
from serq.syntax.cursor import NESTING_LIMIT
from serq.syntax.expressions import DEPTH_LIMIT
from serq.syntax.nodes import Branch, Expression, Hold, Indexed, Loop, Name, Node, Reference

# Nodes in one place: a definition, a call, the entries of a program together.
NODE_LIMIT = 50_000


def report_excess(report: Report, what: str, excess: str, place: Span) -> NoReturn:
    """Report an expansion that grows past every limit, and stop."""
    report.add(
        "expansion-too-large",
        f"{what} expands to {excess}",
        place,
        "grows past every limit here",
        notes=("each use stands for a copy, so forms that use one another twice double with every step",),
        helps=("keep a value in an attribute, `set x = …;`, and use the `x`",),
    )
    raise DiagnosticLimit


def hold_to_depth(report: Report, what: str, place: Span | None, *roots: Node) -> None:
    """Refuse trees that are deeper than the limits; without a place, point at what the deepest part came from."""
    stack = [(root, 0, 0) for root in roots]
    while stack:
        node, bodies, operations = stack.pop()
        if isinstance(node, EXPRESSIONS):
            operations += 1
        elif isinstance(node, Hold | Loop | Branch):
            bodies += 1
        if operations > DEPTH_LIMIT:
            excess = f"an expression more than {DEPTH_LIMIT} operations deep"
            report_excess(report, what, excess, place or outermost(node.span))
        if bodies > NESTING_LIMIT:
            excess = f"more than {NESTING_LIMIT} bodies inside one another"
            report_excess(report, what, excess, place or outermost(node.span))
        stack.extend((part, bodies, operations) for part in children(node))


def substitute_within(
    report: Report,
    what: str,
    place: Span,
    node: AnyNode,
    values: Mapping[str, Expression],
    *,
    numbers_only: bool = False,
) -> AnyNode:
    """Substitute as `tree.substitute` does, but refuse to build what is past the limits."""
    hold_to_size(report, what, place, substituted_size(node, values))
    result = substitute(node, values, numbers_only=numbers_only)
    hold_to_depth(report, what, place, result)
    return result


def hold_to_size(report: Report, what: str, place: Span, size: int) -> None:
    """Refuse more than `NODE_LIMIT` nodes."""
    if size > NODE_LIMIT:
        report_excess(report, what, f"more than {NODE_LIMIT} parts", place)


def size_of(*roots: Node) -> int:
    """Count the nodes of trees, no further than past `NODE_LIMIT`."""
    count = 0
    for _ in walk(*roots):
        count += 1
        if count > NODE_LIMIT:
            break
    return count


def substituted_size(node: Node, values: Mapping[str, Expression]) -> int:
    """Count the nodes `substitute` would give without building them, no further than past `NODE_LIMIT`."""
    sizes = {name: size_of(value) for name, value in values.items()}
    count = 0
    for part in walk(node):
        count += 1
        if isinstance(part, Name | Indexed | Reference):
            count += sizes.get(part.name, 0)
        if count > NODE_LIMIT:
            break
    return count


def outermost(span: Span) -> Span:
    """Give the place a span was put in at last: the outermost expansion around it."""
    while span.origin is not None:
        span = span.origin.span
    return span
