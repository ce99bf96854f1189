"""The nodes of the IR as msgspec sees them: it reads JSON into `Struct`s, says where JSON differs, writes the schema.

Input: the records of `model.py`, of which each `Struct` here is made: same name, fields, defaults and words. Output:
`PROGRAM`, to give to msgspec, and `as_records`, from what msgspec read to the program it stands for.

Invariant: loaded by `read_json.py` alone, when JSON is read or its schema written.
"""

from __future__ import annotations

from types import UnionType
from typing import Any, Literal, Union, get_args

import msgspec

from serq.ir import model as ir
from serq.records import MISSING, fields

__all__ = ["PROGRAM", "Literal", "as_records"]  # annotations of the nodes are read in this module: they say `Literal`


def _shape(node: type[ir.IRNode], known: dict[type, type[msgspec.Struct]]) -> type[msgspec.Struct]:
    """Make the `Struct` of a node."""
    parts: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for field in fields(node):
        if field.default_factory is not MISSING:
            parts.append((field.name, field.type, msgspec.field(default_factory=field.default_factory)))
        elif isinstance(field.default, ir.IRNode):
            parts.append((field.name, field.type, known[type(field.default)]()))  # a node without fields
        elif field.default is not MISSING:
            parts.append((field.name, field.type, field.default))
        else:
            parts.append((field.name, field.type))
    tag_field, tag = node.TAG or (None, None)
    return msgspec.defstruct(
        node.__name__,
        parts,
        module=__name__,
        namespace={"__doc__": node.__doc__},
        frozen=True,
        forbid_unknown_fields=True,
        tag_field=tag_field,
        tag=tag,
        kw_only=any(field.kw_only for field in fields(node)),
    )


def _shapes() -> dict[type, type[msgspec.Struct]]:
    """Make all, and name them and their unions in this module, where msgspec looks for what annotations name."""
    shapes: dict[type, type[msgspec.Struct]] = {}
    for name, node in vars(ir).items():
        if isinstance(node, type) and issubclass(node, ir.IRNode) and node is not ir.IRNode:
            globals()[name] = shapes[node] = _shape(node, shapes)
        elif isinstance(node, UnionType):
            globals()[name] = Union[tuple(shapes.get(part, part) for part in get_args(node))]  # noqa: UP007
    return shapes


_SHAPES = _shapes()
_RECORDS: dict[type, tuple[type[ir.IRNode], tuple[str, ...]]] = {
    shape: (node, shape.__struct_fields__) for node, shape in _SHAPES.items()
}
PROGRAM = _SHAPES[ir.Program]


def as_records(read: Any) -> ir.Program:
    """Give the program that msgspec read, without recursion: it may be nested deeper than any program may be."""
    pending: list[tuple[Any, Any]] = []

    def part(value: Any) -> Any:
        kind = type(value)
        if kind is tuple:
            return tuple([part(item) for item in value])
        if kind not in _RECORDS:
            return value
        record = object.__new__(_RECORDS[kind][0])
        pending.append((value, record))
        return record

    program: ir.Program = part(read)
    put = object.__setattr__
    while pending:
        shape, record = pending.pop()
        for name in _RECORDS[type(shape)][1]:
            value = getattr(shape, name)
            put(record, name, value if type(value) is float else part(value))
    return program
