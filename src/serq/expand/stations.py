"""What the program knows of each queue: its pools, stages, attributes, and the pool it leases to the next queue.

Input: queues whose declarations were checked. Output: `Station`s, by name.

Reference: language §2, Queues; notes §10.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.expand.items import queues
from serq.expand.tree import AnyNode, assigned_names, each_statement, map_nodes
from serq.records import dataclass, replace
from serq.syntax.nodes import (
    Branch,
    Call,
    Delay,
    Entry,
    Hold,
    Indexed,
    Item,
    Mark,
    Name,
    Node,
    Program,
    Queue,
    Reference,
    Release,
    Stage,
    StageKind,
    Statement,
)
from serq.syntax.vocabulary import MEMBER_FUNCTIONS


@dataclass(frozen=True, slots=True)
class Station:
    """A queue and what its declaration says."""

    queue: Queue
    pools: frozenset[str]
    stages: dict[str, StageKind]
    attributes: frozenset[str]

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.queue.name

    @property
    def is_family(self) -> bool:
        """Whether the queue has members."""
        return self.queue.size is not None

    def plays(self, role: str) -> bool:
        """Tell whether the queue plays a role."""
        return any(name.name == role for name in self.queue.roles)

    def entry(self, verb: str, has_source: bool) -> Entry | None:
        """Find an entry by how it is called."""
        return next((e for e in self.queue.entries if e.verb == verb and (e.source is not None) == has_source), None)


def build_stations(program: Program) -> dict[str, Station]:
    """Collect every queue's pools, stages and attributes."""
    return {name: _station(queue) for name, queue in queues(program).items()}


def _station(queue: Queue) -> Station:
    """Collect one queue's."""
    stages: dict[str, StageKind] = {}
    if queue.serve is not None:
        stages[queue.name] = queue.serve.kind
        if queue.serve.latency is not None:
            stages[f"{queue.name}.latency"] = Delay(queue.serve.latency.span)
    if queue.nic is not None:
        stages[f"{queue.name}.nic"] = queue.nic
        # The wait of a pull relation, which the pull pass declares and names in the reads.
        stages[f"{queue.name}.nic.latency"] = Delay(queue.nic.span)
    return Station(queue, frozenset(pool.name for pool in queue.pools), stages, frozenset(_attributes(queue)))


def _attributes(queue: Queue) -> Iterable[str]:
    """Give what a queue's entries set, choose, bind and mark; what a route sets is the session's."""
    for entry in queue.entries:
        if entry.verb != "route":
            yield from assigned_names(entry.body)
        yield from (statement.name for statement in each_statement(entry.body) if isinstance(statement, Mark))


# ----------------------------------------------------------------------------------------------- declarations


def declarations(station: Station) -> list[Item]:
    """Give the pools and stages a queue stands for, under their long names.

    A queue's own pools are named shortly in its options too (`evict by (used(kv))`, `memory kv`).
    """
    queue = station.queue
    own = {pool: f"{queue.name}.{pool}" for pool in station.pools}
    items: list[Item] = []
    for pool in queue.pools:
        renamed = _long_names(pool, own)
        items.append(replace(renamed, name=own[pool.name], size=queue.size))
    if queue.serve is not None:
        items.append(_stage(queue, queue.name, _long_names(queue.serve.kind, own)))
    if queue.nic is not None:
        items.append(_stage(queue, f"{queue.name}.nic", _long_names(queue.nic, own)))
    if queue.serve is not None and queue.serve.latency is not None:
        items.append(_stage(queue, f"{queue.name}.latency", Delay(queue.serve.latency.span)))
    return items


def _stage(queue: Queue, name: str, kind: StageKind) -> Stage:
    return Stage(queue.name_span, name, queue.size, kind, queue.name_span)


def _long_names(node: AnyNode, own: dict[str, str]) -> AnyNode:
    """Give a queue's own pools their long names in an option: as an observable's argument, or as a reference."""

    def change(part: Node) -> Node:
        match part:
            case Reference() if part.name in own:
                return replace(part, name=own[part.name])
            case Call(function=function, arguments=(first, *rest)) if function in MEMBER_FUNCTIONS:
                if isinstance(first, Name | Indexed) and first.name in own:
                    return replace(part, arguments=(replace(first, name=own[first.name]), *rest))
                return part
            case _:
                return part

    return map_nodes(node, change)


# ----------------------------------------------------------------------------------------------------- leases


def leased_on_every_way(body: Iterable[Statement]) -> list[str]:
    """Give the pools a body leaves leased whichever way a session goes through it, in the order first leased.

    No way leads out of a `loop`, so nothing counts as leased behind one.
    """
    leased: list[str] = []

    def add(names: Iterable[str]) -> None:
        leased.extend(name for name in names if name not in leased)

    for statement in body:
        match statement:
            case Hold():
                add(leased_on_every_way(statement.body))
                if statement.lease is not None:
                    add([statement.lease.pool.name])
            case Branch():
                other = leased_on_every_way(statement.otherwise)
                add(name for name in leased_on_every_way(statement.then) if name in other)
            case Release():
                if statement.pool.name in leased:
                    leased.remove(statement.pool.name)
            case _:
                pass
    return leased


def leased_pool(station: Station) -> tuple[str | None, Entry | None]:
    """Give the pool every entry of a queue leaves leased.

    When there is none, give the first entry that leases nothing the others do (None when no entry leases at all).
    """
    by_entry = [
        (entry, [name for name in leased_on_every_way(entry.body) if name in station.pools])
        for entry in station.queue.entries
    ]
    if not any(pools for _, pools in by_entry):
        return None, None
    common = [name for name in by_entry[0][1] if all(name in pools for _, pools in by_entry)]
    if common:
        return common[0], None
    wanted = next(pools[0] for _, pools in by_entry if pools)
    return None, next(entry for entry, pools in by_entry if wanted not in pools)
