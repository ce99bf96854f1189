"""Tree to canonical text.

Input: any node. Output: text that parses to an equal tree, with the fewest brackets that do so.
Comments are no part of the tree and are not printed. A tree the parser cannot make (an expansion may leave a
negative `Number`) is printed as the nearest expression of the same value.

Layout: two spaces of indentation; braces stay on one line when what is inside is short and has no braces of its own.
"""

from __future__ import annotations

import math
from typing import assert_never

from serq.syntax.expressions import BINDING, COMPARISON
from serq.syntax.nodes import (
    Aggregate,
    Arrive,
    Binary,
    Branch,
    Call,
    Choose,
    Claim,
    Conditional,
    DefinitionCall,
    Delay,
    Draw,
    Drop,
    End,
    Entry,
    EntryCall,
    Expression,
    ExpressionDefinition,
    Fifo,
    Gauge,
    Grow,
    Hold,
    Indexed,
    Item,
    Let,
    Load,
    Loop,
    Mark,
    Name,
    Number,
    Observe,
    Parameter,
    Pool,
    ProcessorSharing,
    Program,
    Pull,
    Queue,
    Reference,
    Release,
    Request,
    Run,
    RunBlock,
    Server,
    Serving,
    Session,
    SetStatement,
    Share,
    Stage,
    StageKind,
    Statement,
    StatementDefinition,
    Step,
    Transfer,
    Turn,
    Unary,
    Use,
    Workload,
)

WIDTH = 100
_INDENT = "  "
_INLINE_STATEMENTS = 3

# How tightly each form binds; the binary operators lie between (see `expressions.BINDING`).
_CONDITIONAL, _PREFIXED, _POWER, _PRIMARY = 0, 6, 7, 8


def print_program(program: Program) -> str:
    """Write a program: an item a line, with a blank line around those that take several."""
    text: list[str] = []
    was_long = False
    for item in program.items:
        lines = _item(item)
        is_long = len(lines) > 1
        if text and (is_long or was_long):
            text.append("")
        text += lines
        was_long = is_long
    return "".join(line + "\n" for line in text)


def print_item(item: Item) -> str:
    """Write one declaration, without a line end."""
    return "\n".join(_item(item))


def print_statement(statement: Statement) -> str:
    """Write one statement, without a line end."""
    return "\n".join(_statement(statement))


def print_expression(tree: Expression) -> str:
    """Write an expression on one line."""
    return _expression(tree, _CONDITIONAL)


def print_reference(reference: Reference) -> str:
    """Write a name with its member index, if it has one."""
    return _member(reference.name, reference.index)


# ------------------------------------------------------------------------------------------------ expressions


def _expression(tree: Expression, lowest: int) -> str:
    """Write a tree, in brackets when it binds less tightly than `lowest`."""
    text, binding = _bound_text(tree)
    return text if binding >= lowest else f"({text})"


def _bound_text(tree: Expression) -> tuple[str, int]:
    """Write a tree and tell how tightly its text binds."""
    match tree:
        case Number(value=value):
            return _number(value), _PRIMARY if value >= 0 and math.copysign(1, value) > 0 else _PREFIXED
        case Name(name=name):
            return name, _PRIMARY
        case Indexed(name=name, index=index):
            return _member(name, index), _PRIMARY
        case Call(function=function, arguments=arguments):
            return function + _arguments(arguments), _PRIMARY
        case Draw(distribution=distribution, arguments=arguments):
            return f"~{distribution}{_arguments(arguments)}", _PREFIXED
        case Unary(operator=operator, operand=operand):
            return operator + _expression(operand, _PREFIXED), _PREFIXED
        case Binary(operator="^", left=left, right=right):
            return f"{_expression(left, _PRIMARY)} ^ {_expression(right, _PREFIXED)}", _POWER
        case Binary(operator=operator, left=left, right=right):
            binding = BINDING[operator]
            to_left = binding + 1 if binding == COMPARISON else binding
            return f"{_expression(left, to_left)} {operator} {_expression(right, binding + 1)}", binding
        case Conditional(test=test, then=then, otherwise=otherwise):
            choice = f"{_expression(then, _CONDITIONAL)} : {_expression(otherwise, _CONDITIONAL)}"
            return f"{_expression(test, _CONDITIONAL + 1)} ? {choice}", _CONDITIONAL
        case Aggregate(kind=kind, index=index, bound=bound, body=body):
            return f"{kind} {index} in {_aggregate_bound(bound)} ({print_expression(body)})", _PRIMARY
    assert_never(tree)


