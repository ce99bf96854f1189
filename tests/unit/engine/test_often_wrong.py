"""What is most often got wrong (notes §12): each behaviour in a program small enough to follow by hand.

The times and values are worked out in the docstrings from the rule they name.
"""

from __future__ import annotations

import pytest

from unit.engine.running import moments, samples, seen, simulate


def test_events_of_one_instant_go_in_the_order_they_were_scheduled() -> None:
    """Notes §3.1. At 4 the arrival of session 1, scheduled at 2, comes before the completion of session 0's run, which
    was scheduled behind it, while session 0's own observe at its arrival is first of all.
    """
    text = """
    stage z : delay; workload { arrive renewal(2); }
    session { branch (serial < 2) { observe a = now; run z (2); observe a = now; } }
    run { horizon 6; }
    """
    assert moments(text) == [(2.0, 0), (4.0, 1), (4.0, 0), (6.0, 1)]


def test_not_by_session_number() -> None:
    """Session 0's completion at 2 is scheduled last (at 1.5), sessions 1 and 2's at 1 and 0."""
    text = """
    stage z : delay; workload { arrive batch(3); }
    session {
      branch (serial == 0) { run z (1.5); run z (0.5); } else { branch (serial == 1) { run z (1); run z (1); } else {
      run z (2); } } observe a = now;
    }
    """
    assert moments(text) == [(2.0, 2), (2.0, 1), (2.0, 0)]


def test_a_newcomer_is_admitted_after_the_residents_and_served_in_the_same_iteration() -> None:
    """Notes §5c. Each header reads the budget the residents and the newcomers before it have left: 3 of 5, then 2, then
    none; the third waits for the next iteration, where 5 are left again.
    """
    text = """
    pool reqs { admit via e; } pool kv { } stage e : step { budget 5; cost 1; memory kv; }
    workload { arrive batch(4); }
    session {
      hold reqs (1), kv (min(3, budget_left(e))) { observe a = used(kv); run e prefill (3) growing kv; observe d = now;
      } }
    """
    finished = simulate(text)
    # used when each body starts: 3; 3 + 2; at 1 session 1 grows to 3 for its last token, then 3 + 3; then what is left
    assert samples(finished, "a") == [(0.0, 0, 3.0), (0.0, 1, 5.0), (1.0, 2, 6.0), (1.0, 3, 7.0)]
    assert [(at, session) for at, session, _ in samples(finished, "d")] == [(1.0, 0), (2.0, 1), (2.0, 2), (3.0, 3)]
    assert finished.report.stage("e").iterations == 3


def test_nobody_is_admitted_in_an_iteration_that_preempted() -> None:
    """Notes §5c. At 1 session 0 needs a seventh unit of six and session 1 goes; session 2, which came at 0.5 and asks
    for a slot alone, is admitted at 2 only.
    """
    text = """
    pool reqs { admit via e; } pool kv { cap 6; preempt lifo; } stage z : delay;
    stage e : step { budget 9; cost 1; memory kv; }
    workload { arrive batch(3); }
    session {
      branch (serial < 2) { hold kv (3) { run e prefill (3) growing kv; run e decode (2) growing kv; } }
      else { run z (0.5); hold reqs (1) { observe a = now; } }
    }
    """
    finished = simulate(text)
    assert finished.report.pool("kv").preemptions == 1
    assert samples(finished, "a") == [(2.0, 2, 2.0)]


@pytest.mark.parametrize("when_prompt", ["run z (0);", ""])
def test_a_header_is_read_again_at_admission(when_prompt: str) -> None:
    """Notes §4.1-2. It asks for 2 when it joins at 0 and for 1 when it is admitted at 3."""
    text = f"""
    pool m {{ cap 2; }} stage z : delay; workload {{ arrive batch(2); }}
    session {{
      branch (serial == 0) {{ hold m (2) {{ run z (3); }} }}
      else {{ {when_prompt} hold m (now < 1 ? 2 : 1) {{ observe a = used(m); }} }}
    }}
    """
    assert seen(text) == [(3.0, 1, 1.0)]


