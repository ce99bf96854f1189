"""Hypothesis strategies over `programs`, and what the properties compare of a run."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

import serq
from properties.programs import Allowed, write_program
from serq.api import Finished, Program
from serq.errors import RunFailed

Outcome = dict[str, Any]
"""A report without its provenance, and every sample; or the name and moment of the error that ended the run."""


def programs(allowed: Allowed | None = None) -> st.SearchStrategy[str]:
    """Texts of programs that link; they shrink choice by choice."""
    return st.randoms(use_true_random=False).map(lambda random: write_program(random, allowed or Allowed()))


def figures(finished: Finished) -> Outcome:
    """Everything a finished run says but which document and command it came from."""
    document = json.loads(finished.report.to_json())
    del document["provenance"]
    for note in document["notes"]:
        del note["where"]
        note["message"] = note["message"].partition(" (at ")[0]
    result = finished.result
    document["samples"] = {
        o.name: [list(o.times), list(o.sessions), list(o.turns), list(o.values)] for o in result.observes
    }
    document["signals"] = {g.name: [list(g.times), list(g.values)] for g in result.gauges}
    return document


def outcome(program: Program) -> Outcome:
    """Run a program with the engine's own checks on; an error of serQ is an outcome, anything else is a failure."""
    try:
        finished = program.simulate(records_samples=True, checks=True)
    except RunFailed as problem:
        assert problem.diagnostics and problem.diagnostics[0].message
        return {"error": problem.diagnostics[0].name, "time": problem.time, "session": problem.session}
    return figures(finished)


def outcome_of(text: str, name: str = "<text>") -> Outcome:
    """Run a text."""
    return outcome(serq.loads(text, name=name))