def _aggregate_bound(bound: Expression) -> str:
    """Write an aggregate's bound: a plain name or number, anything else in brackets."""
    text = print_expression(bound)
    is_plain = (isinstance(bound, Name) and "." not in bound.name) or (isinstance(bound, Number) and text[0] != "-")
    return text if is_plain else f"({text})"


def _number(value: float) -> str:
    """Write a number so that it reads back exactly."""
    if math.isnan(value):
        return "(0 / 0)"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value.is_integer() and abs(value) < 1e15:
        return "-0" if value == 0 and math.copysign(1, value) < 0 else str(int(value))
    return repr(value).replace("e+", "e").replace("e-0", "e-")


def _arguments(arguments: tuple[Expression, ...]) -> str:
    """Write arguments or keys in brackets."""
    return "(" + ", ".join(print_expression(argument) for argument in arguments) + ")"


def _bracketed(tree: Expression) -> str:
    """Write an expression in the brackets its form asks for."""
    return f"({print_expression(tree)})"


def _member(name: str, index: Expression | None) -> str:
    """Write a name with its member index, if it has one."""
    return name if index is None else f"{name}[{print_expression(index)}]"


# ------------------------------------------------------------------------------------------------- statements


def _braced(head: str, inner: list[list[str]], tail: str = "") -> list[str]:
    """Write forms in braces behind a head: on one line if that is short, else a form a line."""
    if not inner:
        return [f"{head} {{ }}{tail}"]
    short = len(inner) <= _INLINE_STATEMENTS and all(len(lines) == 1 and "{" not in lines[0] for lines in inner)
    if short and "\n" not in head:
        line = f"{head} {{ {' '.join(lines[0] for lines in inner)} }}{tail}"
        if len(line) <= WIDTH:
            return [line]
    body = [_INDENT + line for lines in inner for line in lines]
    return [*f"{head} {{".split("\n"), *body, f"}}{tail}"]


def _statements(statements: tuple[Statement, ...]) -> list[list[str]]:
    """Write statements, each as its lines.

    No word is reserved, so a call of what is named `else` may follow a branch: an empty `else` keeps the two apart.
    """
    written = [_statement(statement) for statement in statements]
    for statement, lines, (following, *_) in zip(statements, written, written[1:], strict=False):
        if (
            isinstance(statement, Branch)
            and not statement.otherwise
            and following.startswith(("else ", "else(", "else.", "else["))
        ):
            lines[-1] += " else { }"
    return written


def _statement(statement: Statement) -> list[str]:
    """Write one statement as lines."""
    match statement:
        case Hold():
            return _hold(statement)
        case Branch(guard=guard, drawn=drawn, then=then, otherwise=otherwise):
            head = f"branch {'with ' if drawn else ''}{_bracketed(guard)}"
            return _branch(head, _statements(then), _statements(otherwise))
        case Loop(body=body):
            return _braced("loop", _statements(body))
        case _:
            return [_simple(statement) + ";"]


