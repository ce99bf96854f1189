"""Traces: what a row is, where a session starts, and every way a file can be wrong."""

from pathlib import Path

import pytest

from serq.diagnostics import ProgramError
from serq.diagnostics.render_concise import render_concise
from serq.workload.traces import parse_trace, read_trace

HEAD = "session,turn,new,out,think,forced\n"


def complaints(text: str) -> list[str]:
    with pytest.raises(ProgramError) as caught:
        parse_trace(text, "t.csv")
    return render_concise(caught.value.diagnostics).splitlines()


def test_sessions_are_runs_of_one_id() -> None:
    """An id that comes back later is another session; the turn column is decorative."""
    trace = parse_trace(HEAD + "0,1,10,2,1.5,0\n0,9,20,3,0,1\n7,1,5,1,0,0\n0,1,6,1,0,0\n", "t.csv")
    assert trace == (((10.0, 2.0, 1.5, 0.0), (20.0, 3.0, 0.0, 1.0)), ((5.0, 1.0, 0.0, 0.0),), ((6.0, 1.0, 0.0, 0.0),))


def test_forced_may_be_left_out_and_spaces_do_not_count() -> None:
    """Five cells are enough."""
    assert parse_trace(" a , 1, 10 ,2,\t3\n", "t.csv") == (((10.0, 2.0, 3.0, 0.0),),)


def test_comments_heads_and_blank_lines_are_skipped() -> None:
    """They may stand anywhere, and do not end a session."""
    trace = parse_trace(f"# recorded\n{HEAD}\n0,1,1,1,0\n   \n# between\n0,2,2,1,0\n", "t.csv")
    assert [len(session) for session in trace] == [2]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_byte_order_mark_make_no_difference(tmp_path: Path, line_end: str, mark: bytes) -> None:
    """Files come from everywhere."""
    path = tmp_path / "t.csv"
    path.write_bytes(mark + f"{HEAD}0,1,1,2,3\n1,1,4,5,6".replace("\n", line_end).encode())
    assert read_trace(str(path)) == (((1.0, 2.0, 3.0, 0.0),), ((4.0, 5.0, 6.0, 0.0),))


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        ("x1", "`new` is `x1`, and a number is needed"),
        ("nan", "`new` is `nan`, which is not finite"),
        ("inf", "`new` is `inf`, which is not finite"),
        ("1e999", "`new` is `1e999`, which is not finite"),
        ("-3", "`new` is `-3`, which is negative"),
        ("1_000", "`new` is `1_000`, and a number is needed"),
        ('"5"', '`new` is `"5"`, and a number is needed'),
        ("", "`new` is an empty cell, and a number is needed"),
    ],
)
def test_a_bad_cell_is_named_with_its_place(cell: str, complaint: str) -> None:
    """Line and column are those of the cell's first character."""
    assert complaints(f"{HEAD}0,1,{cell},2,3,0\n") == [f"t.csv:2:5: error[trace-cell]: {complaint}"]


def test_every_bad_cell_is_reported() -> None:
    """Not only the first of a row, or of the file; spaces are no part of the place."""
    assert complaints("0,1, a,-1,0\n0,2,1,1,0,b\n") == [
        "t.csv:1:6: error[trace-cell]: `new` is `a`, and a number is needed",
        "t.csv:1:8: error[trace-cell]: `out` is `-1`, which is negative",
        "t.csv:2:11: error[trace-cell]: `forced` is `b`, and a number is needed",
    ]


def test_too_many_faults_end_the_reading() -> None:
    """Fifty are enough to see what is wrong."""
    assert len(complaints("0,1,a,a,a,a\n" * 1000)) == 50


@pytest.mark.parametrize(("row", "count"), [("0,1,2,3", 4), ("0,1,2,3,4,5,6", 7), ("hello", 1)])
def test_a_row_has_five_or_six_cells(row: str, count: int) -> None:
    """The message counts those it has."""
    assert complaints(f"{row}\n") == [
        f"t.csv:1:1: error[trace-columns]: a trace row needs 5 or 6 cells, this one has {count}"
    ]


@pytest.mark.parametrize(
    ("header", "column", "complaint"),
    [
        ("session,turn,out,new,think", 14, "`out` where a trace has `new`"),
        ("session,turn, think,new,out", 15, "`think` where a trace has `new`"),
        ("session,new,turn,out,think", 9, "`new` where a trace has `turn`"),
        ("session,turn,prompt,New,think", 21, "`New` where a trace has `out`"),
        ("session,turn,new,out,forced", 22, "`forced` where a trace has `think`"),
        ("session,turn,new,out,think,note", 28, "`note` where a trace has `forced`"),
        ("session,turn,new,out,think,", 28, "nothing where a trace has `forced`"),
        ("session,turn,new,out,think,forced,new", 35, "`new` where a trace has no column"),
    ],
)
def test_a_header_with_columns_in_other_places_is_refused(header: str, column: int, complaint: str) -> None:
    """The rows below it would be read by place, which is not what it says."""
    assert complaints(f"{header}\n0,1,2,3,4\n")[0].startswith(f"t.csv:1:{column}: error[trace-header]: ")
    assert complaints(f"{header}\n0,1,2,3,4\n")[0].endswith(complaint)


@pytest.mark.parametrize(
    "header",
    ["session,turn,prompt,out,think", "session , Turn,New, OUT ,think , forced", "session id,out,new", "sessions"],
)
def test_a_header_may_use_other_names(header: str) -> None:
    """Names that are no columns of a trace say nothing about places; a line that is no header at all is skipped."""
    assert parse_trace(f"{header}\n0,1,2,3,4\n", "t.csv") == (((2.0, 3.0, 4.0, 0.0),),)


@pytest.mark.parametrize("text", ["", "\n\n", HEAD, "# nothing\n"])
def test_a_trace_without_turns_is_no_trace(text: str) -> None:
    """Nobody could arrive."""
    (line,) = complaints(text)
    assert line.endswith("error[trace-empty]: the trace holds no turn")


def test_files_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    """Missing, a directory, not text."""
    binary = tmp_path / "b.csv"
    binary.write_bytes(b"0,1,\xff")
    for path, reason in [
        (tmp_path / "none.csv", "no such file or directory"),
        (tmp_path, "is a directory"),
        (binary, "byte 4 is not UTF-8"),
    ]:
        with pytest.raises(ProgramError) as caught:
            read_trace(str(path))
        (finding,) = caught.value.diagnostics
        assert finding.name == "trace-not-readable"
        assert finding.message == f"the trace `{path}` cannot be read: {reason}"


def test_the_recorded_trace_is_read_whole() -> None:
    """333 sessions, 3 321 requests, as its description says."""
    trace = read_trace(str(Path(__file__).parents[3] / "examples/replay/short_base.csv"))
    assert (len(trace), sum(map(len, trace))) == (333, 3321)


@pytest.mark.parametrize(("mark", "named"), [(";", "`;`"), ("\t", "tabs")])
def test_a_file_of_another_separator_is_one_mistake(mark: str, named: str) -> None:
    """And not as many as it has rows."""
    text = "\n".join(mark.join(["0", str(turn), "10", "2", "0"]) for turn in range(1, 9))
    with pytest.raises(ProgramError) as caught:
        parse_trace(text, "t.csv")
    assert [finding.name for finding in caught.value.diagnostics] == ["trace-columns"]
    assert f"this row has {named}" in caught.value.diagnostics[0].helps[0]
