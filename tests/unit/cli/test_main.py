"""The command line: exit codes, what goes to stdout and what to stderr, and how failures end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from serq import api
from serq.cli.main import main
from serq.version import VERSION

PROGRAM = """let rate = 0.5;
stage s : fifo;
pool p { cap 2; }
workload { arrive poisson(rate); }
session { set t = now; hold p (1) { run s (~exp(1)); } observe r = now - t; end; }
gauge u = used(p);
run { horizon 100; warmup 10; seed 7; }
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program in the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sq").write_text(PROGRAM)
    return "a.sq"


def outcome(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, err


def test_run_prints_a_report(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its first line gives the figures again."""
    code, out, err = outcome(capsys, "run", program)
    assert (code, err) == (0, "")
    assert out.startswith("serq run a.sq\n\ntime ") and "\nobserve " in out and "\ngauge " in out


def test_run_prints_json(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With options in place of the program's run block."""
    code, out, err = outcome(
        capsys, "run", program, "--json", "--seed", "3", "--horizon", "50", "--warmup", "0", "--set", "rate=1 / 2"
    )
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert (document["horizon"], document["warmup"], document["seed"]) == (50.0, 0.0, 3)
    assert document["provenance"]["command"] == (
        "serq run a.sq --set 'rate=1 / 2' --horizon 50.0 --warmup 0.0 --seed 3"
    )


def test_the_same_command_gives_the_same_bytes(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a dump goes makes no difference."""
    first = outcome(capsys, "run", program, "--json", "--dump", "one")
    second = outcome(capsys, "run", program, "--json", "--dump", "two")
    assert first == second and first[0] == 0
    assert Path("one/r.csv").read_bytes() == Path("two/r.csv").read_bytes()
    assert Path("one/gauge/u.csv").read_text().startswith("time,value\n0.0,")


def test_the_last_value_of_a_constant_wins(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As with any option."""
    _, twice, _ = outcome(capsys, "run", program, "--json", "--set", "rate=9", "--set", "rate=2")
    _, once, _ = outcome(capsys, "run", program, "--json", "--set", "rate=2")
    assert json.loads(twice)["observes"] == json.loads(once)["observes"]


def test_the_ir_runs_as_the_text_does(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Text → IR → run gives the figures of text → run, and the IR of the IR is itself."""
    _, document, _ = outcome(capsys, "ir", program)
    Path("a.ir.json").write_text(document)
    assert outcome(capsys, "ir", "a.ir.json") == (0, document, "")
    _, by_text, _ = outcome(capsys, "run", program, "--json", "--seed", "5")
    _, by_ir, _ = outcome(capsys, "run", "a.ir.json", "--json", "--seed", "5")
    by_text, by_ir = json.loads(by_text), json.loads(by_ir)
    assert by_text["provenance"]["ir"] == by_ir["provenance"]["ir"]
    del by_text["provenance"], by_ir["provenance"]
    assert by_text == by_ir


def test_a_program_comes_from_stdin(program: str) -> None:
    """`-` is stdin, for text and for IR."""
    ir = subprocess.run([sys.executable, "-m", "serq", "ir", program], capture_output=True, check=True).stdout
    for text in (PROGRAM.encode(), ir):
        done = subprocess.run([sys.executable, "-m", "serq", "run", "-", "--json"], input=text, capture_output=True)
        assert done.returncode == 0 and json.loads(done.stdout)["arrivals"] > 20


def test_check_says_that_a_program_links(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line."""
    assert outcome(capsys, "check", program) == (0, "a.sq: links (1 pool, 1 stage, 1 observe, 1 gauge)\n", "")


def test_expand_prints_the_kernel(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And the kernel's kernel is itself."""
    Path("b.sq").write_text(PROGRAM.replace("run s (~exp(1));", "branch with (0.5) { run s (~exp(1)); }"))
    code, out, err = outcome(capsys, "expand", "b.sq")
    assert (code, err) == (0, "") and "branch (~bernoulli(0.5))" in out
    Path("c.sq").write_text(out)
    assert outcome(capsys, "expand", "c.sq") == (0, out, "")


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "none.sq", "--seed", "x"],
        ["run", "none.sq", "--seed", "-1"],
        ["run", "none.sq", "--seed", "1.5"],
        ["run", "none.sq", "--horizon", "nan"],
        ["run", "none.sq", "--horizon", "inf"],
        ["run", "none.sq", "--horizon", "0"],
        ["run", "none.sq", "--warmup", "-1"],
        ["run", "none.sq", "--arrivals", "0"],
        ["run", "none.sq", "--set", "rate"],
        ["run", "none.sq", "--set", "rate="],
        ["run", "none.sq", "--set", "2=1"],
        ["run", "none.sq", "--set", "rate=1 +"],
        ["run", "none.sq", "--set", "rate=1; pool p { }"],
        ["run", "none.sq", "--format", "xml"],
        ["run", "none.sq", "--no-such-option"],
        ["run", "none.sq", "extra"],
        ["explain", "no-such-name"],
        ["rnu", "none.sq"],
        ["ir", "none.sq", "--dump", "d"],
    ],
)
def test_options_are_checked_before_the_file_is_opened(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, although there is no such file either."""
    code, out, err = outcome(capsys, *words)
    assert (code, out) == (2, "") and "Error: " in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["run", "none.sq"], "file-not-readable"),
        (["check", "."], "file-not-readable"),
        (["run", "a.sq", "--trace", "t.csv"], "trace-not-used"),
        (["run", "a.sq", "--dump", "a.sq"], "dump-not-writable"),
        (["run", "a.sq", "--dump", "/proc/none/d"], "dump-not-writable"),
    ],
)
def test_files_at_fault_are_named(
    words: list[str], name: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1, nothing on stdout."""
    code, out, err = outcome(capsys, *words)
    assert (code, out) == (1, "") and f"error[{name}]" in err


def test_a_name_that_is_no_constant_cannot_be_set(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whether it is unknown or something else."""
    for name in ("ratte", "s"):
        code, out, err = outcome(capsys, "run", program, "--set", f"{name}=1")
        assert (code, out) == (1, "") and name in err


def test_diagnostics_come_in_three_forms(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All on stderr."""
    Path("a.sq").write_text(PROGRAM.replace("(1) {", "(1 {"))
    _, out, text = outcome(capsys, "check", program)
    assert out == "" and "\n --> a.sq:5:" in text
    _, out, concise = outcome(capsys, "check", program, "--format", "concise")
    assert out == "" and concise.startswith("a.sq:5:")
    _, out, document = outcome(capsys, "check", program, "--format=json")
    assert out == "" and json.loads(document)["diagnostics"][0]["primary"]["line"] == 5


def test_a_run_that_stops_says_when_who_and_how_to_get_there(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The replay command stops at the same place."""
    Path("a.sq").write_text(PROGRAM.replace("set t = now;", "set t = now; branch (serial - 19) { } else { }"))
    Path("a.sq").write_text(
        PROGRAM.replace("set t = now;", "set t = now; branch (serial < 20 ? 1 : 0.5) { observe x = 1; }")
    )
    code, out, err = outcome(capsys, "run", program, "--set", "rate=2")
    assert (code, out) == (1, "")
    assert "error[guard-not-boolean]" in err and "session 20, turn 0" in err and "a.sq:5:" in err
    replay = next(line for line in err.splitlines() if "replay: " in line).split("replay: serq ")[1].split()
    again_code, _, again = outcome(capsys, *replay)
    assert again_code == 1 and again.splitlines()[0] == err.splitlines()[0]
    assert [line for line in again.splitlines() if "at t = " in line] == [
        line for line in err.splitlines() if "at t = " in line
    ]


def test_strict_fails_where_a_run_is_only_noted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Without it the report is printed, with a note in it and on stderr."""
    file = str(Path(__file__).parents[2] / "bad" / "run-cannot-go-on.sq")
    code, out, err = outcome(capsys, "run", file, "--json")
    assert code == 0 and "note: nothing can move any more" in err
    assert {note["kind"] for note in json.loads(out)["notes"]} == {"blocked"}
    code, out, err = outcome(capsys, "run", file, "--strict", "--dump", str(tmp_path / "d"))
    assert (code, out) == (1, "") and "error[run-cannot-go-on]" in err
    assert not (tmp_path / "d").exists()


def test_a_fault_of_ours_is_reported_as_one(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 70, what reproduces it, no traceback unless asked for."""

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(api, "load", fails)
    code, out, err = outcome(capsys, "run", program, "--set", "rate=1 + 1")
    assert (code, out) == (70, "")
    assert "internal error: ZeroDivisionError: float division by zero" in err
    assert "    serq run a.sq --set 'rate=1 + 1'\n" in err and VERSION in err and "Traceback" not in err
    monkeypatch.setenv("SERQ_DEBUG", "1")
    assert "Traceback" in outcome(capsys, "run", program)[2]


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The version says which engine is installed; help lists the commands."""
    code, out, _ = outcome(capsys, "--version")
    assert code == 0 and out in {f"serq {VERSION} (compiled engine)\n", f"serq {VERSION} (pure Python engine)\n"}
    code, out, _ = outcome(capsys, "--help")
    assert code == 0 and all(command in out for command in ("run", "check", "ir", "expand", "explain"))
    assert outcome(capsys, "run", "--help")[0] == 0


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    """A page, or the list."""
    code, out, _ = outcome(capsys, "explain", "trace-cell")
    assert code == 0 and out.startswith("# trace-cell\n")
    code, out, _ = outcome(capsys, "explain")
    assert code == 0 and "\ntrace-cell  " in out


def long_run(folder: Path) -> subprocess.Popen[bytes]:
    """Start a run that would take minutes."""
    (folder / "long.sq").write_text(PROGRAM.replace("horizon 100", "horizon 1e9"))
    words = [sys.executable, "-m", "serq", "run", "long.sq"]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_without_checks())


def _without_checks() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "SERQ_CHECK"}


def test_an_interrupt_ends_a_run(tmp_path: Path) -> None:
    """Exit 130, in a word, and no report."""
    process = long_run(tmp_path)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"serq: interrupted\n")


def test_a_reader_that_goes_away_is_no_fault(program: str) -> None:
    """`serq ir | head -0`: no traceback."""
    process = subprocess.Popen(
        [sys.executable, "-m", "serq", "ir", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=20) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize("words", [["run", "a.sq"], ["run", "a.sq", "--json"], ["check", "a.sq"]])
def test_a_terminal_of_another_alphabet_gets_a_report(words: list[str], program: str) -> None:
    """What it cannot show is written out."""
    name = os.fsdecode(b"\xff.sq")
    os.rename(program, name)
    words = [name if word == "a.sq" else word for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "serq", *words], env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"") and rb"\udcff.sq" in done.stdout


def test_a_full_disk_is_told(program: str) -> None:
    """Exit 1: the output is at fault."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "serq", "ir", program], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"stdout cannot be written" in done.stderr


def test_a_run_needs_no_stderr(program: str) -> None:
    """Closed by whoever started us: the report is printed, and what would be said there is not."""
    command = f'exec "{sys.executable}" -m serq run "{program}" 2>&-'
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE)
    assert done.returncode == 0 and b"horizon" in done.stdout


@pytest.mark.parametrize("name", ["a\0b.csv", "t\udcff.csv"])
@pytest.mark.parametrize("command", [["ir"], ["run", "--json"]])
def test_a_trace_that_has_no_name_in_the_ir_is_refused(
    name: str, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A null character is in no path, half a character in no text."""
    program = tmp_path / "a.sq"
    program.write_text('workload { trace "t.csv"; arrive batch(1); } session { turn; end; } run { horizon 1; }')
    assert main([command[0], str(program), "--trace", name, *command[1:]]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "trace-not-readable" in err
