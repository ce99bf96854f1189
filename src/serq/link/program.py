"""A whole program linked: the declarations, the workload, the session and the gauges, in that order.

Input: the IR, the rows of its trace, and where its paths stand in the text. Output: a `LinkedProgram`.
Errors: `ProgramError` with every independent finding, those of the lints among them.
"""

from __future__ import annotations

from collections.abc import Callable

from serq.diagnostics import DiagnosticLimit, Path, Place
from serq.ir import model as ir
from serq.ir.validate import validate
from serq.ir.vocabulary import TRACE_ATTRIBUTES
from serq.link import linked as li
from serq.link.constants import BLOCK, CAPACITY, SERVERS, constant_in, link_arrivals, link_run
from serq.link.context import Context, Family, named
from serq.link.expressions import link_expression
from serq.link.families import joined
from serq.link.modes import shared_stages
from serq.link.moments import BUDGET, COST, EVICT, GAUGE, PS, SELECT, SERVE, VICTIM, Moment
from serq.link.names import collect_names
from serq.link.statements import Scope, Statements
from serq.lint import find_lints
from serq.records import dataclass, replace

TraceRows = tuple[tuple[tuple[float, float, float, float], ...], ...]


def link(
    program: ir.Program,
    trace: TraceRows | None,
    place_of: Callable[[str], Place] = Path,
    constants: tuple[str, ...] = (),
) -> li.LinkedProgram:
    """Link a program.

    Parameters
    ----------
    trace : the sessions of the program's trace, each its rows of new, out, think, forced; None without one
    place_of : gives the place an IR path stands for
    constants : names of constants that were folded into the program, to propose for a name that is not there

    Raises
    ------
    ProgramError : with every independent finding
    """
    validate(program)
    context = Context(program, place_of, constants=constants)
    result = None
    try:
        result = _linked(context, trace)
        find_lints(program, context.findings, place_of)
    except DiagnosticLimit:
        pass
    context.findings.stop_if_any()
    assert result is not None
    return result


def _linked(context: Context, trace: TraceRows | None) -> li.LinkedProgram:
    program = context.program
    collect_names(context)
    shared = shared_stages(context)
    memories, served = _engines(context)
    pools = _pools(context, memories, served)
    stages = _stages(context, shared, memories, served)
    statements = Statements(context)
    workload = program.workload
    init = statements.body(workload.init, "$.workload.init", Scope())
    turn = statements.body(workload.turn, "$.workload.turn", Scope())
    session = statements.body(program.session, "$.session", Scope())
    gauges = tuple(
        [
            li.LinkedGauge(gauge.name, link_expression(context, gauge.value, f"$.gauges[{i}].value", GAUGE))
            for i, gauge in enumerate(program.gauges)
        ]
    )
    arrivals = link_arrivals(context)
    run = link_run(context)
    rows = _trace(program, trace)
    slots = context.slots
    trace_slots = tuple([slots[name] for name in TRACE_ATTRIBUTES]) if "more" in slots and _has_turns(program) else ()
    return li.LinkedProgram(
        pools=pools,
        stages=stages,
        share=program.share or "",
        attributes=tuple(slots),
        observes=tuple([li.LinkedObserveName(name, is_test) for name, is_test in statements.observes.items()]),
        gauges=gauges,
        arrivals=arrivals,
        explicit=_explicit(context),
        trace=rows,
        trace_ordered=workload.trace is not None and workload.trace.ordered,
        trace_slots=trace_slots,
        more_slot=slots["more"] if trace_slots else -1,
        init=init,
        turn=turn,
        session=session,
        horizon=run.horizon,
        warmup=run.warmup,
        seed=run.seed,
        arrivals_limit=run.arrivals_limit,
        sites=tuple(context.sites),
    )


# ------------------------------------------------------------------------------------------------ pools, stages


def _expressions(
    context: Context, items: tuple[ir.Expression, ...], path: str, moment: Moment
) -> tuple[li.LinkedExpression, ...]:
    return tuple([link_expression(context, item, f"{path}[{i}]", moment) for i, item in enumerate(items)])


