"""The façade: what a program is given, what it is asked, and how it says no."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import serq
from serq import api

PROGRAM = """let rate = 0.5;
stage s : fifo;
workload { arrive poisson(rate); }
session { set t = now; run s (~exp(1)); observe r = now - t; end; }
run { horizon 100; warmup 10; seed 7; }
"""

REPLAY = """stage s : delay;
workload { arrive batch(2); trace "t.csv" ordered; }
session { turn; loop { observe n = new; run s (out); branch (more) { turn; } else { end; } } }
run { horizon 100; }
"""


def name_of(problem: pytest.ExceptionInfo[serq.ProgramError]) -> list[str]:
    return [finding.name for finding in problem.value.diagnostics]


def test_a_text_is_run() -> None:
    """The report is that of the seed given, or of the program's."""
    program = serq.loads(PROGRAM)
    assert program.run().seed == 7
    assert program.run(seed=3).seed == 3
    assert program.run(seed=7).to_json() == program.run().to_json()


def test_running_changes_nothing() -> None:
    """A program is a value: it runs again, also after a pickle."""
    program = serq.loads(PROGRAM)
    first = program.run().to_json()
    assert program.run().to_json() == first
    assert pickle.loads(pickle.dumps(program)).run().to_json() == first
    assert pickle.loads(pickle.dumps(program.run())).to_json() == first


def test_overrides_are_numbers_or_expressions() -> None:
    """Of constants, before anything is computed; the run block's come after."""
    by_number = serq.loads(PROGRAM, set={"rate": 2})
    by_text = serq.loads(PROGRAM, set={"rate": "4 / 2"}, definitions={})
    assert by_number.ir == by_text.ir != serq.loads(PROGRAM).ir
    report = serq.loads(PROGRAM, seed=1, horizon=50, warmup=0, arrivals=5).run()
    assert (report.seed, report.horizon, report.warmup, report.arrivals) == (1, 50.0, 0.0, 5)
    assert report.end < 50


def test_an_override_that_cannot_be_is_about_the_option() -> None:
    """The place is the option, not the text of the program."""
    with pytest.raises(serq.ProgramError) as caught:
        serq.loads(PROGRAM, warmup=100)
    (finding,) = caught.value.diagnostics
    assert finding.primary is not None and not isinstance(finding.primary.place, serq.diagnostics.Path)
    assert finding.primary.place.source.name in {"--warmup", "--horizon"}


def test_ir_is_a_program() -> None:
    """By its first character, or by its file's name."""
    program = serq.loads(PROGRAM)
    again = serq.loads(program.to_json())
    assert again.ir == program.ir
    with pytest.raises(serq.ProgramError) as caught:
        serq.loads(program.to_json(), set={"rate": 1})
    assert name_of(caught) == ["override-on-ir"]
    with pytest.raises(serq.ProgramError) as caught:
        serq.loads("[]", name="a.json")
    assert name_of(caught)[0].startswith("ir-")


def test_an_error_in_ir_has_a_path() -> None:
    """There is no text to point at."""
    document = json.loads(serq.loads(PROGRAM).to_json())
    document["session"][1]["stages"] = ["nowhere"]
    with pytest.raises(serq.ProgramError) as caught:
        serq.loads(json.dumps(document), name="a.ir.json")
    place = caught.value.diagnostics[0].primary
    assert place is not None and place.place == serq.diagnostics.Path("$.session[1].stages[0]", "a.ir.json")


def test_a_trace_is_found_beside_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For text and for IR; an option's is found from the current directory; inline it needs no file."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "a.sq").write_text(REPLAY)
    (folder / "t.csv").write_text("0,1,10,1,0\n0,2,20,1,0\n1,1,30,1,0\n")
    (tmp_path / "other.csv").write_text("0,1,7,1,0\n")
    monkeypatch.chdir(tmp_path)
    program = serq.load("programs/a.sq")
    assert list(program.simulate().result.observes[0].values) == [10.0, 30.0, 20.0]
    (folder / "a.ir.json").write_text(program.to_json())
    assert list(serq.load("programs/a.ir.json").simulate().result.observes[0].values) == [10.0, 30.0, 20.0]
    (tmp_path / "inline.json").write_text(program.to_json(inline_trace=True))
    assert list(serq.load("inline.json").simulate().result.observes[0].values) == [10.0, 30.0, 20.0]
    assert list(serq.load("programs/a.sq", trace="other.csv").simulate().result.observes[0].values) == [7.0, 7.0]
    assert list(serq.load("inline.json", trace="other.csv").simulate().result.observes[0].values) == [7.0, 7.0]
    with pytest.raises(serq.ProgramError) as caught:
        serq.load("programs/a.sq", trace="t.csv")
    assert name_of(caught) == ["trace-not-readable"]


