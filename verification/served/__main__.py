"""``python -m verification.served [--check]``: run the validation, and write its figures and the tables of its page.

`--check` writes nothing, and fails when a figure or a table is not the one that is there.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from verification.served import a100, cpu, rtx4090
from verification.served.page import with_tables

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "figures.json"
PAGE = HERE.parents[1] / "docs" / "validation.md"

TOLERANCE = 1e-9


def measure() -> dict[str, Any]:
    """Run everything: some hundred short replays, seconds on the compiled engine."""
    return {
        "a100": {
            "served": a100.served(),
            "calibration": a100.calibration(),
            "predicted_before": a100.predicted_before(),
            "pinned": a100.pinned(),
        },
        "cpu": cpu.figures(),
        "rtx4090": rtx4090.figures(),
    }


def same(one: object, other: object) -> bool:
    """Compare two trees of figures; floats agree to `TOLERANCE` relative."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) or isinstance(other, float):
        if not isinstance(one, int | float) or not isinstance(other, int | float):
            return False
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-12)
    return one == other


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m verification.served", description="serQ beside measured runs.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a figure is not as recorded")
    options = parser.parse_args(arguments)
    figures = json.loads(json.dumps(measure()))
    page = with_tables(PAGE.read_text(encoding="utf-8"), figures)
    if options.check:
        agrees = same(figures, json.loads(FIGURES.read_text(encoding="utf-8")))
        agrees &= page == PAGE.read_text(encoding="utf-8")
        print("the figures are as recorded" if agrees else "the figures are not as recorded: run without --check")
        return 0 if agrees else 1
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page, encoding="utf-8")
    print(f"wrote {FIGURES.relative_to(HERE.parents[1])} and the tables of {PAGE.relative_to(HERE.parents[1])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
