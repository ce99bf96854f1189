"""Kernel tree to IR: constants become numbers, everything else keeps its shape.

Input: a program of kernel nodes. Output: the IR, and for every part of it the span of the text it came from.
Invariants: `let`s are gone (each is evaluated once, in order, seeing those above it); expressions are otherwise as
written; an IR path of the source map is the path of the same part in the JSON form.

Reference: language §2; notes §9 (`--set`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from serq.diagnostics import DiagnosticLimit, Findings, Label, ProgramError, SourceFile, Span, error
from serq.diagnostics.suggest import suggestion
from serq.ir import model as ir
from serq.ir.evaluate import NotConstant, Terms, evaluate
from serq.ir.validate import MAX_DEPTH
from serq.ir.vocabulary import BUILTIN_ATTRIBUTES, CONTEXT_VARIABLES, MEMBER_FUNCTIONS, SUPPLIED, TRACE_ATTRIBUTES
from serq.records import dataclass, field
from serq.syntax import nodes

MAX_LOWERED = MAX_DEPTH - 8
"""Forms around a form of the text; the IR counts a few more (the program, a claim, a stage's kind)."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program as IR, and where its parts stand in the text.

    Attributes
    ----------
    source_map : IR path (`$.session[3].body[0].pools[1].units`) → span
    constants : names of the `let`s, whose values are folded into the IR; for messages
    """

    program: ir.Program
    source_map: Mapping[str, Span]
    constants: tuple[str, ...]


def lower(kernel: nodes.Program, sets: Mapping[str, nodes.Expression] | None = None) -> Lowered:
    """Lower a kernel program.

    Parameters
    ----------
    sets : expressions in place of those of `let`s, by name

    Raises
    ------
    ProgramError : with every independent finding
    """
    lowering = _Lowering(Findings())
    try:
        program = lowering.program(kernel, sets or {})
    except DiagnosticLimit:
        program = None
    lowering.findings.stop_if_any()
    assert program is not None
    return Lowered(program, lowering.spans, tuple(lowering.constants))


class _TooDeep(Exception):
    """An expression or a body is nested beyond the limit; the finding is recorded."""


@dataclass(slots=True)
class _Lowering:
    """The state of one lowering: findings, constants, spans, and the indices of the aggregates around."""

    findings: Findings
    spans: dict[str, Span] = field(default_factory=dict)
    constants: dict[str, float] = field(default_factory=dict)
    declared: dict[str, Span] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    indices: list[str] = field(default_factory=list)

    # -------------------------------------------------------------------------------------------- the program

    def program(self, kernel: nodes.Program, sets: Mapping[str, nodes.Expression]) -> ir.Program | None:
        self.spans["$"] = kernel.span
        self.lets([item for item in kernel.items if isinstance(item, nodes.Let)], sets)
        pools: list[ir.Pool] = []
        stages: list[ir.Stage] = []
        gauges: list[ir.Gauge] = []
        workload = ir.Workload()
        session: tuple[ir.Statement, ...] = ()
        run: ir.RunBlock | None = None
        share: Any = None
        has_trace = False
        found: dict[str, Span] = {}
        for item in kernel.items:
            try:
                match item:
                    case nodes.Let():
                        pass
                    case nodes.Pool():
                        pools.append(self.pool(item, f"$.pools[{len(pools)}]"))
                    case nodes.Stage():
                        stages.append(self.stage(item, f"$.stages[{len(stages)}]"))
                    case nodes.Gauge():
                        gauges.append(self.gauge(item, f"$.gauges[{len(gauges)}]"))
                    case nodes.Workload():
                        if self.first("workload", item.span, found):
                            has_trace = item.trace is not None
                            workload = self.workload(item)
                    case nodes.Session():
                        if self.first("session", item.span, found):
                            self.spans["$.session"] = item.span
                            session = self.body(item.body, "$.session")
                    case nodes.RunBlock():
                        if self.first("run", item.span, found):
                            run = self.run_block(item)
                    case nodes.Share():
                        if self.first("share", item.span, found):
                            self.spans["$.share"] = item.span
                            share = item.policy
                    case _:
                        raise AssertionError(f"{type(item).__name__} is no kernel item")
            except _TooDeep:
                pass
        self.missing(kernel, [block for block in ("session", "run") if block not in found])
        self.collisions(kernel, has_trace)
        if run is None:
            return None
        return ir.Program(
            version=ir.IR_VERSION,
            pools=tuple(pools),
            stages=tuple(stages),
            share=share,
            workload=workload,
            session=session,
            gauges=tuple(gauges),
            run=run,
        )

    def first(self, block: str, span: Span, found: dict[str, Span]) -> bool:
        """Record a block there is one of; a second is an error."""
        earlier = found.get(block)
        if earlier is None:
            found[block] = span
            return True
        self.findings.add(
            error(
                "duplicate-declaration",
                f"a program has one `{block}`, and this is the second",
                _head(span),
                "declared again",
                secondary=(Label(_head(earlier), "first declared here"),),
            )
        )
        return False

    def missing(self, kernel: nodes.Program, blocks: list[str]) -> None:
        """Report blocks that are not there: where a session goes, or how long the run lasts."""
        if not blocks:
            return
        end = Span(kernel.span.source, kernel.span.end, kernel.span.end)
        examples = {"session": "session { … }", "run": "run { horizon 1000; }"}
        self.findings.add(
            error(
                "missing-declaration",
                f"the program has {' and '.join(f'no `{block}` block' for block in blocks)}",
                end,
                "the program ends here",
                notes=("`session` says what a session does, `run` how long the run lasts",),
                helps=(f"add `{' '.join(examples[block] for block in blocks)}`",),
            )
        )

    def run_block(self, node: nodes.RunBlock) -> ir.RunBlock | None:
        self.spans["$.run"] = node.span
        if node.horizon is None:
            self.findings.add(
                error(
                    "missing-declaration",
                    "the `run` block has no `horizon`, the time at which the run ends",
                    _head(node.span),
                    "ends when?",
                    helps=("write `horizon 1000;` in it",),
                )
            )
            return None
        warmup, seed = self.folded(node.warmup, "$.run.warmup"), self.folded(node.seed, "$.run.seed")
        horizon = self.folded(node.horizon, "$.run.horizon")
        assert horizon is not None
        return ir.RunBlock(
            horizon=horizon,
            warmup=0.0 if warmup is None else warmup,
            seed=1.0 if seed is None else seed,
            arrivals=self.folded(node.arrivals, "$.run.arrivals"),
        )

    # ---------------------------------------------------------------------------------------------- constants

    def lets(self, lets: Sequence[nodes.Let], sets: Mapping[str, nodes.Expression]) -> None:
        """Evaluate the constants in order; each sees those above it."""
        names = [let.name for let in lets]
        for name, value in sets.items():
            if name not in names:
                self.findings.add(
                    error(
                        "unknown-set",
                        f"the program has no `let {name}` that could be set",
                        Span(SourceFile("--set", f"{name}={value.span.source.text}"), 0, len(name)),
                        "no such constant",
                        helps=suggestion(name, names, "constants"),
                    )
                )
        for place, let in enumerate(lets):
            earlier = self.declared.get(let.name)
            if earlier is not None:
                self.findings.add(
                    error(
                        "duplicate-declaration",
                        f"`{let.name}` is declared twice",
                        let.name_span,
                        "declared again",
                        secondary=(Label(earlier, "first declared here"),),
                        helps=("give one of them another name",),
                    )
                )
                continue
            self.declared[let.name] = let.name_span
            self.constants[let.name] = self.constant(let, sets.get(let.name, let.value), names[place:])

    def constant(self, let: nodes.Let, value: nodes.Expression, later: Sequence[str]) -> float:
        """Evaluate one `let`; after an error it counts as 1, so that what reads it is checked all the same."""
        path = f"$.let.{let.name}"
        try:
            result = evaluate(self.expression(value, path, 1), path, self.terms)
        except _TooDeep:
            return 1.0
        except NotConstant as found:
            place = self.spans.get(found.path, value.span)
            helps = found.helps
            if found.name == "not-constant" and place.text in later:
                helps = (f"`{place.text}` is not declared above; a `let` sees the constants above it",)
            elif found.name == "not-constant":
                helps = suggestion(place.text, self.constants, "constants before it") or helps
            self.findings.add(error(found.name, found.message, place, found.label, helps=helps))
            return 1.0
        if math.isnan(result):
            self.findings.add(
                error(
                    "constant-nan",
                    f"the constant `{let.name}` is NaN, which is no number",
                    value.span,
                    "is NaN",
                    notes=("a constant is a number or `inf`; `0/0` and `inf - inf` are neither",),
                )
            )
            return 1.0
        return result

    def collisions(self, kernel: nodes.Program, has_trace: bool) -> None:
        """Report constants whose name is read as something else: an attribute or a name the language supplies."""
        builtin = {*BUILTIN_ATTRIBUTES, *(TRACE_ATTRIBUTES if has_trace else ())}
        for name, span in self.declared.items():
            if name in SUPPLIED:
                where = "is read as infinity" if name == "inf" else f"is read {CONTEXT_VARIABLES[name]}"
                self.taken(name, span, f"`{name}` is a name the language supplies: it {where}")
            elif name in builtin:
                self.taken(name, span, f"`{name}` is an attribute every session has")
        seen: set[str] = set()
        for statement in _assignments(kernel):
            earlier = self.declared.get(statement.name)
            if earlier is not None and statement.name not in seen:
                seen.add(statement.name)
                self.findings.add(
                    error(
                        "name-taken",
                        f"`{statement.name}` is both a constant and a session attribute",
                        statement.name_span,
                        "assigned here",
                        secondary=(Label(earlier, "the constant"),),
                        helps=("give one of them another name",),
                    )
                )

    def taken(self, name: str, span: Span, message: str) -> None:
        self.findings.add(
            error("name-taken", message, span, "needs a name of its own", helps=("give the constant another name",))
        )

    # -------------------------------------------------------------------------------------------- expressions

    def expression(self, node: nodes.Expression, path: str, depth: int) -> ir.Expression:
        """Lower an expression; `depth` counts the forms around it."""
        self.spans[path] = node.span
        if depth > MAX_LOWERED:
            self.too_deep(node.span)
        match node:
            case nodes.Number():
                return _number(node.value)
            case nodes.Name():
                if node.name in self.constants and node.name not in self.indices:
                    return _number(self.constants[node.name])
                return node.name
            case nodes.Indexed():
                return ir.Member(name=node.name, index=self.expression(node.index, f"{path}.index", depth + 1))
            case nodes.Call():
                return ir.Call(function=node.function, args=self.arguments(node, path, depth))
            case nodes.Draw():
                return ir.Draw(
                    distribution=node.distribution, args=self.expressions(node.arguments, f"{path}.args", depth + 1)
                )
            case nodes.Unary():
                operator: Any = node.operator
                return ir.Unary(op=operator, operand=self.expression(node.operand, f"{path}.operand", depth + 1))
            case nodes.Binary():
                operator = node.operator
                return ir.Binary(
                    op=operator,
                    left=self.expression(node.left, f"{path}.left", depth + 1),
                    right=self.expression(node.right, f"{path}.right", depth + 1),
                )
            case nodes.Conditional():
                return ir.Conditional(
                    test=self.expression(node.test, f"{path}.test", depth + 1),
                    then=self.expression(node.then, f"{path}.then", depth + 1),
                    otherwise=self.expression(node.otherwise, f"{path}.otherwise", depth + 1),
                )
            case nodes.Aggregate():
                return self.aggregate(node, path, depth)
        assert_never(node)

    def aggregate(self, node: nodes.Aggregate, path: str, depth: int) -> ir.Expression:
        earlier = self.declared.get(node.index)
        if earlier is not None:
            self.findings.add(
                error(
                    "name-taken",
                    f"the index `{node.index}` is also a constant of the program",
                    node.span,
                    f"`{node.index}` needs a name of its own",
                    secondary=(Label(earlier, "the constant"),),
                    helps=("give the index another name",),
                )
            )
        bound = self.expression(node.bound, f"{path}.bound", depth + 1)
        self.indices.append(node.index)
        body = self.expression(node.body, f"{path}.body", depth + 1)
        self.indices.pop()
        kind: Any = node.kind
        return ir.Aggregate(of=kind, index=node.index, bound=bound, body=body)

    def arguments(self, node: nodes.Call, path: str, depth: int) -> tuple[ir.Expression, ...]:
        """Lower arguments; an observable's first names a pool or stage, never a constant of that name."""
        arguments: list[ir.Expression] = []
        for i, argument in enumerate(node.arguments):
            place = f"{path}.args[{i}]"
            if i == 0 and node.function in MEMBER_FUNCTIONS and isinstance(argument, nodes.Name):
                self.spans[place] = argument.span
                arguments.append(argument.name)
            else:
                arguments.append(self.expression(argument, place, depth + 1))
        return tuple(arguments)

    def expressions(self, items: Sequence[nodes.Expression], path: str, depth: int) -> tuple[ir.Expression, ...]:
        lowered = []
        for i, item in enumerate(items):
            lowered.append(self.expression(item, f"{path}[{i}]", depth))
        return tuple(lowered)

    def optional(self, node: nodes.Expression | None, path: str, depth: int = 1) -> ir.Expression | None:
        return None if node is None else self.expression(node, path, depth)

    def folded(self, node: nodes.Expression | None, path: str) -> ir.Expression | None:
        """Lower an expression in a constant's place to its number; one without a value stays for the linker to word."""
        if node is None:
            return None
        known = len(self.spans)
        lowered = self.expression(node, path, 1)
        try:
            value = evaluate(lowered, path, Terms())
        except NotConstant:
            return lowered
        if math.isnan(value):
            return lowered
        while len(self.spans) > known + 1:  # the number has no parts; they were entered after its own place
            self.spans.popitem()
        return _number(value)

    def reference(self, node: nodes.Reference, path: str, depth: int = 1) -> ir.Reference:
        self.spans[path] = node.span
        if node.index is None:
            return node.name
        return ir.Member(name=node.name, index=self.expression(node.index, f"{path}.index", depth))

    def too_deep(self, span: Span) -> None:
        self.findings.add(
            error(
                "nesting-too-deep",
                f"the program is nested more than {MAX_LOWERED} forms deep here",
                span,
                "too deep",
                helps=("split the expression with `let` or `set`",),
            )
        )
        raise _TooDeep

    # --------------------------------------------------------------------------------------------- statements

    def body(self, statements: Sequence[nodes.Statement], path: str, depth: int = 1) -> tuple[ir.Statement, ...]:
        lowered = []
        for i, statement in enumerate(statements):
            lowered.append(self.statement(statement, f"{path}[{i}]", depth))
        return tuple(lowered)

    def statement(self, node: nodes.Statement, path: str, depth: int) -> ir.Statement:
        self.spans[path] = node.span
        if depth > MAX_LOWERED:
            self.too_deep(node.span)
        deeper = depth + 1
        match node:
            case nodes.Turn():
                return ir.Turn()
            case nodes.End():
                return ir.End()
            case nodes.SetStatement():
                self.spans[f"{path}.name"] = node.name_span
                return ir.Set(name=node.name, value=self.expression(node.value, f"{path}.value", deeper))
            case nodes.Observe():
                self.spans[f"{path}.name"] = node.name_span
                return ir.Observe(name=node.name, value=self.expression(node.value, f"{path}.value", deeper))
            case nodes.Hold():
                return self.hold(node, path, deeper)
            case nodes.Grow():
                return ir.Grow(
                    pool=self.reference(node.pool, f"{path}.pool", deeper),
                    amount=self.expression(node.amount, f"{path}.amount", deeper),
                )
            case nodes.Drop():
                return ir.Drop(pool=self.reference(node.pool, f"{path}.pool", deeper))
            case nodes.Release():
                return ir.Release(pool=self.reference(node.pool, f"{path}.pool", deeper))
            case nodes.Load():
                return ir.Load(
                    pool=self.reference(node.pool, f"{path}.pool", deeper),
                    tokens=self.expression(node.tokens, f"{path}.tokens", deeper),
                )
            case nodes.Run():
                return self.run(node, path, deeper)
            case nodes.Branch():
                assert not node.drawn, "`branch with` survived the expansion"
                return ir.Branch(
                    guard=self.expression(node.guard, f"{path}.guard", deeper),
                    then=self.body(node.then, f"{path}.then", deeper),
                    otherwise=self.body(node.otherwise, f"{path}.otherwise", deeper),
                )
            case nodes.Loop():
                return ir.Loop(body=self.body(node.body, f"{path}.body", deeper))
            case nodes.Choose():
                self.spans[f"{path}.name"] = node.name_span
                return ir.Choose(
                    name=node.name,
                    bound=self.expression(node.bound, f"{path}.bound", deeper),
                    keys=self.expressions(node.keys, f"{path}.keys", deeper),
                )
            case _:
                raise AssertionError(f"{type(node).__name__} is no kernel statement")

    def hold(self, node: nodes.Hold, path: str, depth: int) -> ir.Hold:
        assert not node.bindings, "`at admission` survived the expansion"
        claims = []
        for i, claim in enumerate(node.claims):
            place = f"{path}.pools[{i}]"
            self.spans[place] = claim.span
            claims.append(
                ir.Claim(
                    pool=self.reference(claim.pool, f"{place}.pool", depth),
                    units=self.expression(claim.units, f"{place}.units", depth),
                    reserve=self.optional(claim.reserve, f"{place}.reserve", depth),
                )
            )
        lease = None
        if node.lease is not None:
            self.spans[f"{path}.lease"] = node.lease.span
            lease = ir.Lease(
                pool=self.reference(node.lease.pool, f"{path}.lease.pool", depth),
                seconds=self.expression(node.lease.seconds, f"{path}.lease.seconds", depth),
            )
        return ir.Hold(
            pools=tuple(claims),
            body=self.body(node.body, f"{path}.body", depth),
            reuse=self.optional(node.reuse, f"{path}.reuse", depth),
            cache=self.optional(node.cache, f"{path}.cache", depth),
            lease=lease,
        )

    def run(self, node: nodes.Run, path: str, depth: int) -> ir.Run:
        assert node.stages, "`run` without a stage survived the expansion"
        mode: Any = node.mode
        return ir.Run(
            stages=tuple([self.reference(s, f"{path}.stages[{i}]", depth) for i, s in enumerate(node.stages)]),
            work=self.expression(node.work, f"{path}.work", depth),
            mode=mode,
            growing=None if node.growing is None else self.reference(node.growing, f"{path}.growing", depth),
        )

    # ------------------------------------------------------------------------------------------- declarations

    def pool(self, node: nodes.Pool, path: str) -> ir.Pool:
        self.spans[path] = node.span
        self.spans[f"{path}.name"] = node.name_span
        cap = self.folded(node.cap, f"{path}.cap")
        preempt: Any = node.preempt
        if isinstance(node.preempt, tuple):
            preempt = self.expressions(node.preempt, f"{path}.preempt", 1)
        then: Any = node.preempt_then
        unfit: Any = node.unfit
        return ir.Pool(
            name=node.name,
            size=self.folded(node.size, f"{path}.size"),
            cap="inf" if cap is None else cap,
            block=self.folded(node.block, f"{path}.block"),
            evict=self.expressions(node.evict or (), f"{path}.evict", 1),
            preempt="none" if preempt is None else preempt,
            preempt_then="stop" if then is None else then,
            queue=self.expressions(node.waiting or (), f"{path}.queue", 1),
            admit_via=None if node.admit_via is None else self.reference(node.admit_via, f"{path}.admit_via"),
            spill=None if node.spill is None else self.spill(node.spill, f"{path}.spill"),
            unfit="reject" if unfit is None else unfit,
        )

    def spill(self, node: nodes.Spill, path: str) -> ir.Spill:
        self.spans[path] = node.span
        return ir.Spill(
            pool=self.reference(node.pool, f"{path}.pool"),
            stage=self.reference(node.stage, f"{path}.stage"),
            work=self.expression(node.work, f"{path}.work", 1),
            when=self.expression(node.predicate, f"{path}.when", 1),
        )

    def stage(self, node: nodes.Stage, path: str) -> ir.Stage:
        self.spans[path] = node.span
        self.spans[f"{path}.name"] = node.name_span
        self.spans[f"{path}.kind"] = node.kind.span
        return ir.Stage(
            name=node.name,
            kind=self.stage_kind(node.kind, f"{path}.kind"),
            size=self.folded(node.size, f"{path}.size"),
        )

    def stage_kind(self, node: nodes.StageKind, path: str) -> ir.Fifo | ir.ProcessorSharing | ir.Delay | ir.Step:
        match node:
            case nodes.Fifo():
                servers = self.folded(node.server_count, f"{path}.servers")
                return ir.Fifo(servers=1.0 if servers is None else servers)
            case nodes.ProcessorSharing():
                return ir.ProcessorSharing(capacity=self.expression(node.capacity, f"{path}.capacity", 1))
            case nodes.Delay():
                return ir.Delay()
            case nodes.Step():
                return ir.Step(
                    budget=self.expression(node.budget, f"{path}.budget", 1),
                    cost=self.expression(node.cost, f"{path}.cost", 1),
                    chunk=self.optional(node.chunk, f"{path}.chunk"),
                    serve=self.serve(node, f"{path}.serve"),
                    memory=None if node.memory is None else self.reference(node.memory, f"{path}.memory"),
                )
        assert_never(node)

    def serve(self, node: nodes.Step, path: str) -> Any:
        """Give the serving rule; the IR knows only keys and the exclusive batch."""
        match node.serve:
            case None | "admission":
                return ()
            case "decode first":
                return (ir.Conditional(test="decoding", then=0.0, otherwise=1.0),)
            case "exclusive prefill":
                return "exclusive prefill"
            case tuple(keys):
                return self.expressions(keys, path, 1)
        raise AssertionError(f"no serving rule: {node.serve!r}")

    def gauge(self, node: nodes.Gauge, path: str) -> ir.Gauge:
        self.spans[path] = node.span
        self.spans[f"{path}.name"] = node.name_span
        return ir.Gauge(name=node.name, value=self.expression(node.value, f"{path}.value", 1))

    def workload(self, node: nodes.Workload) -> ir.Workload:
        assert node.session is None, "the session's side survived the expansion"
        path = "$.workload"
        self.spans[path] = node.span
        trace = None
        if node.trace is not None:
            self.spans[f"{path}.trace"] = node.trace.span
            trace = ir.TraceFile(path=node.trace.path, ordered=node.trace.ordered)
        for i, name in enumerate(node.hidden):
            self.spans[f"{path}.hidden[{i}]"] = name.span
        return ir.Workload(
            arrive=ir.NoArrivals() if node.arrive is None else self.arrivals(node.arrive, f"{path}.arrive"),
            trace=trace,
            init=self.body(node.init, f"{path}.init"),
            turn=self.body(node.turn, f"{path}.turn"),
            hidden=tuple([name.name for name in node.hidden]),
        )

    def arrivals(self, node: nodes.Arrive, path: str) -> ir.Arrivals:
        self.spans[path] = node.span
        if node.argument is None:
            return ir.NoArrivals()
        field_name = {"poisson": "rate", "renewal": "gap", "closed": "population", "batch": "count"}[node.kind]
        argument = self.folded(node.argument, f"{path}.{field_name}")
        assert argument is not None
        match node.kind:
            case "poisson":
                return ir.Poisson(rate=argument)
            case "renewal":
                return ir.Renewal(gap=argument)
            case "closed":
                return ir.Closed(population=argument)
            case "batch":
                return ir.Batch(count=argument)
        raise AssertionError(f"no arrivals of kind {node.kind!r}")


def _number(value: float) -> ir.Expression:
    """Write a number as the IR does: infinity by its name."""
    if math.isinf(value):
        return "inf" if value > 0.0 else ir.Unary(op="-", operand="inf")
    return value


def _head(span: Span) -> Span:
    """Give the first line of a span: of a block, its heading."""
    line = span.text.split("\n", 1)[0].split("{", 1)[0].rstrip()
    return Span(span.source, span.start, span.start + max(len(line), 1), span.origin)


def _assignments(kernel: nodes.Program) -> list[nodes.SetStatement | nodes.Choose]:
    """Give every statement that assigns an attribute, in the order of the text."""
    found: list[nodes.SetStatement | nodes.Choose] = []
    pending: list[nodes.Statement] = []
    for item in kernel.items:
        if isinstance(item, nodes.Workload):
            pending += [*item.init, *item.turn]
        elif isinstance(item, nodes.Session):
            pending += item.body
    pending.reverse()
    while pending:
        match pending.pop():
            case nodes.SetStatement() | nodes.Choose() as assignment:
                found.append(assignment)
            case nodes.Branch() as branch:
                pending += [*reversed(branch.otherwise), *reversed(branch.then)]
            case nodes.Hold() | nodes.Loop() as scope:
                pending += reversed(scope.body)
    return found


__all__ = ["Lowered", "ProgramError", "lower"]
