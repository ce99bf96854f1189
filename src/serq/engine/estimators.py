"""Online estimates of a stage: its arrival rate, load and wait, and the price of a miss they imply.

Input: completions, each with its start, wait and service. Output: est_lambda, est_rho, est_wait, price.
References: language §2 (price), notes §7: exponentially weighted averages with weight 0.01, the first sample whole.
"""

from __future__ import annotations

from typing import Final

WEIGHT: Final = 0.01
LOAD_MAX: Final = 0.99


class Estimates:
    """Exponentially weighted averages, updated at every completion (also before the warm-up)."""

    def __init__(self) -> None:
        self.count = 0
        self.gap_count = 0
        self.last_start = 0.0
        self.mean_gap = 0.0
        self.mean_service = 0.0
        self.mean_wait = 0.0

    def record(self, started_at: float, wait: float, service: float) -> None:
        """Take one completed job in."""
        if self.count == 0:
            self.mean_service = service
            self.mean_wait = wait
        else:
            gap = started_at - self.last_start
            if self.gap_count == 0:
                self.mean_gap = gap
            else:
                self.mean_gap += WEIGHT * (gap - self.mean_gap)
            self.gap_count += 1
            self.mean_service += WEIGHT * (service - self.mean_service)
            self.mean_wait += WEIGHT * (wait - self.mean_wait)
        self.last_start = started_at
        self.count += 1

    def rate(self) -> float:
        """Give the estimated arrival rate [1/t], 0 until two starts were recorded."""
        if self.gap_count == 0 or self.mean_gap <= 0.0:
            return 0.0
        return 1.0 / self.mean_gap

    def load(self) -> float:
        """Give the estimated load [1], at most 0.99."""
        return min(self.rate() * self.mean_service, LOAD_MAX)

    def wait(self) -> float:
        """Give the estimated wait [t]."""
        return self.mean_wait

    def price(self, hit: float, miss: float) -> float:
        """Give what `miss` more service costs a job of service `hit`, and those behind it [t]."""
        rate = self.rate()
        spare = 1.0 - self.load()
        total = hit + miss
        return miss + rate * (total * total - hit * hit) / (2.0 * spare) + rate * self.mean_wait * miss / spare
