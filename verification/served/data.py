"""The measured files of `data`, as rows of numbers."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "data"
ROOT = FOLDER.parents[2]

Row = dict[str, float]


def table(name: str) -> list[Row]:
    """Read a compressed table; a cell that is no number is left out of its row."""
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        return [{key: float(cell) for key, cell in row.items() if _is_number(cell)} for row in csv.DictReader(file)]


def labelled(name: str, label: str) -> dict[str, list[Row]]:
    """Read a compressed table into one list of rows for each value of a column."""
    found: dict[str, list[Row]] = {}
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row.pop(label), []).append({key: float(cell) for key, cell in row.items()})
    return found


def document(name: str) -> Any:
    """Read a JSON file."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
