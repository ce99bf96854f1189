"""docs/validation.md: its tables are the recorded figures, and the figures are what the programs give.

The measured data are in `verification/served/data`. The A100's hundred replays are `make validate`'s; here the two
held-out runs that take a second each are run anew, and the rest is held against what was recorded.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from verification.served import cpu, rtx4090
from verification.served.__main__ import FIGURES, PAGE, same
from verification.served.fit import least_squares, mean, mean_log_ratio, quantile
from verification.served.page import with_tables

RECORDED: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))


def test_the_page_has_the_recorded_figures() -> None:
    """Every table is the one that the figures make; a changed figure changes the page."""
    page = PAGE.read_text(encoding="utf-8")
    assert with_tables(page, RECORDED) == page
    changed = json.loads(json.dumps(RECORDED))
    changed["a100"]["served"]["runs"][0]["model"]["ttft"] *= 1.1
    assert with_tables(page, changed) != page
    with pytest.raises(ValueError, match="the page has the tables"):
        with_tables("no table", RECORDED)


@pytest.mark.slow
def test_the_cpu_engine_is_predicted_from_its_steps() -> None:
    """As recorded; the prefixes found are exact, the mean times within a twentieth; nothing of it was fitted."""
    found = json.loads(json.dumps(cpu.figures()))
    assert same(found, RECORDED["cpu"])
    assert found["cached_equal"] == found["requests"] == 239
    for name in ("ttft mean", "response mean"):
        assert found["times"][name]["model"] == pytest.approx(found["times"][name]["measured"], rel=0.05)
    assert abs(found["served_steps"]["total"]) < 0.02


@pytest.mark.slow
def test_the_rtx4090_is_predicted_from_its_kernels() -> None:
    """As recorded; mean times within a fiftieth, every quantile within a tenth."""
    found = json.loads(json.dumps(rtx4090.figures()))
    assert same(found, RECORDED["rtx4090"])
    for name, row in found["times"].items():
        assert row["model"] == pytest.approx(row["measured"], rel=0.02 if name.endswith("mean") else 0.1), name


def test_the_constants_of_the_rtx4090_are_its_tables() -> None:
    """The program's constants are the fit to five digits, its knots the measured sizes, its trace the requests."""
    text = rtx4090.PROGRAM.read_text(encoding="utf-8")
    written = {name: float(value) for name, value in re.findall(r"^let (\w+) = ([\d.e-]+);", text, re.MULTILINE)}
    expected = dict(zip(("c_seq", "d_seq"), rtx4090.sequence_fit(), strict=True))
    expected |= dict(zip(("c_dec", "d_dec", "e_dec"), rtx4090.attention_fit(False)[0], strict=True))
    expected |= dict(zip(("c_mix", "d_mix", "e_mix", "a_mix", "b_mix"), rtx4090.attention_fit(True)[0], strict=True))
    assert written == {name: pytest.approx(value, rel=1e-4) for name, value in expected.items()}

    times = rtx4090.dense_times()
    knots = list(times)
    first = re.search(r"def dense\(n\) = ([\d.]+)", text)
    assert first is not None and float(first[1]) == pytest.approx(times[1], rel=1e-4)
    spans = [tuple(map(float, found)) for found in re.findall(r"span\(n, (\d+), (\d+), ([\d.]+)\)", text)]
    assert spans == [(low, high, pytest.approx(times[high] - times[low], rel=1e-4)) for low, high in pairwise(knots)]
    assert rtx4090.TRACE.read_text(encoding="utf-8") == rtx4090.trace_text()


def test_pinning_does_in_the_scheduler_what_it_does_in_the_program() -> None:
    """Twelve replays of the real scheduler: steps equal, figures to 1e-9, and pins end the collapse."""
    rows = RECORDED["a100"]["pinned"]
    assert len(rows) == 12 and {row["release"] for row in rows} == {"0.30.0", "0.33.0"}
    for row in rows:
        assert row["status"] == "ok" and row["steps"] == row["model"]["steps"]
        assert row["model"]["ttft"] == pytest.approx(row["ttft"], rel=1e-9)
        assert row["model"]["full_hit"] == pytest.approx(row["full_hit"], rel=1e-9)
    collapsed = {row["pinned"]: row for row in rows if row["clock"] == "calibrated" and row["spacing"] == 2.5}
    assert collapsed[False]["ttft"] > 30 and collapsed[True]["ttft"] < 1


def test_the_calibration_is_the_best_of_its_grid() -> None:
    """And the point off the grid is better on what was fitted, worse on what was held out."""
    calibration = RECORDED["a100"]["calibration"]
    assert calibration["best"] == "0.004,0.04"
    assert calibration["off_the_grid"]["error"] < calibration["error"]
    assert calibration["off_the_grid"]["ttft_2.5"] < 20 < 34.6


def test_least_squares_on_problems_with_a_known_answer() -> None:
    """An exact line; a weighted mean; columns of very different size; and what cannot be solved."""
    rows = [(1.0, x) for x in (0.0, 1.0, 2.0, 5.0)]
    assert least_squares(rows, [3 + 2 * x for _, x in rows], [1, 9, 1, 4]) == pytest.approx((3, 2))
    assert least_squares([(1.0,), (1.0,)], [0.0, 10.0], [3.0, 1.0]) == pytest.approx((1.0,))  # (9·0 + 1·10) / 10
    large = [(1.0, 1e9 * x, x * x) for x in (1.0, 2.0, 3.0, 4.0)]
    assert least_squares(large, [1 + 2e-9 * b + 3 * c for _, b, c in large], [1.0] * 4) == pytest.approx((1, 2e-9, 3))
    with pytest.raises(ValueError, match="depends"):
        least_squares([(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)], [1.0, 2.0, 3.0], [1.0] * 3)
    with pytest.raises(ValueError, match="do not determine"):
        least_squares([(1.0, 2.0)], [1.0], [1.0])


def test_summaries() -> None:
    """Means, quantiles between samples, and the mean of |ln(model / measured)|."""
    assert mean([1.0, 2.0, 6.0]) == 3.0
    assert [quantile([4.0, 1.0, 2.0, 3.0], share) for share in (0.0, 0.5, 0.75, 1.0)] == [1.0, 2.5, 3.25, 4.0]
    assert mean_log_ratio([(1.0, 1.0)]) == 0.0
    assert mean_log_ratio([(2.0, 1.0), (1.0, 2.0)]) == pytest.approx(0.6931471805599453)