def test_the_never_fits_test_is_made_at_joining_only() -> None:
    """Notes §4.1. A header that grows above the cap while it waits blocks its line and is not rejected."""
    text = """
    pool m { cap 2; } stage z : delay; workload { arrive batch(2); }
    session {
      branch (serial == 0) { hold m (2) { run z (3); } } else { hold m (now < 1 ? 1 : 3) { observe a = used(m); } }
    }
    run { horizon 9; }
    """
    finished = simulate(text)
    assert samples(finished, "a") == []
    assert finished.report.pool("m").rejected == 0 and finished.report.ended == 1


def test_a_dead_remainder_keeps_its_time_and_number() -> None:
    """Notes §4.3. Of 10 units, session 0 left 4 cached at 0 and session 1 left 4 at 1. At 2 session 0 takes 1 of its
    own; the other 3 stay, dead, released at 0 still. At 3 a hold of 5 needs room and `lru` takes those 3, not session
    1's 4.
    """
    text = """
    pool kv { cap 10; } stage z : delay; workload { arrive batch(3); }
    session {
      branch (serial == 0) { hold kv (4) { } cache (4) run z (2); hold kv (1) reuse (1) { observe a = cached; } cache
      (0) } else { branch (serial == 1) { run z (1); hold kv (4) { } cache (4) run z (3); observe a = cachedin(kv); }
             else { run z (3); hold kv (5) { run z (0.5); } } }
    }
    """
    finished = simulate(text)
    assert samples(finished, "a") == [(2.0, 0, 1.0), (4.0, 1, 4.0)]
    assert (finished.report.pool("kv").evicted_entries, finished.report.pool("kv").evicted_units) == (1, 3.0)


def test_allocations_round_up_and_prefixes_round_down() -> None:
    """Notes §4.4, §4.7. A hold of 55 takes 60 and keeps 50; a hold of 70 then evicts two blocks of ten from the
    tail."""
    text = """
    pool kv { cap 100; block 10; } stage z : delay; workload { arrive batch(2); }
    session {
      branch (serial == 0) { hold kv (55) { observe a = used(kv); } cache (55) observe a = cachedin(kv);
                             run z (2); observe a = cachedin(kv); }
      else { run z (1); hold kv (70) { observe a = used(kv); run z (0.5); } }
    }
    """
    finished = simulate(text)
    assert samples(finished, "a") == [(0.0, 0, 60.0), (0.0, 0, 50.0), (1.0, 1, 70.0), (2.0, 0, 30.0)]
    assert (finished.report.pool("kv").evicted_entries, finished.report.pool("kv").evicted_units) == (0, 20.0)


def test_what_is_reused_rounds_down_to_blocks() -> None:
    """Notes §4.4. At most 25 of 40 are two blocks; the allocation of 5 is one."""
    text = """
    pool kv { cap 100; block 10; } workload { arrive batch(1); }
    session { hold kv (40) { } cache (40) hold kv (5) reuse (25) { observe a = cached; observe a = used(kv); } cache
    (0) }
    """
    assert seen(text) == [(0.0, 0, 20.0), (0.0, 0, 10.0)]


def test_cached_is_the_largest_amount_over_the_holds_pools() -> None:
    """Notes §4.3."""
    text = """
    pool kv { } pool m { } workload { arrive batch(1); }
    session { hold kv (3) { } cache (3) hold m (5) { } cache (5) hold kv (1), m (1) { observe a = cached; } cache (0) }
    """
    assert seen(text) == [(0.0, 0, 5.0)]


