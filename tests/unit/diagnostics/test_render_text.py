"""Text with carets: the shape of every part, and the odd places a mark can stand."""

import pytest

from serq.diagnostics import Diagnostic, Label, Origin, Path, Severity, SourceFile, Span, error
from serq.diagnostics.render_text import WINDOW, render_text


def span_of(source: SourceFile, piece: str, occurrence: int = 0) -> Span:
    """Give the span of a piece of the text."""
    start = -1
    for _ in range(occurrence + 1):
        start = source.text.index(piece, start + 1)
    return Span(source, start, start + len(piece))


def drawn(diagnostic: Diagnostic) -> list[str]:
    return render_text([diagnostic]).splitlines()


def test_two_places_in_one_file_with_a_gap() -> None:
    """Both places are shown in the order of the file, dots between them, the note below."""
    source = SourceFile("vllm.sq", "\n" * 27 + "  set hit = min(a, b);\n\n\n  hold reqs (1), kv (hit) {\n")
    finding = error(
        "stale-header-read",
        "`hit` is read at admission but was set before the session queued",
        span_of(source, "hit", 1),
        "evaluated when the session is admitted",
        secondary=(Label(span_of(source, "min(a, b)"), "reads the pool here"),),
        notes=("the cache may change while the session waits",),
        helps=("bind it where it is read",),
    )
    assert render_text([finding]) == (
        "error[stale-header-read]: `hit` is read at admission but was set before the session queued\n"
        "  --> vllm.sq:31:22\n"
        "   |\n"
        "28 |   set hit = min(a, b);\n"
        "   |             --------- reads the pool here\n"
        "...\n"
        "31 |   hold reqs (1), kv (hit) {\n"
        "   |                      ^^^ evaluated when the session is admitted\n"
        "   |\n"
        "   = note: the cache may change while the session waits\n"
        "help: bind it where it is read\n"
    )


def test_one_line_between_two_places_is_shown() -> None:
    """Dots would take the room of the line they hide."""
    source = SourceFile("a.sq", "one;\ntwo;\nthree;\n")
    finding = error("x", "m", span_of(source, "three"), secondary=(Label(span_of(source, "one"), "first"),))
    assert drawn(finding)[3:8] == ["1 | one;", "  | --- first", "2 | two;", "3 | three;", "  | ^^^^^"]


def test_an_expansion_speaks_of_the_form_and_where_it_was_called() -> None:
    """The chain comes last, the innermost step first."""
    source = SourceFile("pd.sq", "transfer (promt) x;\nD[j].decode (prompt);\n")
    call = span_of(source, "D[j].decode (prompt)")
    place = span_of(source, "promt").through(Origin("in the entry `decode` of queue `D`", call))
    place = place.through(Origin("`transfer` here means: run link (X)", span_of(source, "transfer")))
    finding = error("unknown-name", "no name `promt`", place, "not defined here", helps=("`prompt` is one",))
    assert drawn(finding)[-4:] == [
        "  |",
        "help: `prompt` is one",
        "  = in the entry `decode` of queue `D`, called at pd.sq:2:1",
        "  = `transfer` here means: run link (X)",
    ]


def test_a_run_time_error_gives_the_moment_first_and_the_replay_last() -> None:
    """The two notes of a run bring their own heads."""
    source = SourceFile("chat.sq", "branch (more * p) { }\n")
    finding = error(
        "guard-not-boolean",
        "the guard is 0.37",
        span_of(source, "more * p"),
        notes=("at t = 128.4071, session 17, turn 3", "replay: serq run chat.sq --seed 1"),
        helps=("write `branch with (more * p)`",),
    )
    assert drawn(finding)[-3:] == [
        "  = at t = 128.4071, session 17, turn 3",
        "help: write `branch with (more * p)`",
        "  = replay: serq run chat.sq --seed 1",
    ]


def test_an_ir_path_has_no_excerpt() -> None:
    """IR has paths in place of lines."""
    finding = error("ir-unknown-pool", "no pool `kv2`", Path("$.session[3].pools[1]", "s.json"), helps=("`kv`",))
    assert drawn(finding) == [
        "error[ir-unknown-pool]: no pool `kv2`",
        " --> s.json at $.session[3].pools[1]",
        "help: `kv`",
    ]


def test_a_place_in_an_option_is_called_by_it() -> None:
    """`--set rate` is no file with lines."""
    source = SourceFile("--set rate", "1 / cap")
    assert drawn(error("x", "m", span_of(source, "cap"), "not defined"))[1:] == [
        " --> --set rate",
        "  |",
        "1 | 1 / cap",
        "  |     ^^^ not defined",
        "  |",
    ]


def test_a_finding_without_a_place_is_its_message() -> None:
    """A missing file has no line to show."""
    assert drawn(error("file-not-readable", "`a.sq` cannot be read", None)) == [
        "error[file-not-readable]: `a.sq` cannot be read"
    ]


