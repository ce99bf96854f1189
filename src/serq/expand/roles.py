"""The roles a queue can play, and what each asks of its declaration.

The four roles and their entries are the language's; the names of queues are the program's.

Reference: language §2, Queues; notes §10.
Reports: duplicate-queue, unknown-role, gateway-family, missing-entry, entry-signature, queue-pool, link-latency,
latency-not-constant.
"""

from __future__ import annotations

from serq.diagnostics import Label, Span
from serq.expand.items import entry_form, lets
from serq.expand.pulls import check_constant
from serq.expand.report import Report, counted, did_you_mean, listed
from serq.records import dataclass
from serq.syntax.nodes import Entry, Program, Queue


@dataclass(frozen=True, slots=True)
class Signature:
    """An entry a role has: how many parameters, and whether it may be called `from` another queue."""

    role: str
    parameter_count: int
    takes_source: bool
    form: str


SIGNATURES = {
    "route": Signature("gateway", 0, False, "route { … }"),
    "prefill": Signature("prefill", 1, False, "prefill (prompt) { … }"),
    "decode": Signature("decode", 1, True, "decode (prompt) { … }"),
    "transfer": Signature("link", 1, False, "transfer (n) { … }"),
}
ROLE_VERBS = {signature.role: verb for verb, signature in SIGNATURES.items()}


def check_queues(program: Program, report: Report) -> None:
    """Hold every queue's declaration to its roles."""
    seen: dict[str, Queue] = {}
    constants = lets(program)
    for queue in program.items:
        if not isinstance(queue, Queue):
            continue
        first = seen.setdefault(queue.name, queue)
        if first is not queue:
            report.add(
                "duplicate-queue",
                f"two queues are named `{queue.name}`",
                queue.name_span,
                "the second",
                secondary=(Label(first.name_span, "the first"),),
            )
        roles = _check_roles(queue, report)
        _check_pools(queue, report)
        for entry in queue.entries:
            _check_entry(queue, entry, roles, report)
        _check_twice(queue, report)
        _check_complete(queue, roles, report)
        _check_latency(queue, roles, constants, report)


def _check_roles(queue: Queue, report: Report) -> set[str]:
    """Check the roles' names; give the ones played."""
    played: dict[str, Span] = {}
    for role in queue.roles:
        if role.name not in ROLE_VERBS:
            report.add(
                "unknown-role",
                f"no role is named `{role.name}`",
                role.span,
                "not a role",
                notes=(f"a queue plays {listed(ROLE_VERBS, 'or')}",),
                helps=did_you_mean(role.name, ROLE_VERBS),
            )
        elif role.name in played:
            report.add(
                "unknown-role",
                f"queue `{queue.name}` names the role `{role.name}` twice",
                role.span,
                "a second time",
                secondary=(Label(played[role.name], "the first"),),
            )
        played.setdefault(role.name, role.span)
    if "gateway" in played and queue.size is not None:
        report.add(
            "gateway-family",
            f"`{queue.name}` is a gateway, and a gateway is one queue, not a family",
            queue.size.span,
            "a family",
            secondary=(Label(played["gateway"], "plays `gateway`"),),
            notes=("`request` enters the gateway itself, and names no member",),
        )
    return set(played)


def _check_pools(queue: Queue, report: Report) -> None:
    """Hold the pools of a queue to names of their own."""
    seen: dict[str, Span] = {}
    for pool in queue.pools:
        if pool.name in seen:
            report.add(
                "queue-pool",
                f"queue `{queue.name}` has two pools named `{pool.name}`",
                pool.name_span,
                "the second",
                secondary=(Label(seen[pool.name], "the first"),),
            )
        elif pool.name == "nic":
            report.add(
                "queue-pool",
                f"`{queue.name}.nic` is the name of the queue's NIC, so no pool of it is named `nic`",
                pool.name_span,
                "needs another name",
            )
        seen.setdefault(pool.name, pool.name_span)


