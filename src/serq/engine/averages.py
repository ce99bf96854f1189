"""Time averages of piecewise-constant signals, updated only when they change.

Input: the values a signal takes. Output: its integral since the last restart.
"""

from __future__ import annotations


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
