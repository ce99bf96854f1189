"""The RTX 4090: a cost made of measured kernel times, and 300 served requests that nothing was fitted to.

The step's time is the sum of the layers' tables: what depends on the tokens alone, linear between measured sizes; what
depends on the sequences; and attention, for which five constants are fitted to the table, steps of decodes alone apart
from steps that prefill, since the kernels are others.  Compositions that the engine cannot have (more context than its
memory, more tokens than its budget) are left out, and a row is weighted by one over the time of the step it is part of.
The constants stand in `rtx4090.sq` with five digits; the tests hold them against this fit.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import serq
from verification.served.data import Row, labelled, table
from verification.served.fit import least_squares, mean, predicted, quantile

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "rtx4090.sq"
TRACE = HERE / "rtx4090.csv"

LAYERS = 32
PER_LAYER = {
    "layernorm": 2,
    "qkv_proj": 1,
    "rotary_emb": 1,
    "o_proj": 1,
    "gate_up_proj": 1,
    "act_fn": 1,
    "down_proj": 1,
}
ONCE = ("embedding", "final_layernorm")
KNOTS = (1, 8, 16, 32, 64, 128, 256, 320, 384, 448, 512, 768, 1024, 1536, 2048)
CONTEXT_MAX, BUDGET = 41408, 2048
WEIGHTS_TIME = 0.016
"""About what a step takes without attention [s]: the weight of a row is 1 / (this + its attention)."""

MICROSECOND = 1e-6


def dense_times() -> dict[int, float]:
    """Give the time of everything that depends on a step's tokens alone, at the knots [s]."""
    layers = {
        name: {int(row["tokens"]): row["time_us"] for row in rows}
        for name, rows in labelled("rtx4090_dense", "layer").items()
    }
    return {
        n: MICROSECOND
        * (
            LAYERS * sum(count * layers[name][n] for name, count in PER_LAYER.items())
            + sum(layers[name][n] for name in ONCE)
        )
        for n in KNOTS
    }


def sequence_fit() -> tuple[float, ...]:
    """Fit the time of what runs once a sequence, the head and the sampler: per step and per sequence [s]."""
    tables = labelled("rtx4090_per_sequence", "layer")
    totals: dict[float, float] = {}
    for rows in tables.values():
        for row in rows:
            totals[row["sequences"]] = totals.get(row["sequences"], 0.0) + MICROSECOND * row["time_us"]
    return least_squares([(1.0, n) for n in totals], list(totals.values()), [1.0] * len(totals))


def attention_columns(row: Row) -> tuple[float, ...]:
    """Give what attention is linear in: 1, decodes, their context, prefilled tokens, tokens × context."""
    n, before = row["prefill_chunk"], row["kv_prefill"]
    return (1.0, row["n_decode"], row["n_decode"] * row["kv_decode"], n, n * (before + n / 2))


def attention_fit(prefills: bool) -> tuple[tuple[float, ...], dict[str, float]]:
    """Fit attention over all layers, in steps that prefill or in steps of decodes alone; and say how well."""
    chosen: list[Row] = []
    for row in table("rtx4090_attention"):
        context = row["n_decode"] * row["kv_decode"] + row["kv_prefill"] + row["prefill_chunk"]
        fits = context <= CONTEXT_MAX and row["prefill_chunk"] + row["n_decode"] <= BUDGET
        if fits and (row["prefill_chunk"] > 0) == prefills:
            chosen.append(row)
    columns = [attention_columns(row)[: 5 if prefills else 3] for row in chosen]
    times = [LAYERS * MICROSECOND * row["time_us"] for row in chosen]
    weights = [1.0 / (WEIGHTS_TIME + t) for t in times]
    found = least_squares(columns, times, weights)
    errors = [abs(predicted(c, found) - t) * w for c, t, w in zip(columns, times, weights, strict=True)]
    return found, {"rows": len(chosen), "mape_of_step": mean(errors)}


def requests() -> list[Row]:
    """Give the measured requests in the order of their arrival."""
    return sorted(table("rtx4090_requests"), key=lambda row: row["arrival_time"])


def trace_text() -> str:
    """Write the requests as a trace; a session's first row waits for its arrival."""
    rows = requests()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("session", "turn", "new", "out", "think", "forced"))
    for number, row in enumerate(rows):
        writer.writerow((number, 0, 0, 0, f"{row['arrival_time'] - rows[0]['arrival_time']:.6f}", 0))
        writer.writerow((number, 1, int(row["input_toks"]), int(row["output_toks"]), 0, 0))
    return out.getvalue()


SUMMARIES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": mean,
    "median": lambda values: quantile(values, 0.5),
    "p90": lambda values: quantile(values, 0.9),
    "p95": lambda values: quantile(values, 0.95),
    "p99": lambda values: quantile(values, 0.99),
}

PEER = {
    "ttft": (0.6, 0.8, 0.6, 0.6, 0.3),
    "tpot": (0.2, 0.2, 0.2, 0.2, 0.9),
    "response": (0.5, 0.9, 0.2, 0.3, 0.4),
}
"""What the simulator that published the run says of itself, in per cent, in the order of `SUMMARIES`."""


def figures() -> dict[str, Any]:
    """Run the program and put it beside the measured requests."""
    finished = serq.load(PROGRAM).simulate(records_samples=True)
    samples = {o.name: dict(zip(o.sessions, o.values, strict=True)) for o in finished.result.observes}
    rows = requests()
    measured = {
        "ttft": [row["first_token_ts"] - row["queued_ts"] for row in rows],
        "tpot": [(row["last_token_ts"] - row["first_token_ts"]) / (row["output_toks"] - 1) for row in rows],
        "response": [row["last_token_ts"] - row["queued_ts"] for row in rows],
    }
    times = {}
    for name, values in measured.items():
        model = [samples[name][number] for number in range(len(rows))]
        for (what, summary), peer in zip(SUMMARIES.items(), PEER[name], strict=True):
            times[f"{name} {what}"] = {"measured": summary(values), "model": summary(model), "peer": peer}
    report = finished.report
    return {
        "requests": len(rows),
        "iterations": report.stage("engine").iterations,
        "preemptions": report.pool("kv").preemptions,
        "attention": {"decodes": attention_fit(False)[1], "prefills": attention_fit(True)[1]},
        "times": times,
        "end": {
            "measured": max(row["last_token_ts"] for row in rows) - min(row["queued_ts"] for row in rows),
            "model": max(next(o for o in finished.result.observes if o.name == "response").times),
        },
    }
