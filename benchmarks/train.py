"""Run what the compiler should know the engine does: the work it is profiled under when the package is built.

`setup.py` calls this with an engine that counts its branches. The examples, cut short to a third of a second each: the
profile is of serving programs and queues at large, not of one benchmark. Prints nothing; ends with 1 when the engine is
not compiled, for there is then nothing to profile.
"""

from __future__ import annotations

import sys
from pathlib import Path

import serq
from serq.version import engine_kind

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

# a program, where it is cut short [t] (None: nowhere), constants
PROGRAMS: list[tuple[str, float | None, dict[str, float]]] = [
    ("first/chat.sq", None, {}),
    ("routing/routing.sq", 5000, {}),
    ("routing/vllm_replicas.sq", 300, {}),
    ("queueing/closed.sq", 100_000, {}),
    ("queueing/mg1.sq", None, {}),
    ("queueing/ps.sq", None, {}),
    ("pd-disaggregation/tandem.sq", None, {}),
    ("pd-disaggregation/llmd_nixl_pull.sq", 800, {}),
    ("multi-turn/vllm_chat.sq", None, {}),
    ("multi-turn/vllm.sq", None, {}),
    ("multi-turn/vllm_single_turn.sq", None, {}),
    ("multi-turn/vllm_subagents.sq", None, {}),
    ("multi-turn/replica.sq", 200, {}),
    ("replay/vllm_replay_pinned.sq", None, {"spacing": 3.5}),
    ("replay/vllm_replay.sq", None, {"spacing": 3.5}),
    ("replay/vllm_replay.sq", None, {"spacing": 2.5}),
]
PLAIN = ("multi-turn/vllm_chat.sq", 200)
"""Formed resident by resident too: preemptions and unusual orders are."""


def main() -> int:
    """Run them all."""
    if engine_kind() != "compiled":
        return 1
    for name, horizon, constants in PROGRAMS:
        if horizon is None:
            program = serq.load(EXAMPLES / name, set=constants)
        else:
            program = serq.load(EXAMPLES / name, set=constants, horizon=horizon, warmup=horizon / 10)
        program.run()
    name, horizon = PLAIN
    serq.load(EXAMPLES / name, horizon=horizon, warmup=horizon / 10).simulate(plain=True, records_samples=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
