"""Turn pull relations into stages and reads: `D pull P latency x0 share maxmin;`.

Before:  D pull P latency x0 share maxmin;      and in D, called from P:  transfer (n) from src to kv (m);
After:   stage D.nic.latency[…] : delay;  share maxmin;
         and  run D.nic.latency (x0); transfer on P.nic[src], D.nic (n) from src to kv (m);

The read stays a `transfer`, in the queue's own words: the serving pass gives it its kernel, the queue pass its members.

Reference: language §2, Queues.   Relies on: definitions expanded.
Establishes: no Pull is left, and every `transfer` in an entry names its stages.
Reports: pull-relation, pull-without-share, share-with-pull, share-policies-differ, latency-not-constant,
pull-wrong-source, transfer-without-stages.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics import Label, Origin, Span
from serq.expand.items import item_bodies, lets, queues
from serq.expand.report import Report, did_you_mean
from serq.expand.tree import each_statement, map_body, through, walk
from serq.records import replace
from serq.syntax.nodes import (
    Call,
    Delay,
    Draw,
    Entry,
    EntryCall,
    Expression,
    Indexed,
    Item,
    Name,
    Program,
    Pull,
    Queue,
    Reference,
    Run,
    Share,
    Stage,
    Statement,
    Transfer,
)


def expand_pulls(program: Program, report: Report) -> Program:
    """Replace the relations by what they stand for and write the reads out."""
    pulls = _checked(program, report)
    _check_shares(program, report)
    _check_sources(program, pulls, report)
    constants = lets(program)
    known = queues(program)
    items: list[Item] = []
    shared = False
    for item in program.items:
        match item:
            case Pull():
                if item.latency is not None:
                    check_constant(item.latency, constants, "the reader's wait before each read", report)
                    reader = known.get(item.reader.name)
                    size = None if reader is None else reader.size
                    name = f"{item.reader.name}.nic.latency"
                    items.append(Stage(item.span, name, size, Delay(item.latency.span), item.reader.span))
                if item.policy is not None and not shared:
                    items.append(Share(item.span, item.policy))
                    shared = True
            case Queue():
                items.append(_with_reads(item, pulls.get(item.name), known, report))
            case _:
                items.append(item)
    return Program(program.span, tuple(items))


def _checked(program: Program, report: Report) -> dict[str, Pull]:
    """Check every relation; give them by reader."""
    above: dict[str, Queue] = {}
    pulls: dict[str, Pull] = {}
    every = queues(program)
    for item in program.items:
        if isinstance(item, Queue):
            above.setdefault(item.name, item)
        elif isinstance(item, Pull):
            _check_relation(item, above, every, pulls, report)
            pulls.setdefault(item.reader.name, item)
    return pulls


def _check_relation(
    pull: Pull, above: dict[str, Queue], every: dict[str, Queue], pulls: dict[str, Pull], report: Report
) -> None:
    """Hold one relation to two different queues above it, each with a NIC, and a reader of one source."""
    form = f"{pull.reader.name} pull {pull.source.name}"
    for side in (pull.reader, pull.source):
        queue = above.get(side.name)
        if side.index is not None:
            report.add(
                "pull-relation",
                f"`{form}` is about whole queues, and names a member of `{side.name}`",
                side.span,
                "the relation holds for every member",
                helps=(f"write `{side.name}`",),
            )
        elif queue is None:
            below = every.get(side.name)
            report.add(
                "pull-relation",
                f"`{form}`: no queue `{side.name}` is declared above",
                side.span,
                "declared below" if below is not None else "not a queue",
                secondary=() if below is None else (Label(below.name_span, "declared here"),),
                helps=did_you_mean(side.name, above),
            )
        elif queue.nic is None:
            report.add(
                "pull-relation",
                f"`{form}`: queue `{side.name}` has no `nic`, and a read runs over both queues' NICs",
                side.span,
                "has no NIC",
                secondary=(Label(queue.name_span, "declared here"),),
                helps=(f"give it one: `nic ps(bandwidth);` in `queue {side.name}`",),
            )
    if pull.reader.name == pull.source.name:
        report.add("pull-relation", f"`{form}`: a queue reads from another", pull.source.span, "is the reader itself")
    first = pulls.get(pull.reader.name)
    if first is not None:
        report.add(
            "pull-relation",
            f"`{pull.reader.name}` pulls from `{first.source.name}` already, and a reader has one source",
            pull.span,
            "a second relation",
            secondary=(Label(first.span, "the first"),),
        )
    if pull.policy is None:
        report.add(
            "pull-without-share",
            f"`{form}` does not say how reads at the same time share the NICs",
            pull.span,
            "no `share`",
            helps=("add `share maxmin` or `share bottleneck`",),
        )


def _check_shares(program: Program, report: Report) -> None:
    """Hold the program to one policy, written on the relations when there are any."""
    relations = [item for item in program.items if isinstance(item, Pull) and item.policy is not None]
    if not relations:
        return
    for item in program.items:
        if isinstance(item, Share):
            report.add(
                "share-with-pull",
                "a program with a pull relation does not write `share` on its own",
                item.span,
                "said a second time",
                secondary=(Label(relations[0].span, "the relation says it"),),
                helps=("leave this line out",),
            )
    for other in relations[1:]:
        if other.policy != relations[0].policy:
            report.add(
                "share-policies-differ",
                f"the program shares its stages by one policy, and its relations name "
                f"`{relations[0].policy}` and `{other.policy}`",
                other.span,
                f"`{other.policy}` here",
                secondary=(Label(relations[0].span, f"`{relations[0].policy}` here"),),
            )


def _check_sources(program: Program, pulls: dict[str, Pull], report: Report) -> None:
    """Hold every call of a reader's entry to come from the queue it reads from."""
    known = queues(program)
    for item in program.items:
        for body in item_bodies(item):
            for call in each_statement(body):
                if not isinstance(call, EntryCall) or call.source is None:
                    continue
                pull = pulls.get(call.queue.name)
                if pull is None or call.source.name not in known or call.source.name == pull.source.name:
                    continue
                report.add(
                    "pull-wrong-source",
                    f"`{call.queue.name}` pulls from `{pull.source.name}`, and is called from `{call.source.name}`",
                    call.source.span,
                    "not the queue it reads from",
                    secondary=(Label(pull.span, "the relation"),),
                )


