"""vLLM's own scheduler with the prefix of a waiting request pinned at its arrival.

``python verification/served/pinned.py OUT.json``, in the environment that `make oracle` sets up, with one release's
sources and this project on the path. Replays the agent trace with and without pins, and writes a row a run.

A pin is one more reference on each block of the prefix that is cached when the request is added: such a block is not in
the free queue, so nobody can take it. It is given up when the scheduler has admitted the request, which then holds the
blocks itself; a request that is preempted later is not pinned again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from verification.vllm.answer import Answer
from verification.vllm.driver.run import Flight, Run, Totals
from verification.vllm.driver.scheduler import release
from verification.vllm.replay import A100, Replay
from verification.vllm.scenario import AffineClock, Scenario

WINDOW = 90.0
"""Requests sent from then on count [s]."""

BLOCK = 16

HAND_STEPPED = AffineClock(
    c=0.013939040298989226,
    d=4.105327226338452e-05,
    e=1.378640351489588e-07,
    a=5.1526529093146493e-05,
    b=4.019597527818021e-09,
    decoders="allocated",
)
"""The A100's steps as they were measured one by one, without what serving them adds [s]."""

CLOCKS = {"calibrated": A100, "hand-stepped": HAND_STEPPED}
RUNS = (("calibrated", 3.0), ("calibrated", 2.5), ("hand-stepped", 3.0))


class PinnedRun(Run):
    """A run whose waiting requests hold the blocks they would find."""

    def __init__(self, scenario: Scenario, *, pins: bool) -> None:
        super().__init__(scenario, keeps_steps=False)
        self.pins = pins
        self.pinned: dict[str, list[Any]] = {}
        self.pinned_blocks = 0

    def _add(self, flight: Flight) -> None:
        super()._add(flight)
        manager = self.scheduler.kv_cache_manager
        if self.pins:
            blocks = list(manager.get_computed_blocks(flight.theirs)[0].blocks[0])
            manager.block_pool.touch(blocks)
            self.pinned[flight.sent.id] = blocks
            self.pinned_blocks += len(blocks)

    def _watch(self, name: str, count: int, is_admitted: bool, totals: Totals) -> Flight:
        blocks = self.pinned.pop(name, None)
        if blocks:
            assert is_admitted
            self.scheduler.kv_cache_manager.block_pool.free_blocks(reversed(blocks))
        return super()._watch(name, count, is_admitted, totals)


def figures(answer: Answer) -> dict[str, float | int | str]:
    """Mean time to first token and share of full hits, of the requests sent in the window (notes of the trace)."""
    by_id = {row.id: row for row in answer.requests}
    counted = [row for row in answer.requests if row.send >= WINDOW and row.first is not None]
    hits: list[bool] = []
    for row in counted:
        session, turn = row.id.split(".")
        before = by_id.get(f"{session}.{int(turn) - 1}")
        if before is not None:
            had = before.prompt + before.out
            hits.append(row.cached[0] >= min(0.9 * had, had - BLOCK))
    return {
        "status": answer.status,
        "steps": answer.steps,
        "requests": len(counted),
        "ttft": sum(row.first - row.send for row in counted if row.first is not None) / len(counted),
        "full_hit": sum(hits) / len(hits),
        "preemptions": answer.preemptions,
    }


def main(out: Path) -> None:
    """Run every pair and write the table."""
    rows = []
    for clock, spacing in RUNS:
        scenario = replace(Replay("", "short_base.csv", spacing).scenario(), clock=CLOCKS[clock])
        for pins in (False, True):
            run = PinnedRun(scenario, pins=pins)
            found = figures(run.answer())
            rows.append({"release": release(), "clock": clock, "spacing": spacing, "pinned": pins, **found})
            print(rows[-1], file=sys.stderr)
    out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
