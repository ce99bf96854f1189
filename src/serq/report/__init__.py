"""A finished run into words, tables and files. Nothing here reads a clock or a terminal."""

from serq.report.iterations import Iteration, Preempted, Scheduled, iterations_of
from serq.report.model import (
    GaugeReport,
    ObserveReport,
    PoolReport,
    Provenance,
    Report,
    StageReport,
    build_report,
    digest,
)
from serq.report.notes import Note

__all__ = [
    "GaugeReport",
    "Iteration",
    "Note",
    "ObserveReport",
    "PoolReport",
    "Preempted",
    "Provenance",
    "Report",
    "Scheduled",
    "StageReport",
    "build_report",
    "digest",
    "iterations_of",
]