def _with_reads(queue: Queue, pull: Pull | None, known: dict[str, Queue], report: Report) -> Queue:
    """Write out the reads in a queue's entries."""

    def entry(one: Entry) -> Entry:
        def statement(form: Statement) -> Iterable[Statement]:
            if not isinstance(form, Transfer) or form.stages or form.source is None or form.target is None:
                return (form,)
            return _read(form, queue, one, pull, known, report)

        return replace(one, body=map_body(one.body, statement))

    return replace(queue, entries=tuple(entry(one) for one in queue.entries))


def _read(
    form: Transfer, queue: Queue, entry: Entry, pull: Pull | None, known: dict[str, Queue], report: Report
) -> Iterable[Statement]:
    """Turn a `transfer` without `on` into the read of the relation, or say why it is none."""
    wrong: tuple[Span, str] | None = None
    if pull is None:
        wrong = form.span, f"`{queue.name}` pulls from no queue"
    elif entry.source is None:
        wrong = form.span, "this entry has no `from`, so it was given no KV to read"
    elif form.index is not None:
        wrong = form.index.span, "a read runs on the members' own NICs and takes no index"
    elif form.source is not None and (form.source.name != entry.source.name or form.source.index is not None):
        wrong = form.source.span, f"a read takes from the entry's source, `{entry.source.name}`"
    if wrong is not None:
        place, reason = wrong
        report.add(
            "transfer-without-stages",
            f"this `transfer` in queue `{queue.name}` names no stage and is no read of a pull relation: {reason}",
            place,
            "over which link?",
            helps=(
                "name the stages, `transfer on STAGE (…) from … to …;`, or relate the queues: "
                f"`{queue.name} pull SOURCE share maxmin;`",
            ),
        )
        return ()
    assert pull is not None and entry.source is not None
    source = known.get(pull.source.name)
    if source is None or source.nic is None or queue.nic is None:
        return ()  # the relation was reported
    member = Name(form.span, entry.source.name) if source.size is not None else None
    theirs = Reference(form.span, f"{pull.source.name}.nic", member)
    own = Reference(form.span, f"{queue.name}.nic")
    read = replace(form, stages=(theirs, own))
    if pull.latency is None:
        return (read,)
    wait = Reference(form.span, f"{queue.name}.nic.latency")
    origin = Origin(f"the wait of `{queue.name} pull {pull.source.name}`, before each read", pull.span)
    return (Run(form.span, (wait,), None, through(pull.latency, Origin(origin.form, form.span)), None), read)


def check_constant(value: Expression, constants: frozenset[str], what: str, report: Report) -> None:
    """Hold a latency to a number or a constant over `let`s."""
    for node in walk(value):
        read: str | None = None
        match node:
            case Name() | Indexed() if node.name not in constants and node.name != "inf":
                read = f"reads `{node.name}`"
            case Draw():
                read = "draws"
            case Call() if any(isinstance(part, Indexed) for part in node.arguments):
                read = "reads a member"
            case _:
                pass
        if read is not None:
            report.add(
                "latency-not-constant",
                f"a `latency` is a number or a constant over `let`s, and this one {read}",
                node.span,
                f"{what} is always the same",
                helps=("a wait that varies is a stage of its own: `run wait (…);` before the transfer",),
            )
            return
