"""Turn recorded scheduler scenarios into runs of one serQ program, and hold the runs against the recorded answers.

Input: the two formats in which the scenarios were recorded.  One (``oracle_scenarios.json``) holds requests, a pool
that counts vLLM's null block, and one answer; the other (``hand.json``, ``minimal.json``, ``random.json.gz``) holds
requests and sessions, a clock, usable blocks, and one answer for each group of vLLM releases that agree.

Output: for every answer a `Case`: the program (``vllm_request.sq`` or ``vllm_priority.sq`` of ``examples/oracle``), its
settings, the trace it replays, and what the scheduler did.  `differences` compares a finished run with it.

Relies on: the program observes ``sent``, ``first``, ``done`` once per request and ``admitted``, ``found`` once per
admission, and a session's first trace row is its start, so request *k* of a session is the program's turn *k* + 1.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FCFS_PROGRAM = "vllm_request.sq"
PRIORITY_PROGRAM = "vllm_priority.sq"

OBSERVES = ("sent", "first", "done", "admitted", "found")

#: The serving orders of the recorded scenarios, as the program's `order` names them.
SERVING_ORDERS = {"admission": 0, "-admission": 1, "decoding ? 1 : 0": 2}

#: The release at which a request alone in the system stopped being cut by the long-prefill cap.
LONE_REQUEST_CAPPED = frozenset({"0.30.0"})

#: The releases in which a request that preempts itself ends its step's serving (the priority policy's only).
STOPPED_BY_ITSELF = frozenset({"0.30.0", "0.31.0", "0.32.0"})

RELATIVE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Sample:
    """One row of a dump: who observed what, and when [t]."""

    time: float
    session: int
    turn: int
    value: float


@dataclass(frozen=True, slots=True)
class Request:
    """What the scheduler did with one request; a field that was not recorded is None.

    `first` and `done` are None, and recorded so, when the run got stuck before them.
    """

    session: int
    turn: int
    first: float | None
    done: float | None
    sent: float | None = None
    found: tuple[float, ...] | None = None
    admitted: tuple[float, ...] | None = None
    preemptions: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded answer and the run that has to give it.

    Attributes
    ----------
    releases : the vLLM releases (or the engine) that gave this answer
    program : file name of the program in ``examples/oracle``
    settings : `let` name → value, for ``--set``
    trace : text of the trace file
    steps, preemptions : [1] of the whole run; `steps` is None when it was not recorded
    stuck : the scheduler ended with requests it could never serve
    unsupported : why the language cannot say this scenario, or None
    serves_on : the releases serve the requests behind one that preempted itself
    """

    name: str
    releases: tuple[str, ...]
    settings: Mapping[str, float]
    trace: str
    requests: tuple[Request, ...]
    steps: int | None
    preemptions: int | None
    stuck: bool = False
    unsupported: str | None = None
    program: str = FCFS_PROGRAM
    serves_on: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """The part of a finished run that is compared."""

    iterations: int
    preemptions: int
    samples: Mapping[str, Sequence[Sample]] = field(default_factory=dict)


# --- reading recordings --------------------------------------------------------------------------------------------