def _branch(head: str, then: list[list[str]], otherwise: list[list[str]]) -> list[str]:
    """Write a branch; both sides on one line, or both on several."""
    if not otherwise:
        return _braced(head, then)
    first, second = _braced(head, then), _braced("else", otherwise)
    if len(first) == 1 and len(second) == 1 and len(first[0]) + len(second[0]) < WIDTH:
        return [f"{first[0]} {second[0]}"]
    body = [_INDENT + line for lines in then for line in lines]
    other = [_INDENT + line for lines in otherwise for line in lines]
    return [f"{head} {{", *body, "} else {", *other, "}"]


def _hold(hold: Hold) -> list[str]:
    """Write a hold, its clauses on lines of their own when the header is long."""
    clauses = ["hold " + ", ".join(_claim(claim) for claim in hold.claims)]
    if hold.reuse is not None:
        clauses.append(f"reuse {_bracketed(hold.reuse)}")
    if hold.bindings:
        bound = ", ".join(f"{binding.name} = {print_expression(binding.value)}" for binding in hold.bindings)
        clauses.append(f"at admission ({bound})")
    head = " ".join(clauses)
    if len(head) > WIDTH - 2:
        head = ("\n" + _INDENT * 3).join(clauses)
    tail = ""
    if hold.cache is not None:
        tail += f" cache {_bracketed(hold.cache)}"
    if hold.lease is not None:
        tail += f" lease {print_reference(hold.lease.pool)} {_bracketed(hold.lease.seconds)}"
    return _braced(head, _statements(hold.body), tail + ";" if tail else "")


def _claim(claim: Claim) -> str:
    """Write one pool of a hold."""
    text = f"{print_reference(claim.pool)} {_bracketed(claim.units)}"
    return text if claim.reserve is None else f"{text} reserve {_bracketed(claim.reserve)}"


def _simple(
    statement: Turn
    | End
    | Request
    | SetStatement
    | Observe
    | Grow
    | Drop
    | Release
    | Load
    | Run
    | Serving
    | Transfer
    | Choose
    | EntryCall
    | Mark
    | DefinitionCall,
) -> str:
    """Write a statement without braces, without its `;`."""
    match statement:
        case Turn():
            return "turn"
        case End():
            return "end"
        case Request(gateway=gateway):
            return "request" if gateway is None else f"request {gateway}"
        case SetStatement(name=name, value=value):
            return f"set {name} = {print_expression(value)}"
        case Observe(name=name, value=value):
            return f"observe {name} = {print_expression(value)}"
        case Grow(pool=pool, amount=amount):
            return f"grow {print_reference(pool)} {_bracketed(amount)}"
        case Drop(pool=pool):
            return f"drop {print_reference(pool)}"
        case Release(pool=pool):
            return f"release {print_reference(pool)}"
        case Load(pool=pool, tokens=tokens):
            return f"load {print_reference(pool)} {_bracketed(tokens)}"
        case Run(stages=stages, mode=mode, work=work, growing=growing):
            words = ["run", *([_references(stages)] if stages else []), *([mode] if mode else []), _bracketed(work)]
            return " ".join(words) + _growing(growing)
        case Serving(verb=verb, index=index, stages=stages, work=work, growing=growing):
            return f"{_placed(verb, index, stages)} {_work(work)}{_growing(growing)}"
        case Transfer(index=index, stages=stages, work=work, source=source, target=target, tokens=tokens):
            return f"{_placed('transfer', index, stages)} {_work(work)}{_from_to(source, target, tokens)}"
        case Choose(name=name, bound=bound, keys=keys):
            return f"choose {name} in {print_expression(bound)} by {_arguments(keys)}"
        case EntryCall(queue=queue, verb=verb, arguments=arguments, source=source, target=target, tokens=tokens):
            call = f"{print_reference(queue)}.{verb} {_arguments(arguments)}"
            return call + _from_to(source, target, tokens)
        case Mark(name=name):
            return f"mark {name}"
        case DefinitionCall(name=name, arguments=arguments):
            return f"{name}{_arguments(arguments)}"
    assert_never(statement)


def _references(references: tuple[Reference, ...]) -> str:
    """Write references between commas."""
    return ", ".join(print_reference(reference) for reference in references)


