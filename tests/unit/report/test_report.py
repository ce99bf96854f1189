"""The report: names and meanings of the JSON form, the text, the notes."""

import hashlib
import json
import math
import sys

import pytest
from librt.vecs import vec

from serq.engine.results import GaugeResult, ObserveResult, PoolResult, RunNote, RunResult, StageResult
from serq.report import Provenance, Report, build_report, digest
from serq.report.notes import constant_zero_notes
from serq.report.numbers import exact, plain, short

PROVENANCE = Provenance("1.2.3", 0, "serq run a.sq --seed 0", lambda: digest("{}"), str)


def finished_run() -> RunResult:
    """A run of one observe, one gauge, a stage, and a family of two pools."""
    result = RunResult()
    result.horizon, result.end, result.warmup, result.seed = 40.0, 30.0, 10.0, 0
    result.events, result.arrivals, result.ended, result.turns, result.mean_live = 7, 5, 4, 3, 0.5
    observe = ObserveResult("w", is_test=False)
    observe.values = vec[float]([1.0, 2.0, 3.0])
    gauge = GaugeResult("u")
    gauge.times, gauge.values = vec[float]([0.0, 20.0]), vec[float]([1.0, 3.0])
    stage = StageResult("s", -1)
    stage.mean_number, stage.utilization, stage.completed = 0.25, 0.125, 2
    stage.throughput, stage.mean_wait, stage.mean_service = 0.1, math.nan, 2.5
    result.observes, result.gauges, result.stages = [observe], [gauge], [stage]
    result.pools = [PoolResult("kv", 0), PoolResult("kv", 1)]
    result.pools[1].preemptions = 6
    return result


def note(kind: str, **change: object) -> RunNote:
    found = RunNote(kind, 3, 1, 8, 30.0, 10.5, 4.0, 1, kind in {"blocked", "unfit"})
    for name, value in change.items():
        setattr(found, name, value)
    return found


def report(*notes: RunNote) -> Report:
    result = finished_run()
    result.notes = list(notes)
    return build_report(result, PROVENANCE, lambda site: f"a.sq:{site}:1")


def test_the_json_form_has_the_published_names() -> None:
    """Names and order are fixed; more may be added at the end of an object."""
    document = json.loads(report().to_json())
    assert list(document) == [
        *("horizon", "end", "warmup", "seed", "events", "arrivals", "ended", "turns", "mean_live"),
        *("observes", "gauges", "stages", "pools", "notes", "provenance"),
    ]
    assert (document["horizon"], document["end"], document["warmup"]) == (40.0, 30.0, 10.0)
    assert document["observes"] == {"w": {"count": 3, "mean": 2.0, "ci": None, "cv2": 0.25, "p99": 3.0}}
    assert list(document["gauges"]) == ["u"] and list(document["gauges"]["u"]) == ["mean", "ci", "min", "max"]
    assert document["gauges"]["u"]["mean"] == 2.0
    assert document["stages"] == [
        {
            "name": "s",
            "index": None,
            "mean_number": 0.25,
            "utilization": 0.125,
            "completed": 2,
            "throughput": 0.1,
            "mean_wait": None,
            "mean_service": 2.5,
            "iterations": 0,
        }
    ]
    assert list(document["pools"][1]) == [
        *("name", "index", "mean_used", "mean_cached", "mean_queue", "mean_holders", "mean_wait", "admissions"),
        *("evicted_entries", "evicted_units", "preemptions", "spills", "rejected", "stuck"),
    ]
    assert [(pool["name"], pool["index"], pool["preemptions"]) for pool in document["pools"]] == [
        ("kv", 0, 0),
        ("kv", 1, 6),
    ]


def test_provenance_says_what_made_the_figures() -> None:
    """Seed 0 is a seed; no trace is null."""
    assert json.loads(report().to_json())["provenance"] == {
        "version": "1.2.3",
        "ir": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",  # of `{}`
        "trace": None,
        "seed": 0,
        "command": "serq run a.sq --seed 0",
    }


def test_members_are_found_by_name_and_number() -> None:
    """A family's member needs its number."""
    made = report()
    assert made.stage("s").completed == 2
    assert made.pool("kv", 1).preemptions == 6
    with pytest.raises(KeyError, match="a family: its members are 0 to 1"):
        made.pool("kv", 2)
    with pytest.raises(KeyError, match="a family: its members are 0 to 1"):
        made.pool("kv")
    with pytest.raises(KeyError, match="no family"):
        made.stage("s", 0)
    with pytest.raises(KeyError, match="`kw` is none of `kv`"):
        made.pool("kw")


def test_the_text_shows_end_tables_and_members() -> None:
    """Columns nobody has anything in are left out; figures that do not exist are dashes."""
    assert str(report()) == (
        "serq run a.sq --seed 0\n"
        "\n"
        "time      warmup 10   end 30   horizon 40   measured 20\n"
        "sessions  arrivals 5   ended 4   turns 3   mean live 0.5\n"
        "run       seed 0   events 7\n"
        "\n"
        "observe  count  mean  ± 95 %   cv²  p99\n"
        "w            3     2       ∞  0.25    3\n"
        "\n"
        "gauge  mean    ± 95 %  min  max\n"
        "u         2  0.480167    1    3\n"
        "\n"
        "stage  number  utilization  completed  throughput  wait  service\n"
        "s        0.25        0.125          2         0.1     –      2.5\n"
        "\n"
        "pool   used  cached  queue  holders  wait  admissions  preempted\n"
        "kv[0]     0       0      0        0     0           0          0\n"
        "kv[1]     0       0      0        0     0           0          6\n"
    )


