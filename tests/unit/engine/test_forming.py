"""An iteration being formed: what a header sees of the budget, and what a prefill that gets no tokens displaces."""

from __future__ import annotations

import serq


def samples(text: str, name: str) -> list[tuple[float, int]]:
    """Give (time, session) of every sample of an observe."""
    finished = serq.loads(text).simulate(records_samples=True, checks=True)
    (found,) = [observe for observe in finished.result.observes if observe.name == name]
    return list(zip(found.times, found.sessions, strict=True))


def test_a_prefill_without_memory_replaces_no_decode() -> None:
    """Session 1, admitted at 3 beside session 0's decode, finds no unit to prefill into: session 0 decodes on.

    6 tokens at 2 an iteration are prefilled by 3, three decodes end at 6; session 1 tries again each time, and has the
    engine alone from 6: prefill to 9, decodes to 12.
    """
    text = """
    pool kv { cap 7; preempt lifo; admit via e; }
    stage e : step { budget 2; cost 1; serve exclusive prefill; memory kv; }
    workload { arrive batch(2); }
    session { hold kv (1) { observe a = now; run e prefill (6) growing kv; run e decode (3); observe d = now; } }
    run { horizon 14; }
    """
    assert samples(text, "d") == [(6.0, 0), (12.0, 1)]
    assert samples(text, "a") == [(0.0, 0), (3.0, 1), (4.0, 1), (5.0, 1), (6.0, 1)]


def test_a_header_outside_an_admission_sees_what_the_residents_leave() -> None:
    """Preempted while the iteration forms, a hold is tested anew: the other resident will take 1 of 2, so 1 is left.

    What the engine has not yet given out, 2, would be more than the pool's cap of 1 and reject the session.
    """
    text = """
    pool kv { cap 1; preempt lifo; }
    stage e : step { budget 2; cost 1; }
    workload { arrive batch(2); }
    session {
      run e decode (1);
      branch (serial == 1) { hold kv (budget_left(e)) { run e decode (2) growing kv; } } else { run e decode (9); }
    }
    run { horizon 4; }
    """
    report = serq.loads(text).run()
    assert report.pool("kv").rejected == 0
    assert report.pool("kv").preemptions > 0