def test_two_traces_have_two_hashes(tmp_path: Path) -> None:
    """The IR names a file; the provenance says what was in it."""
    (tmp_path / "a.sq").write_text(REPLAY)
    (tmp_path / "t.csv").write_text("0,1,10,1,0\n")
    one = serq.load(tmp_path / "a.sq").run().provenance
    (tmp_path / "t.csv").write_text("0,1,11,1,0\n")
    two = serq.load(tmp_path / "a.sq").run().provenance
    assert one.ir == two.ir and one.trace != two.trace
    assert serq.loads(PROGRAM).run().provenance.trace == ""


def test_a_run_that_fails_says_when(tmp_path: Path) -> None:
    """The exception carries the moment as values, too."""
    with pytest.raises(serq.RunFailed) as caught:
        serq.loads(PROGRAM.replace("run s (~exp(1));", "run s (1); branch (serial) { } else { }")).run()
    assert (caught.value.session, caught.value.turn) == (2, 0)
    assert caught.value.time > 0 and name_of(caught) == ["guard-not-boolean"]


def test_an_exception_says_what_is_wrong_and_how_to_go_on() -> None:
    """Every finding on a line of its own, where it is, and its help below; it survives the way between processes."""
    text = PROGRAM.replace("run s (", "run t (").replace("now - t", "now - tt")
    with pytest.raises(serq.ProgramError) as caught:
        serq.loads(text, name="a.sq")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines if not line.startswith("  ")] == [
        f"error[{finding.name}]" for finding in caught.value.diagnostics
    ]
    assert lines[0].startswith("a.sq:4:28: error[unknown-stage]: ")
    assert lines[1].startswith("  help: ")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_a_run_that_fails_says_when_as_text(tmp_path: Path) -> None:
    """And how to get back there when there is a file to name."""
    (tmp_path / "a.sq").write_text(PROGRAM.replace("run s (~exp(1));", "run s (1); branch (serial) { } else { }"))
    with pytest.raises(serq.RunFailed) as caught:
        serq.load(tmp_path / "a.sq").run()
    lines = str(caught.value).splitlines()
    assert "a.sq:4:" in lines[0] and "error[guard-not-boolean]: " in lines[0]
    assert lines[1].startswith("  at t = ") and "session 2, turn 0" in lines[1]
    assert lines[2].startswith("  replay: serq run ")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.time, again.session, again.turn) == (str(caught.value), caught.value.time, 2, 0)


def test_samples_are_found_by_name() -> None:
    """In the place of their index."""
    finished = serq.loads(PROGRAM).simulate(records_samples=True)
    samples = finished.samples("r")
    assert samples.values == list(finished.result.observes[0].values) and len(samples.values) > 1
    assert len(samples.times) == len(samples.sessions) == len(samples.turns) == len(samples.values) > 0
    with pytest.raises(KeyError, match="nowhere"):
        finished.samples("nowhere")


def test_a_report_says_how_to_get_it_again(tmp_path: Path) -> None:
    """A text has no command line, a file has one with every override that counts."""
    assert serq.loads(PROGRAM).run().provenance.command == ""
    file = tmp_path / "a b.sq"
    file.write_text(PROGRAM)
    program = serq.load(file, set={"rate": "1 / 4"}, horizon=50, seed=2)
    assert program.run().provenance.command == f"serq run '{file}' --set 'rate=1 / 4' --horizon 50 --seed 2"
    assert program.run(seed=3).provenance.command == f"serq run '{file}' --set 'rate=1 / 4' --horizon 50 --seed 3"


def test_samples_are_recorded_when_asked_for() -> None:
    """A dump needs them; figures do not."""
    program = serq.loads(PROGRAM)
    recorded = program.simulate(records_samples=True)
    bare = program.simulate()
    assert len(recorded.result.observes[0].times) == recorded.report.observes["r"].count > 0
    assert len(bare.result.observes[0].times) == 0
    assert recorded.report.to_json() == bare.report.to_json()


def test_what_is_public_is_importable_and_nothing_else() -> None:
    """Names come when they are used."""
    assert all(getattr(serq, name) is not None for name in serq.__all__)
    with pytest.raises(AttributeError):
        serq.no_such_name  # noqa: B018


@pytest.mark.parametrize("content", [b"\xff\xfe", b"stage s : fifo;\x00"])
def test_a_file_that_is_no_text(content: bytes, tmp_path: Path) -> None:
    """It is refused, and never an internal error."""
    (tmp_path / "a.sq").write_bytes(content)
    with pytest.raises(serq.ProgramError):
        api.load(tmp_path / "a.sq")


def test_a_byte_order_mark_does_not_count(tmp_path: Path) -> None:
    """Editors write one."""
    (tmp_path / "a.sq").write_bytes(b"\xef\xbb\xbf" + PROGRAM.replace("\n", "\r\n").encode())
    assert serq.load(tmp_path / "a.sq").ir == serq.loads(PROGRAM).ir