def load_cases(path: Path) -> list[Case]:
    """Read every recorded answer of a file of either format (gzipped or not) as a case."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        document = json.load(stream)
    cases: list[Case] = []
    for name, scenario in document["scenarios"].items():
        cases.extend(_recorded(name, scenario) if "recorded" in scenario else _by_release(name, scenario))
    return cases


def load_engine_answers(scenarios: Path, answers: Path) -> list[Case]:
    """Pair the scenarios of the first format with what the real A100 engine answered (no steps were recorded)."""
    recorded = {case.name: case for case in load_cases(scenarios)}
    results = json.loads(answers.read_text(encoding="utf-8"))["results"]
    return [
        Case(
            name=name,
            releases=("A100 engine",),
            settings=recorded[name].settings,
            trace=recorded[name].trace,
            requests=_firsts_and_dones(result),
            steps=None,
            preemptions=result["preemptions"],
        )
        for name, result in results.items()
    ]


def _recorded(name: str, scenario: Mapping[str, Any]) -> Iterator[Case]:
    """Read one scenario of the first format: its pool counts the null block, its steps the last, empty call."""
    given, answer = scenario["input"], scenario["recorded"]
    order = given.get("serve", "admission")
    settings = _settings(
        sessions=len(given["requests"]),
        config={**given, "usable_blocks": given["num_blocks"] - 1},
        lone_free=True,
    )
    settings["order"] = SERVING_ORDERS.get(order, 0)
    yield Case(
        name=name,
        releases=("0c87a197",),
        settings=settings,
        trace=trace_text(given["requests"], []),
        requests=_firsts_and_dones(answer),
        steps=answer["steps"] - 1,
        preemptions=answer["preemptions"],
        unsupported=None if order in SERVING_ORDERS else f"no serving order is named `{order}`",
    )


def _by_release(name: str, scenario: Mapping[str, Any]) -> Iterator[Case]:
    """Read one scenario of the second format: for each answer a case for every set of rules that its releases have."""
    given = scenario["input"]
    requests, sessions = given.get("requests", []), given.get("sessions", [])
    by_priority = given["config"].get("policy", "fcfs") == "priority"
    for expected in scenario["expected"]:
        result = expected["result"]
        by_rules: dict[tuple[bool, bool], list[str]] = {}
        for release in expected["vllm"]:
            rules = release not in LONE_REQUEST_CAPPED, by_priority and release not in STOPPED_BY_ITSELF
            by_rules.setdefault(rules, []).append(release)
        for (lone_free, serves_on), releases in by_rules.items():
            settings = _settings(len(requests) + len(sessions), given["config"], lone_free)
            settings |= _clock(given.get("clock", {"kind": "step"}))
            if not by_priority:
                settings["shares_output"] = float(not any(s.get("prompts") == "trace" for s in sessions))
            yield Case(
                name=name,
                releases=tuple(releases),
                settings=settings,
                trace=trace_text(requests, sessions),
                requests=tuple(_request(row, result, len(requests)) for row in result["requests"]),
                steps=result["steps"],
                preemptions=result["preemptions"],
                stuck=result["status"] == "stuck",
                unsupported=_unsupported(given),
                program=PRIORITY_PROGRAM if by_priority else FCFS_PROGRAM,
                serves_on=serves_on,
            )


def _settings(sessions: int, config: Mapping[str, Any], lone_free: bool) -> dict[str, float]:
    return {
        "sessions": sessions,
        "budget": config["budget"],
        "seqs": config["max_seqs"],
        "bs": config["block_size"],
        "blocks": config["usable_blocks"],
        "caching": float(config.get("prefix_caching", False)),
        "chunk_cap": config.get("chunk", 0),
        "lone_free": float(lone_free),
    }


def _clock(clock: Mapping[str, Any]) -> dict[str, float]:
    if clock["kind"] == "step":
        return {}
    return {constant: clock[constant] for constant in ("c", "d", "e", "a", "b", "c0") if constant in clock}


def _unsupported(given: Mapping[str, Any]) -> str | None:
    """Say why a scenario is outside the programs, or None."""
    sessions = given.get("sessions", [])
    if given["config"].get("policy", "fcfs") not in ("fcfs", "priority"):
        return f"no program has the policy `{given['config']['policy']}`"
    if any("stream" in request for request in given.get("requests", [])):
        return "shared streams: a cache entry belongs to one session"
    if any(_shrinks(s["turns"]) for s in sessions if s.get("prompts") == "trace"):
        return "a prompt shorter than the one before: the program looks back one turn, the scheduler at every block"
    clock = given.get("clock", {"kind": "step"})
    if clock["kind"] != "step" and clock.get("decoders", "resident") != "allocated":
        return "the recorded clock counts positions; `kv_decode` is whole blocks of the scheduled decodes"
    return None


def _shrinks(turns: Sequence[Mapping[str, Any]]) -> bool:
    return any(later["new"] < earlier["new"] for earlier, later in itertools.pairwise(turns))


def _firsts_and_dones(answer: Mapping[str, Any]) -> tuple[Request, ...]:
    return tuple(Request(int(i), 2, answer["first"][i], answer["done"][i]) for i in sorted(answer["first"], key=int))


def _request(row: Mapping[str, Any], result: Mapping[str, Any], request_count: int) -> Request:
    """Read one row of an answer; ids are ``i`` for a single request and ``i.k`` for turn k of session i."""
    number, _, turn = row["id"].partition(".")
    starts = [step[0] for step in result["step_rows"]]
    return Request(
        session=int(number) + (request_count if turn else 0),
        turn=int(turn or 1) + 1,
        first=row["first"],
        done=row["done"],
        sent=row["send"],
        found=tuple(row["cached"]),
        admitted=tuple(starts[step - 1] for step in row["admitted_step"]),
        preemptions=len(row["preempted_step"]),
    )


# --- writing runs --------------------------------------------------------------------------------------------------


def trace_text(requests: Iterable[Mapping[str, Any]], sessions: Iterable[Mapping[str, Any]]) -> str:
    """Write requests, then sessions, as a trace whose sessions begin with a row that only waits for their start.

    A single request has nothing to think about, so its row's `think` holds its priority (0 without one).  A row's `new`
    is the whole prompt: outside ``"prompts": "trace"`` a recorded `new` is what the turn adds to the conversation, so
    it is added up here.
    """
    lines = ["session,turn,new,out,think,forced"]
    rows = [_single(request) for request in requests] + [_turns(session) for session in sessions]
    for index, (start, turns) in enumerate(rows):
        lines.append(f"{index},0,0,0,{start!r},0")
        lines.extend(
            f"{index},{k},{new},{out},{think!r},{forced}" for k, (new, out, think, forced) in enumerate(turns, 1)
        )
    return "\n".join(lines) + "\n"


_Turn = tuple[int, int, float, int]


def _single(request: Mapping[str, Any]) -> tuple[float, list[_Turn]]:
    return request.get("arrive", 0), [(request["prompt"], request["out"], request.get("priority", 0), 0)]


def _turns(session: Mapping[str, Any]) -> tuple[float, list[_Turn]]:
    length = 0
    turns: list[_Turn] = []
    for turn in session["turns"]:
        length = turn["new"] if session.get("prompts") == "trace" else length + turn["new"]
        turns.append((length, turn["out"], turn["think"], int(bool(turn.get("forced")))))
        length += turn["out"]
    return session["start"], turns


def with_unfit_wait(program: str) -> str:
    """Return the program with a pool that keeps a request which can never fit at the head, as vLLM does.

    The language rejects such a request; only the recorded runs that got stuck need the other rule.
    """
    return _replaced(program, "block bs; evict lru; preempt", "block bs; evict lru; unfit wait; preempt")


def with_continue(program: str) -> str:
    """Return the priority program with vLLM 0.33's rule: the requests behind one that preempted itself are served."""
    return _replaced(program, "preempt by (priority, sent);", "preempt by (priority, sent) then continue;")


