"""What is said of samples and of a signal: the answers of `samples.py` and `gauges.py`.

Records, which mypyc could compile only as standard dataclasses; see `serq.records` for what those cost at start-up. So
this module is interpreted.
"""

from __future__ import annotations

from serq.records import dataclass


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """Estimates from one sequence of samples.

    Attributes
    ----------
    count : samples
    mean : their mean, in the samples' unit; NaN without a sample
    ci : half width of a 95 % interval for the steady-state mean, in the samples' unit; infinite under 40 samples
    cv2 : squared coefficient of variation [1]; NaN under two samples and for a constant 0
    p99 : 0.99 quantile by nearest rank, in the samples' unit; NaN without a sample
    """

    count: int
    mean: float
    ci: float
    cv2: float
    p99: float


@dataclass(frozen=True, slots=True)
class GaugeSummary:
    """Estimates from one signal.

    Attributes
    ----------
    mean : exact time average over [warmup, end], in the signal's unit
    ci : half width of a 95 % interval for the steady-state mean, from 20 equal windows, in the signal's unit
    min, max : least and greatest value held for a positive time inside [warmup, end]
    """

    mean: float
    ci: float
    min: float
    max: float
