"""Expressions as objects that evaluate themselves.

Input: the world at the moment of evaluation (its clock, the session entered, the context variables the moment sets).
Output: a float; tests give 0 and 1, anything but 0 is true.
Invariants: evaluation changes nothing but the random stream a draw takes from. The linker has checked that an
expression
only reads what its moment has (language §2, Moments).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from serq.arithmetic import (
    divide,
    exponential,
    logarithm,
    maximum,
    minimum,
    power,
    round_down,
    round_up,
    square_root,
)
from serq.engine.results import RunError, shown

if TYPE_CHECKING:
    from serq.engine.pool import Pool
    from serq.engine.stage import Stage
    from serq.engine.world import World


class Expression:
    """One node; `site` leads back to the program's text."""

    def __init__(self, site: int) -> None:
        self.site = site

    def evaluate(self, w: World) -> float:
        """Give the value now."""
        raise NotImplementedError


def amount(w: World, expression: Expression, what: str) -> float:
    """Evaluate an amount: a number of 0 or more, else a run error that names it."""
    value = expression.evaluate(w)
    if value >= 0.0:
        return value
    raise not_an_amount(expression, value, what)


def not_an_amount(expression: Expression, value: float, what: str) -> RunError:
    """Word what is wrong with an amount that is negative or NaN."""
    return RunError(
        "amount-not-valid", f"the {what} is {shown(value)}; it needs to be a number of 0 or more", expression.site
    )


class Constant(Expression):
    """A number."""

    def __init__(self, value: float, site: int) -> None:
        super().__init__(site)
        self.value = value

    def evaluate(self, w: World) -> float:
        return self.value


class Attribute(Expression):
    """The value of the entered session's attribute."""

    def __init__(self, slot: int, site: int) -> None:
        super().__init__(site)
        self.slot: i64 = slot

    def evaluate(self, w: World) -> float:
        return w.attributes[self.slot]


