"""The report as JSON: the published form.

Input: `Report`. Output: one JSON document. Names and meanings are fixed by notes §8; more fields may be added.

Invariants: numbers that are not finite are `null`; floats are written so that they read back exactly; a stage or
pool that is no family member has `"index": null`.
"""

from __future__ import annotations

import math
from typing import Any

from serq.json_text import json_text
from serq.records import fields
from serq.report.model import GaugeReport, ObserveReport, PoolReport, Report, StageReport
from serq.report.notes import Note


def report_json(report: Report) -> str:
    """Give the JSON document, with a line feed at its end."""
    return json_text(report_value(report)) + "\n"


def report_value(report: Report) -> dict[str, Any]:
    """Give the document as plain dictionaries and lists."""
    return {
        "horizon": _number(report.horizon),
        "end": _number(report.end),
        "warmup": _number(report.warmup),
        "seed": report.seed,
        "events": report.events,
        "arrivals": report.arrivals,
        "ended": report.ended,
        "turns": report.turns,
        "mean_live": _number(report.mean_live),
        "observes": {name: _fields(observe, but="name") for name, observe in report.observes.items()},
        "gauges": {name: _fields(gauge, but="name") for name, gauge in report.gauges.items()},
        "stages": [_fields(stage) for stage in report.stages],
        "pools": [_fields(pool) for pool in report.pools],
        "notes": [_fields(note) for note in report.notes],
        "provenance": {
            "version": report.provenance.version,
            "ir": report.provenance.ir,
            "trace": report.provenance.trace or None,
            "seed": report.provenance.seed,
            "command": report.provenance.command or None,
        },
    }


def _fields(item: ObserveReport | GaugeReport | StageReport | PoolReport | Note, but: str = "") -> dict[str, Any]:
    return {field.name: _number(getattr(item, field.name)) for field in fields(item) if field.name != but}


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
