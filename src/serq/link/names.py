"""Who is called what: pools, stages, attributes, gauges, hidden names; and who may not share a name.

Input: the program. Output: the families, the attribute slots and the hidden names, in the context.
Invariants after it: every pool, stage and attribute has its number; an attribute is read by its name wherever sessions
are, so none is called what the language supplies.

Reference: language §2, Expressions; §3, hidden.
"""

from __future__ import annotations

from collections.abc import Sequence

from serq.diagnostics.suggest import suggestion
from serq.ir import model as ir
from serq.ir.vocabulary import BUILTIN_ATTRIBUTES, CONTEXT_VARIABLES, SUPPLIED, TRACE_ATTRIBUTES
from serq.ir.walk import statements
from serq.link.context import Context, Family
from serq.link.families import family_size

SET_BY_THE_SCHEDULER = ("cached", "computed")


def collect_names(context: Context) -> None:
    """Number everything that has a name."""
    _collect_families(context, context.program.pools, "pool", "$.pools", context.pools)
    _collect_families(context, context.program.stages, "stage", "$.stages", context.stages)
    _collect_attributes(context)
    _collect_hidden(context)
    _check_statistics(context)


def _collect_families(
    context: Context,
    declared: Sequence[ir.Pool | ir.Stage],
    kind: str,
    path: str,
    families: dict[str, Family],
) -> None:
    base = 0
    for position, item in enumerate(declared):
        here = f"{path}[{position}]"
        count = family_size(context, item.size, here, f"the size of {kind} `{item.name}`")
        earlier = families.get(item.name)
        if earlier is not None:
            context.error(
                "duplicate-declaration",
                f"there are two {kind}s called `{item.name}`",
                f"{here}.name",
                "declared again",
                also=((f"{earlier.path}.name", "first declared here"),),
                helps=("rename one of them",),
            )
        else:
            families[item.name] = Family(item.name, base, count, item.size is not None, here, position)
        base += count


def _collect_attributes(context: Context) -> None:
    workload = context.program.workload
    names = list(BUILTIN_ATTRIBUTES)
    explicit = workload.arrive.sessions if isinstance(workload.arrive, ir.Explicit) else ()
    if workload.trace is not None or any(session.turns for session in explicit):
        names += TRACE_ATTRIBUTES
    for i, session in enumerate(explicit):
        path = f"$.workload.arrive.sessions[{i}]"
        for name in session.attributes:
            _name_attribute(context, name, f"{path}.attributes.{name}", names)
        for j, turn in enumerate(session.turns):
            for name in turn:
                _name_attribute(context, name, f"{path}.turns[{j}].{name}", names)
    for statement, path in statements(context.program):
        if isinstance(statement, ir.Set | ir.Choose):
            _name_attribute(context, statement.name, f"{path}.name", names)
    context.slots = {name: slot for slot, name in enumerate(dict.fromkeys(names))}


def _name_attribute(context: Context, name: str, path: str, names: list[str]) -> None:
    if name in SUPPLIED:
        where = "is infinity in every expression" if name == "inf" else f"is read {CONTEXT_VARIABLES[name]}"
        context.error(
            "name-taken",
            f"`{name}` is a name the language supplies: it {where}",
            path,
            "needs a name of its own",
            helps=("give the session attribute another name",),
        )
    context.assigned.setdefault(name, path)
    names.append(name)


def _collect_hidden(context: Context) -> None:
    seen: set[str] = set()
    for i, name in enumerate(context.program.workload.hidden):
        path = f"$.workload.hidden[{i}]"
        if name in SET_BY_THE_SCHEDULER:
            context.error(
                "hidden-not-possible",
                f"`{name}` is set by the scheduler, so it cannot be hidden from it",
                path,
                "the scheduler knows it",
            )
        elif name not in context.slots:
            context.error(
                "hidden-not-possible",
                f"`{name}` is no session attribute: no `set` or `choose` makes it one",
                path,
                "not an attribute",
                helps=suggestion(name, context.assigned, "attributes"),
            )
        elif name in seen:
            context.error("duplicate-declaration", f"`{name}` is hidden twice", path, "once is enough")
        seen.add(name)
    context.hidden = frozenset(seen)


def _check_statistics(context: Context) -> None:
    observes: dict[str, str] = {}
    for statement, path in statements(context.program):
        if isinstance(statement, ir.Observe):
            observes.setdefault(statement.name, f"{path}.name")
    gauges: dict[str, str] = {}
    for i, gauge in enumerate(context.program.gauges):
        path = f"$.gauges[{i}].name"
        other = gauges.get(gauge.name)
        if other is not None:
            context.error(
                "duplicate-declaration",
                f"there are two gauges called `{gauge.name}`",
                path,
                "declared again",
                also=((other, "first declared here"),),
                helps=("rename one of them",),
            )
        elif gauge.name in observes:
            context.error(
                "name-taken",
                f"`{gauge.name}` is both a gauge and an `observe`, and the report has one line for a name",
                path,
                "the gauge",
                also=((observes[gauge.name], "the `observe`"),),
                helps=("rename one of them",),
            )
        gauges.setdefault(gauge.name, path)
