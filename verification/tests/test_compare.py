"""The comparison itself: that it notices what it should, with an injected runner and models that are one line."""

import random
from functools import partial
from pathlib import Path

import pytest
from verification.cases import all_cases
from verification.compare import Case, Figure, compare_samples, read_figure, run_cases
from verification.page import page_text, write_evidence

REPORT = {
    "observes": {"response": {"mean": 2.5, "cv2": None}},
    "stages": [
        {"name": "decode", "index": 0, "throughput": 1.0},
        {"name": "decode", "index": 1, "throughput": 3.0},
    ],
}


def normal(mean: float, seed: int) -> dict[str, float]:
    return {"response": random.Random(seed).gauss(mean, 1.0)}


def report(mean: float, program: Path, sets: object, seed: int, options: object) -> dict[str, object]:
    return {"observes": {"response": {"mean": random.Random(f"{program.name} {seed}").gauss(mean, 1.0)}}}


def case(**changes: object) -> Case:
    figure = Figure("response", "observes.response.mean")
    fields: dict[str, object] = {"name": "c", "group": "g", "title": "t", "program": "p.sq", "sets": {"N": 1}}
    fields |= {"options": (), "model": partial(normal, 10.0), "figures": (figure,)}
    return Case(**(fields | changes))  # type: ignore[arg-type]


def test_figures_are_found_by_name_and_member() -> None:
    """A key, a list entry by its name, and a member of a family."""
    assert read_figure(REPORT, "observes.response.mean") == 2.5
    assert read_figure(REPORT, "stages.decode.throughput") == 1.0
    assert read_figure(REPORT, "stages.decode[1].throughput") == 3.0


@pytest.mark.parametrize("path", ["observes.response.cv2", "observes.ttft.mean", "stages.prefill.throughput"])
def test_a_figure_that_is_not_there_is_an_error(path: str) -> None:
    """Neither null nor a missing name reads as a number."""
    with pytest.raises(KeyError):
        read_figure(REPORT, path)


def test_equal_sides_agree_and_unequal_ones_do_not() -> None:
    """Twenty normal figures a side, sd 1: a gap of 0 passes and one of 3 fails."""
    for gap, agrees in ((0.0, True), (3.0, False)):
        [result] = run_cases([case()], range(1, 21), partial(report, 10.0 + gap), Path(), 1)
        assert result.agrees is agrees


def test_a_promised_bound_is_kept() -> None:
    """Two percent apart at no spread fails a bound of one percent and keeps one of three."""
    for within, failures in ((0.01, 1), (0.03, 0)):
        figure = Figure("x", "x", within=within)
        assert len(compare_samples(figure, [1.0, 1.0], [1.02, 1.02]).failures) == failures


def test_the_closed_form_counts() -> None:
    """Both sides alike and both wrong is a failure."""
    figure = Figure("x", "x", expected=5.0)
    values = [normal(10.0, seed)["response"] for seed in range(20)]
    assert compare_samples(figure, values, values).failures != ()


def test_equal_constants_agree() -> None:
    """A hit rate of 1 at every seed on both sides."""
    comparison = compare_samples(Figure("hit", "x", within=0.02), [1.0] * 5, [1.0] * 5)
    assert comparison.failures == ()
    assert comparison.p_value == 1.0


def test_workers_do_not_change_results() -> None:
    """One process and two give the same numbers in the same order."""
    cases = [case(), case(name="d", model=partial(normal, 11.0))]
    runner = partial(report, 10.0)
    assert run_cases(cases, [1, 2, 3], runner, Path(), 1) == run_cases(cases, [1, 2, 3], runner, Path(), 2)


def test_the_page_names_what_failed(tmp_path: Path) -> None:
    """A failed case stands at the top, its reason beside it, and plots and numbers are written."""
    results = run_cases([case()], range(1, 11), partial(report, 20.0), Path(), 1)
    write_evidence(results, tmp_path, ["made for a test"], [("a promise", False)])
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert text == page_text(results, ["made for a test"], [("a promise", False)])
    assert "1 failed: `c`" in text
    assert "**Differs**" in text
    assert "a promise: **does not hold**" in text
    assert (tmp_path / "c.png").stat().st_size > 1000
    assert len((tmp_path / "figures.csv").read_text(encoding="utf-8").splitlines()) == 21


def test_case_names_are_unique() -> None:
    """Plots are named after cases."""
    names = [each.name for each in all_cases()]
    assert len(set(names)) == len(names)
