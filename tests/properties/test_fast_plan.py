"""The fast plan of an engine against the plain loop, which defines it: the same report, samples, gauges.

A sample of what `make plain` does on more programs.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verification.plain import outcome

import serq
from properties.programs import write_program
from properties.serving import write_serving_program
from serq.api import Program

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*.sq"))


def both_agree(program: Program) -> None:
    plain = outcome(program, plain=True)
    assert outcome(program, plain=False) == plain
    # with the checks on an engine does not run ahead, and its sums are held against its residents
    assert outcome(program, plain=False, checks=True) == plain


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_serving_programs(random: Random) -> None:
    both_agree(serq.loads(write_serving_program(random)))


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_programs_of_every_construct(random: Random) -> None:
    both_agree(serq.loads(write_program(random)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    both_agree(serq.load(path, horizon=60.0, warmup=6.0))


WHERE_ORDER_SHOWS = {
    "an odd resident leaves a fraction of a whole budget": """
        stage engine : step { budget 3; cost tokens; }
        workload { arrive batch(2); }
        session {
          branch (serial == 0) { run engine prefill (2.5); } else { run engine decode (4); }
          observe done = now;
          end;
        }
        run { horizon 40; }
    """,
    "a fraction of the memory is held by nobody resident": """
        pool kv { }
        stage engine : step { budget 1000; cost 1; chunk (now < 0.5 ? 1 : 60); memory kv; }
        stage tool : delay;
        workload { arrive batch(4); }
        session {
          branch (serial < 1) { hold kv (0.002) { run tool (1000); } }
          hold kv (1) {
            branch (serial == 1) { run engine prefill (100) growing kv; } else { run engine decode (30) growing kv; }
          }
          end;
        }
        gauge g = used(kv);
        run { horizon 20; }
    """,
    "a budget too large for ones to be taken from": """
        pool reqs { cap 90; admit via engine; }
        pool kv { }
        pool other { }
        stage engine : step { budget 2e16; cost 1; memory kv; }
        workload { arrive poisson(2); }
        session {
          hold reqs (1), other (max(0, budget_left(engine) - 1e16)) { observe u = used(other); run engine decode (37); }
          end;
        }
        run { horizon 100; seed 1; }
    """,
    "work too large for its sum to be exact": """
        stage engine : step { budget 64; cost 1e13; }
        stage look : delay;
        workload { arrive batch(21); }
        session {
          branch (serial > 0) { run engine decode (9e14 + 1 + serial); }
          loop { run look (1e13); observe left = work(engine); }
        }
        run { horizon 1e15; }
    """,
}
"""Where sums do round, so that the fast plan has to leave the iteration to the loop."""


@pytest.mark.parametrize("name", WHERE_ORDER_SHOWS)
def test_where_the_order_of_sums_shows(name: str) -> None:
    both_agree(serq.loads(WHERE_ORDER_SHOWS[name]))


def test_serving_programs_come_to_the_fast_plan() -> None:
    """What is compared differs in how it is run: a good part of the random programs keeps steady residents."""
    from serq.engine.assemble import assemble
    from serq.engine.step_engine import StepEngine

    steady = 0
    for seed in range(40):
        simulation = assemble(serq.loads(write_serving_program(Random(seed))).linked)
        try:
            simulation.run()
        except serq.engine.results.RunError:
            continue
        steady += any(isinstance(s, StepEngine) and s.steady.tick > 20 for s in simulation.world.stages)
    assert steady > 10