def _placed(verb: str, index: Expression | None, stages: tuple[Reference, ...]) -> str:
    """Write a serving form's verb and where it runs."""
    if index is not None:
        return f"{verb}[{print_expression(index)}]"
    return f"{verb} on {_references(stages)}" if stages else verb


def _work(tree: Expression) -> str:
    """Write a serving form's work: in brackets for the eye, unless it begins with one (see `StatementParser._work`)."""
    text = print_expression(tree)
    return text if text.startswith("(") else f"({text})"


def _growing(pool: Reference | None) -> str:
    """Write what a run grows on."""
    return "" if pool is None else f" growing {print_reference(pool)}"


def _from_to(source: Reference | None, target: Reference | None, tokens: Expression | None) -> str:
    """Write where KV comes from and goes."""
    text = "" if source is None else f" from {print_reference(source)}"
    if target is not None and tokens is not None:
        text += f" to {print_reference(target)} {_bracketed(tokens)}"
    return text


# ----------------------------------------------------------------------------------------------- declarations


def _item(item: Item) -> list[str]:
    """Write one declaration as lines."""
    match item:
        case Let(name=name, value=value):
            return [f"let {name} = {print_expression(value)};"]
        case Use(path=path):
            return [f'use "{path}";']
        case ExpressionDefinition(name=name, parameters=parameters, value=value):
            return [f"def {name}{_parameters(parameters)} = {print_expression(value)};"]
        case StatementDefinition(name=name, parameters=parameters, body=body):
            return _braced(f"def {name}{_parameters(parameters)}", _statements(body))
        case Pool():
            return _pool(item)
        case Stage(name=name, size=size, kind=kind):
            head = f"stage {_member(name, size)} :"
            return _kind(head, kind)
        case Workload():
            return _workload(item)
        case Session(body=body):
            return _braced("session", _statements(body))
        case Server(body=body):
            return _braced("server", _statements(body))
        case Queue():
            return _queue(item)
        case RunBlock(horizon=horizon, warmup=warmup, seed=seed, arrivals=arrivals):
            values = {"horizon": horizon, "warmup": warmup, "seed": seed, "arrivals": arrivals}
            given = [f"{name} {print_expression(value)};" for name, value in values.items() if value is not None]
            line = f"run {{ {' '.join(given)} }}"
            return [line] if given and len(line) <= WIDTH else _braced("run", [[option] for option in given])
        case Share(policy=policy):
            return [f"share {policy};"]
        case Pull(reader=reader, source=source, latency=latency, policy=policy):
            text = f"{print_reference(reader)} pull {print_reference(source)}"
            text += "" if latency is None else f" latency {print_expression(latency)}"
            return [text + ("" if policy is None else f" share {policy}") + ";"]
        case Gauge(name=name, value=value):
            return [f"gauge {name} = {print_expression(value)};"]
    assert_never(item)


def _parameters(parameters: tuple[Parameter, ...]) -> str:
    """Write the parameters of a definition or an entry."""
    return "(" + ", ".join(parameter.name for parameter in parameters) + ")"


def _pool(pool: Pool) -> list[str]:
    """Write a pool with the options it was given."""
    options: list[str] = []
    if pool.cap is not None:
        options.append(f"cap {print_expression(pool.cap)};")
    if pool.block is not None:
        options.append(f"block {print_expression(pool.block)};")
    if pool.evict is not None:
        options.append(f"evict by {_arguments(pool.evict)};" if pool.evict else "evict lru;")
    if pool.preempt is not None:
        order = pool.preempt if isinstance(pool.preempt, str) else f"by {_arguments(pool.preempt)}"
        options.append(f"preempt {order}{'' if pool.preempt_then is None else f' then {pool.preempt_then}'};")
    if pool.waiting is not None:
        options.append(f"queue by {_arguments(pool.waiting)};" if pool.waiting else "queue fifo;")
    if pool.admit_via is not None:
        options.append(f"admit via {print_reference(pool.admit_via)};")
    if pool.spill is not None:
        spill = pool.spill
        tier = f"{print_reference(spill.pool)} via {print_reference(spill.stage)} {_bracketed(spill.work)}"
        options.append(f"spill {tier} when {_bracketed(spill.predicate)};")
    if pool.unfit is not None:
        options.append(f"unfit {pool.unfit};")
    head = f"pool {_member(pool.name, pool.size)}"
    line = f"{head} {{ {' '.join(options)} }}"
    return [line] if options and len(line) <= WIDTH else _braced(head, [[option] for option in options])


