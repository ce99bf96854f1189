"""Run a recorded scenario: as the program text with a trace, and as IR whose sessions are given one by one.

Input: a `Case`. Output: the `Run` that `scenarios.differences` compares.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import serq
from oracle.scenarios import Case, Run, Sample, with_continue, with_unfit_wait
from serq.api import Finished, Program
from serq.ir import model as ir
from serq.ir.write_json import encode_program

PROGRAMS = Path(__file__).resolve().parents[2] / "examples" / "oracle"
DATA = Path(__file__).resolve().parent / "data"


@lru_cache
def text_of(name: str, unfit_waits: bool, serves_on: bool) -> str:
    text = (PROGRAMS / name).read_text(encoding="utf-8")
    if serves_on:
        text = with_continue(text)
    return with_unfit_wait(text) if unfit_waits else text


def load_case(case: Case, directory: Path) -> Program:
    """Load the case's program with its settings and its trace, which is written into a directory."""
    trace = directory / "scenario.csv"
    trace.write_text(case.trace, encoding="utf-8")
    return serq.loads(
        text_of(case.program, case.stuck, case.serves_on), set=case.settings, trace=trace, name=case.program
    )


def run_of(finished: Finished) -> Run:
    """Take from a finished run what is compared."""
    samples = {
        observe.name: [
            Sample(*row) for row in zip(observe.times, observe.sessions, observe.turns, observe.values, strict=True)
        ]
        for observe in finished.result.observes
    }
    report = finished.report
    return Run(report.stage("engine").iterations, report.pool("kv").preemptions, samples)


def simulate(program: Program) -> Finished:
    return program.simulate(records_samples=True, checks=True)


def as_explicit_sessions(program: Program, case: Case) -> Program:
    """Give the same program as IR whose sessions are data: no arrival process, no trace.

    A trace's row becomes a turn that sets `new`, `out`, `think`, `forced` and `more`; `more` says what the trace's own
    would: whether a row follows.
    """
    sessions: dict[str, list[dict[str, float]]] = {}
    for row in csv.DictReader(case.trace.splitlines()):
        loaded = {name: float(row[name]) for name in ("new", "out", "think", "forced")}
        sessions.setdefault(row["session"], []).append(loaded)
    explicit = []
    for turns in sessions.values():
        with_more = tuple({**turn, "more": float(number < len(turns))} for number, turn in enumerate(turns, 1))
        explicit.append(ir.ExplicitSession(at=0.0, turns=with_more))
    return serq.loads(_with_sessions(program.ir, tuple(explicit)), name="scenario.json")


def _with_sessions(program: ir.Program, sessions: tuple[ir.ExplicitSession, ...]) -> str:
    workload = replace(program.workload, arrive=ir.Explicit(sessions=sessions), trace=None)
    return encode_program(replace(program, workload=workload))
