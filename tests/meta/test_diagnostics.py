"""Every diagnostic has a page, with programs that do what it says, and a bad program that provokes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from serq.cli.main import main
from serq.diagnostics import registry

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "serq"
PAGES = SOURCES / "diagnostics" / "explain"
BAD = ROOT / "tests" / "bad"

SLUG = re.compile(r"[a-z]+(-[a-z0-9]+)+")
REPORTING = {
    *("error", "diagnostic", "runerror", "add", "report", "refuse", "fail", "failure", "finding", "_error", "_report"),
}
"""Calls whose first argument (or `name=`) is a diagnostic's name when it looks like one."""

OPTIONS = {
    "dump-not-writable": ["run", "{file}", "--dump", "{file}"],
    "ir-not-text": ["expand", "{file}"],
    "override-on-ir": ["run", "{file}", "--set", "x=1"],
    "run-cannot-go-on": ["run", "{file}", "--strict"],
    "trace-not-used": ["run", "{file}", "--trace", "other.csv"],
    "unknown-override": ["run", "{file}", "--def", "half=x / 3"],
    "unknown-set": ["run", "{file}", "--set", "x=2"],
}
"""Names that it takes an option to provoke; everything else comes of `serq run FILE`."""

NOTES = {"perhaps-misspelt", "turn-never-taken"}
"""Names of notes: what earns one runs all the same."""

IN_ANOTHER_FORM = {"dump-not-writable", "file-not-readable", "ir-not-text", "override-on-ir"}
"""Names whose first program is no mistake by itself: the page says in words what is done with it."""


def reported() -> dict[str, str]:
    """Give every name that the sources report, and where."""
    found: dict[str, str] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for name in _names(node):
                    found.setdefault(name, f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def _names(call: ast.Call) -> Iterator[str]:
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if called.lower() not in REPORTING:
        return
    candidates = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "name")]
    for candidate in candidates:
        for node in ast.walk(candidate):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SLUG.fullmatch(node.value):
                yield node.value


def constants() -> set[str]:
    """Give every string of the sources that could be a name."""
    return {
        node.value
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SLUG.fullmatch(node.value)
    }


def bad_programs() -> list[Path]:
    return sorted(path for path in BAD.iterdir() if path.suffix in {".sq", ".json"})


def expected_name(path: Path) -> str:
    """Give the name a bad program is about: its first line says it; JSON has no comments, so its file's name does."""
    if path.suffix == ".sq":
        first = path.read_bytes().split(b"\n", 1)[0].decode()
        match = re.fullmatch(r"// (error|note): ([a-z0-9-]+)\s*", first)
        assert match, f"{path.name} needs a first line `// error: NAME`"
        assert (match[1] == "note") == (match[2] in NOTES)
        return match[2]
    stem = path.name.split(".")[0]
    known = [name for name in registry.names() if stem == name or stem.startswith(f"{name}-")]
    assert known, f"{path.name} begins with no diagnostic's name"
    return max(known, key=len)


def head(name: str) -> str:
    return f"{'note' if name in NOTES else 'error'}[{name}]"


def test_every_reported_name_has_a_page() -> None:
    """A name without a page cannot be explained."""
    missing = {name: where for name, where in reported().items() if name not in registry.names()}
    assert missing == {}


def test_every_page_is_of_a_name_that_is_reported() -> None:
    """A page nobody is sent to is a page nobody mends."""
    assert sorted(set(registry.names()) - constants()) == []


def test_every_name_has_a_bad_program() -> None:
    """A message nobody has seen is a message nobody has read."""
    assert sorted(set(registry.names()) - {expected_name(path) for path in bad_programs()}) == []


@pytest.mark.parametrize("path", bad_programs(), ids=lambda path: path.name)
def test_a_bad_program_is_refused_for_its_reason(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 and nothing on stdout (a note: 0 and a report), its name on stderr, a message in the voice of others."""
    name = expected_name(path)
    words = [word.format(file=path) for word in OPTIONS.get(name, ["run", "{file}"])]
    code = main([*words, "--format", "concise"])
    out, err = capsys.readouterr()
    assert (code, out == "") == ((0, False) if name in NOTES else (1, True))
    lines = [line for line in err.splitlines() if f"{head(name)}: " in line]
    assert lines, err
    message = lines[0].split(f"{head(name)}: ", 1)[1]
    assert not message.endswith(".") and "illegal" not in message.lower()
    assert not message[:1].isupper() or message.split()[0].isupper()


@pytest.mark.parametrize("name", registry.names())
def test_a_page_says_what_why_and_how(name: str) -> None:
    """`# NAME`, a line, more than a line, two programs."""
    page = registry.page(name) or ""
    assert page.startswith(f"# {name}\n\n")
    summary = registry.summary(name)
    assert summary.endswith(".") and "\n" not in summary and len(summary) <= 120, summary
    assert len(list(programs(page))) >= 2


@pytest.mark.parametrize("name", sorted(set(registry.names()) - IN_ANOTHER_FORM))
def test_the_programs_of_a_page_do_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first one is refused under that name, the last one runs; for a note both run."""
    page = registry.page(name) or ""
    monkeypatch.chdir(tmp_path)
    for file, text in files(page):
        (tmp_path / file).write_text(text, encoding="utf-8")
    found = list(programs(page))
    suffixes = [".ir.json" if text.lstrip().startswith("{") else ".sq" for text in found]
    before, after = tmp_path / f"before{suffixes[0]}", tmp_path / f"after{suffixes[-1]}"
    before.write_text(found[0], encoding="utf-8")
    after.write_text(found[-1], encoding="utf-8")
    words = OPTIONS.get(name, ["run", "{file}"])
    (tmp_path / "other.csv").write_text("0,1,1,1,1\n")
    assert main([word.format(file=before.name) for word in words]) == (0 if name in NOTES else 1)
    assert head(name) in capsys.readouterr().err
    assert main([word.format(file=after.name) for word in words]) == 0, capsys.readouterr().err
    assert head(name) not in capsys.readouterr().err


def programs(page: str) -> Iterator[str]:
    """Give the programs of a page: fences of serq or JSON without a file name."""
    yield from (match[1] for match in re.finditer(r"^```(?:serq|json)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


def files(page: str) -> Iterator[tuple[str, str]]:
    """Give the files that go with the programs: fences whose first line names one, as in ```csv good.csv."""
    for match in re.finditer(r"^```[a-z]+ ([\w.-]+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        yield match[1], match[2]
