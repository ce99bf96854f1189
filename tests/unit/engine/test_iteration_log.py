"""The iterations a watched run keeps: by hand, against what the cost read, and without any effect on the run."""

from __future__ import annotations

import math

import serq
from serq.api import Program
from serq.diagnostics import Span

# Budget 8, blocks of 4, six of them. Both requests are admitted at 0; at 1 the first needs a third block and there is
# none, so the second, admitted last, gives its own back and waits until 8.
PREEMPTING = """
pool slots { cap 2; admit via engine; }
pool kv { cap 16; block 4; evict lru; preempt lifo; }
stage engine : step { budget 16; cost 1 + 0 * (tokens + kv_decode + attention); memory kv; }
workload { arrive batch(2); }
session {
  hold slots (1), kv (8) {
    run engine prefill (8) growing kv;
    run engine decode (3) growing kv;
  }
  end;
}
run { horizon 20; }
"""


def test_an_iteration_is_what_the_engine_scheduled_by_hand() -> None:
    program = serq.loads(PREEMPTING)
    iterations = program.simulate(records_iterations=True, checks=True).iterations
    first, second = iterations[:2]
    assert [(job.session, job.position, job.tokens, job.is_decode) for job in first.scheduled] == [
        (0, 0, 8, False),
        (1, 0, 8, False),
    ]
    assert (first.start, first.cost, first.tokens, first.prefilled, first.attention) == (0, 1, 16, 16, 64)
    assert (first.residents, first.waiting, first.free, first.preempted) == (2, 0, 0, ())
    assert [(job.session, job.position, job.tokens, job.allocation) for job in second.scheduled] == [(0, 8, 1, 12)]
    assert (second.decoders, second.kv_decode, second.residents, second.waiting, second.free) == (1, 12, 1, 1, 4)
    assert [job.session for job in second.preempted] == [1]
    assert [step.start for step in iterations if any(job.session == 1 for job in step.scheduled)] == [0, 4, 5, 6, 7]


def text_at(program: Program, site: int) -> str:
    place = program.place_of_site(site)
    assert isinstance(place, Span)
    return place.text


def test_a_job_and_a_victim_lead_back_to_the_run_in_the_text() -> None:
    program = serq.loads(PREEMPTING, name="two.sq")
    first, second = program.simulate(records_iterations=True).iterations[:2]
    prefill, decode = first.scheduled[0], second.scheduled[0]
    assert text_at(program, prefill.site).startswith("run engine prefill")
    assert text_at(program, decode.site).startswith("run engine decode")
    assert second.preempted[0].site == decode.site


def test_a_run_that_is_watched_is_the_same_run() -> None:
    program = serq.load("examples/first/chat.sq", warmup=5, horizon=60)
    watched = program.simulate(records_iterations=True)
    assert watched.report.to_json() == program.run().to_json()
    assert len(watched.iterations) == sum(stage.iterations for stage in watched.report.stages)
    for step in watched.iterations:
        assert step.tokens == sum(job.tokens for job in step.scheduled)
        assert step.decoders == sum(job.is_decode for job in step.scheduled)
        assert not math.isnan(step.free)
    assert program.simulate().iterations == []
