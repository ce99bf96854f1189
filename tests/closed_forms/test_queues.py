"""The example queues against their formulas: M/M/1, M/G/1, processor sharing, machine repair, a step stage as M/D/1.

Each figure is the mean over twenty seeds, 1 to 20. A test fails when it is farther from the formula than Student's t
allows such a mean to stray with a probability of 1e-6 (`serq.theory.agrees`), so one of these comparisons fails by
chance in a million rewrites of the random streams; with the streams as they are, they pass or fail for good. The half
widths that resulted are stated at each test: they say what size of error the test would see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import pytest

import serq
from serq.report import Report
from serq.theory import (
    agrees,
    finite_source,
    little_number,
    md1,
    mean_half_width,
    mean_value_analysis,
    mg1,
    mg1_ps,
    mm1,
)

SEEDS = range(1, 21)
QUEUEING = Path(__file__).resolve().parents[2] / "examples" / "queueing"

# law of the examples → squared coefficient of variation
LAWS = {"det": (0, 0.0), "exp": (1, 1.0), "erlang-4": (2, 0.25), "h2(4)": (3, 4.0)}

STEP = """
stage engine : step { budget 3; cost 1; }
workload { arrive poisson(lam); }
session { set arrived = now; run engine prefill (3); observe sojourn = now - arrived; }
run { horizon 1; }
"""


@lru_cache
def reports(name: str, horizon: float, settings: tuple[tuple[str, float], ...]) -> list[Report]:
    """Run a program under the twenty seeds; the first tenth of a run is its warm-up."""
    values: Mapping[str, float] = dict(settings)
    if name == "step":
        program = serq.loads(f"let lam = {values['lam']};{STEP}", horizon=horizon, warmup=horizon / 10)
    else:
        program = serq.load(QUEUEING / name, set=values, horizon=horizon, warmup=horizon / 10)
    return [program.run(seed=seed) for seed in SEEDS]


def assert_agrees(found: list[Report], figure: Callable[[Report], float], expected: float) -> None:
    figures = [figure(report) for report in found]
    mean = sum(figures) / len(figures)
    width = mean_half_width(figures)
    assert agrees(figures, expected), f"{mean} over {len(figures)} seeds, the formula gives {expected} ± {width}"


def sojourn(report: Report) -> float:
    return report.observes["sojourn"].mean


@pytest.mark.parametrize(("rate", "horizon"), [(0.5, 100_000), (0.8, 200_000), (0.9, 500_000)])
def test_mm1(rate: float, horizon: float) -> None:
    """Half widths of the mean sojourn: 0.06 of 2, 0.22 of 5, 0.44 of 10."""
    found = reports("mg1.sq", horizon, (("lam", rate), ("law", 1)))
    expected = mm1(rate, 1.0)
    assert_agrees(found, sojourn, expected.sojourn_mean)
    assert_agrees(found, lambda report: report.stage("server").mean_number, expected.number_mean)
    assert_agrees(found, lambda report: report.stage("server").utilization, rate)
    assert_agrees(found, lambda report: report.stage("server").mean_wait, expected.wait_mean)


@pytest.mark.parametrize("law", LAWS)
def test_pollaczek_khinchine(law: str) -> None:
    """Half widths of the mean sojourn: det 0.08 of 3, exp 0.22 of 5, Erlang-4 0.11 of 3.5, H2(4) 1.1 of 11."""
    number, cv2 = LAWS[law]
    found = reports("mg1.sq", 200_000, (("lam", 0.8), ("law", number)))
    expected = mg1(0.8, 1.0, cv2)
    assert_agrees(found, sojourn, expected.sojourn_mean)
    assert_agrees(found, lambda report: report.stage("server").mean_service, 1.0)
    assert_agrees(found, lambda report: report.stage("server").mean_wait, expected.wait_mean)


@pytest.mark.parametrize("law", ["det", "exp", "h2(4)"])
def test_processor_sharing_is_insensitive(law: str) -> None:
    """The mean sojourn is the same under three laws. Half widths: 0.09, 0.14, 0.23 of 3.33."""
    found = reports("ps.sq", 100_000, (("lam", 0.7), ("law", LAWS[law][0])))
    expected = mg1_ps(0.7, 1.0)
    assert_agrees(found, sojourn, expected.sojourn_mean)
    assert_agrees(found, lambda report: report.stage("server").mean_number, expected.number_mean)
    assert_agrees(found, lambda report: report.stage("server").utilization, 0.7)


@pytest.mark.parametrize("terminals", [2, 8, 32])
def test_machine_repair(terminals: int) -> None:
    """Mean value analysis. Half widths of the mean sojourn: 0.03 of 1.2, 0.06 of 4.25, 0.27 of 28."""
    found = reports("closed.sq", 50_000, (("N", terminals),))
    expected = mean_value_analysis([1.0], 4.0, terminals)
    assert_agrees(found, sojourn, expected.response_mean)
    assert_agrees(found, lambda report: report.stage("server").throughput, expected.throughput)
    assert_agrees(found, lambda report: report.stage("server").mean_number, expected.stations[0].number_mean)
    # the whole distribution behind it: the server idles when everybody thinks
    assert_agrees(
        found,
        lambda report: report.stage("server").utilization,
        finite_source(terminals, 4.0, 1.0).stations[0].utilization,
    )


@pytest.mark.parametrize("rate", [0.5, 0.8])
def test_prefills_alone_are_a_queue_of_constant_services(rate: float) -> None:
    """One chunk is a whole budget, so an iteration is a service of M/D/1. Half widths: 0.02 of 1.5, 0.12 of 3."""
    found = reports("step", 100_000, (("lam", rate),))
    expected = md1(rate, 1.0)
    assert_agrees(found, sojourn, expected.sojourn_mean)
    assert_agrees(found, lambda report: report.stage("engine").mean_number, expected.number_mean)
    for report in found:  # an iteration serves one request: they are as many, but for those of the warm-up
        assert 0.85 <= report.stage("engine").completed / report.stage("engine").iterations <= 0.95


@pytest.mark.parametrize(
    ("name", "stage", "horizon", "settings"),
    [
        ("mg1.sq", "server", 200_000, (("lam", 0.8), ("law", 3))),
        ("ps.sq", "server", 100_000, (("lam", 0.7), ("law", 3))),
        ("closed.sq", "server", 50_000, (("N", 8),)),
        ("closed.sq", "terminals", 50_000, (("N", 8),)),
        ("step", "engine", 100_000, (("lam", 0.8),)),
    ],
)
def test_littles_law(name: str, stage: str, horizon: float, settings: tuple[tuple[str, float], ...]) -> None:
    """L = λW of what was measured, in every single run.

    It is exact but for the jobs that straddle an end of the window: those present at the warm-up bring time spent
    before it into W, and those present at the end take theirs with them. Each is at most one job's stay, so the
    difference of L is at most (present at one end × longest stay) / window; ten times the mean of both bounds it amply
    here.
    """
    for report in reports(name, horizon, settings):
        found = report.stage(stage)
        stay = found.mean_wait + found.mean_service
        straddling = 10 * (1 + found.mean_number) * 10 * stay / (report.end - report.warmup)
        assert abs(found.mean_number - little_number(found.throughput, stay)) <= straddling
        if name in {"mg1.sq", "ps.sq", "step"}:  # the whole system is that stage: sessions live there
            assert report.mean_live == pytest.approx(found.mean_number, rel=1e-9)
