"""The live side's protocol and the environment, without vLLM: a driver that is not there, one that lies, one that
fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from verification.vllm import __main__ as command
from verification.vllm import model
from verification.vllm.answer import Answer
from verification.vllm.environment import Environment, EnvironmentProblem, version_of
from verification.vllm.live import DriverProblem, LiveScheduler
from verification.vllm.scenario import Config, Request, Scenario

SCENARIO = Scenario(
    Config(budget=8, max_seqs=2, block_size=4, usable_blocks=9), requests=(Request(5, 2), Request(3, 1))
)


def environment(folder: Path, driver: str, release: str = "9.9.0") -> Environment:
    """Make an environment of this Python whose "sources" are a driver of a few lines."""
    made = Environment(folder)
    made.python.parent.mkdir(parents=True)
    made.python.symlink_to(sys.executable)
    package = made.sources(release) / "verification" / "vllm" / "driver"
    package.mkdir(parents=True)
    for inside in (package, *list(package.parents)[:2]):
        (inside / "__init__.py").touch()
    (package / "__main__.py").write_text(driver, encoding="utf-8")
    return made


ECHO = """
import sys
print('{"release": "9.9.0+cpu"}', flush=True)
for line in sys.stdin:
    print('{"answer": %s, "wall_s": 2.0, "scheduler_s": 1.0}', flush=True)
"""


def test_answers_come_in_the_order_asked(tmp_path: Path) -> None:
    import msgspec

    theirs = model.answer(SCENARIO, "0.33.0")
    with LiveScheduler(environment(tmp_path, ECHO % msgspec.json.encode(theirs).decode()), "9.9.0") as live:
        assert live.answer(SCENARIO) == theirs
        replies = list(live.replies([SCENARIO] * 400))  # more than a pipe holds
        assert len(replies) == 400
        assert all(scenario is SCENARIO and reply.answer == theirs for scenario, reply in replies)
        assert live.timed(SCENARIO).wall_s == 2.0


def test_a_driver_of_another_release_is_refused(tmp_path: Path) -> None:
    lying = """print('{"release": "0.1.0"}', flush=True)\ninput()"""
    with (
        pytest.raises(DriverProblem, match=r"the sources of 9\.9\.0 call themselves 0\.1\.0"),
        LiveScheduler(environment(tmp_path, lying), "9.9.0") as live,
    ):
        live.answer(SCENARIO)


def test_a_driver_that_ends_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(DriverProblem, match="no torch here"),
        LiveScheduler(environment(tmp_path, "raise SystemExit('no torch here')"), "9.9.0") as live,
    ):
        live.answer(SCENARIO)


def test_a_scenario_that_vllm_cannot_run_is_reported(tmp_path: Path) -> None:
    failing = """print('{"release": "9.9.0"}', flush=True)\ninput()\nprint('{"error": "AssertionError"}', flush=True)"""
    with (
        pytest.raises(DriverProblem, match="AssertionError"),
        LiveScheduler(environment(tmp_path, failing), "9.9.0") as live,
    ):
        live.answer(SCENARIO)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="make oracle-setup"):
        LiveScheduler(Environment(tmp_path), "0.30.0")
    made = environment(tmp_path / "made", "")
    with pytest.raises(EnvironmentProblem, match=r"vLLM 0\.30\.0 is not in .*; there: 9\.9\.0"):
        LiveScheduler(made, "0.30.0")


def test_releases_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("0.9.1", "0.31.0", "0.30.0", "0.30.1rc1", "README"):
        (tmp_path / "vllm" / name).mkdir(parents=True)
    assert Environment(tmp_path).releases() == ["0.9.1", "0.30.0", "0.31.0"]
    assert version_of("0.30.1rc1") == () == version_of("0.30.0.dev1")


def test_the_commands_fail_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SERQ_ORACLE", str(tmp_path))
    for words in (
        ["fuzz"],
        ["live"],
        ["speed"],
        ["diverge", "nothing-of-the-kind"],
        ["diverge", "mixed", "--against", "x"],
    ):
        assert command.main(words) == 1
        assert capsys.readouterr().err.startswith("verification.vllm: ")


def test_diverge_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["diverge", "chunk_header", "--release", "0.33.0"]) == 0
    assert capsys.readouterr().out == "chunk_header (0.33.0): no difference in 2 requests and 10 steps\n"


def test_a_wrong_program_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (model.PROGRAMS / "fcfs.sq").read_text(encoding="utf-8")
    program = tmp_path / "wrong.sq"
    program.write_text(text.replace("cap seqs", "cap seqs + 1"), encoding="utf-8")
    assert command.main(["diverge", "request_cap", "--program", str(program)]) == 1
    out = capsys.readouterr().out
    assert "serQ admits it, vLLM does not" in out


def test_an_answer_reads_back() -> None:
    import msgspec

    answer = model.answer(SCENARIO, "0.33.0")
    assert msgspec.json.decode(msgspec.json.encode(answer), type=Answer) == answer
