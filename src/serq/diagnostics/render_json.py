"""Diagnostics as one JSON document, for tools.

Input: diagnostics. Output: `{"schema": 1, "diagnostics": [...]}`, sorted by file, offset, name. `schema` goes up when
a field changes its meaning or leaves; a new field does not move it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from serq.diagnostics.diagnostic import Diagnostic, Label, Path, Place
from serq.diagnostics.layout import expansions, in_order, offsets, position

SCHEMA_VERSION = 1


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """Draw diagnostics as a JSON document with a line feed at its end."""
    document = {"schema": SCHEMA_VERSION, "diagnostics": [_diagnostic(item) for item in in_order(diagnostics)]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _diagnostic(diagnostic: Diagnostic) -> dict[str, object]:
    primary = diagnostic.primary
    return {
        "name": diagnostic.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "primary": None if primary is None else _label(primary),
        "secondary": [_label(label) for label in diagnostic.secondary],
        "notes": list(diagnostic.notes),
        "helps": list(diagnostic.helps),
        "expansion": [
            {"phrase": step.phrase, **_place(step.span)}
            for step in expansions(None if primary is None else primary.place)
        ],
    }


def _label(label: Label) -> dict[str, object]:
    return {**_place(label.place), "label": label.text}


def _place(place: Place) -> dict[str, object]:
    if isinstance(place, Path):
        return {"file": place.document, "path": place.text}
    at = position(place)
    start, end = offsets(place)
    return {
        "file": at.file,
        "line": at.line,
        "column": at.column,
        "end_line": at.end_line,
        "end_column": at.end_column,
        "start": start,
        "end": end,
    }
