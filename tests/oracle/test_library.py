"""The shipped library against the recorded scheduler: every scenario it can say, in the form a reader would choose."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import serq
from oracle.library import has_form, request_of, settings_of, text_of, visible_differences
from oracle.runs import DATA, run_of, simulate
from oracle.scenarios import Case, Run, load_cases

FILES = ("oracle_scenarios.json", "hand.json", "minimal.json", "random.json.gz")
CASES = [case for file in FILES for case in load_cases(DATA / file) if has_form(case)]


def run_with_library(case: Case, directory: Path) -> Run:
    trace = directory / "scenario.csv"
    trace.write_text(case.trace, encoding="utf-8")
    return run_of(simulate(serq.loads(text_of(case), set=settings_of(case), trace=trace, name="library.sq")))


def test_every_answer_the_library_can_say(tmp_path: Path) -> None:
    """Steps, preemptions, and of each request the send, the first and last token, and the prefix at its admission."""
    found = {
        f"{case.name}-{case.releases[0]}": visible_differences(case, run_with_library(case, tmp_path)) for case in CASES
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_every_form_is_used() -> None:
    """Each definition of the library, and each rule of a release, decides some of the scenarios."""
    forms = Counter(request_of(case).partition("(")[0] for case in CASES)
    assert set(forms) == {"vllm_request", "vllm_request_capped", "vllm_request_uncached", "vllm_request_of"}
    assert min(forms.values()) > 5
    texts = [text_of(case) for case in CASES]
    for rule in ("vllm_chunk(", "vllm_chunk_0_30(", "then continue", "preempt by (priority, sent);", "unfit wait"):
        assert any(rule in text for text in texts), rule


def test_the_rules_of_a_release_matter(tmp_path: Path) -> None:
    """With the other release's rule for a lone request, or for one that preempted itself, some answer is missed."""
    for field in ("lone_free", "serves_on"):
        missed = 0
        for case in CASES:
            if field == "lone_free":
                other = replace(case, settings={**case.settings, "lone_free": 1 - case.settings["lone_free"]})
                concerned = bool(case.settings["chunk_cap"])
            else:
                other, concerned = replace(case, serves_on=False), case.serves_on
            if concerned:
                missed += bool(visible_differences(case, run_with_library(other, tmp_path)))
        assert missed > 1, field
