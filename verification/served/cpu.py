"""The CPU engine: a step's time fitted on steps alone, and a served run that the fit has not seen.

`cpu_steps` are 1 698 steps of compositions made up to cover the engine; the five constants are fitted to them, each
step weighted by one over its time, since a long step is not more telling than a short one.  The served run is the
agent trace's first 24 sessions, its times scaled; nothing of it is fitted.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import serq
from verification.served.data import ROOT, Row, table
from verification.served.fit import least_squares, mean, predicted, quantile

PROGRAM = ROOT / "examples" / "replay" / "vllm_replay.sq"
TRACE = ROOT / "examples" / "replay" / "short_base.csv"

SESSIONS, SPACING, SCALE = 24, 5.0, 0.3
ENGINE = {"bs": 32, "blocks": 4005, "B": 512, "max_seqs": 64, "sessions": SESSIONS, "window": 0, "c0": 0}

COEFFICIENTS = ("c", "d", "e", "a", "b")


def columns(step: Row) -> tuple[float, ...]:
    """Give what the cost is linear in: 1, decoding requests, their context, prefilled tokens, attention."""
    return (1.0, step["dec"], step["kv"], step["prefilled"], step["attention"])


def fit_steps() -> tuple[float, ...]:
    """Fit the five constants to the measured steps."""
    steps = table("cpu_steps")
    times = [step["dt"] for step in steps]
    return least_squares([columns(step) for step in steps], times, [1.0 / t for t in times])


def step_error(coefficients: tuple[float, ...], steps: list[Row]) -> dict[str, float]:
    """Give the mean relative error of a step's time, and the error of all steps together."""
    times = [step.get("dt", step["end"] - step["t"]) for step in steps]
    model = [predicted(columns(step), coefficients) for step in steps]
    return {
        "steps": len(steps),
        "mape": mean([abs(m - t) / t for m, t in zip(model, times, strict=True)]),
        "total": sum(model) / sum(times) - 1.0,
    }


def write_trace(folder: Path) -> Path:
    """Write the sessions that were served, their think times scaled as they were."""
    path = folder / "served.csv"
    with TRACE.open(newline="", encoding="utf-8") as source, path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.DictReader(source)
        assert rows.fieldnames is not None
        writer = csv.DictWriter(out, rows.fieldnames)
        writer.writeheader()
        seen: dict[str, None] = {}
        for row in rows:
            seen[row["session"]] = None
            if len(seen) > SESSIONS:
                break
            writer.writerow({**row, "think": repr(float(row["think"]) * SCALE)})
    return path


def figures() -> dict[str, Any]:
    """Fit, predict the served run, and put the two side by side."""
    coefficients = fit_steps()
    c, d, e, a, b = coefficients
    settings = {**ENGINE, "spacing": SPACING * SCALE, "c_it": c, "d": d, "e": e, "a": a, "b": b}
    with TemporaryDirectory() as folder:
        finished = serq.load(PROGRAM, set=settings, trace=write_trace(Path(folder))).simulate(records_samples=True)
    samples = {
        o.name: dict(zip(zip(o.sessions, o.turns, strict=True), o.values, strict=True))
        for o in finished.result.observes
    }
    rows = table("cpu_served")
    keys = [(int(row["session"]), int(row["turn"])) for row in rows]
    assert set(keys) == samples["sent"].keys()
    measured = {
        "ttft": [row["first"] - row["send"] for row in rows],
        "response": [row["done"] - row["send"] for row in rows],
    }
    model = {
        "ttft": [samples["ttft_all"][key] for key in keys],
        "response": [samples["done"][key] - samples["sent"][key] for key in keys],
    }
    return {
        "coefficients": dict(zip(COEFFICIENTS, coefficients, strict=True)),
        "fitted_steps": step_error(coefficients, table("cpu_steps")),
        "served_steps": step_error(coefficients, table("cpu_served_steps")),
        "requests": len(rows),
        "cached_equal": sum(row["cached"] == samples["found"][key] for row, key in zip(rows, keys, strict=True)),
        "times": {
            f"{name} {what}": {"measured": summary(measured[name]), "model": summary(model[name])}
            for name in measured
            for what, summary in SUMMARIES.items()
        },
        "steps": {"measured": len(table("cpu_served_steps")), "model": finished.report.stage("engine").iterations},
        "end": {"measured": max(row["done"] for row in rows), "model": max(samples["done"].values())},
    }


SUMMARIES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": mean,
    "median": lambda values: quantile(values, 0.5),
    "p95": lambda values: quantile(values, 0.95),
}
