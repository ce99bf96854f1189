"""A finished run into words, tables and files. Nothing here reads a clock or a terminal."""

from serq.report.model import (
    GaugeReport,
    ObserveReport,
    PoolReport,
    Provenance,
    Report,
    StageReport,
    build_report,
)
from serq.report.notes import Note

__all__ = [
    "GaugeReport",
    "Note",
    "ObserveReport",
    "PoolReport",
    "Provenance",
    "Report",
    "StageReport",
    "build_report",
]