class Add(Expression):
    """`left + right`."""

    def __init__(self, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        return self.left.evaluate(w) + self.right.evaluate(w)


class Subtract(Expression):
    """`left - right`."""

    def __init__(self, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        return self.left.evaluate(w) - self.right.evaluate(w)


class Multiply(Expression):
    """`left * right`."""

    def __init__(self, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        return self.left.evaluate(w) * self.right.evaluate(w)


class Divide(Expression):
    """`left / right`; a division by zero is inf or NaN."""

    def __init__(self, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        return divide(self.left.evaluate(w), self.right.evaluate(w))


class Power(Expression):
    """`left ^ right`."""

    def __init__(self, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        return power(self.left.evaluate(w), self.right.evaluate(w))


class Minimum(Expression):
    """The smaller of two."""

    def __init__(self, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        return minimum(self.left.evaluate(w), self.right.evaluate(w))


class Maximum(Expression):
    """The greater of two."""

    def __init__(self, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        return maximum(self.left.evaluate(w), self.right.evaluate(w))


# What a chain of many terms gives.
SUM: Final = 0
LEAST: Final = 1
GREATEST: Final = 2


class Chain(Expression):
    """An aggregate written out: its terms from the left, in a loop rather than as deep as there are terms."""

    def __init__(self, kind: int, terms: list[Expression], site: int) -> None:
        super().__init__(site)
        self.kind = kind
        self.terms: Final = terms

    def evaluate(self, w: World) -> float:
        kind = self.kind
        result = self.terms[0].evaluate(w)
        for i in range(1, len(self.terms)):
            value = self.terms[i].evaluate(w)
            if kind == SUM:
                result += value
            elif kind == LEAST:
                result = minimum(result, value)
            else:
                result = maximum(result, value)
        return result


# A comparison's operator as a small integer, so that one class serves all six.
EQUAL: Final = 0
DIFFERENT: Final = 1
LESS: Final = 2
AT_MOST: Final = 3
GREATER: Final = 4
AT_LEAST: Final = 5


class Comparison(Expression):
    """One of the six comparisons: 0 or 1."""

    def __init__(self, operator: int, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.operator: i64 = operator
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        a = self.left.evaluate(w)
        b = self.right.evaluate(w)
        operator = self.operator
        if operator == 2:
            holds = a < b
        elif operator == 4:
            holds = a > b
        elif operator == 0:
            holds = a == b
        elif operator == 3:
            holds = a <= b
        elif operator == 5:
            holds = a >= b
        else:
            holds = a != b
        return 1.0 if holds else 0.0


class And(Expression):
    """`left && right`; the right side is read only when the left is true."""

    def __init__(self, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        if self.left.evaluate(w) == 0.0:
            return 0.0
        return 1.0 if self.right.evaluate(w) != 0.0 else 0.0


class Or(Expression):
    """`left || right`; the right side is read only when the left is false."""

    def __init__(self, left: Expression, right: Expression, site: int) -> None:
        super().__init__(site)
        self.left: Final = left
        self.right: Final = right

    def evaluate(self, w: World) -> float:
        if self.left.evaluate(w) != 0.0:
            return 1.0
        return 1.0 if self.right.evaluate(w) != 0.0 else 0.0


class Conditional(Expression):
    """`test ? then : otherwise`."""

    def __init__(self, test: Expression, then: Expression, otherwise: Expression, site: int) -> None:
        super().__init__(site)
        self.test: Final = test
        self.then: Final = then
        self.otherwise: Final = otherwise

    def evaluate(self, w: World) -> float:
        if self.test.evaluate(w) != 0.0:
            return self.then.evaluate(w)
        return self.otherwise.evaluate(w)


# Functions of one operand, by a small integer.
NEGATE: Final = 0
NOT: Final = 1
ABSOLUTE: Final = 2
FLOOR: Final = 3
CEILING: Final = 4
SQUARE_ROOT: Final = 5
EXPONENTIAL: Final = 6
LOGARITHM: Final = 7


class Function(Expression):
    """A function of one operand."""

    def __init__(self, function: int, operand: Expression, site: int) -> None:
        super().__init__(site)
        self.function: i64 = function
        self.operand: Final = operand

    def evaluate(self, w: World) -> float:
        x = self.operand.evaluate(w)
        function = self.function
        if function == 0:
            return -x
        if function == 3:
            return round_down(x)
        if function == 4:
            return round_up(x)
        if function == 1:
            return 1.0 if x == 0.0 else 0.0
        if function == 2:
            return abs(x)
        if function == 5:
            return square_root(x)
        if function == 6:
            return exponential(x)
        return logarithm(x)


# ---------------------------------------------------------------------------------------------------- draws


class Exponential(Expression):
    """-mean ln(1 - U)."""

    def __init__(self, mean: Expression, site: int) -> None:
        super().__init__(site)
        self.mean: Final = mean

    def evaluate(self, w: World) -> float:
        mean = self.mean.evaluate(w)
        return -mean * math.log(1.0 - w.uniform())


class ExponentialAround(Expression):
    """-mean ln(1 - U) of a mean that is a constant."""

    def __init__(self, mean: float, site: int) -> None:
        super().__init__(site)
        self.factor = -mean

    def evaluate(self, w: World) -> float:
        return self.factor * math.log(1.0 - w.uniform())


class Uniform(Expression):
    """A draw from [low, high)."""

    def __init__(self, low: Expression, high: Expression, site: int) -> None:
        super().__init__(site)
        self.low: Final = low
        self.high: Final = high

    def evaluate(self, w: World) -> float:
        low = self.low.evaluate(w)
        high = self.high.evaluate(w)
        return low + (high - low) * w.uniform()


class Erlang(Expression):
    """The sum of k exponential phases of mean/k."""

    def __init__(self, phases: Expression, mean: Expression, site: int) -> None:
        super().__init__(site)
        self.phases: Final = phases
        self.mean: Final = mean

    def evaluate(self, w: World) -> float:
        phases = self.phases.evaluate(w)
        mean = self.mean.evaluate(w)
        if not (1.0 <= phases <= 1e6) or phases != round_down(phases):
            raise RunError(
                "distribution-parameter",
                f"`~erlang` needs a whole number of phases from 1 to 1000000, and got {shown(phases)}",
                self.site,
            )
        total = 0.0
        for _ in range(int(phases)):
            total -= math.log(1.0 - w.uniform())
        return total * (mean / phases)


class HyperExponential(Expression):
    """Two exponential branches with balanced means."""

    def __init__(self, mean: Expression, cv2: Expression, site: int) -> None:
        super().__init__(site)
        self.mean: Final = mean
        self.cv2: Final = cv2

    def evaluate(self, w: World) -> float:
        mean = self.mean.evaluate(w)
        cv2 = self.cv2.evaluate(w)
        if not cv2 >= 1.0:
            raise RunError(
                "distribution-parameter",
                f"`~h2` needs a squared coefficient of variation of 1 or more, and got {cv2!r}",
                self.site,
            )
        p = (1.0 + math.sqrt((cv2 - 1.0) / (cv2 + 1.0))) / 2.0
        share = p if w.uniform() < p else 1.0 - p
        return -(mean / (2.0 * share)) * math.log(1.0 - w.uniform())


class Bernoulli(Expression):
    """1 with the given probability, else 0."""

    def __init__(self, probability: Expression, site: int) -> None:
        super().__init__(site)
        self.probability: Final = probability

    def evaluate(self, w: World) -> float:
        probability = self.probability.evaluate(w)
        if not 0.0 <= probability <= 1.0:
            raise RunError(
                "distribution-parameter",
                f"a probability lies between 0 and 1, and this one is {shown(probability)}",
                self.site,
            )
        return 1.0 if w.uniform() < probability else 0.0


# ------------------------------------------------------------------------------------------ context variables


class Now(Expression):
    """The clock."""

    def evaluate(self, w: World) -> float:
        return w.now


class Elapsed(Expression):
    """`now - attribute`: the time since a moment the session noted."""

    def __init__(self, slot: int, site: int) -> None:
        super().__init__(site)
        self.slot: i64 = slot

    def evaluate(self, w: World) -> float:
        return w.now - w.attributes[self.slot]


# The other context variables by a small integer; the moment sets the world's field before it evaluates.
CONTEXT_NAMES = (
    "present",
    "residents",
    "decoders",
    "kv_decode",
    "kv_prefill",
    "tokens",
    "prefilled",
    "attention",
    "decoding",
    "admission",
    "remaining",
    "waited",
    "size",
    "age",
    "last",
    "waiting",
)


class Context(Expression):
    """A context variable of the moment."""

    def __init__(self, variable: int, site: int) -> None:
        super().__init__(site)
        self.variable = variable

    def evaluate(self, w: World) -> float:
        variable = self.variable
        if variable == 0:
            return w.present
        if variable == 1:
            return w.residents
        if variable == 2:
            return w.decoders
        if variable == 3:
            return w.kv_decode
        if variable == 4:
            return w.kv_prefill
        if variable == 5:
            return w.tokens
        if variable == 6:
            return w.prefilled
        if variable == 7:
            return w.attention
        if variable == 8:
            return w.decoding
        if variable == 9:
            return w.admission
        if variable == 10:
            return w.remaining
        if variable == 11:
            return w.waited
        if variable == 12:
            return w.size
        if variable == 13:
            return w.age
        if variable == 14:
            return w.last
        return w.waiting


class LinearTerm:
    """One term of a linear form: `coefficient` times a context variable, and the term after it."""

    def __init__(self, coefficient: float, variable: i64, following: LinearTerm | None) -> None:
        self.coefficient = coefficient
        self.variable: i64 = variable
        self.following: Final = following


class LinearForm(Expression):
    """A constant and terms `coefficient * variable`, added from the left: what an iteration costs, as it is written."""

    def __init__(self, constant: float, first: LinearTerm, site: int) -> None:
        super().__init__(site)
        self.constant = constant
        self.first: Final = first

    def evaluate(self, w: World) -> float:
        value = self.constant
        term: LinearTerm | None = self.first
        while term is not None:
            variable: i64 = term.variable
            if variable == 2:
                x = w.decoders
            elif variable == 3:
                x = w.kv_decode
            elif variable == 6:
                x = w.prefilled
            elif variable == 7:
                x = w.attention
            elif variable == 5:
                x = w.tokens
            elif variable == 4:
                x = w.kv_prefill
            else:
                x = w.residents
            value += term.coefficient * x
            term = term.following
        return value


# ------------------------------------------------------------------------------------------------ observables


class PoolReference:
    """A pool, or a member of a family whose index is read at the moment."""

    def __init__(self, members: list[Pool], index: Expression | None, name: str, site: int) -> None:
        self.members: Final = members
        self.first = members[0]
        self.index: Final = index
        self.name = name
        self.site = site

    def resolve(self, w: World) -> Pool:
        """Give the pool meant now."""
        index = self.index
        if index is None:
            return self.first
        return self.members[member_number(index.evaluate(w), len(self.members), self.name, index.site)]


class StageReference:
    """A stage, or a member of a family whose index is read at the moment."""

    def __init__(self, members: list[Stage], index: Expression | None, name: str, site: int) -> None:
        self.members: Final = members
        self.first = members[0]
        self.index: Final = index
        self.name = name
        self.site = site

    def resolve(self, w: World) -> Stage:
        """Give the stage meant now."""
        index = self.index
        if index is None:
            return self.first
        return self.members[member_number(index.evaluate(w), len(self.members), self.name, index.site)]


def member_number(value: float, count: int, name: str, site: int) -> int:
    """Turn an index into a member's number; anything but a whole number in range is a run error."""
    if 0.0 <= value < count and value == round_down(value):
        return int(value)
    raise RunError(
        "index-out-of-range",
        f"the index of `{name}` is {shown(value)}; its members are 0 to {count - 1}",
        site,
    )


USED: Final = 0
FREE: Final = 1
CACHED_IN: Final = 2
HOLDERS: Final = 3
QUEUED: Final = 4


class PoolObservable(Expression):
    """What a pool shows: used, free, cachedin, holders, queued."""

    def __init__(self, observable: int, pool: PoolReference, site: int) -> None:
        super().__init__(site)
        self.observable = observable
        self.pool: Final = pool

    def evaluate(self, w: World) -> float:
        pool = self.pool.resolve(w)
        observable = self.observable
        if observable == 0:
            return pool.used.value
        if observable == 1:
            return pool.cap - pool.used.value
        if observable == 2:
            session = w.session
            if session is None:
                return 0.0
            entry = session.current_entry(pool.index)
            return 0.0 if entry is None else entry.amount
        if observable == 3:
            return pool.holders.value
        return pool.queue.value


QUEUE: Final = 0
BUSY: Final = 1
WORK: Final = 2
BUDGET_LEFT: Final = 3
EST_LAMBDA: Final = 4
EST_RHO: Final = 5
EST_WAIT: Final = 6


class StageObservable(Expression):
    """What a stage shows: queue, busy, work, budget_left, and its online estimates."""

    def __init__(self, observable: int, stage: StageReference, site: int) -> None:
        super().__init__(site)
        self.observable = observable
        self.stage: Final = stage

    def evaluate(self, w: World) -> float:
        stage = self.stage.resolve(w)
        observable = self.observable
        if observable == 0:
            return stage.number.value
        if observable == 1:
            return stage.busy_count(w)
        if observable == 2:
            return stage.work_left(w)
        if observable == 3:
            return stage.budget_left(w)
        if observable == 4:
            return stage.estimates.rate()
        if observable == 5:
            return stage.estimates.load()
        return stage.estimates.wait()


class Price(Expression):
    """The online price of a miss of ds units of work beside s_h of hit (notes §7)."""

    def __init__(self, stage: StageReference, hit: Expression, miss: Expression, site: int) -> None:
        super().__init__(site)
        self.stage: Final = stage
        self.hit: Final = hit
        self.miss: Final = miss

    def evaluate(self, w: World) -> float:
        estimates = self.stage.resolve(w).estimates
        hit = self.hit.evaluate(w)
        miss = self.miss.evaluate(w)
        return estimates.price(hit, miss)