@pytest.mark.parametrize("kind", ["fifo", "ps(1)", "delay", "step { budget 1; cost 1; }"])
def test_work_of_zero_takes_no_time_and_goes_to_the_end_of_the_ready_list(kind: str) -> None:
    """Notes §6, §14.3. And it leaves no figures behind."""
    mode = " decode" if kind.startswith("step") else ""
    text = f"""
    stage s : {kind}; workload {{ arrive batch(2); }}
    session {{ branch (serial == 0) {{ run s{mode} (0); }} observe a = now; }}
    """
    finished = simulate(text)
    assert samples(finished, "a") == [(0.0, 1, 0.0), (0.0, 0, 0.0)]
    stage = finished.report.stage("s")
    assert (stage.completed, stage.mean_number, stage.iterations) == (0, 0.0, 0)


def test_a_step_that_only_preempted_is_an_iteration() -> None:
    """Notes §5d. Both prefill from 0 to 2 and fill the pool; at 2 session 0 takes a third unit and session 1 goes.
    Alone and preempting itself a session has an iteration of its own: here at 1, with a reserve that grows, until it
    is rejected.
    """
    both = """
    pool kv { cap 4; preempt lifo; } stage e : step { budget 8; cost 2; memory kv; }
    workload { arrive batch(2); }
    session { hold kv (2) { observe a = now; run e prefill (2) growing kv; run e decode (1) growing kv; observe d =
    now; } }
    """
    finished = simulate(both)
    assert [(at, session) for at, session, _ in samples(finished, "a")] == [(0.0, 0), (0.0, 1), (4.0, 1)]
    assert [(at, session) for at, session, _ in samples(finished, "d")] == [(4.0, 0), (8.0, 1)]
    alone = """
    pool kv { cap 2; preempt lifo; } stage e : step { budget 8; cost 1 + tokens; memory kv; }
    workload { arrive batch(1); }
    session { hold kv (1) reserve (1 + 2 * computed) { run e prefill (2) growing kv; run e decode (1) growing kv; } }
    """
    finished = simulate(alone)
    # two tokens from 0 to 3, nothing but the preemption from 3 to 4, and then a reserve of 5 is above the cap
    assert finished.report.stage("e").iterations == 2
    assert (finished.report.pool("kv").preemptions, finished.report.pool("kv").rejected) == (1, 1)


def test_the_victim_of_an_engines_memory_is_its_latest_resident() -> None:
    """Notes §4.10. Session 2 was admitted last but is at a delay, so session 1 goes."""
    text = """
    pool kv { cap 6; preempt lifo; } stage z : delay; stage e : step { budget 8; cost 1; memory kv; }
    workload { arrive batch(3); }
    session {
      hold kv (2) { observe a = now;
        branch (serial == 2) { run z (5); } else { run e prefill (2) growing kv; run e decode (1) growing kv; } observe
        d = now; } }
    """
    assert moments(text, "a") == [(0.0, 0), (0.0, 1), (0.0, 2), (2.0, 1)]
    assert moments(text, "d") == [(2.0, 0), (4.0, 1), (5.0, 2)]


@pytest.mark.parametrize(("after", "victim"), [("", 2), ("lease m (9)", 1)])
def test_the_victim_elsewhere_is_the_latest_holder_and_never_a_lease(after: str, victim: int) -> None:
    """Notes §4.10. At 3 session 0 needs a seventh unit; whoever goes comes back when it leaves at 4."""
    work = "" if after else "run z (9);"
    text = f"""
    pool m {{ cap 6; preempt lifo; }} stage z : delay; workload {{ arrive batch(3); }}
    session {{
      run z (serial);
      branch (serial == 2) {{ hold m (2) {{ observe a = now; {work} }} {after}; run z (20); }}
      else {{ hold m (2) {{ observe a = now; branch (serial == 0) {{ run z (3); grow m (1); run z (1); }} else {{ run z
      (9); }} }} }} }}
    """
    assert moments(text.replace("; ; run", "; run")) == [(0.0, 0), (1.0, 1), (2.0, 2), (4.0, victim)]


