"""Questions every pass asks of a program: what is declared, where its statements are.

Input: a program. Output: tables and rewritten items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from serq.diagnostics import Span
from serq.records import replace
from serq.syntax.nodes import (
    Entry,
    Item,
    Let,
    Pool,
    Program,
    Queue,
    Server,
    Session,
    Stage,
    Statement,
    StatementDefinition,
    Workload,
)

Body = tuple[Statement, ...]
AnyItem = TypeVar("AnyItem", bound=Item)


def map_item_bodies(item: AnyItem, change: Callable[[Body], Body]) -> AnyItem:
    """Rewrite every statement list an item holds (the outermost ones)."""
    match item:
        case Session() | Server() | StatementDefinition():
            return cast(AnyItem, replace(item, body=change(item.body)))
        case Workload():
            session = None if item.session is None else change(item.session)
            return cast(AnyItem, replace(item, init=change(item.init), turn=change(item.turn), session=session))
        case Queue():
            entries = tuple(replace(entry, body=change(entry.body)) for entry in item.entries)
            return cast(AnyItem, replace(item, entries=entries))
        case _:
            return item


def item_bodies(item: Item) -> Iterator[Body]:
    """Give every statement list an item holds (the outermost ones)."""
    match item:
        case Session() | Server() | StatementDefinition():
            yield item.body
        case Workload():
            yield item.init
            yield item.turn
            if item.session is not None:
                yield item.session
        case Queue():
            for entry in item.entries:
                yield entry.body
        case _:
            return


def declared_kinds(program: Program) -> dict[str, tuple[str, Span]]:
    """Give what each declared name is ("a pool", …), and where it is declared."""
    kinds: dict[str, tuple[str, Span]] = {}
    for item in program.items:
        match item:
            case Let():
                kinds.setdefault(item.name, ("a `let` constant", item.name_span))
            case Pool():
                kinds.setdefault(item.name, ("a pool", item.name_span))
            case Stage():
                kinds.setdefault(item.name, ("a stage", item.name_span))
            case Queue():
                kinds.setdefault(item.name, ("a queue", item.name_span))
            case _:
                pass
    return kinds


def lets(program: Program) -> frozenset[str]:
    """Give the names of the program's constants."""
    return frozenset(item.name for item in program.items if isinstance(item, Let))


def queues(program: Program) -> dict[str, Queue]:
    """Give the queues by name; of two with one name the first."""
    found: dict[str, Queue] = {}
    for item in program.items:
        if isinstance(item, Queue):
            found.setdefault(item.name, item)
    return found


def entry_form(queue: Queue, entry: Entry) -> str:
    """Name an entry in a message."""
    source = f" from {entry.source.name}" if entry.source is not None else ""
    return f"the entry `{entry.verb}{source}` of queue `{queue.name}`"
