"""Runs that cannot go on, and what their notes say; instants that never settle, and what their error says."""

from __future__ import annotations

import pytest

import serq
from serq.errors import RunFailed
from serq.report.notes import Note
from unit.engine.running import simulate


def notes(text: str) -> list[Note]:
    return list(simulate(text).report.notes)


def test_a_rejection_is_noted() -> None:
    """The first five by name, the last of them with the count of the rest."""
    text = "pool m { cap 2; block 2; }\nworkload { arrive batch(7); }\nsession { hold m (3) { } }"
    finished = simulate(text)
    found = list(finished.report.notes)
    assert finished.report.pool("m").rejected == 7
    assert [note.kind for note in found] == ["rejected"] * 5
    assert [(note.session, note.pool, note.units, note.available, note.since) for note in found] == [
        (session, "m", 3.0, 2.0, 0.0) for session in range(5)
    ]
    assert sum(note.count for note in found) == 7
    assert all(note.where.endswith(":3:11") for note in found)
    assert not finished.report.blocked


def test_a_request_that_never_fits_can_wait() -> None:
    """`unfit wait` keeps it at the head for ever, and those behind it too; the run keeps its report."""
    text = "pool m { cap 2; unfit wait; } workload { arrive batch(2); } session { hold m (serial == 0 ? 3 : 1) { } }"
    finished = simulate(text)
    found = finished.report.notes
    assert finished.report.pool("m").rejected == 0 and finished.report.pool("m").admissions == 0
    assert finished.report.end == 100.0 and finished.report.mean_live == 2.0
    assert [(note.kind, note.count) for note in found] == [("blocked", 2)]
    assert (found[0].session, found[0].units, found[0].cap, found[0].since) == (0, 3.0, 2.0, 0.0)
    assert finished.report.blocked


DEADLOCK = """
pool a {{ cap 1; }} pool b {{ cap 1; }} stage z : delay;
workload {{ arrive batch(2); }}
session {{
  branch (serial == 0) {{ hold a (1) {{ run z (1); hold b (1) {{ {inner} }} }} }}
  else {{ hold b (1) {{ run z (1); hold a (1) {{ {inner} }} }} }}
}}
run {{ horizon {horizon}; }}
"""


def test_a_deadlock_of_two_pools_is_noted() -> None:
    """Each holds what the other waits for; nothing moved since 1."""
    finished = simulate(DEADLOCK.format(inner="", horizon=50))
    found = {note.session: note for note in finished.report.notes}
    assert {session: (note.kind, note.pool) for session, note in found.items()} == {
        0: ("blocked", "b"),
        1: ("blocked", "a"),
    }
    assert all((note.units, note.available, note.since) == (1.0, 0.0, 1.0) for note in found.values())
    assert finished.report.blocked and finished.report.end == 50.0


def test_a_run_that_goes_on_beyond_its_horizon_is_not_blocked() -> None:
    """The same program before the deadlock."""
    assert notes(DEADLOCK.format(inner="", horizon=0.5)) == []


def test_growers_that_wait_for_one_another_are_noted() -> None:
    """Without preemption each waits where it was, holding what it has."""
    found = notes("pool m { cap 2; } workload { arrive batch(2); } session { hold m (1) { grow m (1); } }")
    assert [(note.kind, note.session, note.pool, note.units, note.available) for note in found] == [
        ("blocked", 0, "m", 1.0, 0.0),
        ("blocked", 1, "m", 1.0, 0.0),
    ]
    assert all("a `preempt` rule on `m` would have another make room" in note.message for note in found)


