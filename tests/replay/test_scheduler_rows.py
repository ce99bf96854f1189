"""The agent trace against vLLM 0.30.0's own scheduler, request for request.

`data/*_v0.30.0.csv.gz` are rows of the real scheduler and its KV-cache manager, driven by the same clock with a fake
model runner: when each of the 3 321 requests was sent, when its first and last token came, and how many tokens of its
prompt were found cached.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import pytest

import serq

HERE = Path(__file__).resolve().parent
REPLAY = HERE.parents[1] / "examples" / "replay"
RECORDED = {"base_2.5": ("short_base.csv", 2.5), "base_3.5": ("short_base.csv", 3.5), "m10_4.2": ("short_m10.csv", 4.2)}

Request = tuple[int, int]


def rows(name: str) -> dict[Request, dict[str, Any]]:
    """Give the recorded rows by session and turn; what never happened is None."""
    with gzip.open(HERE / "data" / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        return {
            (int(r["session"]), int(r["turn"])): {k: float(r[k]) if r[k] not in ("", "None") else None for k in r}
            for r in csv.DictReader(file)
        }


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_every_request_is_the_schedulers(name: str) -> None:
    """Send, first and last token to 1e-9 relative (the order of a cost's additions), cached tokens exactly."""
    trace, spacing = RECORDED[name]
    program = serq.load(REPLAY / "vllm_replay.sq", set={"spacing": spacing}, trace=REPLAY / trace)
    result = program.simulate(records_samples=True).result
    found: dict[str, dict[Request, float]] = {
        o.name: dict(zip(zip(o.sessions, o.turns, strict=True), o.values, strict=True)) for o in result.observes
    }
    recorded = rows(f"{name}_v0.30.0")
    assert len(recorded) == 3321
    assert found["sent"].keys() == recorded.keys()
    for request, row in recorded.items():
        assert found["found"][request] == row["cached"], request
        assert found["sent"][request] == pytest.approx(row["send"], rel=1e-9)
        assert found["sent"][request] + found["ttft_all"][request] == pytest.approx(row["first"], rel=1e-9)
        assert found["done"][request] == pytest.approx(row["done"], rel=1e-9)