def _kind(head: str, kind: StageKind, tail: str = "") -> list[str]:
    """Write a head and a stage's kind, ended by `;` except behind braces."""
    match kind:
        case Fifo(server_count=None):
            return [f"{head} fifo{tail};"]
        case Fifo(server_count=count):
            assert count is not None
            return [f"{head} fifo {_bracketed(count)}{tail};"]
        case ProcessorSharing(capacity=capacity):
            return [f"{head} ps {_bracketed(capacity)}{tail};"]
        case Delay():
            return [f"{head} delay{tail};"]
        case Step(budget=budget, cost=cost, chunk=chunk, serve=serve, memory=memory):
            options = [f"budget {print_expression(budget)};", f"cost {print_expression(cost)};"]
            if chunk is not None:
                options.append(f"chunk {print_expression(chunk)};")
            if serve is not None:
                order = serve if isinstance(serve, str) else f"by {_arguments(serve)}" if serve else "admission"
                options.append(f"serve {order};")
            if memory is not None:
                options.append(f"memory {print_reference(memory)};")
            end = f"{tail};" if tail else ""
            line = f"{head} step {{ {' '.join(options)} }}{end}"
            return [line] if len(line) <= WIDTH else _braced(f"{head} step", [[option] for option in options], end)
    assert_never(kind)


def _workload(workload: Workload) -> list[str]:
    """Write a workload: arrivals, trace, hidden names, then the blocks."""
    inner: list[list[str]] = []
    if workload.arrive is not None:
        inner.append([_arrive(workload.arrive)])
    if workload.trace is not None:
        inner.append([f'trace "{workload.trace.path}"{" ordered" if workload.trace.ordered else ""};'])
    if workload.hidden:
        inner.append([f"hidden {', '.join(name.name for name in workload.hidden)};"])
    if workload.init:
        inner.append(_braced("init", _statements(workload.init)))
    if workload.turn:
        inner.append(_braced("turn", _statements(workload.turn)))
    if workload.session is not None:
        inner.append(_braced("session", _statements(workload.session)))
    return _braced("workload", inner)


def _arrive(arrive: Arrive) -> str:
    """Write how sessions arrive."""
    return f"arrive {arrive.kind}{'' if arrive.argument is None else ' ' + _bracketed(arrive.argument)};"


def _queue(queue: Queue) -> list[str]:
    """Write a station: pools, `serve`, `nic`, entries."""
    inner = [_pool(pool) for pool in queue.pools]
    if queue.serve is not None:
        latency = queue.serve.latency
        inner.append(
            _kind("serve", queue.serve.kind, "" if latency is None else f" latency {print_expression(latency)}")
        )
    if queue.nic is not None:
        inner.append(_kind("nic", queue.nic))
    inner += [_entry(entry) for entry in queue.entries]
    roles = f" : {', '.join(role.name for role in queue.roles)}" if queue.roles else ""
    return _braced(f"queue {_member(queue.name, queue.size)}{roles}", inner)


def _entry(entry: Entry) -> list[str]:
    """Write an entry."""
    head = entry.verb
    if entry.parameters:
        head += " " + _parameters(entry.parameters)
    if entry.source is not None:
        head += f" from {entry.source.name}"
    return _braced(head, _statements(entry.body))
