"""The recorded agent trace as a scenario, and the tables its replays are compared by.

Input: a trace (``session,turn,new,out,think,forced``; `new` is the whole prompt), how far apart its sessions start, and
how much memory there is. Output: the scenario; of an answer, a row a request and the summary.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping, Sequence

import msgspec

from verification.vllm.answer import Answer
from verification.vllm.compare import close
from verification.vllm.environment import ROOT
from verification.vllm.scenario import AffineClock, Config, Scenario, Session, Turn

TRACES = ROOT / "examples" / "replay"
FOLDER = ROOT / "tests" / "replay" / "data"

A100 = AffineClock(c=0.004, d=4.1053e-05, e=1.3786e-07, a=5.1527e-05, b=4.0196e-09, decoders="allocated", c0=0.04)
"""The step of Qwen3-8B on one A100, and what the served path adds to each request [s]."""

COLUMNS = (
    "session",
    "turn",
    "prompt",
    "out",
    "send",
    "first",
    "done",
    "cached",
    "cached_all",
    "preemptions",
    "first_step",
    "done_step",
)
TIMES = frozenset({"send", "first", "done"})


class Replay(msgspec.Struct, frozen=True):
    """One replay: `sessions` None is all of the trace's, started `spacing` apart [s]."""

    name: str
    trace: str
    spacing: float
    usable_blocks: int = 8010
    sessions: int | None = None

    def scenario(self) -> Scenario:
        """Make the scenario: 512 tokens a step, 64 requests at once, blocks of 16, prefixes cached."""
        turns: dict[str, list[Turn]] = {}
        with open(TRACES / self.trace, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                turn = Turn(int(row["new"]), int(row["out"]), float(row["think"]), int(row["forced"]))
                turns.setdefault(row["session"], []).append(turn)
        sessions = tuple(
            Session(number * self.spacing, tuple(of_session), "trace")
            for number, of_session in enumerate(list(turns.values())[: self.sessions])
        )
        config = Config(budget=512, max_seqs=64, block_size=16, usable_blocks=self.usable_blocks, prefix_caching=True)
        return Scenario(config, A100, sessions=sessions)


REPLAYS = (
    Replay("base_2.5", "short_base.csv", 2.5),
    Replay("base_3.5", "short_base.csv", 3.5),
    Replay("m10_4.2", "short_m10.csv", 4.2),
    Replay("base40_1500", "short_base.csv", 3.0, usable_blocks=1500, sessions=40),
)
"""The recorded ones; the last ends with requests for which there is never room."""

Row = Mapping[str, str]


def rows(answer: Answer) -> list[dict[str, str]]:
    """Give a row a request, in the recordings' columns; what did not come to pass is empty or "None"."""
    table: list[dict[str, str]] = []
    for request in answer.requests:
        session, _, turn = request.id.partition(".")
        table.append(
            {
                "session": session,
                "turn": turn,
                "prompt": str(request.prompt),
                "out": str(request.out),
                "send": repr(request.send),
                "first": repr(request.first),
                "done": repr(request.done),
                "cached": str(request.cached[0]) if request.cached else "",
                "cached_all": " ".join(map(str, request.cached)),
                "preemptions": str(len(request.preempted_step)),
                "first_step": str(request.first_step or ""),
                "done_step": str(request.done_step or ""),
            }
        )
    return sorted(table, key=lambda row: (int(row["session"]), int(row["turn"])))


def summary(answer: Answer) -> dict[str, object]:
    """Give the figures of a run that a recording's summary has too."""
    return {
        "status": answer.status,
        "requests": len(answer.requests),
        "done": sum(request.done is not None for request in answer.requests),
        "steps": answer.steps,
        "end": answer.end,
        "cached_tokens": sum(request.cached[0] for request in answer.requests if request.cached),
        "prompt_tokens": sum(request.prompt for request in answer.requests),
        "preemptions": answer.preemptions,
    }


def differences(ours: Answer, recorded_rows: Sequence[Row], recorded_summary: Mapping[str, object]) -> list[str]:
    """List where a run's table and summary are not the recorded ones: texts equal, times to 1e-9 relative."""
    found = [
        f"{name}: serQ {value}, vLLM {recorded_summary[name]}"
        for name, value in summary(ours).items()
        if not _equal(name == "end", str(value), str(recorded_summary[name]))
    ]
    mine = rows(ours)
    if len(mine) != len(recorded_rows):
        found.append(f"rows: serQ {len(mine)}, vLLM {len(recorded_rows)}")
    for own, theirs in zip(mine, recorded_rows, strict=False):
        for name in COLUMNS:
            if not _equal(name in TIMES, own[name], theirs[name]):
                label = f"session {theirs['session']} turn {theirs['turn']}"
                found.append(f"{label}: {name}: serQ {own[name]}, vLLM {theirs[name]}")
    return found


def _equal(is_time: bool, ours: str, theirs: str) -> bool:
    if ours == theirs:
        return True
    return is_time and "None" not in (ours, theirs) and close(float(ours), float(theirs))


def recorded(replay: Replay, release: str) -> tuple[list[dict[str, str]], dict[str, object]] | None:
    """Read a recorded table and its summary, or None when this release's is not recorded."""
    table = FOLDER / f"{replay.name}_v{release}.csv.gz"
    if not table.exists():
        return None
    with gzip.open(table, "rt", encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    return found, msgspec.json.decode((FOLDER / f"{replay.name}_v{release}.summary.json").read_bytes())


def write_table(answer: Answer) -> str:
    """Write the table as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(answer))
    return out.getvalue()
