"""Replays in which a prompt outgrows the pool: vLLM's scheduler stops, and the run says where and for whom.

Forty sessions of the agent trace, three seconds apart, on 1 500 and on 1 000 blocks. A prompt longer than the pool
stays at the head of vLLM's queue for ever, so nobody behind it is admitted either; `unfit wait` says so.
`data/base40_*_v0.30.0.csv.gz` are the rows of the scheduler (0.30.0 to 0.33.0 give the same): a request without a first
token never got one.
"""

from __future__ import annotations

import pytest

import serq
from replay.test_scheduler_rows import REPLAY, rows

# blocks: the scheduler's steps, and its time when nothing moved any more
STOPPED = {1500: (4310, 219.35383919805983), 1000: (1049, 117.04)}


@pytest.mark.parametrize("blocks", STOPPED)
def test_the_run_stops_where_the_scheduler_stops(blocks: int) -> None:
    """Every request as recorded; the note names the one that never fits, its step, and how many wait with it."""
    text = (REPLAY / "vllm_replay.sq").read_text(encoding="utf-8").replace("preempt lifo;", "preempt lifo; unfit wait;")
    settings = {"sessions": 40, "spacing": 3.0, "blocks": blocks}
    finished = serq.loads(text, set=settings, trace=REPLAY / "short_base.csv").simulate(records_samples=True)
    recorded = rows(f"base40_{blocks}_v0.30.0")
    served = {request: row for request, row in recorded.items() if row["done"] is not None}
    found = {
        o.name: dict(zip(zip(o.sessions, o.turns, strict=True), o.values, strict=True))
        for o in finished.result.observes
    }
    assert found["sent"].keys() == served.keys() and len(served) < len(recorded)
    for request, row in served.items():
        assert found["found"][request] == row["cached"], request
        assert found["sent"][request] == pytest.approx(row["send"], rel=1e-9)
        assert found["sent"][request] + found["ttft_all"][request] == pytest.approx(row["first"], rel=1e-9)
        assert found["done"][request] == pytest.approx(row["done"], rel=1e-9)

    steps, stopped = STOPPED[blocks]
    assert finished.report.stage("engine").iterations == steps
    (note,) = finished.report.notes
    waiting = recorded.keys() - served.keys()
    first = min(waiting, key=lambda request: recorded[request]["send"])  # the head of the line: nobody is preempted
    assert (note.kind, (note.session, note.turn)) == ("blocked", first)
    assert (note.pool, note.units, note.cap) == ("kv", recorded[first]["prompt"], blocks * 16)
    assert note.count == len(waiting)
    assert (note.stage, note.iteration) == ("engine", steps)
    assert note.since == pytest.approx(stopped, rel=1e-9)
    assert note.iteration_end == pytest.approx(max(row["done"] for row in served.values()), rel=1e-9)
    assert finished.report.blocked
