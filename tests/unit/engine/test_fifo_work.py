"""`work(f)` of a fifo: the servers' remainders and the line, kept up to date rather than summed at each reading."""

from __future__ import annotations

from unit.engine.running import seen


def test_the_work_of_a_line_is_what_its_jobs_have_left() -> None:
    """Two servers, five jobs of 1, 2, 3, 4, 5 at 0. At 1.5 the first is done, 2 has 0.5 and 3 has 2.5 left, 9 waits;
    at 3.5 the second is done too (at 2), 3 has 0.5, 4 has 2.5 and 5 waits; at 8.5 the last has 0.5 left.
    """
    text = """
    stage f : fifo(2); stage z : delay; workload { arrive batch(6); }
    session {
      branch (serial < 5) { run f (serial + 1); } else {
        run z (1.5); observe a = work(f); run z (2); observe a = work(f); run z (5); observe a = work(f);
      }
    }
    """
    assert [value for _, _, value in seen(text)] == [0.5 + 2.5 + 9.0, 0.5 + 2.5 + 5.0, 0.5]


def test_a_preempted_job_takes_its_work_along() -> None:
    """Two holders of 4 in a pool of 10 run a job of 8 each at one server; at 1 the first grows by 4, which aborts the
    second. Its job leaves the line, so that only the 7 of the job in service are left.
    """
    text = """
    pool p { cap 10; preempt lifo; } stage f : fifo; stage z : delay; workload { arrive batch(4); }
    session {
      branch (serial == 0) { run f (8); } else { branch (serial == 1) { hold p (4) { run z (1); grow p (4); run z (9); }
      } else { branch (serial == 2) { hold p (4) { run f (8); } } else {
        run z (0.5); observe a = work(f); run z (0.5); run z (0.25); observe a = work(f);
      } } }
    }
    """
    assert [value for _, _, value in seen(text)] == [7.5 + 8.0, 6.75]


def test_an_empty_line_has_no_work_left() -> None:
    """The job of 3 waits behind one of 1; in service it counts once."""
    text = """
    stage f : fifo; stage z : delay; workload { arrive batch(3); }
    session {
      branch (serial == 0) { run f (1); } else { branch (serial == 1) { run f (3); } else {
        run z (0.5); observe a = work(f); run z (1); observe a = work(f); run z (4); observe a = work(f);
      } }
    }
    """
    assert [value for _, _, value in seen(text)] == [0.5 + 3.0, 2.5, 0.0]