def _check_entry(queue: Queue, entry: Entry, roles: set[str], report: Report) -> None:
    """Hold an entry to the signature its role gives it."""
    signature = SIGNATURES.get(entry.verb)
    place = _head(entry)
    if signature is None:
        report.add(
            "entry-signature",
            f"`{entry.verb}` is no entry of any role",
            place,
            "not an entry",
            notes=(f"the entries are {listed(SIGNATURES, 'and')}",),
            helps=did_you_mean(entry.verb, SIGNATURES),
        )
        return
    if signature.role not in roles and roles <= ROLE_VERBS.keys():  # an unknown role was perhaps meant to be this one
        report.add(
            "entry-signature",
            f"`{entry.verb}` is an entry of a queue that plays `{signature.role}`, and `{queue.name}` does not",
            place,
            f"needs the role `{signature.role}`",
            secondary=(Label(queue.name_span, "declared here"),),
            helps=(f"declare the role: `queue {queue.name} : {signature.role}`",) if not roles else (),
        )
    if len(entry.parameters) != signature.parameter_count:
        report.add(
            "entry-signature",
            f"the entry `{entry.verb}` has {counted(signature.parameter_count, 'parameter')}, "
            f"and `{queue.name}` gives it {len(entry.parameters)}",
            place,
            "not the role's signature",
            helps=(f"write `{signature.form}`",),
        )
    if entry.source is not None and not signature.takes_source:
        report.add(
            "entry-signature",
            f"the entry `{entry.verb}` takes no `from`: only `decode` continues what another queue began",
            entry.source.span,
            "not in this role's signature",
        )
    names: dict[str, Span] = {}
    for parameter in (*entry.parameters, *((entry.source,) if entry.source is not None else ())):
        name = parameter.name
        if name in names or name == "self":
            reason = "named twice" if name in names else "the member's own index"
            report.add(
                "entry-signature",
                f"`{name}` cannot name a parameter of {entry_form(queue, entry)}: it is {reason}",
                parameter.span,
                "needs a name of its own",
            )
        names.setdefault(name, parameter.span)


def _check_twice(queue: Queue, report: Report) -> None:
    """Hold a queue to one entry for each way to call it."""
    seen: dict[tuple[str, bool], Entry] = {}
    for entry in queue.entries:
        key = (entry.verb, entry.source is not None)
        first = seen.setdefault(key, entry)
        if first is not entry:
            report.add(
                "entry-signature",
                f"queue `{queue.name}` has the entry `{entry.verb}` twice",
                _head(entry),
                "the second",
                secondary=(Label(_head(first), "the first"),),
                notes=("`decode (prompt)` and `decode (prompt) from src` are two entries",)
                if entry.verb == "decode"
                else (),
            )


def _check_complete(queue: Queue, roles: set[str], report: Report) -> None:
    """Hold a queue to the entries its roles need."""
    plain = {entry.verb for entry in queue.entries if entry.source is None}
    for role in queue.roles:
        verb = ROLE_VERBS.get(role.name)
        if verb is None or verb in plain:
            continue
        if role.name != "link":
            report.add(
                "missing-entry",
                f"queue `{queue.name}` plays `{role.name}` and has no entry `{verb}`",
                role.span,
                f"needs `{SIGNATURES[verb].form}`",
            )
        elif queue.serve is None:
            report.add(
                "missing-entry",
                f"queue `{queue.name}` plays `link`, and nothing says how long it takes to move tokens",
                role.span,
                "neither a `serve` nor a `transfer`",
                helps=("give it a `serve ps(bandwidth);`, or an entry `transfer (n) { … }`",),
            )


def _check_latency(queue: Queue, roles: set[str], constants: frozenset[str], report: Report) -> None:
    """Hold a `latency` to a link that is named by `transfer on`."""
    if queue.serve is None or queue.serve.latency is None:
        return
    latency = queue.serve.latency
    entry = next((entry for entry in queue.entries if entry.verb == "transfer"), None)
    if "link" not in roles:
        report.add(
            "link-latency",
            f"a `latency` is a link's wait, and queue `{queue.name}` does not play `link`",
            latency.span,
            "only a link has one",
            secondary=(Label(queue.name_span, "declared here"),),
        )
    elif entry is not None:
        report.add(
            "link-latency",
            f"link `{queue.name}` has an entry, so its wait belongs into the entry",
            latency.span,
            "only a link without an entry has one",
            secondary=(Label(_head(entry), "says what a transfer takes"),),
            helps=("wait in the entry: a `delay` stage and `run wait (seconds);`",),
        )
    check_constant(latency, constants, "a link's wait", report)


def _head(entry: Entry) -> Span:
    """Give the span of an entry's verb."""
    span = entry.span
    return Span(span.source, span.start, min(span.end, span.start + len(entry.verb)), span.origin)
