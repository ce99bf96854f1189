"""What the path of one gauge says.

Input: the change points of a piecewise-constant signal. Output: `GaugeSummary` over [warmup, end].

Invariants: a value counts for exactly the time it was held inside the interval, and a value held for no time counts for
nothing.

Reference: language §3, Gauges.
"""

import math
from collections.abc import Iterable

from librt.vecs import vec

from serq.statistics.batches import BATCH_COUNT, batch_half_width
from serq.statistics.summaries import GaugeSummary


def summarise_gauge(instants: Iterable[float], taken: Iterable[float], warmup: float, end: float) -> GaugeSummary:
    """Estimate the time average of a piecewise-constant signal, with a batch-means interval over 20 windows.

    Parameters
    ----------
    instants : (n,) [t] at which the signal took a value, ascending; at equal instants the last one counts
    taken : (n,) the value taken at each instant and held until the next; the last one is held until `end`
    warmup, end : [t] the interval measured, instants[0] <= warmup < end

    Returns
    -------
    The estimates. Change points after `end` are ignored.

    Raises
    ------
    ValueError
        When the arrays differ in length or are empty, the interval is empty or not finite, or the signal has no value
        at `warmup`.

    Notes
    -----
    Estimand: the steady-state time average. Assumptions: a stationary signal after the warm-up; windows long against
    its correlation time (see `batch_half_width`). One pass over the change points; an integral is summed in
    the order of time. Segments are cut at window edges for the window means only, so the mean does not depend on them.

    References
    ----------
    A. M. Law, Simulation Modeling and Analysis, 5th ed., §1.4 (time averages) and §9.5.3 (batch means).

    Examples
    --------
    A signal that is 1 for one half of the interval and 3 for the other:

    >>> summarise_gauge([0.0, 10.0], [1.0, 3.0], 0.0, 20.0).mean
    2.0
    """
    times = vec[float](instants)
    values = vec[float](taken)
    count = len(times)
    if count != len(values) or count == 0:
        raise ValueError(f"a signal needs one value an instant and one instant at least: {count}, {len(values)}")
    if not (warmup < end < math.inf):
        raise ValueError(f"a time average needs a finite warm-up before a finite end: [{warmup}, {end}]")
    if not times[0] <= warmup:
        raise ValueError(f"the signal has no value at {warmup}, its first instant is {times[0]}")

    windows = [0.0] * BATCH_COUNT
    window = 0
    window_end = _edge(warmup, end, 1)
    total = 0.0
    least = math.inf
    greatest = -math.inf
    unordered = False  # a NaN was held: it compares with nothing, so the extremes are unknown
    for index in range(count):
        start = max(times[index], warmup)
        stop = min(times[index + 1], end) if index + 1 < count else end
        if not start < stop:
            continue
        value = values[index]
        total += value * (stop - start)
        least = min(least, value)
        greatest = max(greatest, value)
        if math.isnan(value):
            unordered = True
        while window_end < stop:
            if start < window_end:  # else an infinite value times no time would be NaN
                windows[window] += value * (window_end - start)
            start = window_end
            window += 1
            window_end = _edge(warmup, end, window + 1)
        windows[window] += value * (stop - start)
    width = (end - warmup) / BATCH_COUNT
    return GaugeSummary(
        mean=total / (end - warmup),
        ci=batch_half_width([integral / width for integral in windows]),
        min=math.nan if unordered else least,
        max=math.nan if unordered else greatest,
    )


def _edge(warmup: float, end: float, window: int) -> float:
    """Return where a window ends; the last one at `end` itself, whatever the division rounds to."""
    if window >= BATCH_COUNT:
        return end
    return warmup + (end - warmup) * (window / BATCH_COUNT)
