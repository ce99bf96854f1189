"""Samples and signals into estimates: pure functions of arrays.

Input: what a run collected (samples in the order they were taken; change points of a signal).
Output: frozen summaries. A value that does not exist (the mean of no sample, an interval from too few) is NaN or
infinite here; the report decides how to print it.

Invariants: nothing here reads a clock, a file or a random number; the same arrays give the same bits, on every Python
version and compiled or not, because every sum is one left-to-right loop (`sum` became compensated in Python 3.12).

Reference: language §3, Statistics and Gauges; the definitions of the report's quantities.
"""

from serq.statistics.batches import (
    BATCH_COUNT,
    batch_half_width,
    batch_means,
    lag1_autocorrelation,
)
from serq.statistics.gauges import summarise_gauge
from serq.statistics.quantiles import nearest_rank
from serq.statistics.samples import summarise_samples
from serq.statistics.summaries import GaugeSummary, SampleSummary

__all__ = [
    "BATCH_COUNT",
    "GaugeSummary",
    "SampleSummary",
    "batch_half_width",
    "batch_means",
    "lag1_autocorrelation",
    "nearest_rank",
    "summarise_gauge",
    "summarise_samples",
]
