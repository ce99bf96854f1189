"""Every program of the language reference does what its page says.

The pages are read by `pages.py`, which says what their fences mean. Every program that runs is run with the invariants
of the engine checked after every event, and once more from its IR, which must leave the same.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import serq
from serq.api import Finished, Program, expanded
from serq.diagnostics import Diagnostic, ProgramError, Span
from spec.pages import Example, Fence, number, numbers, read_page, rows, same

PAGES = [*sorted(Path(__file__).parent.glob("*.md")), Path(__file__).parents[2] / "docs/vllm.md"]
EXAMPLES = [(page, example) for page in PAGES for example in read_page(page)]
ROW = re.compile(r"at (?P<time>[^,:]+)(?:, session (?P<session>\d+))?(?:, turn (?P<turn>\d+))?: (?P<value>.+)")


@pytest.mark.parametrize(
    ("page", "example"), EXAMPLES, ids=[f"{page.stem}:{example.line} {example.heading}" for page, example in EXAMPLES]
)
def test_page(page: Path, example: Example, tmp_path: Path) -> None:
    """The program of a heading leaves what the fences after it say."""
    path = write(example, tmp_path)
    where = f"{page.name}:{example.line}"
    if example.is_refused:
        with pytest.raises(ProgramError) as caught:
            load(path, example).simulate(checks=True)
        check_findings(caught.value.diagnostics, example, where)
        return
    program = load(path, example)
    for fence in example.expectations:
        if fence.kind == "expand":
            check_expansion(expanded(str(path), definitions=overrides(example)["definitions"]), fence, page)
        elif fence.kind == "ir":
            check_ir(json.loads(program.to_json()), fence, page)
    if all(fence.kind in ("expand", "ir") for fence in example.expectations):
        return
    finished = program.simulate(records_samples=True, checks=True)
    for fence in example.expectations:
        if fence.kind == "same":
            assert example.before is not None, f"{page.name}:{fence.line}: there is no variant before"
            other = load(write(example.before, tmp_path), example.before).simulate(checks=True)
            check_same(other, finished, fence, page)
        elif fence.kind in CHECKS:
            CHECKS[fence.kind](finished, fence, page)
    from_ir = serq.loads(program.to_json(inline_trace=True), name="program.json")
    again = from_ir.simulate(records_samples=True)
    assert samples(again) == samples(finished), f"{where}: the run of its IR leaves other samples"


def test_index(root: Path) -> None:
    """The index of the reference names every page, and the links of the pages and of the index lead somewhere."""
    index = root / "docs" / "reference" / "README.md"
    linked = set()
    for page in (index, *PAGES):
        for target in re.findall(r"\]\(([^)#]+\.md)\)", page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve()
            assert path.is_file(), f"{page.name} links to {target}, which is not there"
            if page == index:
                linked.add(path.stem)
    assert {page.stem for page in PAGES} <= linked


def write(example: Example, folder: Path) -> Path:
    """Write a program and the files beside it."""
    path = folder / ("program.json" if example.is_json else "program.sq")
    path.write_text(example.text, encoding="utf-8")
    for name, text in example.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return path


def load(path: Path, example: Example) -> Program:
    """Load a program with the options of its page."""
    return serq.load(path, **overrides(example))


def overrides(example: Example) -> dict[str, Any]:
    """Read an example's options."""
    options: dict[str, Any] = {"set": {}, "definitions": {}}
    for line in example.options:
        key, _, value = line.partition("=")
        words = key.split()
        if len(words) == 2:
            options[{"set": "set", "define": "definitions"}[words[0]]][words[1]] = value.strip()
        else:
            options[words[0]] = int(value) if words[0] in ("seed", "arrivals") else number(value)
    return options


def samples(finished: Finished) -> str:
    """Give every sample of a run as text (so that NaN is itself)."""
    return repr([(o.name, o.times, o.sessions, o.turns, o.values) for o in finished.result.observes])


# ------------------------------------------------------------------------------------------------- what is refused


def check_findings(found: list[Diagnostic], example: Example, where: str) -> None:
    """Hold the findings against the `error` fences and the lines pointed at."""
    said = "\n".join(f"  {line_of(d)}: {d.name}: {d.message}" for d in found)
    if example.pointed:
        lines = sorted({(line_of(d), d.name) for d in found})
        assert example.pointed == lines, f"{where}: other findings:\n{said}"
    for fence in example.expectations:
        assert fence.kind == "error", f"{where}: a refused program leaves no {fence.kind}"
        expected = rows(fence)
        assert [name for _, name, _ in expected] == [d.name for d in found], f"{where}: other findings:\n{said}"
        for (number_, _, part), diagnostic in zip(expected, found, strict=True):
            text = words_of(diagnostic)
            assert part in text, f"line {number_}: {part!r} is not in the finding:\n  {text}"


def words_of(diagnostic: Diagnostic) -> str:
    """Give all that a finding says, and in an IR the path it points at."""
    words = [diagnostic.message, *diagnostic.notes, *diagnostic.helps]
    if diagnostic.primary is not None and not isinstance(diagnostic.primary.place, Span):
        words.append(diagnostic.primary.place.text)
    return " ".join(words)


