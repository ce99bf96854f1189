"""The A100: served runs of the agent trace, the calibration of two constants, predictions made before, and pins.

The step's d, e, a, b are the reference project's fit of 3 022 steps stepped by hand.  What serving adds are two
constants: `c_it` in place of the fitted c, per step, and `c0` per request.  They are chosen on a grid from two runs at
light load, by the mean |ln(model / measured)| of the mean time to first token; every other run is held out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import serq
from verification.served.data import ROOT, document
from verification.served.fit import mean, mean_log_ratio

REPLAY = ROOT / "examples" / "replay"

CHOSEN = (0.004, 0.04)
C_IT_GRID = (0.004, 0.006, 0.008, 0.010, 0.012, 0.014)
C0_GRID = (0.0, 0.01, 0.02, 0.03, 0.04)
OFF_THE_GRID = (0.0, 0.06)

Figures = dict[str, Any]


def replay(
    trace: str,
    spacing: float,
    pinned: bool = False,
    c_it: float = CHOSEN[0],
    c0: float = CHOSEN[1],
    step: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Run the replay program; give the mean time to first token [s], the share of full hits and the steps.

    `step` replaces the step's other constants; the program has them with five digits.
    """
    program = REPLAY / ("vllm_replay_pinned.sq" if pinned else "vllm_replay.sq")
    settings = {"spacing": spacing, "c_it": c_it, "c0": c0, **(step or {})}
    report = serq.load(program, set=settings, trace=REPLAY / trace).simulate().report
    observes = report.observes
    return {
        "ttft": observes["ttft"].mean,
        "full_hit": observes["full_hit"].mean,
        "steps": report.stage("engine").iterations,
    }


def served() -> Figures:
    """Run every measured run, the two light ones first."""
    runs = []
    for run in document("a100_served")["runs"]:
        measured = {key: mean(run[key]) for key in ("ttft", "full_hit")}
        model = replay(run["trace"], run["spacing"])
        runs.append({**run, "measured": measured, "model": model})
    errors = {
        role: mean_log_ratio([(r["measured"]["ttft"], r["model"]["ttft"]) for r in runs if r["role"] == role])
        for role in ("fit", "held out")
    }
    gaps = [abs(r["measured"]["full_hit"] - r["model"]["full_hit"]) for r in runs if r["role"] == "held out"]
    return {"runs": runs, "ttft_log_ratio": errors, "full_hit_gap_max": max(gaps)}


def calibration() -> Figures:
    """Try the grid on the light runs, and show a point off it that is better there and worse where it matters."""
    light = [run for run in document("a100_served")["runs"] if run["role"] == "fit"]

    def error(c_it: float, c0: float) -> float:
        pairs = [(r["ttft"][0], replay(r["trace"], r["spacing"], c_it=c_it, c0=c0)["ttft"]) for r in light]
        return mean_log_ratio(pairs)

    grid = {f"{c_it},{c0}": error(c_it, c0) for c_it in C_IT_GRID for c0 in C0_GRID}
    best = min(grid, key=lambda point: grid[point])
    heaviest = replay("short_base.csv", 2.5, c_it=OFF_THE_GRID[0], c0=OFF_THE_GRID[1])
    return {
        "points": len(grid),
        "best": best,
        "error": grid[best],
        "off_the_grid": {"error": error(*OFF_THE_GRID), "ttft_2.5": heaviest["ttft"]},
    }


def predicted_before() -> list[Figures]:
    """Put the predictions written down before the runs beside what was measured, and beside what is predicted now."""
    return [
        {**row, "now": replay("short_base.csv", row["spacing"], pinned=row["pinned"])}
        for row in document("a100_served")["predicted_before"]
    ]


def pinned() -> list[Figures]:
    """Put the real scheduler's replays, with and without pins, beside the programs'."""
    step = dict(document("a100_served")["step_fit"]["coefficients"])
    hand_stepped = {"c_it": step.pop("c"), "c0": 0.0, "step": step}
    rows = []
    for row in document("pinned"):
        clock = {} if row["clock"] == "calibrated" else hand_stepped
        model = replay("short_base.csv", row["spacing"], pinned=row["pinned"], **clock)
        rows.append({**row, "model": model})
    return rows
