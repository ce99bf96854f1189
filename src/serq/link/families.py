"""Families: how many members there are, and which member of one family goes with which of another.

Reference: language §3, Pools: families are joined member for member; next to a family of one, every member gets that
one.
"""

from __future__ import annotations

from serq.arithmetic import is_integer
from serq.diagnostics.suggest import suggestion
from serq.ir import model as ir
from serq.ir.evaluate import number
from serq.link.context import Context, Family, named, plural

UNKNOWN = {"pool": "unknown-pool", "stage": "unknown-stage"}
"""Names of the diagnostic for a name that is no pool or no stage."""

MAX_MEMBERS = 10_000
"""Every member is a pool or stage of its own, with its own statistics."""


def family_size(context: Context, size: ir.Expression | None, path: str, what: str) -> int:
    """Give how many members a declaration has; 1 after a finding."""
    if size is None:
        return 1
    value = context.constant(size, f"{path}.size", what)
    if value is None:
        return 1
    if not is_integer(value) or value < 1.0:
        context.error(
            "constant-range", f"{what} is {number(value)}, and needs to be a whole number, at least 1", f"{path}.size"
        )
        return 1
    if value > MAX_MEMBERS:
        context.error(
            "constant-range",
            f"{what} is {number(value)}, and a family has at most {MAX_MEMBERS} members",
            f"{path}.size",
            notes=("every member is a pool or stage of its own",),
        )
        return 1
    return int(value)


def find(context: Context, name: str, kind: str, path: str) -> Family | None:
    """Look a pool or stage up by name, or record that there is none."""
    families, others = (context.pools, context.stages) if kind == "pool" else (context.stages, context.pools)
    family = families.get(name)
    if family is None:
        if name in others:
            other = "stage" if kind == "pool" else "pool"
            context.error(
                UNKNOWN[kind],
                f"`{name}` is a {other}, and this needs a {kind}",
                path,
                f"not a {kind}",
                also=((f"{others[name].path}.name", f"the {other}"),),
                helps=suggestion(name, families, f"{kind}s"),
            )
        else:
            context.error(
                UNKNOWN[kind],
                f"no {kind} of the program is called `{name}`",
                path,
                f"not a {kind}",
                helps=suggestion(name, families, f"{kind}s"),
            )
    return family


def joined(
    context: Context, reference: ir.Reference, kind: str, beside: Family, member: int, path: str, clause: str
) -> int:
    """Give the id of the pool or stage that goes with one member of a family; -1 after a finding.

    Parameters
    ----------
    reference : the pool or stage the clause names
    beside, member : the family whose clause it is, and which of its members asks
    clause : what messages call it
    """
    family = find(context, named(reference), kind, path)
    if family is None:
        return -1
    if isinstance(reference, ir.Member):
        return constant_member(context, reference, family, kind, path)
    if family.count == 1:
        return family.base
    if family.count == beside.count:
        return family.base + member
    context.error(
        "family-join",
        f"{clause} of `{beside.name}` names `{family.name}`, and {plural(beside.count, 'member')} cannot be joined to "
        f"{family.count}",
        path,
        f"a family of {family.count}",
        also=((f"{beside.path}.name", f"a family of {beside.count}" if beside.is_family else "one alone"),),
        notes=("families are joined member for member, or every member to a family of one",),
    )
    return -1


def constant_member(context: Context, reference: ir.Member, family: Family, kind: str, path: str) -> int:
    """Give the id of a member whose index is a constant; -1 after a finding."""
    value = context.constant(reference.index, f"{path}.index", f"the member of {kind} `{family.name}`")
    if value is None or not check_index(context, value, family, kind, f"{path}.index"):
        return -1
    return family.base + int(value)


def check_index(context: Context, value: float, family: Family, kind: str, path: str) -> bool:
    """Tell whether a constant index is one of the family's, and record it when not."""
    if is_integer(value) and 0.0 <= value < family.count:
        return True
    members = "has one member, 0" if family.count == 1 else f"has members 0 to {family.count - 1}"
    context.error(
        "index-out-of-range",
        f"`{family.name}[{number(value)}]` is no member: {kind} `{family.name}` {members}",
        path,
        "out of range" if is_integer(value) else "not a whole number",
        also=((f"{family.path}.name", "declared here"),),
    )
    return False
