"""The values of constant expressions, and the arithmetic that folding shares with them.

Input: an IR expression. Output: a float, or `NotConstant` with the place and the reason.
Invariants: the value is the one the engine would compute; `&&`, `||` and `?:` evaluate only the side that is taken.

Reference: language §2, Expressions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from serq.arithmetic import (
    compare,
    divide,
    exponential,
    is_integer,
    logarithm,
    maximum,
    minimum,
    power,
    round_down,
    round_up,
    square_root,
)
from serq.ir import model as ir
from serq.ir.vocabulary import CONTEXT_VARIABLES, FUNCTIONS, MEMBER_FUNCTIONS

MAX_TERMS = 4096
"""So many terms may a whole program's aggregates write out, nested ones multiplied."""


class NotConstant(Exception):
    """An expression in a constant's place is none.

    Attributes
    ----------
    name : of the diagnostic
    path : of the part that is at fault
    message, helps : the wording
    label : a few words at the place
    """

    def __init__(self, name: str, path: str, message: str, label: str = "", helps: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.path = path
        self.message = message
        self.label = label
        self.helps = helps


class Terms:
    """Counts the terms that aggregates write out."""

    def __init__(self) -> None:
        self.count = 0

    def take(self, count: float, aggregate: ir.Aggregate, path: str) -> int:
        """Check an aggregate's bound and count its terms; `NotConstant` when there cannot be so many."""
        head = f"{aggregate.of} {aggregate.index} in"
        if not is_integer(count) or count < 1.0:
            raise NotConstant(
                "aggregate-bound",
                f"{path}.bound",
                f"`{head} {number(count)}`: an aggregate needs a whole number of terms, at least 1",
                f"is {number(count)}",
            )
        self.count += int(min(count, MAX_TERMS + 1.0))
        if self.count > MAX_TERMS:
            raise NotConstant(
                "aggregate-too-large",
                path,
                f"`{head} {number(count)}` brings the aggregates of the program to more than {MAX_TERMS} terms",
                "written out here",
                ("each aggregate is written out term by term, a nested one once for every term around it",),
            )
        return int(count)


def number(value: float) -> str:
    """Write a number as a person would: no trailing `.0`."""
    if math.isnan(value):
        return "NaN"
    if is_integer(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def apply_function(function: str, values: list[float]) -> float:
    """Compute a function of numbers; the count of values is the function's arity."""
    a = values[0]
    match function:
        case "min":
            return minimum(a, values[1])
        case "max":
            return maximum(a, values[1])
        case "pow":
            return power(a, values[1])
        case "abs":
            return abs(a)
        case "floor":
            return round_down(a)
        case "ceil":
            return round_up(a)
        case "sqrt":
            return square_root(a)
        case "exp":
            return exponential(a)
        case "ln":
            return logarithm(a)
    raise AssertionError(f"no function `{function}`")


def apply_binary(operator: str, a: float, b: float) -> float:
    """Compute an operator of two numbers, both of them evaluated."""
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return divide(a, b)
        case "^":
            return power(a, b)
        case "&&":
            return 1.0 if a != 0.0 and b != 0.0 else 0.0
        case "||":
            return 1.0 if a != 0.0 or b != 0.0 else 0.0
    return compare(operator, a, b)


def combine(aggregate: str, terms: list[float]) -> float:
    """Put the terms of an aggregate together from the left."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term if aggregate == "sum" else apply_function(aggregate, [total, term])
    return total


def evaluate(expression: ir.Expression, path: str, terms: Terms, indices: Mapping[str, float] | None = None) -> float:
    """Give the value of a constant expression.

    Parameters
    ----------
    path : of the expression
    terms : counts the terms of aggregates
    indices : values of the indices of the aggregates around

    Raises
    ------
    NotConstant : at the first part that has no value before the program runs
    """
    match expression:
        case float() | int():
            return float(expression)
        case str():
            if expression == "inf":
                return math.inf
            if indices and expression in indices:
                return indices[expression]
            raise _no_constant(expression, path)
        case ir.Unary():
            value = evaluate(expression.operand, f"{path}.operand", terms, indices)
            return -value if expression.op == "-" else (1.0 if value == 0.0 else 0.0)
        case ir.Binary():
            left = evaluate(expression.left, f"{path}.left", terms, indices)
            if (expression.op == "&&" and left == 0.0) or (expression.op == "||" and left != 0.0):
                return apply_binary(expression.op, left, left)
            return apply_binary(expression.op, left, evaluate(expression.right, f"{path}.right", terms, indices))
        case ir.Conditional():
            if evaluate(expression.test, f"{path}.test", terms, indices) != 0.0:
                return evaluate(expression.then, f"{path}.then", terms, indices)
            return evaluate(expression.otherwise, f"{path}.otherwise", terms, indices)
        case ir.Call():
            return _call(expression, path, terms, indices)
        case ir.Aggregate():
            bound = evaluate(expression.bound, f"{path}.bound", terms, indices)
            count = terms.take(bound, expression, path)
            around = dict(indices or {})
            values = []
            for index in range(count):
                around[expression.index] = float(index)
                values.append(evaluate(expression.body, f"{path}.body", terms, around))
            return combine(expression.of, values)
        case ir.Draw():
            raise NotConstant(
                "not-constant",
                path,
                f"`~{expression.distribution}` draws a sample, and a constant has one value",
                "draws here",
                ("a constant is known before the program runs",),
            )
        case ir.Member():
            raise NotConstant("not-constant", path, f"`{expression.name}[…]` is no number", "not a number")
    raise AssertionError(f"no expression: {expression!r}")


def _call(call: ir.Call, path: str, terms: Terms, indices: Mapping[str, float] | None) -> float:
    if call.function in MEMBER_FUNCTIONS:
        helps: tuple[str, ...] = ()
        if call.function == "blocksize":
            helps = ("name the size with a `let` that the pool's `block` and this constant both use",)
        raise NotConstant(
            "not-constant",
            path,
            f"`{call.function}(…)` is read while the program runs, and a constant is known before",
            "not a constant",
            helps,
        )
    check_function(call, path)
    return apply_function(
        call.function, [evaluate(arg, f"{path}.args[{i}]", terms, indices) for i, arg in enumerate(call.args)]
    )


def check_function(call: ir.Call, path: str) -> None:
    """Raise `NotConstant` when there is no such function of numbers, or not with so many arguments."""
    arity = FUNCTIONS.get(call.function)
    if arity is None:
        raise NotConstant(
            "unknown-function",
            path,
            f"no function or observable is named `{call.function}`",
            "not defined",
        )
    if len(call.args) != arity:
        raise NotConstant("function-arity", path, arity_message(f"`{call.function}`", arity, len(call.args)))


def arity_message(what: str, arity: int, given: int) -> str:
    """Word a wrong count of arguments."""
    return (
        f"{what} takes {arity} argument{'' if arity == 1 else 's'}, and {given} {'is' if given == 1 else 'are'} given"
    )


def _no_constant(name: str, path: str) -> NotConstant:
    if name in CONTEXT_VARIABLES:
        message = f"`{name}` is read while the program runs, and a constant is known before"
    else:
        message = f"`{name}` is not a constant"
    return NotConstant(
        "not-constant",
        path,
        message,
        "not a constant",
        ("a constant is written with numbers, `inf` and `let`s above it",),
    )
