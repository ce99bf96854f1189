"""Documentation is run: links lead somewhere, what is named exists, the README's program prints what it says."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import serq
from serq.cli.main import main
from serq.report.model import GaugeReport, ObserveReport, PoolReport, Report, StageReport

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
README = ROOT / "README.md"


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link is a file or a folder."""
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert "://" not in target, f"{target}: the documentation stands by itself"
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_are_named_exist(page: Path) -> None:
    """A path in backquotes that begins at a folder of ours."""
    for path in re.findall(
        r"`((?:src|tests|docs|examples|verification|benchmarks)/[\w./-]*)`", page.read_text("utf-8")
    ):
        assert (ROOT / path).exists() or "NAME" in path, path


def test_packages_and_modules_that_the_map_names_exist() -> None:
    """ARCHITECTURE.md and CONTRIBUTING.md name modules from `serq` on."""
    for page in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        for path in re.findall(r"`([a-z]+(?:/[a-z_0-9]+)*\.(?:py|txt))`", (ROOT / page).read_text(encoding="utf-8")):
            inside = "/" in path
            found = (ROOT / "src/serq" / path).exists() if inside else list((ROOT / "src/serq").rglob(path))
            assert found or (ROOT / path).exists(), f"{page}: {path}"


def test_make_targets_that_are_named_exist() -> None:
    """In the documents and in CI."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in [*PAGES, ROOT / ".ci" / "run"]:
        # as code, `make test`, or at the beginning of a line of a listing
        named = re.findall(r"(?:`|^|\$ )make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(named) <= targets, page.name


def test_the_readme_fits_a_screen_and_shows_its_example() -> None:
    """The program is the file, without the comment at its head."""
    text = README.read_text(encoding="utf-8")
    program = re.search(r"```serq\n(.*?)```", text, re.DOTALL)
    assert program
    assert (ROOT / "examples/first/chat.sq").read_text(encoding="utf-8").endswith("\n\n" + program[1])
    assert len(text.splitlines()) <= 85


def test_the_readme_prints_what_a_run_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """And what it says about half the memory holds."""
    monkeypatch.chdir(ROOT)
    assert main(["run", "examples/first/chat.sq"]) == 0
    full = capsys.readouterr().out
    text = README.read_text(encoding="utf-8")
    shown = re.search(r"```console\n[^\n]*\n(.*?)```", text, re.DOTALL)
    assert shown
    if request.config.getoption("--update-golden"):
        README.write_text(text.replace(shown[1], full), encoding="utf-8")
    else:
        assert full == shown[1]
    assert main(["run", "examples/first/chat.sq", "--set", "blocks=1000"]) == 0
    half = capsys.readouterr().out
    assert 0.4 < _mean(half, "found") / _mean(full, "found") < 0.6
    assert _mean(half, "ttft") > 2 * _mean(full, "ttft")


FENCE = re.compile(r"^```([a-z]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name_of_page", ["docs/reference/python.md", "docs/guide.md"])
def test_the_python_of_a_page_prints_what_it_says(
    name_of_page: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """Fence after fence in one namespace; a `text` fence is what the Python before it prints."""
    monkeypatch.chdir(ROOT)
    page = ROOT / name_of_page
    names: dict[str, object] = {}
    text = written = page.read_text(encoding="utf-8")
    printed = ""
    for kind, body in FENCE.findall(text):
        if kind == "python":
            assert printed == "", "what is printed is shown"
            exec(compile(body, page.name, "exec"), names)
            printed = capsys.readouterr().out
        elif kind == "text":
            if request.config.getoption("--update-golden"):
                written = written.replace(f"```text\n{body}```", f"```text\n{printed}```")
            else:
                assert body == printed
            printed = ""
    page.write_text(written, encoding="utf-8") if written != text else None


def test_the_python_reference_names_what_there_is() -> None:
    """Every public name, every field of a report and every keyword of `load`."""
    text = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    words = set(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", text))
    assert set(serq.__all__) - {"__version__", "InternalError", "Diagnostic"} <= words
    assert set(inspect.signature(serq.load).parameters) <= words
    for record in (Report, ObserveReport, GaugeReport, StageReport, PoolReport):
        assert {field.name for field in fields(record)} <= words, record
    assert "docs/reference/python.md" in (serq.__doc__ or "")


def _mean(report: str, observe: str) -> float:
    return float(next(line for line in report.splitlines() if line.startswith(f"{observe} ")).split()[2])


def test_the_command_reference_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    """And none that is not there."""
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    options: set[str] = set()
    for command in ("run", "check", "ir", "expand", "explain"):
        assert main([command, "--help"]) == 0
        options |= set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
        assert f"serq {command}" in page
    assert set(re.findall(r"`(--[a-z-]+)", page)) >= options
    assert set(re.findall(r"--[a-z][a-z-]+", page)) <= options