def test_a_victim_that_was_already_served_gives_its_tokens_back() -> None:
    """Notes §5g. Newest first: at 2 session 1 has its two tokens when session 0 needs its memory. They leave the
    batch, so the step costs one token and not three, and session 1 has computed nothing.
    """
    text = """
    pool kv { cap 4; preempt lifo; } stage z : delay;
    stage e : step { budget 3; cost tokens; serve by (-admission); memory kv; }
    workload { arrive batch(2); }
    session {
      run z (serial);
      hold kv (2) { observe a = computed; run e prefill (2) growing kv;
                    branch (serial == 0) { run e decode (2) growing kv; } observe d = now; }
    }
    """
    finished = simulate(text)
    assert samples(finished, "a") == [(0.0, 0, 0.0), (1.0, 1, 0.0), (4.0, 1, 0.0)]
    assert [(at, session) for at, session, _ in samples(finished, "d")] == [(4.0, 0), (6.0, 1)]


def test_the_serving_order_is_read_again_after_every_resident() -> None:
    """Notes §5b. The keys say: the more memory the prefills hold, the sooner the long ones. Session 0 (2 tokens) is
    first at 3 units; its growth to 2 makes the total 4, so session 2 (4 tokens, key 0) ties with none and session 1
    follows.
    """
    text = """
    pool kv { } stage e : step { budget 3; cost 1; serve by (kv_prefill > 3 ? -remaining : remaining); memory kv; }
    workload { arrive batch(3); }
    session { hold kv (1) { run e prefill (serial + 2) growing kv; observe d = now; } }
    """
    finished = simulate(text)
    # 0: session 0 takes 2 (shortest first), memory is 4, session 2 takes 1 (longest first); 1: longest first, and so on
    assert samples(finished, "d")[0] == (1.0, 0, 1.0)
    assert finished.report.pool("kv").mean_used > 0


def test_kv_decode_is_whole_blocks_of_the_scheduled_decodes() -> None:
    """Notes §5e. Budget 1 serves one of two at a time: 8 units of session 0's hold of 5, then 12 of session 1's 9."""
    text = """
    pool kv { block 4; } stage e : step { budget 1; cost kv_decode; memory kv; }
    workload { arrive batch(2); }
    session { hold kv (5 + 4 * serial) { run e decode (2); observe d = now; } }
    """
    assert seen(text, "d") == [(16.0, 0, 16.0), (40.0, 1, 40.0)]


def test_counters_run_from_the_start_and_averages_from_the_warm_up() -> None:
    """Notes §8. Three holds of 2 one after another; the warm-up ends at 3, in the middle of the second."""
    text = """
    pool m { cap 1; } stage z : delay; workload { arrive batch(3); }
    session { hold m (1) { run z (2); observe a = now; } }
    run { horizon 10; warmup 3; }
    """
    finished = simulate(text)
    report = finished.report
    assert (report.arrivals, report.ended, report.pool("m").admissions) == (3, 2, 3)
    assert samples(finished, "a") == [(4.0, 1, 4.0), (6.0, 2, 6.0)]
    assert report.pool("m").mean_used == 3.0 / 7.0  # held from 3 to 6 of 3 to 10
    assert report.pool("m").mean_wait == 4.0  # of the one admission after the warm-up, with its whole wait
    assert (report.stage("z").completed, report.stage("z").mean_service) == (2, 2.0)


# ------------------------------------------------------------------------- found by comparing with other
# implementations


def test_a_preemption_in_an_admitted_body_ends_the_iterations_admissions() -> None:
    """Notes §5c-d, whatever the pool and wherever the victim is. Session 1 preempts itself in the body it was admitted
    to, so each iteration after that admits it once, and session 2 waits behind it for good.
    """
    text = """
    pool reqs { admit via e; } pool m { cap 4; preempt lifo; } stage z : delay;
    stage e : step { budget 9; cost 1; } workload { arrive batch(4); }
    session {
      run z (1);
      hold reqs (1), m (0) { observe a = now; branch (serial == 1) { grow m (4); grow m (1); }
                             run e decode (1); observe d = now; }
    }
    run { horizon 6; }
    """
    finished = simulate(text)
    again = [(float(at), 1) for at in range(2, 7)]
    assert [(at, session) for at, session, _ in samples(finished, "a")] == [(1.0, 0), (1.0, 1), *again]
    assert [(at, session) for at, session, _ in samples(finished, "d")] == [(2.0, 0)]
    assert (finished.report.stage("e").iterations, finished.report.pool("m").preemptions) == (6, 6)