def test_a_preemption_cycle_is_noted() -> None:
    """A hold that can never grow to what its body needs preempts itself at the same position again and again."""
    text = """
    pool kv { cap 4; preempt lifo; } stage e : step { budget 4; cost 1; memory kv; }
    workload { arrive batch(1); }
    session { hold kv (2) { run e prefill (6) growing kv; } }
    run { horizon 20; }
    """
    finished = simulate(text)
    stuck = [note for note in finished.report.notes if note.kind == "stuck"]
    assert len(stuck) == 1 and stuck[0].session == 0 and stuck[0].pool == "kv"
    assert finished.report.pool("kv").stuck == 1
    assert finished.report.pool("kv").preemptions > 5
    assert finished.report.blocked


@pytest.mark.parametrize(("loaded", "stuck"), [("now < 2 ? 1 + now : 1", 0), ("1", 1)])
def test_only_a_preemption_that_did_not_advance_is_stuck(loaded: str, stuck: int) -> None:
    """Session 1 is preempted at 1 and at 2, at positions 1 and 2, or at 1 both times."""
    text = f"""
    pool m {{ cap 10; preempt lifo; }} stage z : delay; workload {{ arrive batch(2); }}
    session {{
      branch (serial == 0) {{ hold m (6) {{ run z (1); grow m (1); run z (1); grow m (1); run z (1); }} }}
      else {{ hold m (4 - now) {{ load m ({loaded}); run z (9); }} }}
    }}
    """
    finished = simulate(text)
    assert finished.report.pool("m").preemptions == 2
    assert finished.report.pool("m").stuck == stuck
    assert [note.kind for note in finished.report.notes] == ["stuck"] * stuck


def test_an_inner_hold_does_not_hide_a_preemption_cycle() -> None:
    """What a hold on another pool forgets at its end is its own."""
    text = """
    pool kv { cap 1; preempt lifo; } pool m { } stage e : step { budget 1; cost 1; }
    workload { arrive batch(1); }
    session { hold kv (1) { hold m (1) { run e prefill (1) growing kv; } run e prefill (1) growing kv; } }
    run { horizon 7; }
    """
    assert simulate(text).report.pool("kv").stuck == 1


def failure(text: str) -> RunFailed:
    with pytest.raises(RunFailed) as caught:
        serq.loads(text + "\nrun { horizon 10; }").simulate(checks=True)
    return caught.value


NEVER_SETTLES = {
    "statements without time": "workload { arrive batch(1); } session { loop { set x = 1; } }",
    "runs of no work": "stage z : delay; workload { arrive batch(1); } session { loop { run z (0); } }",
    "holds of nothing": "pool m { } workload { arrive batch(1); } session { loop { hold m (1) { } } }",
    "two that preempt each other": (
        "pool m { cap 2; preempt lifo; } workload { arrive batch(2); } "
        "session { hold m (1) { grow m (1); grow m (1); } }"
    ),
    "iterations that cost nothing": (
        "stage e : step { budget 1; cost 0; } workload { arrive batch(1); } session { loop { run e decode (1); } }"
    ),
}


@pytest.mark.parametrize("cause", NEVER_SETTLES)
def test_an_instant_that_never_settles_is_an_error(cause: str) -> None:
    """It names the session, the moment and the way back, and does not hang."""
    problem = failure(NEVER_SETTLES[cause])
    assert problem.diagnostics[0].name == "instant-never-settles"
    assert problem.time == 0.0
    assert "without the clock moving" in problem.diagnostics[0].message