def _engines(context: Context) -> tuple[dict[int, int], dict[int, int]]:
    """Join engines with their pools.

    Returns
    -------
    (stage id → id of its memory), (pool id → id of the stage that admits to it)
    """
    memories: dict[int, int] = {}
    served: dict[int, int] = {}
    for family in context.stages.values():
        stage = context.program.stages[family.position]
        if isinstance(stage.kind, ir.Step) and stage.kind.memory is not None:
            for member in range(family.count):
                path = f"{family.path}.kind.memory"
                memory = joined(context, stage.kind.memory, "pool", family, member, path, "`memory`")
                memories[family.base + member] = memory
    for family in context.pools.values():
        pool = context.program.pools[family.position]
        if pool.admit_via is not None:
            for member in range(family.count):
                path = f"{family.path}.admit_via"
                served[family.base + member] = joined(
                    context, pool.admit_via, "stage", family, member, path, "`admit via`"
                )
            _check_step(context, pool.admit_via, f"{family.path}.admit_via")
    return memories, served


def _check_step(context: Context, reference: ir.Reference, path: str) -> None:
    family = context.stages.get(named(reference))
    if family is None or isinstance(context.program.stages[family.position].kind, ir.Step):
        return
    context.error(
        "not-a-step-stage",
        f"`admit via` hands the waiting line to a step stage's scheduler, and `{family.name}` is none",
        path,
        "does not schedule",
        also=((f"{family.path}.kind", "its kind"),),
    )


def _pools(context: Context, memories: dict[int, int], served: dict[int, int]) -> tuple[li.LinkedPool, ...]:
    memory_of: dict[int, tuple[int, ...]] = {}
    for stage, pool_id in memories.items():
        memory_of[pool_id] = (*memory_of.get(pool_id, ()), stage)
    result: list[li.LinkedPool] = []
    for family in context.pools.values():
        pool = context.program.pools[family.position]
        path, what = family.path, f"pool `{family.name}`"
        cap = constant_in(context, pool.cap, f"{path}.cap", f"the cap of {what}", CAPACITY, 1.0)
        block = 0.0
        if pool.block is not None:
            block = constant_in(context, pool.block, f"{path}.block", f"the block of {what}", BLOCK, 1.0)
        evict = _expressions(context, pool.evict, f"{path}.evict", EVICT)
        queue = _expressions(context, pool.queue, f"{path}.queue", SELECT)
        preempt = "by"
        keys: tuple[li.LinkedExpression, ...] = ()
        if isinstance(pool.preempt, str):
            preempt = pool.preempt
        else:
            keys = _expressions(context, pool.preempt, f"{path}.preempt", VICTIM)
        spill = _spill_expressions(context, pool.spill, family)
        for member in range(family.count):
            index = family.base + member
            result.append(
                li.LinkedPool(
                    name=family.name,
                    index=member if family.is_family else None,
                    cap=cap,
                    block=block,
                    evict=evict,
                    preempt=preempt,
                    preempt_keys=keys,
                    serves_on=pool.preempt_then == "continue",
                    queue=queue,
                    admit_via=served.get(index, -1),
                    memory_of=memory_of.get(index, ()),
                    spill=_spill(context, pool.spill, spill, family, member),
                    unfit_waits=pool.unfit == "wait",
                )
            )
    _check_spill_cycles(context, result)
    return tuple(result)


@dataclass(frozen=True, slots=True)
class _SpillExpressions:
    """What the members of a family share of their spill clause."""

    work: li.LinkedExpression
    when: li.LinkedExpression


def _spill_expressions(context: Context, spill: ir.Spill | None, family: Family) -> _SpillExpressions | None:
    """Link the expressions of a spill clause and check its stage."""
    if spill is None:
        return None
    path = f"{family.path}.spill"
    link_family = context.stages.get(named(spill.stage))
    if link_family is not None and isinstance(context.program.stages[link_family.position].kind, ir.Step):
        context.error(
            "run-mode",
            f"a spill is plain work, and the step stage `{link_family.name}` serves prefill and decode alone",
            f"{path}.stage",
            "a step stage",
            also=((f"{link_family.path}.kind", "its kind"),),
        )
    return _SpillExpressions(
        link_expression(context, spill.work, f"{path}.work", EVICT),
        link_expression(context, spill.when, f"{path}.when", EVICT),
    )