def test_the_end_of_a_session_lets_nobody_in_before_the_others_have_run() -> None:
    """Language §3: every ready session runs, then the pools are tried. The end of a hold is an exception, `end` is
    not."""
    text = """
    stage e : step { budget 99; cost 1; } stage z : delay; pool m { cap 10; } pool n { } pool k { cap 10; }
    workload { arrive batch(3); }
    session {
      branch (serial == 1) { hold k (1) { run e decode (1); observe a = 2; end; } }
      else {
        hold n (1) {
          run e decode (1);
          branch (serial == 0) { hold m (1) { observe a = 1; } }
          else { observe a = 3; run z (0); observe a = 4; run z (0); observe a = 5; }
          run z (1);
        }
      }
    }
    """
    assert [(session, value) for _, session, value in seen(text)] == [(2, 3.0), (1, 2.0), (2, 4.0), (2, 5.0), (0, 1.0)]


def test_a_prefill_that_gets_no_tokens_displaces_no_decode() -> None:
    """Language §3, `serve exclusive prefill`: a prefill that fits *can replace* the decodes. Session 1's needs a unit
    of a full pool at 3, 4 and 5 and preempts itself; session 0's three decodes run on.
    """
    text = """
    pool kv { cap 7; preempt lifo; admit via e; }
    stage e : step { budget 2; cost 1; serve exclusive prefill; memory kv; }
    workload { arrive batch(2); }
    session { hold kv (1) { observe a = now; run e prefill (6) growing kv; run e decode (3); observe d = now; } }
    run { horizon 14; }
    """
    finished = simulate(text)
    assert [(at, session) for at, session, _ in samples(finished, "a")] == [(0, 0), (3, 1), (4, 1), (5, 1), (6, 1)]
    assert [(at, session) for at, session, _ in samples(finished, "d")] == [(6.0, 0), (12.0, 1)]
    assert (finished.report.stage("e").iterations, finished.report.pool("kv").preemptions) == (12, 3)


def test_the_budget_left_of_an_iteration_is_for_those_it_admits() -> None:
    """Notes §5h. Session 0, preempted while an iteration forms at 3, asks anew for what the residents would leave: 2
    less session 2's token, which is within the cap, and not the 2 nobody has taken yet, for which it would be rejected.
    """
    text = """
    pool kv { cap 1; preempt lifo; } stage e : step { budget 2; cost 1; }
    workload { arrive batch(3); }
    session { run e decode (2); hold kv (budget_left(e)) { run e decode (2) growing kv; } }
    run { horizon 3.5; }
    """
    pool = simulate(text).report.pool("kv")
    assert (pool.admissions, pool.rejected) == (3, 0)
    assert pool.preemptions >= 2


def test_a_session_waits_until_it_is_admitted() -> None:
    """Notes §4.8. The eviction that makes room for session 1's second hold finds that session waiting still.

    So its own entry goes first, and session 0's stays.
    """
    text = """
    pool kv { cap 4; evict by (-waiting); } stage z : delay; workload { arrive batch(2); }
    session {
      run z (serial); hold kv (2) { } cache (2)
      branch (serial == 0) { run z (9); observe a = cachedin(kv); }
      else { run z (2); hold kv (2) { observe a = cachedin(kv); } }
    }
    """
    assert seen(text) == [(3.0, 1, 0.0), (9.0, 0, 2.0)]