def _replaced(program: str, before: str, after: str) -> str:
    if program.count(before) != 1:
        raise ValueError("the program's memory pool is not written as expected")
    return program.replace(before, after)


# --- comparing -----------------------------------------------------------------------------------------------------


def read_dumps(directory: Path) -> dict[str, list[Sample]]:
    """Read the program's dumps; an observe that was never reached has no samples."""
    samples: dict[str, list[Sample]] = {}
    for name in OBSERVES:
        path = directory / f"{name}.csv"
        rows: list[Sample] = []
        if path.exists():
            with path.open(newline="", encoding="utf-8") as stream:
                for row in csv.DictReader(stream):
                    rows.append(Sample(float(row["time"]), int(row["session"]), int(row["turn"]), float(row["value"])))
        samples[name] = rows
    return samples


def read_run(report: Mapping[str, Any], samples: Mapping[str, Sequence[Sample]]) -> Run:
    """Take from a JSON report and its dumps what is compared."""
    engine = next(stage for stage in report["stages"] if stage["name"] == "engine")
    kv = next(pool for pool in report["pools"] if pool["name"] == "kv")
    return Run(engine["iterations"], kv["preemptions"], samples)


def differences(case: Case, run: Run) -> list[str]:
    """List every recorded field the run does not have; empty when it agrees in all of them.

    Times agree to 1e-9 relative (the step clock's are whole and so exact); counts and token numbers are equal.
    """
    found: list[str] = []

    def check(what: str, got: object, expected: object) -> None:
        if got != expected:
            found.append(f"{what}: {got}, recorded {expected}")

    if case.steps is not None:
        check("steps", run.iterations, case.steps)
    if case.preemptions is not None:
        check("preemptions", run.preemptions, case.preemptions)
    seen = {name: _by_request(run.samples.get(name, ())) for name in OBSERVES}
    known = {(request.session, request.turn) for request in case.requests}
    check("requests nobody sent", sorted(set(seen["sent"]) - known), [])
    for request in case.requests:
        key = (request.session, request.turn)
        label = f"session {request.session} turn {request.turn - 1}"
        values = {name: seen[name].get(key, []) for name in OBSERVES}
        expected: dict[str, Sequence[float] | None] = {
            "first": [] if request.first is None else [request.first],
            "done": [] if request.done is None else [request.done],
            "found": request.found,
            "admitted": request.admitted,
            # `sent` is observed with `done`
            "sent": None if request.sent is None else [] if request.done is None else [request.sent],
        }
        for name, recorded in expected.items():
            if recorded is not None and not _close(values[name], recorded):
                found.append(f"{label}: {name} {values[name]}, recorded {list(recorded)}")
        if request.preemptions is not None and request.done is not None:
            check(f"{label}: preemptions", len(values["admitted"]) - 1, request.preemptions)
    return found


def _by_request(samples: Iterable[Sample]) -> dict[tuple[int, int], list[float]]:
    values: dict[tuple[int, int], list[float]] = {}
    for sample in samples:
        values.setdefault((sample.session, sample.turn), []).append(sample.value)
    return values


def _close(got: Sequence[float], expected: Sequence[float]) -> bool:
    return len(got) == len(expected) and all(
        math.isclose(x, y, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0) for x, y in zip(got, expected, strict=True)
    )
