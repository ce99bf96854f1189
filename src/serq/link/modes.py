"""Which runs a stage can serve: modes on step stages, growing runs, and runs that hold several stages at once.

Input: the program's runs. Output: findings, and the stage arrays the share policy serves.

Reference: language §2 (the mode is required on a step stage and forbidden elsewhere), §3, Stages.
"""

from __future__ import annotations

from serq.ir import model as ir
from serq.ir.evaluate import NotConstant, Terms, evaluate, number
from serq.ir.walk import statements
from serq.link.context import Context, Family, named


def check_run(context: Context, run: ir.Run, path: str) -> None:
    """Check one run's mode and stages (whose names are known to exist)."""
    if len(run.stages) > 1:
        _check_flow(context, run, path)
        return
    family = context.stages[named(run.stages[0])]
    is_step = isinstance(_kind(context, family), ir.Step)
    declared = ((f"{family.path}.kind", "its kind"),)
    if is_step and run.mode is None:
        context.error(
            "run-mode",
            f"`{family.name}` is a step stage, and `run {family.name}` does not say whether it prefills or decodes",
            path,
            "needs a mode",
            also=declared,
            helps=(f"write `run {family.name} prefill (…)` or `run {family.name} decode (…)`",),
        )
    elif not is_step and run.mode is not None:
        context.error(
            "run-mode",
            f"`{run.mode}` is work of a step stage, and `{family.name}` is none",
            path,
            "has no modes",
            also=declared,
            helps=(f"write `run {family.name} (…)`",),
        )
    if run.growing is not None and not is_step:
        context.error(
            "growing-without-step",
            f"a growing run computes token by token, which needs a step stage, and `{family.name}` is none",
            f"{path}.growing",
            "cannot grow here",
            also=declared,
        )


def _check_flow(context: Context, run: ir.Run, path: str) -> None:
    if run.mode is not None:
        context.error("run-mode", f"`{run.mode}` is work of one step stage, and this run holds several stages", path)
    if run.growing is not None:
        context.error(
            "growing-without-step", "a run that holds several stages cannot grow", f"{path}.growing", "cannot grow here"
        )
    seen: set[str] = set()
    for i, stage in enumerate(run.stages):
        if named(stage) in seen:
            context.error(
                "stage-twice",
                f"the run holds `{named(stage)}` twice: which members they are is known only when it starts",
                f"{path}.stages[{i}]",
                "named before",
                helps=("let each array appear once in a run",),
            )
        seen.add(named(stage))


def shared_stages(context: Context) -> frozenset[str]:
    """Give the arrays that some run holds together with another; check them and the program's `share`."""
    shared: dict[str, str] = {}
    for statement, path in statements(context.program):
        if isinstance(statement, ir.Run) and len(statement.stages) > 1:
            for i, stage in enumerate(statement.stages):
                shared.setdefault(named(stage), f"{path}.stages[{i}]")
    known = {name: path for name, path in shared.items() if name in context.stages}
    for name, path in known.items():
        _check_shared(context, context.stages[name], path)
    if shared and context.program.share is None:
        context.error(
            "share-missing",
            "this run holds several stages at once, and the program does not say how such runs share them",
            next(iter(shared.values())).rpartition(".")[0],
            "one of several flows",
            helps=("declare `share maxmin;` or `share bottleneck;`",),
        )
    if not shared and context.program.share is not None:
        context.error(
            "share-unused",
            "`share` divides stages among runs that hold several at once, and the program has no such run",
            "$.share",
            "divides nothing",
            helps=("leave it out, or name several stages in a `run`",),
        )
    return frozenset(known)


def _check_shared(context: Context, family: Family, path: str) -> None:
    kind = _kind(context, family)
    reason = ""
    if not isinstance(kind, ir.ProcessorSharing):
        reason = "it is not `ps`"
    else:
        try:
            capacity = evaluate(kind.capacity, f"{family.path}.kind.capacity", Terms())
            if not capacity > 0.0:
                reason = f"its capacity is {number(capacity)}"
        except NotConstant:
            reason = "its capacity is not a constant"
    if reason:
        context.error(
            "shared-stage",
            f"`{family.name}` is held together with another stage, so it needs to be `ps` with a constant capacity "
            f"above 0, and {reason}",
            path,
            "held with another stage",
            also=((f"{family.path}.kind", "its kind"),),
        )


def _kind(context: Context, family: Family) -> ir.Fifo | ir.ProcessorSharing | ir.Delay | ir.Step:
    return context.program.stages[family.position].kind