def line_of(diagnostic: Diagnostic) -> int:
    """Give the line of the user's text a finding points at: the outermost place of its expansion chain."""
    place = diagnostic.primary.place if diagnostic.primary is not None else None
    if not isinstance(place, Span):
        return 0
    return place.source.line_column(place.start)[0]


# ------------------------------------------------------------------------------------------------- what is printed


def check_expansion(kernel: str, fence: Fence, page: Path) -> None:
    """Hold a part of the kernel text against a fence; how it is broken into lines does not matter."""
    found = " ".join(fence.text.split()) in " ".join(kernel.split())
    assert found, f"{page.name}:{fence.line}: not in the kernel text:\n{kernel}"


def check_ir(document: Any, fence: Fence, page: Path) -> None:
    """Hold a part of the IR against a fence."""
    part = document
    for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", fence.argument):
        part = part[key] if key else part[int(index)]
    assert json.loads(fence.text) == part, f"{page.name}:{fence.line}: {fence.argument} is {json.dumps(part)}"


# ------------------------------------------------------------------------------------------------- what is measured


def check_observes(finished: Finished, fence: Fence, page: Path) -> None:
    """Hold samples against a fence."""
    observes = {observe.name: observe for observe in finished.result.observes}
    groups: list[tuple[int, str, list[str]]] = []
    for line, name, rest in rows(fence):
        if name:
            groups.append((line, name, [rest] if rest else []))
        else:
            groups[-1][2].append(rest)
    for line, name, texts in groups:
        observe = observes[name]
        place = (
            f"{page.name}:{line}: {name} is {list(zip(observe.times, observe.sessions, observe.values, strict=True))}"
        )
        if texts and texts[0].startswith("at "):
            assert len(texts) == len(observe.values), place
            for position, text in enumerate(texts):
                match = ROW.fullmatch(text)
                assert match is not None, f"{page.name}:{line}: not a row: {text}"
                assert same(number(match["time"]), observe.times[position]), place
                assert match["session"] is None or int(match["session"]) == observe.sessions[position], place
                assert match["turn"] is None or int(match["turn"]) == observe.turns[position], place
                assert same(number(match["value"]), observe.values[position]), place
        else:
            expected = [value for text in texts for value in numbers(text.rstrip(","))]
            assert len(expected) == len(observe.values), place
            assert all(map(same, expected, observe.values)), place


def check_same(other: Finished, finished: Finished, fence: Fence, page: Path) -> None:
    """Hold the values of observes against those of another run; there must be some."""
    for name in fence.text.split():
        expected, actual = (next(o.values for o in run.result.observes if o.name == name) for run in (other, finished))
        assert expected, f"{page.name}:{fence.line}: {name} has no sample"
        assert expected == actual, f"{page.name}:{fence.line}: {name} is {actual}, and was {expected}"


def check_gauges(finished: Finished, fence: Fence, page: Path) -> None:
    """Hold the change points of gauges against a fence."""
    gauges = {gauge.name: gauge for gauge in finished.result.gauges}
    for line, name, rest in rows(fence):
        gauge = gauges[name]
        points = [part.split(" from ") for part in rest.split(",")]
        place = f"{page.name}:{line}: {name} is {list(zip(gauge.values, gauge.times, strict=True))}"
        assert len(points) == len(gauge.values), place
        assert all(same(number(value), gauge.values[i]) for i, (value, _) in enumerate(points)), place
        assert all(same(number(at), gauge.times[i]) for i, (_, at) in enumerate(points)), place


def check_report(finished: Finished, fence: Fence, page: Path) -> None:
    """Hold figures of the report's JSON form against a fence."""
    document = json.loads(finished.report.to_json())
    for line, path, rest in rows(fence):
        actual = figure(document, path)
        if rest == "null":
            assert actual is None, f"{page.name}:{line}: {path} is {actual}"
        else:
            assert same(number(rest), actual), f"{page.name}:{line}: {path} is {actual}"


def figure(document: Any, path: str) -> Any:
    """Find a figure: `pools.kv.admissions`, `stages.gpu[1].iterations`, `observes.ttft.mean`, `end`."""
    first, _, rest = path.partition(".")
    if first not in ("pools", "stages", "observes", "gauges"):
        return document[path]
    name, _, quantity = rest.rpartition(".")
    if first in ("observes", "gauges"):
        return document[first][name][quantity]
    index = None
    member = re.fullmatch(r"(.+)\[(\d+)\]", name)
    if member is not None:
        name, index = member[1], int(member[2])
    found = [row for row in document[first] if row["name"] == name and row["index"] == index]
    assert found, f"no {path} in the report"
    return found[0][quantity]


def check_notes(finished: Finished, fence: Fence, page: Path) -> None:
    """Hold the notes of the report against a fence."""
    notes = finished.report.notes
    expected = rows(fence)
    place = f"{page.name}:{fence.line}: the notes are {[(note.kind, note.message) for note in notes]}"
    assert [kind for _, kind, _ in expected] == [note.kind for note in notes], place
    for (_, _, part), note in zip(expected, notes, strict=True):
        assert part in note.message, place


CHECKS = {"observes": check_observes, "gauges": check_gauges, "report": check_report, "notes": check_notes}
