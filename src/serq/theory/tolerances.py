"""How far a mean over seeds may lie from the truth before a test should fail.

Input: one figure a seed. Output: a half width with a stated probability of a false alarm.

Invariants: a tolerance is derived from the figures' own spread and a chosen false-alarm probability, never guessed.

Reference: the rule that a claim about numbers is checked against a closed form with a derived tolerance.
"""

import math
from collections.abc import Sequence
from typing import Final

FALSE_ALARM: Final = 1e-6
"""Probability that a correct program fails one comparison; of a thousand comparisons one fails in a thousand runs."""


def mean_half_width(figures: Sequence[float], false_alarm: float = FALSE_ALARM) -> float:
    """Return how far the mean of independent figures strays from their expectation, except with a small probability.

    Parameters
    ----------
    figures : (n,) one a seed, n >= 2
    false_alarm : probability that a correct mean is farther away, both sides together

    Returns
    -------
    t · sd / √n, with Student's t of n − 1 degrees of freedom at 1 − false_alarm/2, in the figures' unit

    Notes
    -----
    Exact for normal figures; a figure that is itself an average over a long run is nearly so. Far in the tail the
    approximation is worst for few and skewed figures: use 10 seeds at least. It does not cover the bias of a start from
    empty, which a warm-up must make small against the half width.

    References
    ----------
    A. M. Law, Simulation Modeling and Analysis, 5th ed., §9.4.1 (independent replications).

    Examples
    --------
    >>> round(mean_half_width([-1.0, 1.0], 0.5), 12)  # t of one degree of freedom at 0.75 is 1, sd/√2 is 1
    1.0
    """
    _, variance = _moments(figures)
    count = len(figures)
    return student_quantile(1.0 - false_alarm / 2.0, count - 1, upper=false_alarm / 2.0) * math.sqrt(variance / count)


def agrees(figures: Sequence[float], expected: float, false_alarm: float = FALSE_ALARM) -> bool:
    """Tell whether the mean of figures over seeds is compatible with an expectation.

    Parameters
    ----------
    figures : (n,) one a seed, n >= 2
    expected : what a closed form gives, in the figures' unit
    false_alarm : probability that a correct program gets False
    """
    mean, _ = _moments(figures)
    return abs(mean - expected) <= mean_half_width(figures, false_alarm)


def difference_half_width(first: Sequence[float], second: Sequence[float], false_alarm: float = FALSE_ALARM) -> float:
    """Return how far two means over independent seeds differ by chance, except with a small probability (Welch).

    Parameters
    ----------
    first, second : (n,), (m,) one figure a seed, n, m >= 2; their variances may differ
    false_alarm : probability that equal expectations give a larger difference

    References
    ----------
    B. L. Welch, Biometrika 34 (1947). A. M. Law, Simulation Modeling and Analysis, 5th ed., §10.2.2.
    """
    variances = [_moments(figures)[1] / len(figures) for figures in (first, second)]
    total = variances[0] + variances[1]
    if total == 0.0:
        return 0.0
    freedom = total * total / (variances[0] ** 2 / (len(first) - 1) + variances[1] ** 2 / (len(second) - 1))
    return student_quantile(1.0 - false_alarm / 2.0, freedom, upper=false_alarm / 2.0) * math.sqrt(total)


def student_tail(threshold: float, freedom: float) -> float:
    """Return the probability that Student's t is above a threshold.

    Parameters
    ----------
    threshold : any number
    freedom : degrees of freedom, above 0; need not be whole

    Notes
    -----
    Half the regularised incomplete beta function I_x(ν/2, 1/2) at x = ν/(ν + t²), so that a small tail keeps its
    digits.

    References
    ----------
    M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions (1964), 26.7.1 and 26.5.27.
    """
    if not (freedom > 0.0 and math.isfinite(freedom)):
        raise ValueError(f"degrees of freedom must be positive and finite, not {freedom}")
    square = threshold * threshold
    half = 0.5 * _incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + square), square / (freedom + square))
    return half if threshold >= 0.0 else 1.0 - half


def student_quantile(probability: float, freedom: float, *, upper: float | None = None) -> float:
    """Return the value that Student's t stays below with a probability.

    Parameters
    ----------
    probability : in (0, 1)
    freedom : degrees of freedom, above 0
    upper : 1 − probability when the caller knows it more exactly than a subtraction from 1 does

    Notes
    -----
    Bisection on `student_tail`, which falls, until no double lies between; some hundred evaluations. Tests pay that,
    runs do not.

    Examples
    --------
    >>> round(student_quantile(0.975, 19), 3)
    2.093
    """
    tail = 1.0 - probability if upper is None else upper
    if not 0.0 < tail < 1.0:
        raise ValueError(f"a quantile needs a probability in (0, 1), not {probability}")
    if tail > 0.5:
        return -student_quantile(tail, freedom, upper=1.0 - tail)
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > tail:
        low, high = high, high * 2.0
    while True:
        middle = (low + high) / 2.0
        if not low < middle < high:
            return high
        if student_tail(middle, freedom) > tail:
            low = middle
        else:
            high = middle


def _moments(figures: Sequence[float]) -> tuple[float, float]:
    count = len(figures)
    if count < 2:
        raise ValueError(f"a spread needs two figures at least, there are {count}")
    mean = sum(figures) / count
    return mean, sum((figure - mean) ** 2 for figure in figures) / (count - 1)


def _incomplete_beta(a: float, b: float, x: float, complement: float) -> float:
    """Return I_x(a, b); `complement` is 1 − x, given apart so that an x near 1 loses no digits.

    The continued fraction of Abramowitz and Stegun 26.5.8, evaluated by Lentz's method (W. J. Lentz, Applied Optics 15,
    1976), on the side where it converges fast.
    """
    if x <= 0.0:
        return 0.0
    if complement <= 0.0:
        return 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(b, a, complement, x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(complement))
    tiny = 1e-300  # stands in for a vanishing denominator
    numerator, denominator = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    denominator = 1.0 / (denominator if abs(denominator) > tiny else tiny)
    fraction = denominator
    for term in range(1, 10_000):
        for coefficient in (
            term * (b - term) * x / ((a + 2 * term - 1) * (a + 2 * term)),
            -(a + term) * (a + b + term) * x / ((a + 2 * term) * (a + 2 * term + 1)),
        ):
            denominator = 1.0 + coefficient * denominator
            denominator = 1.0 / (denominator if abs(denominator) > tiny else tiny)
            numerator = 1.0 + coefficient / numerator
            numerator = numerator if abs(numerator) > tiny else tiny
            fraction *= numerator * denominator
        if abs(numerator * denominator - 1.0) < 1e-15:
            return front * fraction / a
    raise ArithmeticError(f"the incomplete beta function did not converge at ({a}, {b}, {x})")
