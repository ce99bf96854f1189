"""Expressions linked: names become slots and members, constants are folded, aggregates written out.

Input: an IR expression and the moment it is read at. Output: a `LinkedExpression` without aggregates and `blocksize`.
Invariants: folding goes bottom up and never across a draw; `&&`, `||` and `?:` with a constant test are the side that
counts; a folded value is the one evaluation would give, to the last bit. After a finding the result is an expression
of op "unknown", which takes in what is around it, so that one mistake is one error.

Reference: language §2, Expressions, and §3, Gauges; notes §1 and §2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import assert_never

from serq.diagnostics.suggest import suggestion
from serq.ir import model as ir
from serq.ir.evaluate import (
    NotConstant,
    Terms,
    apply_binary,
    apply_function,
    arity_message,
    check_function,
    evaluate,
)
from serq.ir.vocabulary import (
    BLOCK_SIZE,
    CONTEXT_VARIABLES,
    DISTRIBUTIONS,
    FUNCTIONS,
    MEMBER_FUNCTIONS,
    POOL_OBSERVABLES,
    TRACE_ATTRIBUTES,
)
from serq.link.context import Context, Family, named
from serq.link.families import UNKNOWN, check_index, find
from serq.link.linked import LinkedExpression, LinkedReference
from serq.link.moments import Moment

Indices = Mapping[str, float]
NO_INDICES: Indices = {}


def link_expression(
    context: Context, expression: ir.Expression, path: str, moment: Moment, indices: Indices = NO_INDICES
) -> LinkedExpression:
    """Link an expression.

    Parameters
    ----------
    moment : when it is read
    indices : values of the indices of the aggregates around
    """
    match expression:
        case float() | int():
            return constant(context, float(expression), path)
        case str():
            return _name(context, expression, path, moment, indices)
        case ir.Member():
            context.error("not-a-number", f"`{expression.name}[…]` is a pool or stage, and this needs a number", path)
            return unknown(context, path)
        case ir.Call():
            return _call(context, expression, path, moment, indices)
        case ir.Draw():
            return _draw(context, expression, path, moment, indices)
        case ir.Unary():
            operand = link_expression(context, expression.operand, f"{path}.operand", moment, indices)
            if operand.op == "const":
                value = -operand.number if expression.op == "-" else (1.0 if operand.number == 0.0 else 0.0)
                return constant(context, value, path)
            return node(context, "negate" if expression.op == "-" else "not", (operand,), path)
        case ir.Binary():
            left = link_expression(context, expression.left, f"{path}.left", moment, indices)
            right = link_expression(context, expression.right, f"{path}.right", moment, indices)
            return _binary(context, expression.op, left, right, path)
        case ir.Conditional():
            test = link_expression(context, expression.test, f"{path}.test", moment, indices)
            then = link_expression(context, expression.then, f"{path}.then", moment, indices)
            otherwise = link_expression(context, expression.otherwise, f"{path}.otherwise", moment, indices)
            if test.op == "const":
                return then if test.number != 0.0 else otherwise
            return node(context, "if", (test, then, otherwise), path)
        case ir.Aggregate():
            return _aggregate(context, expression, path, moment, indices)
    assert_never(expression)


def constant(context: Context, value: float, path: str) -> LinkedExpression:
    """Make a number."""
    return LinkedExpression("const", number=value, site=context.site(path))


def unknown(context: Context, path: str) -> LinkedExpression:
    """Make what stands for an expression with a finding; a program that has one is never linked."""
    return LinkedExpression("unknown", site=context.site(path))


def node(
    context: Context,
    op: str,
    arguments: tuple[LinkedExpression, ...],
    path: str,
    *,
    name: str = "",
    reference: LinkedReference | None = None,
) -> LinkedExpression:
    """Make a node that is evaluated, unknown when a part of it is."""
    for argument in arguments:
        if argument.op == "unknown":
            return unknown(context, path)
    return LinkedExpression(op, arguments, name=name, reference=reference, site=context.site(path))


def _binary(
    context: Context, operator: str, left: LinkedExpression, right: LinkedExpression, path: str
) -> LinkedExpression:
    if left.op == "const":
        if operator == "&&" and left.number == 0.0:
            return constant(context, 0.0, path)
        if operator == "||" and left.number != 0.0:
            return constant(context, 1.0, path)
        if right.op == "const":
            return constant(context, apply_binary(operator, left.number, right.number), path)
    return node(context, operator, (left, right), path)


# ------------------------------------------------------------------------------------------------------ names


def _name(context: Context, name: str, path: str, moment: Moment, indices: Indices) -> LinkedExpression:
    if name in indices:
        return constant(context, indices[name], path)
    if name == "inf":
        return constant(context, math.inf, path)
    if name in CONTEXT_VARIABLES:
        if name in moment.context:
            return LinkedExpression("context", name=name, site=context.site(path))
        _elsewhere(context, name, path, moment)
    elif name not in context.slots:
        _unknown(context, name, path)
    elif not moment.attributes:
        context.error(
            "no-session-here",
            f"`{name}` is a session attribute, and {moment.phrase} has no session to read it from",
            path,
            "of which session?",
            helps=("read the state of pools and stages instead",) if moment.live else (),
        )
    elif name in context.hidden and not moment.hidden:
        place = context.program.workload.hidden.index(name)
        context.error(
            "hidden-read",
            f"`{name}` is hidden from the scheduler, and the scheduler reads {moment.phrase}",
            path,
            "the scheduler does not know it",
            also=((f"$.workload.hidden[{place}]", "hidden here"),),
            helps=("read a bound the scheduler knows, an attribute of its own",),
        )
    else:
        return LinkedExpression("attribute", slot=context.slots[name], name=name, site=context.site(path))
    return unknown(context, path)


def _elsewhere(context: Context, name: str, path: str, moment: Moment) -> None:
    if name == "now":
        reason = (
            "the clock moves between events, and a gauge is held constant between them"
            if moment.still
            else "it is made of constants and draws"
        )
        context.error("wrong-moment", f"`now` cannot be read in {moment.phrase}: {reason}", path, "does not exist here")
        return
    context.error(
        "wrong-moment",
        f"`{name}` exists {CONTEXT_VARIABLES[name]}, and this is {moment.phrase}",
        path,
        "does not exist here",
    )


def _unknown(context: Context, name: str, path: str) -> None:
    if name in context.pools or name in context.stages:
        kind = "pool" if name in context.pools else "stage"
        helps: tuple[str, ...] = (
            f"read its state: `used({name})`, `free({name})` …"
            if kind == "pool"
            else f"read its state: `queue({name})` …",
        )
        context.error("not-a-number", f"`{name}` is a {kind}, and this needs a number", path, f"a {kind}", helps=helps)
        return
    known = [*context.slots, *context.constants, *CONTEXT_VARIABLES, "inf"]
    helps = suggestion(name, known, "names")
    if name in TRACE_ATTRIBUTES:
        helps = (f"`{name}` exists with a trace; without one, `set` it",)
    elif name in MEMBER_FUNCTIONS or name in FUNCTIONS:
        helps = (f"`{name}` is called with its arguments: `{name}(…)`",)
    context.error(
        "unknown-name",
        f"no constant or session attribute is called `{name}`",
        path,
        "not defined",
        helps=helps,
    )


# -------------------------------------------------------------------------------------------- calls and draws


def _call(context: Context, call: ir.Call, path: str, moment: Moment, indices: Indices) -> LinkedExpression:
    arity = MEMBER_FUNCTIONS.get(call.function)
    if arity is not None:
        return _observable(context, call, arity, path, moment, indices)
    arguments = []
    for i, argument in enumerate(call.args):  # a loop, not a comprehension: half the frames in a deep expression
        arguments.append(link_expression(context, argument, f"{path}.args[{i}]", moment, indices))
    try:
        check_function(call, path)
    except NotConstant as found:
        helps = suggestion(call.function, [*FUNCTIONS, *MEMBER_FUNCTIONS], "functions")
        misspelt = found.name == "unknown-function"
        context.error(found.name, found.message, found.path, found.label, helps=helps if misspelt else ())
        return unknown(context, path)
    if {argument.op for argument in arguments} == {"const"}:
        return constant(context, apply_function(call.function, [a.number for a in arguments]), path)
    return node(context, call.function, tuple(arguments), path)


def _observable(
    context: Context, call: ir.Call, arity: int, path: str, moment: Moment, indices: Indices
) -> LinkedExpression:
    function = call.function
    if len(call.args) != arity:
        context.error("function-arity", arity_message(f"`{function}`", arity, len(call.args)), path)
        return unknown(context, path)
    if not _may_observe(context, function, path, moment):
        return unknown(context, path)
    kind = "pool" if function in POOL_OBSERVABLES or function in BLOCK_SIZE else "stage"
    member = call.args[0]
    if not isinstance(member, str | ir.Member):
        context.error(
            UNKNOWN[kind], f"`{function}` reads a {kind}, and this is none", f"{path}.args[0]", f"not a {kind}"
        )
        return unknown(context, path)
    reference = link_reference(context, member, kind, f"{path}.args[0]", moment, indices)
    if reference is None:
        return unknown(context, path)
    if function == "blocksize":
        return _block_size(context, member, path)
    if function == "budget_left":
        family = context.stages[named(member)]
        if not isinstance(context.program.stages[family.position].kind, ir.Step):
            context.error(
                "not-a-step-stage",
                f"`budget_left` reads a step stage, and `{family.name}` is none",
                f"{path}.args[0]",
                "no budget here",
                also=((f"{family.path}.kind", "its kind"),),
            )
    arguments = []
    for i, argument in enumerate(call.args[1:], 1):
        arguments.append(link_expression(context, argument, f"{path}.args[{i}]", moment, indices))
    return node(context, function, tuple(arguments), path, reference=reference)


def _may_observe(context: Context, function: str, path: str, moment: Moment) -> bool:
    """Tell whether the moment can read an observable, and record why when it cannot."""
    if function in BLOCK_SIZE:
        return True
    if not moment.live:
        message = f"`{function}(…)` cannot be read in {moment.phrase}, which is made of constants and draws"
        context.error("not-readable", message, path, "reads the state of the deployment")
        return False
    if function == "cachedin" and not moment.own_prefix:
        message = f"`cachedin` is the session's own cached prefix, and {moment.phrase} has no session"
        context.error("no-session-here", message, path, "of which session?")
        return False
    if function == "budget_left" and not moment.budget_left:
        message = f"`budget_left(…)` cannot be read in {moment.phrase}: {moment.no_budget}"
        context.error("not-readable", message, path, "cannot be read here")
        return False
    if function == "work" and moment.still:
        message = (
            f"`work(…)` cannot be read in {moment.phrase}: the work left falls between events, and a gauge is held "
        )
        context.error("not-readable", f"{message}constant between them", path, "cannot be read here")
        return False
    return True


def _block_size(context: Context, member: ir.Reference, path: str) -> LinkedExpression:
    family = context.pools[named(member)]
    block = context.program.pools[family.position].block
    if block is None:
        context.error(
            "no-block",
            f"`blocksize({family.name})`: pool `{family.name}` has no `block`",
            path,
            "has no blocks",
            also=((f"{family.path}.name", "declared here"),),
        )
        return unknown(context, path)
    try:
        value = evaluate(block, f"{family.path}.block", Terms())
    except NotConstant:  # reported where the pool is linked
        value = 0.0
    return constant(context, value, path)


def _draw(context: Context, draw: ir.Draw, path: str, moment: Moment, indices: Indices) -> LinkedExpression:
    arguments = []
    for i, argument in enumerate(draw.args):
        arguments.append(link_expression(context, argument, f"{path}.args[{i}]", moment, indices))
    arity = DISTRIBUTIONS.get(draw.distribution)
    if arity is None:
        context.error(
            "unknown-distribution",
            f"no distribution is called `{draw.distribution}`",
            path,
            "not defined",
            helps=suggestion(draw.distribution, DISTRIBUTIONS, "distributions"),
        )
    elif arity != len(draw.args):
        context.error("distribution-arity", arity_message(f"`~{draw.distribution}`", arity, len(draw.args)), path)
    elif not moment.draws:
        context.error(
            "draw-not-possible",
            f"`~{draw.distribution}` draws in {moment.phrase}: {moment.no_draws}",
            path,
            "draws here",
            helps=("draw into a session attribute first, and read that",) if moment.attributes else (),
        )
    else:
        return node(context, "draw", tuple(arguments), path, name=draw.distribution)
    return unknown(context, path)


# ------------------------------------------------------------------------------------ references and aggregates


def link_reference(
    context: Context, reference: ir.Reference, kind: str, path: str, moment: Moment, indices: Indices = NO_INDICES
) -> LinkedReference | None:
    """Link a pool or stage, or a member of a family; None after a finding."""
    family = find(context, named(reference), kind, path)
    if family is None:
        if isinstance(reference, ir.Member):
            link_expression(context, reference.index, f"{path}.index", moment, indices)
        return None
    site = context.site(path)
    if isinstance(reference, str):
        if family.count == 1:
            return LinkedReference(family.base, 1, None, site)
        context.error(
            "family-not-indexed",
            f"{kind} `{family.name}` is a family of {family.count}, and this does not say which member",
            path,
            "which one?",
            also=((f"{family.path}.name", "a family"),),
            helps=(f"write `{family.name}[j]`, j from 0 to {family.count - 1}",),
        )
        return None
    return _member(context, reference, family, kind, path, moment, indices)


def _member(
    context: Context,
    reference: ir.Member,
    family: Family,
    kind: str,
    path: str,
    moment: Moment,
    indices: Indices,
) -> LinkedReference | None:
    index = link_expression(context, reference.index, f"{path}.index", moment, indices)
    if index.op == "unknown":
        return None
    if index.op == "const":
        if not check_index(context, index.number, family, kind, f"{path}.index"):
            return None
        return LinkedReference(family.base + int(index.number), 1, None, context.site(path))
    if moment.still:
        context.error(
            "index-not-constant",
            f"the index of `{family.name}[…]` in {moment.phrase} is read from the state, and needs to be a number",
            f"{path}.index",
            "not a number",
            notes=("reading a gauge cannot fail a run, so its members are known",),
            helps=(f"write a number, or an aggregate: `max k in {family.count} (… {family.name}[k] …)`",),
        )
        return None
    return LinkedReference(family.base, family.count, index, context.site(path))


def _aggregate(
    context: Context, aggregate: ir.Aggregate, path: str, moment: Moment, indices: Indices
) -> LinkedExpression:
    """Write the terms out, the first with index 0, and combine them from the left."""
    _check_index_name(context, aggregate, path)
    try:
        bound = evaluate(aggregate.bound, f"{path}.bound", context.terms, indices)
        count = context.terms.take(bound, aggregate, path)
    except NotConstant as found:
        notes = (
            ("how many terms an aggregate has is known before the program runs",)
            if found.name == "not-constant"
            else ()
        )
        context.error(found.name, found.message, found.path, found.label, notes=notes, helps=found.helps)
        return unknown(context, path)
    operator = "+" if aggregate.of == "sum" else aggregate.of
    around = dict(indices)
    total: LinkedExpression | None = None
    for index in range(count):
        around[aggregate.index] = float(index)
        term = link_expression(context, aggregate.body, f"{path}.body", moment, around)
        if total is None:
            total = term
        elif total.op == "const" and term.op == "const":
            both = [total.number, term.number]
            value = total.number + term.number if operator == "+" else apply_function(operator, both)
            total = constant(context, value, path)
        else:
            total = node(context, operator, (total, term), path)
    assert total is not None
    return total


def _check_index_name(context: Context, aggregate: ir.Aggregate, path: str) -> None:
    """Report an index called like something the program has."""
    name = aggregate.index
    if name in CONTEXT_VARIABLES or name == "inf":
        what = "a name the language supplies"
    elif name in context.slots:
        what = "a session attribute"
    elif name in context.pools:
        what = "a pool"
    elif name in context.stages:
        what = "a stage"
    else:
        return
    assigned = context.assigned.get(name)
    context.error(
        "name-taken",
        f"the index `{name}` is also {what}",
        path,
        f"`{name}` needs a name of its own",
        also=() if assigned is None else ((assigned, "the attribute"),),
        helps=("give the index another name",),
    )