def test_a_test_that_never_held_is_noted() -> None:
    """From 40 samples on, tests only, zero only."""
    observe = ObserveResult("hit", is_test=True)
    observe.values = vec[float]([0.0] * 40)
    (found,) = constant_zero_notes([observe])
    assert (found.message, found.blocks_run) == ("observe hit is constant 0 over 40 samples", False)
    observe.values = vec[float]([0.0] * 39)
    assert constant_zero_notes([observe]) == []
    observe.values = vec[float]([1.0] * 40)
    assert constant_zero_notes([observe]) == []
    observe.values, observe.is_test = vec[float]([0.0] * 40), False
    assert constant_zero_notes([observe]) == []


@pytest.mark.parametrize(
    ("found", "message", "blocked"),
    [
        (
            note("rejected", available=20.0, count=3),
            "session 3 was rejected at t = 4: it asked `kv[1]` for 30 units and the cap is 20; so did 2 more; "
            "a larger `cap` would take it, `unfit wait` would leave it in the line (at a.sq:8:1)",
            False,
        ),
        (
            note("unfit", available=20.0, turn=2, stage=0, iteration=7),
            "session 3, turn 2, waits for 30 units of `kv[1]` since t = 4, after iteration 7 of `s`, and the cap "
            "is 20: it never fits (`unfit wait`) (at a.sq:8:1)",
            True,
        ),
        (
            note("blocked", site=-1, cap=40.0),
            "nothing can move any more since t = 4: session 3 waits for 30 units of `kv[1]`, of which 10.5 of 40 "
            "are free",
            True,
        ),
        (
            note("blocked", site=-1, cap=20.0, turn=2, count=4, stage=0, iteration=7, iteration_end=3.5),
            "nothing can move any more since t = 4, after iteration 7 of `s` (it ended at 3.5): session 3, turn 2, "
            "waits for 30 units of `kv[1]`, which has 20 in all: it never fits; 3 more wait",
            True,
        ),
        (
            note("stuck", standing=1, blocks_run=True),
            "session 3 is stuck: at t = 4, `kv[1]` preempted it at position 30, no further than the time before "
            "(the cap is 10.5) (at a.sq:8:1)",
            True,
        ),
    ],
)
def test_notes_name_session_pool_units_and_time(found: RunNote, message: str, blocked: bool) -> None:
    """And the statement, where there is one; `--strict` fails on what cannot go on."""
    made = report(found)
    assert made.notes[0].message == message
    assert made.blocked is blocked
    assert f"note: {message}\n" in str(made)
    entry = json.loads(made.to_json())["notes"][0]
    assert (entry["kind"], entry["session"], entry["pool"], entry["units"]) == (found.kind, 3, "kv[1]", 30.0)


def test_the_same_run_gives_the_same_bytes() -> None:
    """Nothing of the clock or the machine is in a report."""
    assert report(note("stuck")).to_json() == report(note("stuck")).to_json()


@pytest.mark.parametrize("value", [0.1, 1e300, 5e-324, -0.0, 3.0, 1 / 3])
def test_exact_reads_back(value: float) -> None:
    """To the same double, sign of zero included."""
    assert float(exact(value)) == value and math.copysign(1, float(exact(value))) == math.copysign(1, value)


def test_plain_and_short_numbers() -> None:
    """Whole numbers have no point; missing ones are dashes."""
    assert [plain(x) for x in (3.0, 0.1, -2.0, 1e300)] == ["3", "0.1", "-2", "1e+300"]
    assert [short(x) for x in (1 / 3, 20000.0, 1e7, math.nan, math.inf, -math.inf)] == [
        *("0.333333", "20000", "1e+07", "–", "∞", "-∞")
    ]


def grown(arrivals: int, live: int, *, is_open: bool = True) -> RunResult:
    result = finished_run()
    result.is_open, result.arrivals_measured, result.live_at_warmup, result.live_at_end = is_open, arrivals, 10, live
    return result


@pytest.mark.parametrize(
    ("result", "is_noted"),
    [
        (grown(10_000, 10 + 501), True),
        (grown(10_000, 10 + 500), False),  # a twentieth, and 5 standard deviations of a count of 10 000
        (grown(100, 10 + 51), True),
        (grown(100, 10 + 50), False),  # few arrivals vary more: 5 * sqrt(100)
        (grown(100, 10 + 90, is_open=False), False),
    ],
)
def test_a_run_that_fills_up_is_noted(result: RunResult, is_noted: bool) -> None:
    """More sessions at the end than a stable run explains: its averages depend on the horizon."""
    kinds = [found.kind for found in build_report(result, PROVENANCE, str).notes]
    assert kinds == (["growing"] if is_noted else [])


@pytest.mark.parametrize("hidden", [(), ("_sha2", "_sha256")], ids=["of the interpreter", "of hashlib"])
def test_a_digest_is_the_standard_one(hidden: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever module the algorithm comes from."""
    for name in hidden:
        monkeypatch.setitem(sys.modules, name, None)
    text = "a trace, 7 rows … " * 100
    provenance = Provenance("1", 0, "", str, lambda: digest(text))
    assert provenance.trace == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
