"""One-line and JSON forms, and the registry of names."""

import json

from hypothesis import given
from hypothesis import strategies as st

from serq.diagnostics import Label, Origin, Path, SourceFile, Span, error, registry
from serq.diagnostics.render_concise import render_concise
from serq.diagnostics.render_json import render_json
from serq.diagnostics.render_text import render_text

SOURCE = SourceFile("a.sq", "one;\ntwo three;\n")


def test_the_concise_form_is_one_line_a_finding() -> None:
    """A message of two lines becomes one."""
    findings = [
        error("b", "late\nmessage", Span(SOURCE, 5, 8)),
        error("a", "early", Span(SOURCE, 0, 3)),
        error("c", "in the IR", Path("$.run", "p.json")),
        error("d", "nowhere", None),
    ]
    assert render_concise(findings) == (
        "error[d]: nowhere\n"
        "a.sq:1:1: error[a]: early\n"
        "a.sq:2:1: error[b]: late message\n"
        "p.json at $.run: error[c]: in the IR\n"
    )


def test_the_json_form_has_every_part() -> None:
    """Positions count from 1, offsets from 0."""
    place = Span(SOURCE, 9, 14).through(Origin("in the definition `f`", Span(SOURCE, 0, 3)))
    finding = error("x", "m", place, "l", secondary=(Label(Path("$.run", "p"), "s"),), notes=("n",), helps=("h",))
    document = json.loads(render_json([finding]))
    assert document == {
        "schema": 1,
        "diagnostics": [
            {
                "name": "x",
                "severity": "error",
                "message": "m",
                "primary": {
                    "file": "a.sq",
                    "line": 2,
                    "column": 5,
                    "end_line": 2,
                    "end_column": 10,
                    "start": 9,
                    "end": 14,
                    "label": "l",
                },
                "secondary": [{"file": "p", "path": "$.run", "label": "s"}],
                "notes": ["n"],
                "helps": ["h"],
                "expansion": [
                    {
                        "phrase": "in the definition `f`",
                        "file": "a.sq",
                        "line": 1,
                        "column": 1,
                        "end_line": 1,
                        "end_column": 4,
                        "start": 0,
                        "end": 3,
                    }
                ],
            }
        ],
    }


@given(st.text(max_size=200), st.data())
def test_any_span_of_any_text_can_be_drawn(text: str, data: st.DataObject) -> None:
    """No text and no span makes a renderer fail, and the three forms agree on the position."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    finding = error("x", "m", Span(SourceFile("a.sq", text), start, end), "label")
    primary = json.loads(render_json([finding]))["diagnostics"][0]["primary"]
    position = f"a.sq:{primary['line']}:{primary['column']}"
    assert render_concise([finding]).startswith(f"{position}: ")
    drawn = render_text([finding])
    assert f"--> {position}\n" in drawn and "^" in drawn


def test_names_come_from_pages_and_have_summaries() -> None:
    """A page's second paragraph is its summary."""
    assert "trace-cell" in registry.names()
    assert registry.summary("trace-cell") == "A cell of a trace is not a number that a trace may hold."
    assert registry.page(
        "trace-cell",
    ).startswith("# trace-cell\n")


def test_an_unknown_name_has_no_page_but_neighbours() -> None:
    """A path is not a name."""
    assert registry.page("../explain/trace-cell") is None
    assert registry.nearest("trace-sell")[0] == "trace-cell"
    assert registry.nearest("qqqqqq") == []
