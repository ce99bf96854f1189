"""Walking the IR: its bodies and statements with their paths, and what an expression reads.

The walks use a stack of their own, so that no depth of nesting can exhaust the interpreter's.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.ir import model as ir
from serq.records import names

Body = tuple[ir.Statement, ...]


def inner_bodies(statement: ir.Statement, path: str) -> list[tuple[Body, str]]:
    """Give the bodies of a statement with their paths."""
    match statement:
        case ir.Hold() | ir.Loop():
            return [(statement.body, f"{path}.body")]
        case ir.Branch():
            return [(statement.then, f"{path}.then"), (statement.otherwise, f"{path}.otherwise")]
    return []


def bodies(program: ir.Program) -> Iterator[tuple[Body, str]]:
    """Give every body of a program, an outer one before those in it."""
    workload = program.workload
    pending: list[tuple[Body, str]] = [
        (program.session, "$.session"),
        (workload.turn, "$.workload.turn"),
        (workload.init, "$.workload.init"),
    ]
    while pending:
        body, path = pending.pop()
        yield body, path
        for i, statement in reversed(list(enumerate(body))):
            pending += reversed(inner_bodies(statement, f"{path}[{i}]"))


def statements(program: ir.Program) -> Iterator[tuple[ir.Statement, str]]:
    """Give every statement with its path, in the order of the text: init, turn, session, outer before inner."""
    workload = program.workload
    pending: list[tuple[ir.Statement, str]] = []
    for body, path in (
        (program.session, "$.session"),
        (workload.turn, "$.workload.turn"),
        (workload.init, "$.workload.init"),
    ):
        pending += _numbered(body, path)
    while pending:
        statement, path = pending.pop()
        yield statement, path
        for inner, inner_path in reversed(inner_bodies(statement, path)):
            pending += _numbered(inner, inner_path)


def _numbered(body: Body, path: str) -> list[tuple[ir.Statement, str]]:
    """Give the statements of a body with their paths, the last first."""
    return [(statement, f"{path}[{i}]") for i, statement in enumerate(body)][::-1]


def parts(expression: object, path: str) -> Iterator[tuple[object, str]]:
    """Give every node and name of an expression with its path; the names of functions and members are none."""
    pending = [(expression, path)]
    while pending:
        value, here = pending.pop()
        yield value, here
        if isinstance(value, tuple):
            pending += [(inner, f"{here}[{i}]") for i, inner in enumerate(value)][::-1]
        elif isinstance(value, ir.IRNode):
            pending += [
                (getattr(value, name), f"{here}.{name}")
                for name in reversed(list(names(value)))
                if name not in ("function", "distribution", "op", "of", "name") and not _is_index_name(value, name)
            ]


def _is_index_name(value: object, field: str) -> bool:
    return isinstance(value, ir.Aggregate) and field == "index"
