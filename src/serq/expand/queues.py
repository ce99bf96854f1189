"""Turn queues into pools and stages, and put their entries where they are called.

Before:  queue P[2] : prefill { pool kv {…} serve fifo; prefill (n) { hold kv (n) { run (n); mark done; } } }
         …  P[i].prefill (prompt); observe d = P.done;
After:   pool P.kv[2] {…}  stage P[2] : fifo;
         …  hold P.kv[i] (prompt) { run P[i] (prompt); set P.done = now; } observe d = P.done;

A request of a gateway is its route in its place.

Reference: language §2, Queues; notes §10.
Relies on: definitions and pull relations expanded, serving forms resolved, sides joined.
Establishes: no Queue, EntryCall, Mark and Request is left.
Reports: what `roles`, `entries` and `calls` report, and queue-pool-outside-entry, from-not-queue, self-outside-entry,
mark-outside-entry, unknown-queue-attribute, queue-attribute-assigned.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics import Label
from serq.expand.calls import Calls, EntryKey
from serq.expand.entries import EntryReader, Surroundings, report_from, report_queue_pool
from serq.expand.items import item_bodies, lets, map_item_bodies
from serq.expand.report import Report, did_you_mean
from serq.expand.roles import check_queues
from serq.expand.stations import Station, build_stations, declarations
from serq.expand.tree import (
    children,
    each_statement,
)
from serq.syntax.nodes import (
    Aggregate,
    Call,
    Choose,
    Drop,
    Entry,
    EntryCall,
    Grow,
    Hold,
    Indexed,
    Item,
    Load,
    Mark,
    Name,
    Node,
    Program,
    Queue,
    Reference,
    Release,
    Run,
    SetStatement,
    Stage,
    StageKind,
    Statement,
    Workload,
)
from serq.syntax.vocabulary import MEMBER_FUNCTIONS


def expand_queues(program: Program, report: Report) -> Program:
    """Replace queues by their pools and stages, calls by entries, requests by routes."""
    check_queues(program, report)
    stations = build_stations(program)
    around = _surroundings(program, stations)
    for item in program.items:
        if not isinstance(item, Queue):
            for body in item_bodies(item):
                _check_outside(body, around, stations, report)
    entries: dict[EntryKey, Entry] = {}
    for name, station in stations.items():
        for entry in station.queue.entries:
            key = (name, entry.verb, entry.source is not None)
            read = EntryReader(station, entry, around, report).read()
            entries.setdefault(key, read)
    calls = Calls(stations, entries, report)
    items: list[Item] = []
    for item in program.items:
        if isinstance(item, Queue):
            items.extend(declarations(stations[item.name]) if stations[item.name].queue is item else ())
        else:
            items.append(map_item_bodies(item, calls.body))
    result = Program(program.span, tuple(items))
    _check_names(result, stations, report)
    return result


def _surroundings(program: Program, stations: dict[str, Station]) -> Surroundings:
    """Collect what the program around the queues declares."""
    stages: dict[str, StageKind] = {item.name: item.kind for item in program.items if isinstance(item, Stage)}
    pools: dict[str, Station] = {}
    for station in stations.values():
        stages.update(station.stages)
        pools.update((f"{station.name}.{pool}", station) for pool in station.pools)
    hidden = frozenset(name.name for item in program.items if isinstance(item, Workload) for name in item.hidden)
    return Surroundings(lets(program), hidden, stages, pools)


# -------------------------------------------------------------------------------------- outside the queues


def _check_outside(
    body: Iterable[Statement], around: Surroundings, stations: dict[str, Station], report: Report
) -> None:
    """Hold the statements outside the queues to what is theirs."""
    for statement in each_statement(body):
        for reference in _pools_of(statement):
            owner = around.queue_pools.get(reference.name)
            if owner is not None:
                report_queue_pool(report, reference, owner)
        match statement:
            case Mark():
                report.add(
                    "mark-outside-entry",
                    f"`mark {statement.name}` stands outside a queue's entry",
                    statement.span,
                    "no caller could read it",
                    notes=("an entry marks a moment, and its caller reads it as `QUEUE.NAME`",),
                    helps=(f"write `set {statement.name} = now;`",),
                )
            case SetStatement() | Choose():
                first, dot, _ = statement.name.partition(".")
                if dot and first in stations:
                    report.add(
                        "queue-attribute-assigned",
                        f"`{statement.name}` is what queue `{first}` sets, and only its entries assign it",
                        statement.name_span,
                        "the queue's own",
                        helps=("assign an attribute of the session's own, without a dot",),
                    )
            case EntryCall(source=Reference() as source) if source.name in around.queue_pools:
                report_from(report, source, stations)
            case _:
                pass


def _pools_of(statement: Statement) -> Iterable[Reference]:
    """Give the pools a statement allocates or frees."""
    match statement:
        case Hold():
            yield from (claim.pool for claim in statement.claims)
            if statement.lease is not None:
                yield statement.lease.pool
        case Grow() | Drop() | Release() | Load():
            yield statement.pool
        case Run(growing=Reference() as pool):
            yield pool
        case EntryCall(target=Reference() as pool):
            yield pool
        case _:
            return


def _check_names(program: Program, stations: dict[str, Station], report: Report) -> None:
    """Hold every `Q.x` that is read as a number to be an attribute of the queue, and `self` to be gone."""

    def visit(node: Node, bound: frozenset[str]) -> None:
        match node:
            case Name(name="self") if "self" not in bound:
                report.add(
                    "self-outside-entry",
                    "`self` is the member's own index, a word of a queue's entries",
                    node.span,
                    "no member here",
                )
            case Name() | Indexed():
                _check_attribute(node, stations, report)
            case Call(function=function, arguments=(Name() | Indexed() as first, *rest)) if (
                function in MEMBER_FUNCTIONS
            ):
                for part in (*children(first), *rest):
                    visit(part, bound)
                return
            case Aggregate():
                visit(node.bound, bound)
                visit(node.body, bound | {node.index})
                return
            case _:
                pass
        for part in children(node):
            visit(part, bound)

    for item in program.items:
        visit(item, frozenset())


def _check_attribute(node: Name | Indexed, stations: dict[str, Station], report: Report) -> None:
    """Check one `Q.x` read as a number."""
    first, dot, rest = node.name.partition(".")
    station = stations.get(first)
    if not dot or station is None:
        return
    if rest not in station.attributes:
        what = (
            f"`{node.name}` is a pool, which an observable such as `used` reads"
            if rest in station.pools
            else f"no entry of queue `{first}` sets or marks `{rest}`"
        )
        report.add(
            "unknown-queue-attribute",
            what,
            node.span,
            "not an attribute",
            secondary=(Label(station.queue.name_span, "declared here"),),
            helps=did_you_mean(rest, station.attributes),
        )
    elif isinstance(node, Indexed):
        report.add(
            "unknown-queue-attribute",
            f"`{node.name}` is the request's attribute, and not a member's",
            node.span,
            "read with an index",
            helps=(f"write `{node.name}`",),
        )