@pytest.mark.slow
def test_replacements_that_end_at_once_are_an_error() -> None:
    """A closed population whose sessions take no time: a million of them are too many for one instant."""
    problem = failure("workload { arrive closed(1); } session { end; }")
    assert problem.diagnostics[0].name == "instant-never-settles"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("amount-not-valid", "pool m { } workload { arrive batch(1); } session { hold m (0 - 1) { } }"),
        ("amount-not-valid", "stage z : delay; workload { arrive batch(1); } session { set x = 0; run z (x / x); }"),
        (
            "amount-not-valid",
            "pool m { } workload { arrive batch(1); } session { hold m (1) { } cache (0 - serial - 1); }",
        ),
        ("guard-not-boolean", "workload { arrive batch(1); } session { set x = 2; branch (x) { } }"),
        ("index-out-of-range", "stage s[2] : fifo; workload { arrive batch(1); } session { set j = 2; run s[j] (1); }"),
        (
            "index-out-of-range",
            "stage s[2] : fifo; workload { arrive batch(1); } session { set j = 0.5; run s[j] (1); }",
        ),
        ("load-beyond-allocation", "pool m { } workload { arrive batch(1); } session { hold m (1) { load m (2); } }"),
        ("outside-hold", "pool m { } workload { arrive batch(1); } session { hold m (1) { release m; grow m (1); } }"),
        (
            "amount-not-valid",
            "stage e : step { budget 1; cost 0 - tokens; } workload { arrive batch(1); } session { run e decode (1); }",
        ),
    ],
)
def test_a_value_that_cannot_be_meant_is_an_error(name: str, text: str) -> None:
    """Nothing is clamped in silence: the error has a name, a place in the text and the moment."""
    problem = failure(text)
    assert problem.diagnostics[0].name == name
    assert problem.session in (0, -1) and problem.time == 0.0
    assert any("t = 0" in note for note in problem.diagnostics[0].notes)


def test_a_request_that_never_fits_is_named_while_others_go_on() -> None:
    """It is only its line that stands: the other session is away at the horizon, so the run is not blocked."""
    text = """
    pool m { cap 2; unfit wait; } stage z : delay; workload { arrive batch(2); turn { set x = 1; } }
    session { turn; branch (serial == 0) { hold m (3) { } } else { turn; run z (500); } }
    """
    (found,) = simulate(text).report.notes
    assert (found.kind, found.session, found.turn, found.units, found.cap) == ("unfit", 0, 1, 3.0, 2.0)
    assert (found.stage, found.iteration) == ("", None)


def test_an_engine_that_stands_still_is_named_with_its_last_iteration() -> None:
    """The second turn's prompt never fits and waits from 2 on; the other session comes at 9 and waits behind it."""
    text = """
    pool reqs { cap 2; admit via e; } pool kv { cap 4; preempt lifo; unfit wait; }
    stage e : step { budget 4; cost 1; memory kv; } stage z : delay;
    workload { arrive batch(2); turn { set n = turn_no == 1 ? 2 : 5; } }
    session {
      run z (serial * 9); turn;
      loop { hold reqs (1), kv (min(n, budget_left(e))) reserve (n) { run e prefill (n) growing kv; } run z (1); turn; }
    }
    run { horizon 20; }
    """
    (found,) = simulate(text).report.notes
    assert (found.kind, found.session, found.turn, found.pool) == ("blocked", 0, 2, "kv")
    assert (found.units, found.available, found.cap, found.count) == (5.0, 4.0, 4.0, 2)
    assert (found.stage, found.iteration, found.iteration_end, found.since) == ("e", 1, 1.0, 9.0)


def test_growing_out_of_the_pool_is_named_with_its_iteration() -> None:
    """A lone request outgrows its pool: the third iteration only preempts it, and what it then reserves never fits."""
    text = """
    pool reqs { cap 2; admit via e; } pool kv { cap 4; preempt lifo; unfit wait; }
    stage e : step { budget 4; cost 1; memory kv; }
    workload { arrive batch(1); turn { set n = 3; } }
    session {
      turn;
      hold reqs (1), kv (min(max(n, computed + 1), budget_left(e))) reserve (max(n, computed + 1)) {
        run e prefill (n) growing kv;
        run e decode (9) growing kv;
      }
    }
    run { horizon 20; }
    """
    finished = simulate(text)
    (found,) = finished.report.notes
    assert finished.report.pool("kv").preemptions == 1
    assert (found.kind, found.session, found.turn, found.pool) == ("blocked", 0, 1, "kv")
    assert (found.units, found.cap, found.iteration, found.iteration_end) == (5.0, 4.0, 3, 3.0)
    assert "it never fits" in found.message
