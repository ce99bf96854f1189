"""Put the entries of queues in the place of their calls, and the routes of gateways in the place of requests.

Input: entries in the program's names (`entries`), and statements that call them. Output: the statements, no call left.

Arguments, the member's index and the source's are substituted, so none may draw; an index may not read live state
either, or the hold and the run could mean two members.

Reference: language §2, Queues; notes §10.
Reports: unknown-entry, entry-arity, member-index, argument-draws, argument-live, argument-captured,
argument-not-reference, nothing-leased, from-not-queue, source-as-number, transfer-without-pools, entry-cycle,
request-not-gateway, expansion-too-large.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics import Label, Origin, Span
from serq.expand.entries import SOURCE_MEMBER, report_from
from serq.expand.limits import hold_to_depth, hold_to_size, report_excess, substituted_size
from serq.expand.report import Report, counted, did_you_mean, listed
from serq.expand.roles import SIGNATURES
from serq.expand.stations import Station, leased_pool
from serq.expand.tree import (
    NotAReference,
    assigned_names,
    draws,
    free_names,
    live_reads,
    map_body,
    member,
    substitute,
    through,
)
from serq.syntax.cursor import NESTING_LIMIT
from serq.syntax.nodes import (
    Entry,
    EntryCall,
    Expression,
    Load,
    Mark,
    Reference,
    Release,
    Request,
    Statement,
)

# Queue, verb, and whether it is the one called `from` another queue.
EntryKey = tuple[str, str, bool]


class Calls:
    """Puts entries in the place of their calls."""

    def __init__(self, stations: dict[str, Station], entries: dict[EntryKey, Entry], report: Report) -> None:
        self.stations = stations
        self.entries = entries
        self.report = report
        self.open: list[EntryKey] = []
        self.size = 0

    def body(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Expand the calls and requests of a body, at any depth."""
        return map_body(body, self._statement)

    def _statement(self, statement: Statement) -> Iterable[Statement]:
        match statement:
            case EntryCall():
                return self._call(statement)
            case Request(gateway=str() as gateway):
                return self._request(statement, gateway)
            case Mark():
                return ()  # reported
            case _:
                return (statement,)

    def _request(self, request: Request, gateway: str) -> Iterable[Statement]:
        """Put a gateway's route in the place of a request."""
        station = self.stations.get(gateway)
        if station is None or not station.plays("gateway"):
            gateways = [name for name, known in self.stations.items() if known.plays("gateway")]
            message = (
                f"no queue is named `{gateway}`" if station is None else f"queue `{gateway}` does not play `gateway`"
            )
            self.report.add(
                "request-not-gateway",
                f"{message}, and `request` enters a gateway",
                request.span,
                "not a gateway",
                secondary=() if station is None else (Label(station.queue.name_span, "declared here"),),
                helps=(f"the gateways are {listed(gateways)}",) if gateways else (),
            )
            return ()
        return self._spliced(
            (gateway, "route", False), {}, Origin(f"in the `route` of gateway `{gateway}`", request.span)
        )

    def _call(self, call: EntryCall) -> Iterable[Statement]:
        """Put an entry in the place of its call, or say why it cannot go there."""
        station = self.stations.get(call.queue.name)
        if station is None:
            self.report.add(
                "unknown-entry",
                f"no queue is named `{call.queue.name}`",
                call.queue.span,
                "not a queue",
                helps=did_you_mean(call.queue.name, self.stations),
            )
            return ()
        key = (station.name, call.verb, call.source is not None and call.verb != "transfer")
        entry = self.entries.get(key)
        if entry is None or call.verb == "route":
            self._report_unknown(call, station)
            return ()
        if key in self.open:
            self._report_cycle(call, key)
            return ()
        # Each of these reports what it finds; all are asked, so that one call shows all its mistakes.
        sound = self._check_arguments(call, entry, key)
        sound &= self._check_member(call.queue, station, f"{station.name}.{call.verb}")
        values: dict[str, Expression] = {p.name: a for p, a in zip(entry.parameters, call.arguments)}
        if call.queue.index is not None:
            values["self"] = call.queue.index
        source = None
        if call.source is not None:
            source = self._source(call.source, call)
            if source is None:
                return ()
            if entry.source is not None:
                values[entry.source.name] = member(source)
                if source.index is not None:
                    values[SOURCE_MEMBER] = source.index
                elif not self._check_source_index(entry, source, call):
                    return ()
        if call.verb == "transfer":
            return self._transfer(call, source, key, values) if sound else ()
        if not sound:
            return ()
        return self._spliced(key, values, self._origin(key, call.span))

    def _origin(self, key: EntryKey, span: Span) -> Origin:
        return Origin(f"in the entry `{key[1]}` of queue `{key[0]}`", span)

    def _spliced(self, key: EntryKey, values: dict[str, Expression], origin: Origin) -> Iterable[Statement]:
        """Give an entry's statements with the call's values in them, the calls among them expanded too."""
        entry = self.entries.get(key)
        if entry is None or key in self.open:  # a route that requests itself was reported as it was read
            return ()
        if len(self.open) >= NESTING_LIMIT:
            excess = f"more than {NESTING_LIMIT} entries inside one another"
            report_excess(self.report, "the entry called here", excess, origin.span)
        result: list[Statement] = []
        for statement in entry.body:
            self.size += substituted_size(statement, values)
            hold_to_size(self.report, "the entry called here", origin.span, self.size)
            try:
                result.append(substitute(through(statement, origin), values))
            except NotAReference as wrong:
                self.report.add(
                    "argument-not-reference",
                    f"`{wrong.name}` is a parameter of `{key[0]}.{key[1]}`, a number, and names a pool or stage here",
                    wrong.place.span,
                    "a number",
                )
        self.open.append(key)
        expanded = self.body(tuple(result))
        self.open.pop()
        if not self.open:
            hold_to_depth(self.report, "the entry called here", origin.span, *expanded)
        return expanded

    def _transfer(
        self, call: EntryCall, source: Reference | None, key: EntryKey, values: dict[str, Expression]
    ) -> Iterable[Statement]:
        """Put a link's entry in the place of its call, and then the load and the release of the KV it moved."""
        if source is None or call.target is None or call.tokens is None:
            self.report.add(
                "transfer-without-pools",
                f"`{call.queue.name}.transfer` needs `from POOL to POOL (tokens)`: it moves KV between pools",
                call.span,
                "from where to where?",
                notes=("the KV leaves the session's lease or hold there and enters its hold here",),
            )
            return ()
        target = call.target
        steps = f"the link's entry; load {target.name} (…); release {source.name}"
        origin = Origin(f"`{call.queue.name}.transfer` here means: {steps};", call.span)
        load = through(Load(call.span, target, call.tokens), origin)
        release = through(Release(call.span, source), origin)
        return (*self._spliced(key, values, self._origin(key, call.span)), load, release)

    # --------------------------------------------------------------------------------- what a call may say

    def _check_arguments(self, call: EntryCall, entry: Entry, key: EntryKey) -> bool:
        """Check the arguments and the indices of a call."""
        form = f"{key[0]}.{key[1]}"
        if len(entry.parameters) != SIGNATURES[key[1]].parameter_count:
            return False  # the entry was reported
        if len(call.arguments) != len(entry.parameters):
            self.report.add(
                "entry-arity",
                f"`{form}` takes {counted(len(entry.parameters), 'argument')}, and is given {len(call.arguments)}",
                call.span,
                f"{len(call.arguments)} given",
                helps=(f"the role's entry is `{SIGNATURES[key[1]].form}`",),
            )
            return False
        sound = True
        assigned = assigned_names(entry.body)
        indices = [r.index for r in (call.queue, call.source) if r is not None and r.index is not None]
        for value in (*call.arguments, *indices):
            if draws(value):
                sound = False
                self.report.add(
                    "argument-draws",
                    f"`{form}` is given a value that draws, and would draw it anew wherever it reads it",
                    value.span,
                    "draws",
                    helps=("draw first: `set x = …;`, then give it the `x`",),
                )
            for read, place in free_names(value).items():
                if read in assigned:
                    sound = False
                    self.report.add(
                        "argument-captured",
                        f"`{form}` is given `{read}`, which its entry assigns",
                        place,
                        "would be read after the entry changed it",
                        helps=("copy it to another attribute before the call",),
                    )
        for index in indices:
            for read, place in live_reads(index):
                sound = False
                self.report.add(
                    "argument-live",
                    f"the member of `{form}` depends on `{read}`, which changes while the entry runs",
                    place,
                    "the entry could mean two members",
                    helps=("decide before the call: `set i = …;` or `choose i in …;`, then index with `i`",),
                )
        return sound

    def _check_member(self, reference: Reference, station: Station, form: str) -> bool:
        """Hold the call of a family to one member, and of a single queue to none."""
        if station.is_family == (reference.index is not None):
            return True
        self.report.add(
            "member-index",
            f"`{form}`: `{station.name}` is a family, and a call names one member"
            if station.is_family
            else f"`{form}`: `{station.name}` is one queue, not a family",
            reference.span,
            "which member?" if station.is_family else "has no members",
            secondary=(Label(station.queue.name_span, "declared here"),),
            helps=(f"write `{station.name}[j]`" if station.is_family else f"write `{station.name}`",),
        )
        return False

    def _source(self, reference: Reference, call: EntryCall) -> Reference | None:
        """Give the pool a call takes KV from: the one a queue leases, or for a link's transfer any pool."""
        station = self.stations.get(reference.name)
        if station is None:
            if call.verb == "transfer":
                return reference
            report_from(self.report, reference, self.stations)
            return None
        if not self._check_member(reference, station, f"from {station.name}"):
            return None
        pool, without = leased_pool(station)
        if pool is None:
            who = f"no entry of `{station.name}` leases a pool"
            if without is not None:
                who = f"the entry `{without.verb}` of `{station.name}` does not lease what its others do"
            self.report.add(
                "nothing-leased",
                f"`from {station.name}`: {who} on every way through it",
                reference.span,
                "may have left no KV",
                secondary=(Label(station.queue.name_span, "declared here"),),
                notes=("whichever entry the request went through must have left the KV in one and the same pool",),
                helps=("end the entry's hold with `lease POOL (inf)`",),
            )
            return None
        return Reference(reference.span, f"{station.name}.{pool}", reference.index)

    def _check_source_index(self, entry: Entry, source: Reference, call: EntryCall) -> bool:
        """Refuse `link[src]` in an entry that is called from a queue without members."""
        place = free_names(*entry.body).get(SOURCE_MEMBER)
        if place is None:
            return True
        word = "src" if entry.source is None else entry.source.name
        self.report.add(
            "source-as-number",
            f"the entry indexes with `{word}`, and `{source.name}` has no members",
            place.through(self._origin((call.queue.name, call.verb, True), call.span)),
            "the source member's index",
            secondary=(Label(source.span, "called from here"),),
        )
        return False

    # ------------------------------------------------------------------------------------------- findings

    def _report_unknown(self, call: EntryCall, station: Station) -> None:
        """Say that a queue has no such entry, and what it has."""
        has = [f"{entry.verb} … from" if entry.source is not None else entry.verb for entry in station.queue.entries]
        note: tuple[str, ...] = (f"its entries are {listed(has)}",) if has else ("it has no entries",)
        helps: tuple[str, ...] = ()
        wanted = f"{call.verb} … from" if call.source is not None and call.verb != "transfer" else call.verb
        if call.verb == "route":
            helps = (f"a route is entered by the session: `request {station.name};`",)
        elif call.verb == "transfer" and station.plays("link"):
            helps = (f"its `serve` is its cost: `transfer on {station.name} (n) from … to … (m);`",)
        self.report.add(
            "unknown-entry",
            f"queue `{station.name}` has no entry `{wanted}` to call",
            call.span,
            "no such entry",
            secondary=(Label(station.queue.name_span, "declared here"),),
            notes=note,
            helps=helps,
        )

    def _report_cycle(self, call: EntryCall, key: EntryKey) -> None:
        """Say that an entry would be inside itself."""
        chain = [*self.open[self.open.index(key) :], key]
        self.report.add(
            "entry-cycle",
            f"`{key[0]}.{key[1]}` calls itself",
            call.span,
            "is inside this entry already",
            notes=("the calls: " + " → ".join(f"`{queue}.{verb}`" for queue, verb, _ in chain),),
            helps=("an entry stands in the place of its call, so it cannot be inside itself",),
        )