def _spill(
    context: Context, spill: ir.Spill | None, linked: _SpillExpressions | None, family: Family, member: int
) -> li.LinkedSpill | None:
    """Join one member with its tier and its link."""
    if spill is None or linked is None:
        return None
    path = f"{family.path}.spill"
    tier = joined(context, spill.pool, "pool", family, member, f"{path}.pool", "`spill`")
    stage = joined(context, spill.stage, "stage", family, member, f"{path}.stage", "`spill … via`")
    return li.LinkedSpill(tier, stage, linked.work, linked.when)


def _check_spill_cycles(context: Context, pools: list[li.LinkedPool]) -> None:
    """Report a pool whose spilled prefixes come back to it: making room would never end."""
    for start, pool in enumerate(pools):
        seen: set[int] = set()
        spill = pool.spill
        while spill is not None and 0 <= spill.pool < len(pools) and spill.pool not in seen:
            if spill.pool == start:
                family = context.pools[pool.name]
                context.error(
                    "spill-cycle",
                    f"what `{pool.name}` spills comes back to `{pool.name}`, so making room there takes room there",
                    f"{family.path}.spill.pool",
                    "comes back",
                    helps=("spill to a pool that spills to none of those before it",),
                )
                break
            seen.add(spill.pool)
            spill = pools[spill.pool].spill


def _stages(
    context: Context, shared: frozenset[str], memories: dict[int, int], served: dict[int, int]
) -> tuple[li.LinkedStage, ...]:
    result = []
    for family in context.stages.values():
        first = _stage(context, family, family.name in shared)
        for member in range(family.count):
            stage = family.base + member
            result.append(
                replace(
                    first,
                    index=member if family.is_family else None,
                    memory=memories.get(stage, -1),
                    serves=tuple([pool for pool, via in served.items() if via == stage]),
                )
            )
    return tuple(result)


def _stage(context: Context, family: Family, shared: bool) -> li.LinkedStage:
    """Link what the members of a stage family share: everything but their numbers."""
    kind = context.program.stages[family.position].kind
    path, name = f"{family.path}.kind", family.name
    match kind:
        case ir.Fifo():
            what = f"the number of servers of `{name}`"
            servers = constant_in(context, kind.servers, f"{path}.servers", what, SERVERS, 1.0)
            return li.LinkedStage(name, None, "fifo", server_count=int(servers))
        case ir.ProcessorSharing():
            capacity = link_expression(context, kind.capacity, f"{path}.capacity", PS)
            return li.LinkedStage(name, None, "ps", capacity=capacity, shared=shared)
        case ir.Delay():
            return li.LinkedStage(name, None, "delay")
        case ir.Step():
            return li.LinkedStage(
                name,
                None,
                "step",
                budget=link_expression(context, kind.budget, f"{path}.budget", BUDGET),
                cost=link_expression(context, kind.cost, f"{path}.cost", COST),
                chunk=None if kind.chunk is None else link_expression(context, kind.chunk, f"{path}.chunk", BUDGET),
                serve=() if isinstance(kind.serve, str) else _expressions(context, kind.serve, f"{path}.serve", SERVE),
                exclusive_prefill=kind.serve == "exclusive prefill",
            )


# ------------------------------------------------------------------------------------------------- the workload


def _has_turns(program: ir.Program) -> bool:
    """Tell whether sessions are given turns: by a trace or one by one."""
    arrive = program.workload.arrive
    return program.workload.trace is not None or (
        isinstance(arrive, ir.Explicit) and any(session.turns for session in arrive.sessions)
    )


def _trace(program: ir.Program, trace: TraceRows | None) -> TraceRows:
    given = program.workload.trace
    if isinstance(given, ir.InlineTrace) and trace is None:
        return tuple([tuple([(r.new, r.out, r.think, r.forced) for r in turns]) for turns in given.sessions])
    return trace or ()


def _explicit(context: Context) -> tuple[li.LinkedExplicitSession, ...]:
    arrive = context.program.workload.arrive
    if not isinstance(arrive, ir.Explicit):
        return ()
    slots = context.slots

    def pairs(values: dict[str, float]) -> tuple[tuple[int, float], ...]:
        return tuple([(slots[name], value) for name, value in values.items()])

    return tuple(
        [
            li.LinkedExplicitSession(s.at, pairs(s.attributes), tuple([pairs(turn) for turn in s.turns]))
            for s in arrive.sessions
        ]
    )
