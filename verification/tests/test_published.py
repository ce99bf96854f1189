"""The table of published figures: that a verdict can be each of the three, and that the paths are those of a report."""

import random
from pathlib import Path

import pytest
from verification.compare import Figure, Result, compare_samples, interval
from verification.published import (
    Published,
    Setting,
    judge,
    page_text,
    replica_lines,
    replica_ratios,
    row,
    run_settings,
    settings,
    verdict,
)
from verification.tests.test_compare import case

import serq

ROOT = Path(__file__).resolve().parent.parent.parent


def report(program: Path, sets: object, seed: int, options: object) -> dict[str, object]:
    return {"observes": {"ttft": {"mean": random.Random(f"{program.name} {seed}").gauss(0.1, 0.01)}}}


def milliseconds(value: float, runs: int) -> Published:
    return Published("ttft", "observes.ttft.mean", value, 1.0, 1000.0, "ms", runs)


@pytest.mark.parametrize(
    ("shift", "runs", "word"),
    [
        (0.5, 20, "inside"),
        (1.8, 1, "within chance"),
        (3.0, 1, "within chance"),
        (3.0, 20, "**outside**"),
        (-9.0, 1, "**outside**"),
    ],
)
def test_each_verdict(shift: float, runs: int, word: str) -> None:
    """A shift in half widths of our interval: one run varies √21 times as much, a mean of twenty √2 times."""
    values = [random.Random(seed).gauss(100.0, 10.0) for seed in range(20)]
    mean = sum(values) / 20
    line = judge("s", milliseconds(mean + shift * interval(values), runs), values)
    assert verdict(line).startswith(word)


def test_the_allowance_by_hand() -> None:
    """Two values 1 apart have a half width of 12.706/2; a mean of two runs may be √2 of it away, and half a unit."""
    line = judge("s", milliseconds(10.0, 2), [9.5, 10.5])
    assert line.half == pytest.approx(6.3531, abs=1e-4)
    assert line.allowed == pytest.approx(6.3531 * 2**0.5 + 0.5, abs=1e-4)


def test_settings_are_run_and_scaled() -> None:
    """Seconds in the report, milliseconds on the page, whatever the number of workers."""
    chosen = [Setting("x", "p.sq", {}, (milliseconds(100.0, 1),)), Setting("y", "q.sq", {}, (milliseconds(500.0, 1),))]
    lines = run_settings(chosen, [1, 2, 3], report, Path(), 1)
    assert lines == run_settings(chosen, [1, 2, 3], report, Path(), 2)
    assert [line.setting for line in lines] == ["x", "y"]
    assert lines[0].mean == pytest.approx(100.0, abs=30.0)
    assert verdict(lines[1]).startswith("**outside**")
    text = page_text(lines, [], ["made for a test"])
    assert "2 figures, 1 outside" in text
    assert row(lines[1]) in text


def test_the_replica_is_read_from_its_comparison() -> None:
    """A hit rate of 0.80 against 0.86, 0.9 of the turns and twice the ttft; other cases give no lines."""
    sides = {"hit": (0.86, 0.80), "turns": (100.0, 90.0), "ttft": (1.0, 2.0)}
    comparisons = tuple(
        compare_samples(Figure(name, name), [fluid, fluid * 1.001], [program, program * 1.001])
        for name, (fluid, program) in sides.items()
    )
    results = [Result(case(name="replica-live24"), comparisons), Result(case(name="other"), comparisons)]
    assert [(line.setting, line.published.value) for line in replica_lines(results)] == [
        ("replica: 24 live", 0.80),
        ("replica: 24 live, the fluid", 0.86),
    ]
    assert [round(ratio.value, 6) for ratio in replica_ratios(results)] == [0.9, 2.0]


@pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)
def test_programs_take_the_settings_and_report_the_figures(setting: Setting) -> None:
    """A few seconds of each program: every name that is set is a `let`, every path leads to an observe."""
    told = serq.load(ROOT / setting.program, set=dict(setting.sets), horizon=40.0, warmup=0.0).run()
    for published in setting.figures:
        _, observe, _ = published.path.split(".")
        assert observe in told.observes
