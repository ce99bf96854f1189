"""IEEE arithmetic without exceptions: every operation of the language gives a number, if only inf or NaN.

Input and output: floats. The engine evaluates with these functions and the linker folds constants with them, so a
folded expression has the value an evaluated one would have, to the last bit. Compiled with mypyc; nothing here keeps
state.

Reference: language §2, Expressions. Comparisons and logic give 0 or 1; anything but 0 is true, NaN included.
"""

from __future__ import annotations

import math
from typing import Final

_INTEGERS_ONLY: Final = 4503599627370496.0  # 2**52: a float at least this large has no fraction


def divide(a: float, b: float) -> float:
    """Divide; x/0 is inf with the sign of both, 0/0 is NaN."""
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def power(a: float, b: float) -> float:
    """Raise to a power as C's pow: 0^0 is 1, a negative base with a fractional exponent gives NaN."""
    try:
        return math.pow(a, b)
    except OverflowError:
        # too large to represent; a negative base with an odd exponent is below
        return -math.inf if a < 0.0 and math.fmod(b, 2.0) != 0.0 else math.inf
    except ValueError:
        if a != 0.0:
            return math.nan  # a negative base, a fractional exponent
        odd = math.fmod(b, 2.0) != 0.0 and round_down(b) == b
        return math.copysign(math.inf, a) if odd else math.inf


def exponential(a: float) -> float:
    """Give e to the power a; inf where it is too large to represent."""
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def logarithm(a: float) -> float:
    """Give the natural logarithm; ln(0) is -inf, that of a negative number NaN."""
    if a > 0.0:
        return math.log(a)
    return -math.inf if a == 0.0 else math.nan


def square_root(a: float) -> float:
    """Give the square root; that of a negative number is NaN."""
    return math.sqrt(a) if a >= 0.0 else math.nan


def nearest(a: float) -> float:
    """Give the integer nearest to a number of magnitude below 2**52, the even one of two; 0 without a sign.

    Doubles from 2**52 on are integers, so the sum rounds the fraction away.
    """
    return (a + _INTEGERS_ONLY) - _INTEGERS_ONLY if a >= 0.0 else (a - _INTEGERS_ONLY) + _INTEGERS_ONLY


def round_down(a: float) -> float:
    """Give the greatest integer not above a; inf, NaN and the sign of zero stay."""
    if not (-_INTEGERS_ONLY < a < _INTEGERS_ONLY):
        return a
    result = nearest(a)
    if result > a:
        result -= 1.0
    return result if result != 0.0 else math.copysign(0.0, a)


def round_up(a: float) -> float:
    """Give the least integer not below a; inf and NaN stay, and -0.5 rounds up to -0."""
    if not (-_INTEGERS_ONLY < a < _INTEGERS_ONLY):
        return a
    result = nearest(a)
    if result < a:
        result += 1.0
    return result if result != 0.0 else math.copysign(0.0, a)


def minimum(a: float, b: float) -> float:
    """Give the smaller; a NaN beside a number is ignored."""
    return a if a < b or b != b else b


def maximum(a: float, b: float) -> float:
    """Give the larger; a NaN beside a number is ignored."""
    return a if a > b or b != b else b


def is_integer(a: float) -> bool:
    """Tell whether a number is finite and has no fraction."""
    return -math.inf < a < math.inf and round_down(a) == a


def compare(operator: str, a: float, b: float) -> float:
    """Compare by `==`, `!=`, `<`, `<=`, `>` or `>=`: 1 when it holds, 0 when not; NaN differs from everything."""
    if operator == "==":
        holds = a == b
    elif operator == "!=":
        holds = a != b
    elif operator == "<":
        holds = a < b
    elif operator == "<=":
        holds = a <= b
    elif operator == ">":
        holds = a > b
    else:
        holds = a >= b
    return 1.0 if holds else 0.0
