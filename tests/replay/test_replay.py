"""The recorded agent trace: seven runs against the reference project's figures, and a nine-turn trace row for row.

`data/replay_expected.json` was recorded by the reference project; the trace is its testbed's
(examples/replay/README.md). Counts are equal; floats agree to 1e-9 relative, since the order of a cost's additions
moves the twelfth digit.
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

import serq

HERE = Path(__file__).resolve().parent
REPLAY = HERE.parents[1] / "examples" / "replay"
RUNS: list[dict[str, Any]] = json.loads((HERE / "data" / "replay_expected.json").read_text(encoding="utf-8"))["runs"]

REQUESTS = 3321
WINDOW = 90.0


def label(run: dict[str, Any]) -> str:
    via = "" if run["admit_via_engine"] else "-pinned"
    return f"{run['trace'].removesuffix('.csv')}-{run['spacing']}{via}"


def close(found: float, expected: float) -> bool:
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS, ids=label)
def test_replay(run: dict[str, Any]) -> None:
    """Every field of the table. The pinned engine has `admit via` on neither pool."""
    name = "vllm_replay.sq" if run["admit_via_engine"] else "vllm_replay_pinned.sq"
    program = serq.load(REPLAY / name, set={"spacing": run["spacing"]}, trace=REPLAY / run["trace"])
    finished = program.simulate(records_samples=True)
    report = finished.report
    samples = {observe.name: observe for observe in finished.result.observes}

    assert report.ended == report.arrivals == 333
    assert report.observes["ttft_all"].count == len(samples["sent"].values) == REQUESTS
    assert report.stage("engine").iterations == run["iterations"]
    assert report.pool("kv").preemptions == run["preemptions"]
    assert sum(samples["found"].values) == run["cached_tokens_total"]
    assert report.observes["ttft"].count == run["counted_requests"]
    assert sum(sent >= WINDOW for sent in samples["sent"].values) == run["counted_requests"]
    assert close(report.observes["ttft"].mean, run["ttft_mean"])
    assert close(report.observes["ttft_all"].mean, run["ttft_mean_all"])
    assert close(report.observes["full_hit"].mean, run["full_hit"])
    assert close(max(samples["done"].values), run["last_request_done"])


def test_runs_are_the_whole_table() -> None:
    assert len(RUNS) == 7
    assert {run["admit_via_engine"] for run in RUNS} == {True, False}
    tested = {"ttft_mean", "full_hit", "counted_requests", "ttft_mean_all", "iterations", "preemptions"}
    tested |= {"cached_tokens_total", "last_request_done", "trace", "spacing", "admit_via_engine"}
    assert all(set(run) == tested for run in RUNS)


def test_cache_trace_row_for_row() -> None:
    """Nine turns through twenty blocks; the rows are the real scheduler's, with times in steps."""
    finished = serq.load(REPLAY / "cache_trace.sq").simulate(records_samples=True, checks=True)
    columns = {observe.name: observe for observe in finished.result.observes}
    found = {}
    for at, (session, turn) in enumerate(zip(columns["sent"].sessions, columns["sent"].turns, strict=True)):
        names = ("sent", "first", "done", "prompt", "found", "output")
        found[session, turn] = tuple(columns[name].values[at] for name in names)
    with (REPLAY / "cache_trace.out.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    names = ("sent", "first", "done", "prompt", "cached", "out")
    expected = {(int(row["session"]), int(row["turn"])): tuple(float(row[name]) for name in names) for row in rows}
    assert len(expected) == 9
    assert found == expected