@pytest.mark.parametrize(
    ("text", "piece", "line", "marks"),
    [
        ("\tset x = y;", "y", "    set x = y;", "            ^"),
        ("a\tset", "set", "a   set", "    ^^^"),
        ("// 价格 x", "x", "// 价格 x", "        ^"),
        ("// e\N{COMBINING ACUTE ACCENT} x", "x", "// e\N{COMBINING ACUTE ACCENT} x", "     ^"),
        ("a\x1b[31m x", "x", "a\N{REPLACEMENT CHARACTER}[31m x", "       ^"),
        ("a\N{RIGHT-TO-LEFT OVERRIDE} x", "x", "a\N{REPLACEMENT CHARACTER} x", "   ^"),
    ],
)
def test_marks_stand_under_their_characters(text: str, piece: str, line: str, marks: str) -> None:
    """Tabs are four columns, wide characters two, combining ones none; control characters never reach a terminal."""
    source = SourceFile("a.sq", text)
    lines = drawn(error("x", "m", span_of(source, piece)))
    assert lines[3:5] == [f"1 | {line}", f"  | {marks}"]


@pytest.mark.parametrize("text", ["session {", "session {\n", "session {\n\n  \n"])
def test_a_mark_at_the_end_of_the_file_stands_behind_its_last_text(text: str) -> None:
    """An empty last line is no place to point at."""
    source = SourceFile("a.sq", text)
    lines = drawn(error("x", "expected `}`", Span(source, len(text), len(text)), "here"))
    assert lines[1:5] == [" --> a.sq:1:10", "  |", "1 | session {", "  |          ^ here"]


def test_an_empty_file_has_a_place_too() -> None:
    """Line 1, column 1."""
    lines = drawn(error("x", "no run block", Span(SourceFile("a.sq", ""), 0, 0)))
    assert lines[1:5] == [" --> a.sq:1:1", "  |", "1 |", "  | ^"]


def test_a_span_over_lines_marks_its_first_and_last() -> None:
    """The label stands at its end."""
    source = SourceFile("a.sq", "hold kv (\n  1,\n  2,\n  3)\n{ }\n")
    finding = error("x", "m", Span(source, 5, source.text.index(")") + 1), "this header")
    assert drawn(finding)[2:] == [
        "  |",
        "1 | hold kv (",
        "  |      ^^^^ from here",
        "...",
        "4 |   3)",
        "  |   ^^ this header",
        "  |",
    ]


def test_a_span_that_ends_with_its_line_feed_stays_on_its_line() -> None:
    """The next line has no character of it."""
    source = SourceFile("a.sq", "turn\nend;\n")
    assert drawn(error("x", "m", Span(source, 0, 5)))[3:] == ["1 | turn", "  | ^^^^", "  |"]


def test_a_long_line_is_shown_through_a_window() -> None:
    """Dots at both ends, and the mark still under its character."""
    source = SourceFile("a.sq", "a" * 5000 + "X" + "b" * 5000)
    line, marks = drawn(error("x", "m", span_of(source, "X")))[3:5]
    assert len(line) <= WINDOW + 4 and line[4] == "…" and line[-1] == "…"
    assert line[marks.index("^")] == "X"


def test_a_place_in_another_file_names_it() -> None:
    """The primary's file comes first, the other under its own name."""
    here, there = SourceFile("a.sq", "f(1);\n"), SourceFile("lib.sq", "\ndef f(x) { }\n")
    finding = error("x", "m", span_of(here, "f"), secondary=(Label(span_of(there, "f", 1), "defined here"),))
    assert drawn(finding)[1:] == [
        " --> a.sq:1:1",
        "  |",
        "1 | f(1);",
        "  | ^",
        "  |",
        " ::: lib.sq:2:5",
        "  |",
        "2 | def f(x) { }",
        "  |     ^ defined here".replace("^", "-"),
        "  |",
    ]


def test_findings_come_by_file_offset_and_name() -> None:
    """The order found does not matter; numbers in IR paths count by value."""
    a, b = SourceFile("a.sq", "one two"), SourceFile("b.sq", "one")
    findings = [
        error("z", "4", span_of(b, "one")),
        error("b", "3", span_of(a, "two")),
        error("a", "2", span_of(a, "two")),
        error("z", "1", span_of(a, "one")),
        error("p", "6", Path("$.session[10]", "c.json")),
        error("p", "5", Path("$.session[9]", "c.json")),
        error("q", "0", None),
    ]
    heads = [line.split(": ")[1] for line in render_text(findings).splitlines() if line.startswith("error[")]
    assert heads == ["0", "1", "2", "3", "4", "5", "6"]


def test_colour_only_adds_to_the_text() -> None:
    """Taken away, the same text is left."""
    import re

    source = SourceFile("a.sq", "one two")
    finding = error("x", "m", span_of(source, "two"), "l", notes=("n",), helps=("h",))
    coloured = render_text([finding], colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_text([finding])


def test_a_note_says_note() -> None:
    """The severity is the head's first word."""
    assert render_text([Diagnostic("x", "m", severity=Severity.NOTE)]) == "note[x]: m\n"
