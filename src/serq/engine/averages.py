"""Time averages of piecewise-constant signals, updated only when they change, and sums of terms that come and go.

Input: the values a signal takes; terms. Output: its integral since the last restart; their sum.

Reference: T. J. Dekker, "A floating-point technique for extending the available precision" (Numerische Mathematik 18,
1971), and D. E. Knuth, The Art of Computer Programming, vol. 2, §4.2.2 (the exact error of an addition).
"""

from __future__ import annotations

import math
from typing import Final

from mypy_extensions import i64

LARGEST: Final = 1.7976931348623157e308  # the greatest finite float
SPLITTER: Final = 134217729.0  # 2**27 + 1


class TimeAverage:
    """The integral of a signal.

    Attributes
    ----------
    value : the signal now
    area : its integral from the last restart to `since` [value * t]
    since : [t] when it last changed
    """

    def __init__(self) -> None:
        self.value = 0.0
        self.area = 0.0
        self.since = 0.0

    def add(self, change: float, now: float) -> None:
        """Let the signal jump by `change` at `now`."""
        self.area += self.value * (now - self.since)
        self.since = now
        self.value += change

    def put(self, value: float, now: float) -> None:
        """Let the signal be `value` from `now` on."""
        self.area += self.value * (now - self.since)
        self.since = now
        self.value = value

    def restart(self, now: float) -> None:
        """Forget what was before `now` (the warm-up ends)."""
        self.area = 0.0
        self.since = now

    def mean(self, start: float, end: float) -> float:
        """Give the average over [start, end]; `start` is the last restart, `end` is not before the last change."""
        if end <= start:
            return 0.0
        return (self.area + self.value * (end - self.since)) / (end - start)


class RunningSum:
    """The sum of the terms that are there, kept while they come and go in any order.

    Two doubles hold it, the second what the first rounds off, so the sum is exact but for about 1e-32 of the greatest
    one there was at each change, and a sum of no terms is 0. Infinite terms are counted apart: nothing takes them out
    of a sum.
    """

    def __init__(self) -> None:
        self.count: i64 = 0
        self.high = 0.0
        self.low = 0.0
        self.infinite_count: i64 = 0

    def add(self, term: float) -> None:
        """Let a term of 0 or more come."""
        if term > LARGEST:
            self.infinite_count += 1
        else:
            self.count += 1
            self._change(term)

    def take(self, term: float) -> None:
        """Let a term that came go."""
        if term > LARGEST:
            self.infinite_count -= 1
            return
        self.count -= 1
        if self.count == 0:
            self.high = 0.0
            self.low = 0.0
        else:
            self._change(-term)

    def above(self, level: float) -> float:
        """Give the sum of what the terms have above a level that none is below."""
        if self.infinite_count > 0:
            return math.inf
        # in two halves of 26 bits, whose products with a count are exact
        split = SPLITTER * level
        upper = split - (split - level)
        count = float(self.count)
        left = ((self.high - count * upper) - count * (level - upper)) + self.low
        return left if left > 0.0 else 0.0

    def _change(self, by: float) -> None:
        high = self.high
        total = high + by
        other = total - high
        low = self.low + ((high - (total - other)) + (by - other))
        self.high = total + low
        self.low = low - (self.high - total)
