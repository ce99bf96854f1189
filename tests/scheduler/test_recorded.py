"""Every recorded answer of vLLM's scheduler against serQ's program, in every field of its requests and steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from verification.vllm import model, recordings, replay
from verification.vllm.checks import check_recorded, check_recorded_replays
from verification.vllm.compare import differences, first_difference
from verification.vllm.recordings import Recording
from verification.vllm.releases import rules_of

EXCEPTIONS = {"full_hit_shared", "shared_two", "trace_shorter_prompt"}
"""Scenarios in which requests of different sessions share a prefix, or a prompt shrinks: documented, and no others."""

FOUND_EXCEPTIONS = {"full_hit_again"}
"""Found at random, with the limit of `trace_shorter_prompt`: the scheduler has two copies of a block."""

RELEASES = ["0.30.0", "0.31.0", "0.32.0", "0.33.0"]


def recorded(path: Path) -> Iterator[Recording]:
    return recordings.read(path)


@pytest.mark.parametrize("path", recordings.files(), ids=lambda path: path.name)
def test_every_answer_is_the_schedulers(path: Path) -> None:
    result = check_recorded(recordings.read(path))
    assert result.failures == {}
    assert set(result.exceptions) <= EXCEPTIONS | FOUND_EXCEPTIONS
    assert result.answers > 0 or path.stem in FOUND_EXCEPTIONS


def test_no_answer_is_left_out() -> None:
    """118 scenarios and more, four releases each but for the three exceptions."""
    given = [r for path in recordings.files()[:3] for r in recordings.read(path)]
    assert sorted({r.release for r in given}) == RELEASES
    result = check_recorded(r for r in given if r.name in EXCEPTIONS)
    assert set(result.exceptions) == EXCEPTIONS
    assert len(given) == 4 * (18 + 10 + 100)


@pytest.mark.parametrize("name", sorted(EXCEPTIONS | FOUND_EXCEPTIONS))
def test_an_exception_is_one(name: str) -> None:
    """What is not compared does differ: an exception that has become unnecessary is taken off the list."""
    given = next(r for path in recordings.files() for r in recordings.read(path) if r.name == name)
    assert differences(model.answer(given.scenario, given.release), given.answer) != []


@pytest.mark.slow
def test_every_replay_is_the_schedulers() -> None:
    """Every column of 10 338 requests, and the summaries; the last replay gets stuck where the scheduler does."""
    result = check_recorded_replays("0.30.0")
    assert result.failures == {}
    assert (result.answers, result.requests) == (len(replay.REPLAYS), 3 * 3321 + 375)


def test_a_recorded_step_has_every_column() -> None:
    [recording] = [r for r in recordings.read(recordings.FOLDER / "hand.json") if r.label == "mixed_39 (0.30.0)"]
    assert len(recording.answer.step_cols) == 11
    assert len(recording.answer.step_rows) == recording.answer.steps == len(recording.answer.step_sched)


def perturbed(recording: Recording, column: str, step: int) -> Recording:
    """Give the recording with one more in one column of one step."""
    answer = recording.answer
    place = answer.step_cols.index(column)
    row = answer.step_rows[step - 1]
    rows = (*answer.step_rows[: step - 1], (*row[:place], row[place] + 1, *row[place + 1 :]), *answer.step_rows[step:])
    return Recording(recording.name, recording.scenario, recording.release, replace(answer, step_rows=rows))


@pytest.mark.parametrize(
    "column", ["t", "tokens", "dec_res", "kv_res", "dec", "kv", "prefilled", "attention", "running", "waiting", "free"]
)
def test_a_wrong_step_is_seen(column: str) -> None:
    [recording] = [r for r in recordings.read(recordings.FOLDER / "hand.json") if r.label == "hol_block (0.30.0)"]
    ours = model.answer(recording.scenario, recording.release)
    assert differences(ours, recording.answer) == []
    wrong = perturbed(recording, column, 3)
    [fact] = differences(ours, wrong.answer)
    assert fact.startswith(f"step 3: {column}: serQ ")
    assert first_difference(ours, wrong.answer) == 3


@pytest.mark.parametrize("name", ["send", "first", "done", "cached", "admitted_step", "preempted_step", "done_step"])
def test_a_wrong_request_is_seen(name: str) -> None:
    [recording] = [r for r in recordings.read(recordings.FOLDER / "hand.json") if r.label == "self_preempt (0.30.0)"]
    ours = model.answer(recording.scenario, recording.release)
    first, second = recording.answer.requests
    value = getattr(second, name)
    other = (*value[:-1], value[-1] + 1) if isinstance(value, tuple) else value + 1e-6
    wrong = replace(recording.answer, requests=(first, replace(second, **{name: other})))
    [fact] = differences(ours, wrong)
    assert fact.startswith(f"request 1: {name}: serQ ")


def test_a_release_nobody_looked_at_has_the_newest_rules() -> None:
    assert rules_of("0.30.0").caps_lone_request
    assert rules_of("0.31.2") == rules_of("0.32.0")
    assert rules_of("0.34.0") == rules_of("0.33.0")
