"""The scheduler scenarios: every recorded answer against the program that says what vLLM does.

Each comparison is of every recorded field: the step of each request's first and last token, the tokens found cached
and the step of each admission, preemptions per request, steps and preemptions of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from oracle.runs import DATA, as_explicit_sessions, load_case, run_of, simulate
from oracle.scenarios import PRIORITY_PROGRAM, Case, differences, load_cases, load_engine_answers

RECORDED = load_cases(DATA / "oracle_scenarios.json")
ENGINE = load_engine_answers(DATA / "oracle_scenarios.json", DATA / "a100_engine.json")
HAND = load_cases(DATA / "hand.json")
MINIMAL = load_cases(DATA / "minimal.json")
RANDOM = load_cases(DATA / "random.json.gz")


def supported(cases: Iterable[Case]) -> list[Case]:
    return [case for case in cases if case.unsupported is None]


def name_of(case: Case) -> str:
    return f"{case.name}-{case.releases[0].replace(' ', '_')}"


@pytest.mark.parametrize("case", [*RECORDED, *ENGINE], ids=name_of)
def test_recorded_scenario(case: Case, tmp_path: Path) -> None:
    """Seven scenarios of vLLM's own order, four with the running list re-ordered, six on a real engine: all of them."""
    assert case.unsupported is None
    assert differences(case, run_of(simulate(load_case(case, tmp_path)))) == []


@pytest.mark.parametrize("case", supported([*HAND, *MINIMAL]), ids=name_of)
def test_designed_scenario(case: Case, tmp_path: Path) -> None:
    assert differences(case, run_of(simulate(load_case(case, tmp_path)))) == []


def test_random_scenarios(tmp_path: Path) -> None:
    """Seeds 0 to 99 of the recorder's generator."""
    cases = supported(RANDOM)
    found = {name_of(case): differences(case, run_of(simulate(load_case(case, tmp_path)))) for case in cases}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_what_is_left_out_is_said() -> None:
    """No answer is dropped in silence: each of the two designed files' is run, or has a reason; most are run."""
    everything = [*HAND, *MINIMAL, *RANDOM]
    assert len(supported(everything)) > 0.8 * len(everything)
    reasons = {case.unsupported for case in everything if case.unsupported}
    assert all(len(reason) > 20 for reason in reasons)


@pytest.mark.parametrize("case", [*RECORDED, *supported(MINIMAL)], ids=name_of)
def test_scenario_as_data(case: Case, tmp_path: Path) -> None:
    """Sessions given one by one in the IR are the sessions of the trace: the same run, sample for sample."""
    from_text = load_case(case, tmp_path)
    explicit = as_explicit_sessions(from_text, case)
    assert explicit.ir.workload.trace is None
    expected, found = run_of(simulate(from_text)), run_of(simulate(explicit))
    assert found == expected
    assert differences(case, found) == []


def test_scenarios_as_data_at_random(tmp_path: Path) -> None:
    """Every fourth of the random scenarios, as data too."""
    for case in supported(RANDOM)[::4]:
        from_text = load_case(case, tmp_path)
        assert run_of(simulate(as_explicit_sessions(from_text, case))) == run_of(simulate(from_text)), name_of(case)


def test_a_wrong_answer_is_seen(tmp_path: Path) -> None:
    """The comparison can fail: an answer shifted by a step differs in the request it was shifted in."""
    case = RECORDED[0]
    run = run_of(simulate(load_case(case, tmp_path)))
    first = case.requests[0]
    assert first.first is not None
    shifted = replace(case, requests=(replace(first, first=first.first + 1), *case.requests[1:]))
    assert differences(shifted, run) == [
        f"session 0 turn 1: first [{float(first.first)}], recorded [{first.first + 1}]"
    ]


def test_the_rule_of_0_33_decides(tmp_path: Path) -> None:
    """Of the priority scenarios whose answers 0.33 changed, none agrees with the rule of the releases before it."""
    priority = [case for case in [*HAND, *MINIMAL, *RANDOM] if case.program == PRIORITY_PROGRAM]
    before = {case.name: case for case in priority if "0.32.0" in case.releases}
    changed = [case for case in priority if case.serves_on and case.requests != before[case.name].requests]
    assert len(changed) == 2
    for case in changed:
        run = run_of(simulate(load_case(replace(case, serves_on=False), tmp_path)))
        assert differences(case, run) != [] and differences(before[case.name], run) == []


def test_a_run_that_stops_says_where_the_scheduler_stopped(tmp_path: Path) -> None:
    """The note names the step after which the recorded scheduler did nothing more, and a request it never finished."""
    stuck = [case for case in supported([*HAND, *MINIMAL, *RANDOM]) if case.stuck]
    assert {case.name for case in stuck} >= {"never_fits", "zero_token_step"}
    for case in stuck:
        (note,) = simulate(load_case(case, tmp_path)).report.notes
        assert (note.kind, note.pool, note.iteration) == ("blocked", "kv", case.steps), case.name
        assert note.units is not None and note.cap is not None and note.units > note.cap
        unfinished = {(request.session, request.turn) for request in case.requests if request.done is None}
        assert (note.session, note.turn) in unfinished and note.count == len(unfinished)
