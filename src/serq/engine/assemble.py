"""Turn a linked program into a simulation: the only module of the engine that sees the linker's types.

Input: a `LinkedProgram`. Output: a `Simulation` ready to run once.
Invariants: statements become one flat list with places; pools and stages keep their numbers; nothing here decides
semantics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from serq.engine import expressions as ex
from serq.engine.fast_forward import ADMISSION_ORDER, DECODES_FIRST, LARGEST, OTHER_ORDER, PREFILLS_FIRST
from serq.engine.pool import Pool, Spill
from serq.engine.preemption import PREEMPT_BY, PREEMPT_LIFO
from serq.engine.refusals import conditions, is_fixed, parts_of, reads_only
from serq.engine.results import GaugeResult, ObserveResult, SampleSink
from serq.engine.sharing import SharedStage
from serq.engine.simulation import Simulation
from serq.engine.stage import Delay, Fifo, ProcessorSharing, Stage
from serq.engine.statements import (
    BranchStatement,
    ChooseStatement,
    Claim,
    DropStatement,
    EndHoldStatement,
    EndStatement,
    FlowStatement,
    GrowStatement,
    HoldStatement,
    JumpStatement,
    LoadStatement,
    MarkStatement,
    ObserveStatement,
    ReleaseStatement,
    RunStatement,
    SetStatement,
    Statement,
    TokensStatement,
    TurnStatement,
)
from serq.engine.steady import is_whole
from serq.engine.step_engine import StepEngine
from serq.engine.workload import ExplicitSession, ExplicitTurn
from serq.engine.world import World
from serq.link import linked as li

CHAINED_MIN = 8
"""A left-deep chain of one operator with more terms than this (an aggregate written out) is evaluated in a loop."""

TOTALS = frozenset({"residents", "decoders", "kv_decode", "kv_prefill"})
OF_ENTRIES = frozenset({"size", "last"})
"""What an eviction key may read besides attributes and still change only when it is told."""
OF_ITERATIONS = TOTALS | {"tokens", "prefilled", "attention"}
ESTIMATES = frozenset({"price", "est_lambda", "est_rho", "est_wait"})

_BINARY: dict[str, Callable[[ex.Expression, ex.Expression, int], ex.Expression]] = {
    "+": ex.Add,
    "-": ex.Subtract,
    "*": ex.Multiply,
    "/": ex.Divide,
    "^": ex.Power,
    "pow": ex.Power,
    "min": ex.Minimum,
    "max": ex.Maximum,
    "&&": ex.And,
    "||": ex.Or,
}
_COMPARISONS = {"==": ex.EQUAL, "!=": ex.DIFFERENT, "<": ex.LESS, "<=": ex.AT_MOST, ">": ex.GREATER, ">=": ex.AT_LEAST}
_FUNCTIONS = {
    "negate": ex.NEGATE,
    "not": ex.NOT,
    "abs": ex.ABSOLUTE,
    "floor": ex.FLOOR,
    "ceil": ex.CEILING,
    "sqrt": ex.SQUARE_ROOT,
    "exp": ex.EXPONENTIAL,
    "ln": ex.LOGARITHM,
}
_POOL_OBSERVABLES = {
    "used": ex.USED,
    "free": ex.FREE,
    "cachedin": ex.CACHED_IN,
    "holders": ex.HOLDERS,
    "queued": ex.QUEUED,
}
_STAGE_OBSERVABLES = {
    "queue": ex.QUEUE,
    "busy": ex.BUSY,
    "work": ex.WORK,
    "budget_left": ex.BUDGET_LEFT,
    "est_lambda": ex.EST_LAMBDA,
    "est_rho": ex.EST_RHO,
    "est_wait": ex.EST_WAIT,
}


def assemble(
    program: li.LinkedProgram,
    *,
    seed: int | None = None,
    records_samples: bool = False,
    records_iterations: bool = False,
    checks: bool = False,
    plain: bool = False,
    sink: SampleSink | None = None,
) -> Simulation:
    """Build the simulation of a linked program.

    Parameters
    ----------
    seed : overrides the program's
    records_samples : keep time, session and turn of every sample
    records_iterations : keep what every iteration of a step stage was
    checks : check the state's invariants after every event
    plain : form every iteration resident by resident, as the language defines it, without the fast plan
    sink : takes time, session and turn of the samples as they come
    """
    by_loop = plain or records_iterations  # a log reads every resident of a batch
    simulation = _Assembly(program, program.seed if seed is None else seed, by_loop).simulation(checks)
    simulation.world.records_samples = records_samples or sink is not None
    simulation.world.sink = sink
    if records_iterations:
        simulation.record_iterations()
    return simulation


class _Assembly:
    """The parts of one simulation while it is put together."""

    def __init__(self, program: li.LinkedProgram, seed: int, plain: bool) -> None:
        self.program = program
        self.plain = plain
        self.world = World(seed, program.share != "bottleneck")
        self.sure_budgets = {
            i
            for i, stage in enumerate(program.stages)
            if stage.budget is not None
            and stage.budget.op == "const"
            and (stage.chunk is None or stage.chunk.op == "const")
        }
        self.statements: list[Statement] = []
        self.branches: list[tuple[BranchStatement, int]] = []  # and where their second blocks begin
        self.jumps: list[tuple[JumpStatement, int]] = []

    def simulation(self, checks: bool) -> Simulation:
        program, world = self.program, self.world
        world.attribute_count = len(program.attributes)
        world.pools.extend(
            Pool(i, pool.name, -1 if pool.index is None else pool.index, pool.cap, pool.block)
            for i, pool in enumerate(program.pools)
        )
        # a stage's expressions may name any stage, so the stages come first and their expressions after
        world.stages.extend(self._stage(i, stage) for i, stage in enumerate(program.stages))
        for stage, declared in zip(world.stages, program.stages, strict=True):
            self._finish_stage(stage, declared)
        for pool, declared_pool in zip(world.pools, program.pools, strict=True):
            self._finish_pool(pool, declared_pool)
        spilling = [pool for pool in world.pools if pool.spill is not None]
        for _ in spilling:  # a tier's keys may read what its entries' owners were when another pool released them
            for pool in spilling:
                if pool.spill is not None and pool.spill.tier.keys_read_attributes:
                    pool.keys_read_attributes = True
        for stage in reversed(world.stages):
            if isinstance(stage, ProcessorSharing | StepEngine):
                stage.next_settling = world.first_settling
                world.first_settling = stage
        world.sharing.stages.extend(s for s in world.stages if isinstance(s, SharedStage))
        world.observes.extend(ObserveResult(o.name, o.is_test) for o in program.observes)
        world.gauges.extend(GaugeResult(g.name) for g in program.gauges)
        gauges = [self._expression(g.value) for g in program.gauges]
        self._body(program.session)
        self._place(EndStatement(-1))
        self._connect()
        self._workload()
        world.has_settling = bool(world.first_settling or world.sharing.stages)
        return Simulation(world, program.horizon, program.warmup, gauges, checks)

    # -------------------------------------------------------------------------------------------- declarations

    def _stage(self, index: int, stage: li.LinkedStage) -> Stage:
        member = -1 if stage.index is None else stage.index
        unset = ex.Constant(0.0, -1)
        match stage.kind:
            case "fifo":
                return Fifo(index, stage.name, member, stage.server_count)
            case "delay":
                return Delay(index, stage.name, member)
            case "step":
                return StepEngine(index, stage.name, member, unset, unset)
            case "ps" if stage.shared:
                assert stage.capacity is not None and stage.capacity.op == "const"
                return SharedStage(index, stage.name, member, stage.capacity.number)
            case "ps":
                return ProcessorSharing(index, stage.name, member, unset)
        raise AssertionError(f"a stage of kind {stage.kind!r}")

    def _finish_stage(self, stage: Stage, declared: li.LinkedStage) -> None:
        if isinstance(stage, ProcessorSharing):
            assert declared.capacity is not None
            stage.capacity = self._expression(declared.capacity)
        if not isinstance(stage, StepEngine):
            return
        assert declared.budget is not None and declared.cost is not None
        stage.budget = self._expression(declared.budget)
        stage.cost = self._expression(declared.cost)
        stage.chunk = self._optional(declared.chunk)
        stage.serve_keys = [self._expression(key) for key in declared.serve]
        stage.exclusive_prefill = declared.exclusive_prefill
        stage.memory = self.world.pools[declared.memory] if declared.memory >= 0 else None
        stage.served_pools = [self.world.pools[p] for p in declared.serves]
        limits = (declared.budget,) if declared.chunk is None else (declared.budget, declared.chunk)
        stage.budget_reads_totals = any(reads_context(e, TOTALS) for e in limits)
        stage.keys_read_totals = any(reads_context(e, TOTALS) for e in declared.serve)
        if isinstance(stage.budget, ex.Constant) and isinstance(stage.chunk, ex.Constant | None):
            stage.fixed_budget = stage.budget.value
            stage.fixed_chunk = LARGEST if stage.chunk is None or stage.chunk.value == 0.0 else stage.chunk.value
            stage.has_fixed_limits = stage.fixed_budget >= 0.0 and stage.fixed_chunk > 0.0
            limits_are_whole = is_whole(stage.fixed_budget) and (
                stage.fixed_chunk == LARGEST or is_whole(stage.fixed_chunk)
            )
            stage.leaves_whole = stage.has_fixed_limits and limits_are_whole
        stage.serving_order = serving_order(self.world, declared.serve, stage.serve_keys)
        stage.steady.set_memory(stage.memory)
        stage.has_spill = declared.memory >= 0 and self.program.pools[declared.memory].spill is not None
        stage.has_fast_plan = (
            not self.plain
            and not stage.exclusive_prefill
            and stage.serving_order != OTHER_ORDER
            and not any(draws(e) for e in limits)
            and not (declared.memory >= 0 and evicts_by_state(self.program.pools[declared.memory]))
        )

    def _finish_pool(self, pool: Pool, declared: li.LinkedPool) -> None:
        pool.evict_keys = [self._expression(key) for key in declared.evict]
        spill = declared.spill
        read = declared.evict if spill is None else (*declared.evict, spill.work, spill.when)
        pool.keys_read_attributes = any(reads_attributes(e) for e in read)
        pool.queue_keys = [self._expression(key) for key in declared.queue]
        pool.keys_are_fixed = all(is_fixed(key) for key in declared.queue)
        if declared.evict and all(reads_only(key, OF_ENTRIES) for key in declared.evict):
            pool.evict_keys_stay = True
            self.world.ranks_entries = True
        if declared.preempt == "lifo":
            pool.preempt_rule = PREEMPT_LIFO
        elif declared.preempt == "by":
            pool.preempt_rule = PREEMPT_BY
            pool.preempt_keys = [self._expression(key) for key in declared.preempt_keys]
        pool.serves_on = declared.serves_on
        pool.unfit_waits = declared.unfit_waits
        pool.evicts_in_order = (
            not declared.evict and spill is None and is_whole(pool.block) and pool.block >= 1.0 and is_whole(pool.cap)
        )
        if declared.admit_via >= 0:
            pool.admit_via = self._engine(declared.admit_via)
        pool.engines = [self._engine(stage) for stage in declared.memory_of]
        if spill is not None:
            pool.spill = Spill(
                self.world.pools[spill.pool],
                self.world.stages[spill.stage],
                self._expression(spill.work),
                self._expression(spill.when),
            )

    def _engine(self, index: int) -> StepEngine:
        stage = self.world.stages[index]
        assert isinstance(stage, StepEngine)
        return stage

    def _workload(self) -> None:
        program, workload = self.program, self.world.workload
        arrivals = program.arrivals
        match arrivals.kind:
            case "poisson":
                workload.is_open = True
                workload.first_at_zero = True
                workload.gap = ex.ExponentialAround(1.0 / arrivals.number, -1)
            case "renewal":
                assert arrivals.gap is not None
                workload.is_open = True
                workload.gap = self._expression(arrivals.gap)
            case "closed":
                workload.is_closed = True
                workload.initial_count = int(arrivals.number)
            case "batch":
                workload.initial_count = int(arrivals.number)
        workload.arrivals_limit = program.arrivals_limit
        workload.explicit = [
            ExplicitSession(
                given.at,
                [slot for slot, _ in given.attributes],
                [value for _, value in given.attributes],
                [ExplicitTurn([slot for slot, _ in turn], [value for _, value in turn]) for turn in given.turns],
            )
            for given in program.explicit
        ]
        workload.trace = program.trace
        workload.trace_ordered = program.trace_ordered
        workload.trace_slots = list(program.trace_slots)
        workload.more_slot = program.more_slot
        workload.init = [self._simple(statement) for statement in program.init]
        workload.turn = [self._simple(statement) for statement in program.turn]
        workload.begins_sessions = bool(program.trace or program.explicit or workload.init)

    def _simple(self, statement: li.LinkedStatement) -> Statement:
        """A statement of an init or turn block."""
        match statement:
            case li.LinkedSet():
                value = self._expression(statement.value)
                if isinstance(value, ex.Now):
                    return MarkStatement(statement.site, statement.slot)
                return SetStatement(statement.site, statement.slot, value)
            case li.LinkedObserve():
                return ObserveStatement(
                    statement.site, self.world.observes[statement.observe], self._expression(statement.value)
                )
        raise AssertionError("init and turn hold only set and observe")

    # ---------------------------------------------------------------------------------------------- statements

    def _place(self, statement: Statement) -> None:
        self.statements.append(statement)

    def _connect(self) -> None:
        """Give every statement the one that follows, and jumps their targets, now that all are placed."""
        for statement, following in pairwise(self.statements):
            statement.following = following
        for branch, place in self.branches:
            branch.otherwise = self.statements[place]
        for jump, place in self.jumps:
            jump.target = self.statements[place]
        self.world.first_statement = self.statements[0]

    def _body(self, body: tuple[li.LinkedStatement, ...]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: li.LinkedStatement) -> None:
        site = statement.site
        match statement:
            case li.LinkedSet() | li.LinkedObserve():
                self._place(self._simple(statement))
            case li.LinkedTurn():
                self._place(TurnStatement(site))
            case li.LinkedEnd():
                self._place(EndStatement(site))
            case li.LinkedHold():
                self._hold(statement)
            case li.LinkedGrow():
                self._place(GrowStatement(site, self._pool(statement.pool), self._expression(statement.amount)))
            case li.LinkedDrop():
                self._place(DropStatement(site, self._pool(statement.pool)))
            case li.LinkedRelease():
                self._place(ReleaseStatement(site, self._pool(statement.pool)))
            case li.LinkedLoad():
                self._place(LoadStatement(site, self._pool(statement.pool), self._expression(statement.tokens)))
            case li.LinkedRun():
                self._run(statement)
            case li.LinkedBranch():
                self._branch(statement)
            case li.LinkedLoop():
                start = len(self.statements)
                self._body(statement.body)
                back = JumpStatement(site)
                self.jumps.append((back, start))
                self._place(back)
            case li.LinkedChoose():
                keys = [self._expression(key) for key in statement.keys]
                self._place(ChooseStatement(site, statement.slot, self._expression(statement.bound), keys))

    def _hold(self, statement: li.LinkedHold) -> None:
        claims = [self._claim(claim) for claim in statement.claims]
        hold = HoldStatement(statement.site, claims, self._optional(statement.reuse), self._optional(statement.cache))
        hold.leased = statement.leased
        hold.lease_seconds = self._optional(statement.lease_seconds)
        self._place(hold)
        self._body(statement.body)
        self._place(EndHoldStatement(statement.site))

    def _claim(self, declared: li.LinkedClaim) -> Claim:
        claim = Claim(self._pool(declared.pool), self._expression(declared.units), self._optional(declared.reserve))
        headers = [declared.units] if declared.reserve is None else [declared.units, declared.reserve]
        found = [conditions(header, self.sure_budgets) for header in headers]
        claim.is_sure = all(part is not None for part in found)
        claim.conditions = [self._expression(e) for part in found if part is not None for e in part]
        fixed = [header for header in headers if is_fixed(header)]
        if fixed:
            claim.at_least = self._expression(fixed[-1])
        return claim

    def _run(self, statement: li.LinkedRun) -> None:
        work = self._expression(statement.work)
        stages = [self._stage_reference(s) for s in statement.stages]
        if len(stages) > 1:
            self._place(FlowStatement(statement.site, stages, work))
            return
        if not statement.mode:
            self._place(RunStatement(statement.site, stages[0], work))
            return
        growing = None if statement.growing is None else self._pool(statement.growing)
        self._place(TokensStatement(statement.site, stages[0], work, statement.mode == "decode", growing))

    def _branch(self, statement: li.LinkedBranch) -> None:
        branch = BranchStatement(statement.site, self._expression(statement.guard))
        self._place(branch)
        self._body(statement.then)
        if not statement.otherwise:
            self.branches.append((branch, len(self.statements)))
            return
        over = JumpStatement(statement.site)
        self._place(over)
        self.branches.append((branch, len(self.statements)))
        self._body(statement.otherwise)
        self.jumps.append((over, len(self.statements)))

    # --------------------------------------------------------------------------------------------- expressions

    def _optional(self, expression: li.LinkedExpression | None) -> ex.Expression | None:
        return None if expression is None else self._expression(expression)

    def _pool(self, reference: li.LinkedReference) -> ex.PoolReference:
        members = self.world.pools[reference.base : reference.base + reference.count]
        name = self.program.pools[reference.base].name
        return ex.PoolReference(members, self._optional(reference.index), name, reference.site)

    def _stage_reference(self, reference: li.LinkedReference) -> ex.StageReference:
        members = self.world.stages[reference.base : reference.base + reference.count]
        name = self.program.stages[reference.base].name
        return ex.StageReference(members, self._optional(reference.index), name, reference.site)

    def _expression(self, e: li.LinkedExpression) -> ex.Expression:
        op, site = e.op, e.site
        if op in ESTIMATES:
            self.world.has_estimates = True
        if op == "const":
            return ex.Constant(e.number, site)
        if op == "attribute":
            return ex.Attribute(e.slot, site)
        if op == "context":
            return ex.Now(site) if e.name == "now" else ex.Context(ex.CONTEXT_NAMES.index(e.name), site)
        if e.reference is not None:
            return self._observable(e)
        if op in ("+", "min", "max"):
            terms = chain_of(e)
            if op == "+" and is_linear(terms):
                return linear_form(terms, site)
            if len(terms) > CHAINED_MIN:
                kind = {"+": ex.SUM, "min": ex.LEAST, "max": ex.GREATEST}[op]
                return ex.Chain(kind, [self._expression(t) for t in terms], site)
        arguments = [self._expression(a) for a in e.arguments]
        if op == "draw":
            return self._draw(e.name, arguments, site)
        if op in _COMPARISONS:
            return ex.Comparison(_COMPARISONS[op], arguments[0], arguments[1], site)
        if op in _FUNCTIONS:
            return ex.Function(_FUNCTIONS[op], arguments[0], site)
        if op == "if":
            return ex.Conditional(arguments[0], arguments[1], arguments[2], site)
        left, right = arguments
        if op == "-" and isinstance(left, ex.Now) and isinstance(right, ex.Attribute):
            return ex.Elapsed(right.slot, site)
        return _BINARY[op](left, right, site)

    def _observable(self, e: li.LinkedExpression) -> ex.Expression:
        assert e.reference is not None
        if e.op in _POOL_OBSERVABLES:
            return ex.PoolObservable(_POOL_OBSERVABLES[e.op], self._pool(e.reference), e.site)
        stage = self._stage_reference(e.reference)
        if e.op == "work":
            for member in stage.members:
                member.is_work_read = True
        if e.op == "price":
            return ex.Price(stage, self._expression(e.arguments[0]), self._expression(e.arguments[1]), e.site)
        return ex.StageObservable(_STAGE_OBSERVABLES[e.op], stage, e.site)

    def _draw(self, name: str, arguments: list[ex.Expression], site: int) -> ex.Expression:
        match name:
            case "exp":
                mean = arguments[0]
                if isinstance(mean, ex.Constant):
                    return ex.ExponentialAround(mean.value, site)
                return ex.Exponential(mean, site)
            case "det":
                return arguments[0]
            case "uniform":
                return ex.Uniform(arguments[0], arguments[1], site)
            case "erlang":
                return ex.Erlang(arguments[0], arguments[1], site)
            case "h2":
                return ex.HyperExponential(arguments[0], arguments[1], site)
            case "bernoulli":
                return ex.Bernoulli(arguments[0], site)
        raise AssertionError(f"a distribution {name!r}")


def chain_of(e: li.LinkedExpression) -> list[li.LinkedExpression]:
    """Give the terms of a left-deep chain of one operator, the leftmost first."""
    op = e.op
    terms: list[li.LinkedExpression] = []
    while e.op == op and len(e.arguments) == 2:
        left, right = e.arguments
        terms.append(right)
        e = left
    terms.append(e)
    return terms[::-1]


def is_linear(terms: Sequence[li.LinkedExpression]) -> bool:
    """Tell whether terms are a constant and then products of a constant and a variable of an iteration."""
    first, *others = terms
    return (
        len(others) > 0
        and first.op == "const"
        and all(
            term.op == "*"
            and {part.op for part in term.arguments} == {"const", "context"}
            and all(part.name in OF_ITERATIONS for part in term.arguments if part.op == "context")
            for term in others
        )
    )


def linear_form(terms: Sequence[li.LinkedExpression], site: int) -> ex.LinearForm:
    """Give the linear form of such terms; a product is the same whichever of its factors is written first."""
    following: ex.LinearTerm | None = None
    for term in reversed(terms[1:]):
        constant, variable = sorted(term.arguments, key=lambda part: part.op == "context")
        following = ex.LinearTerm(constant.number, ex.CONTEXT_NAMES.index(variable.name), following)
    assert following is not None
    return ex.LinearForm(terms[0].number, following, site)


def reads_context(e: li.LinkedExpression, names: frozenset[str]) -> bool:
    """Tell whether an expression reads one of some context variables."""
    return any(part.op == "context" and part.name in names for part in parts_of(e))


def draws(e: li.LinkedExpression) -> bool:
    """Tell whether an expression draws a random number."""
    return any(part.op == "draw" for part in parts_of(e))


def evicts_by_state(pool: li.LinkedPool) -> bool:
    """Tell whether what a pool evicts first, or spills, may change with each growth."""
    spill = pool.spill
    read = pool.evict if spill is None else (*pool.evict, spill.work, spill.when)
    return any(part.reference is not None for e in read for part in parts_of(e))


def serving_order(w: World, keys: Sequence[li.LinkedExpression], assembled: Sequence[ex.Expression]) -> int:
    """Give the order `serve by` comes to, when its first key reads `decoding` alone and at most `admission` follows."""
    by_number = [e.op == "context" and e.name == "admission" for e in keys]
    if not by_number or by_number[0]:
        return ADMISSION_ORDER
    read_alone = all(
        part.reference is None
        and part.op not in ("attribute", "draw")
        and (part.op != "context" or part.name == "decoding")
        for part in parts_of(keys[0])
    )
    if not read_alone or not all(by_number[1:]):
        return OTHER_ORDER
    values = []
    for w.decoding in (0.0, 1.0):
        values.append(assembled[0].evaluate(w))
    prefill, decode = values
    if prefill == decode:
        return ADMISSION_ORDER
    if prefill < decode:
        return PREFILLS_FIRST
    return DECODES_FIRST if decode < prefill else OTHER_ORDER


def reads_attributes(e: li.LinkedExpression) -> bool:
    """Tell whether an expression reads a session attribute."""
    return any(part.op == "attribute" for part in parts_of(e))
