"""Notes about programs that link: what earns one, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

import serq
from serq.cli.main import main
from serq.diagnostics import Severity

ROOT = Path(__file__).resolve().parents[3]


def remarks(session: str, workload: str = "", more: str = "") -> list[str]:
    text = f"stage s : delay; {more} workload {{ arrive batch(1); {workload} }} session {{ {session} end; }}"
    found = serq.loads(f"{text} run {{ horizon 10; }}").remarks
    assert all(finding.severity is Severity.NOTE for finding in found)
    return [f"{finding.name}: {finding.message}" for finding in found]


@pytest.mark.parametrize(
    ("written", "read"), [("contxt", "context"), ("sned", "send"), ("firsttoken", "first_token"), ("prmptt", "prompt")]
)
def test_a_name_nobody_reads_near_one_that_is_read(written: str, read: str) -> None:
    """One edit for short names, two for longer ones; two neighbours exchanged are one."""
    assert remarks(f"set {read} = 1; set {written} = 2; run s ({read});") == [
        f"perhaps-misspelt: `{written}` is set and never read; perhaps it was meant to be `{read}`"
    ]


@pytest.mark.parametrize(
    ("one", "other"), [("far", "for"), ("sent", "want"), ("first1", "first2"), ("prompt", "output"), ("t1", "t2")]
)
def test_names_that_are_near_on_purpose(one: str, other: str) -> None:
    """Short, numbered, or not near at all."""
    assert remarks(f"set {one} = 1; set {other} = 2; run s ({one});") == []


@pytest.mark.parametrize(
    ("reader", "more"),
    [
        ("observe x = contxt;", ""),
        ("branch (contxt) { run s (1); }", ""),
        ("hold p (contxt) { } cache (1);", "pool p { cap 9; }"),
        ("hold p (1) { run s (1); }", "pool p { cap 9; queue by (contxt); }"),
        ("choose j in contxt by (j); run s (j);", ""),
        ("run f[contxt - 1] (1);", "stage f[2] : fifo;"),
    ],
)
def test_every_read_counts(reader: str, more: str) -> None:
    """Wherever an expression may stand."""
    assert remarks(f"set context = 1; set contxt = 1; run s (context); {reader}", more=more) == []


def test_two_that_are_never_read_say_nothing_about_one_another() -> None:
    """The right name is one that is read."""
    assert remarks("set contxt = 1; set context = 2;") == []


def test_what_a_library_sets_is_not_the_programs(tmp_path: Path) -> None:
    """Its attributes are there for whoever wants them."""
    (tmp_path / "library.sq").write_text("def note(x) { set contxt = x; }")
    (tmp_path / "a.sq").write_text(
        'use "library.sq"; stage s : delay; workload { arrive batch(1); } '
        "session { set context = 1; note(2); run s (context); end; } run { horizon 10; }"
    )
    assert serq.load(tmp_path / "a.sq").remarks == []


def test_turns_that_nobody_takes() -> None:
    """A turn block, and nothing when the session takes one, in a branch too."""
    message = "turn-never-taken: the workload has a `turn` block, and the session never says `turn;`"
    assert remarks("run s (1);", "turn { set prompt = 1; }") == [message]
    assert remarks("branch (serial) { turn; }", "turn { set prompt = 1; }") == []
    assert remarks("run s (1);", "init { set prompt = 1; }") == []


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.sq")), ids=lambda path: path.name)
def test_no_example_earns_one(path: Path) -> None:
    """A note that a good program earns is noise."""
    assert serq.load(path).remarks == []


def test_a_note_changes_neither_the_report_nor_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is on stderr alone, in the form asked for, from run and from check."""
    program = tmp_path / "a.sq"
    program.write_text(
        "stage s : delay; workload { arrive batch(1); }\n"
        "session { set context = 1; set contxt = 2; run s (context); end; }\nrun { horizon 10; }\n"
    )
    for command in ("run", "check"):
        assert main([command, str(program), "--format", "concise"]) == 0
        out, err = capsys.readouterr()
        assert err.startswith(f"{program}:2:28: note[perhaps-misspelt]: ") and len(err.splitlines()) == 1
        assert out and "contxt" not in out
