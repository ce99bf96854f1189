"""Answer scenarios line by line: `python -m verification.vllm.driver`, with one release's sources on the path.

Input on stdin: a line of JSON for each scenario, ``{"scenario": …, "keeps_steps": true, "steps_max": N}``. Output on
stdout: first a line that names the release, then a line for each scenario, ``{"answer": …, "wall_s": …, "scheduler_s":
…}`` or ``{"error": …}``. Whatever vLLM prints goes to stderr.
"""

from __future__ import annotations

import os
import sys
import traceback

import msgspec


class Question(msgspec.Struct, frozen=True):
    """What is asked in one line; see `driver.run.Run`."""

    scenario: msgspec.Raw
    keeps_steps: bool = True
    steps_max: int = 10**9


def main() -> None:
    """Serve until stdin ends."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # stdout is for answers alone
    from verification.vllm.driver.run import Run
    from verification.vllm.driver.scheduler import model_config, release
    from verification.vllm.scenario import decode

    model_config()
    out.write(msgspec.json.encode({"release": release()}) + b"\n")
    for line in sys.stdin.buffer:
        reply: dict[str, object]
        try:
            question = msgspec.json.decode(line, type=Question)
            run = Run(decode(bytes(question.scenario)), keeps_steps=question.keeps_steps, steps_max=question.steps_max)
            answer = run.answer()
            reply = {"answer": answer, "wall_s": run.wall_s, "scheduler_s": run.scheduler_s}
        except Exception:
            reply = {"error": traceback.format_exc()}
        out.write(msgspec.json.encode(reply) + b"\n")


if __name__ == "__main__":
    main()
