"""The fast plan of an engine against the plain loop, which defines it: the same report, samples, gauges.

A sample of what `make plain` does on more programs.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serq
from properties.programs import write_program
from properties.serving import write_serving_program
from properties.strategies import Outcome, figures
from serq.api import Program
from serq.errors import RunFailed

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*.sq"))


def outcome(program: Program, *, plain: bool, checks: bool = False) -> Outcome:
    try:
        return figures(program.simulate(records_samples=True, plain=plain, checks=checks))
    except RunFailed as problem:
        return {"error": problem.diagnostics[0].message, "time": problem.time, "session": problem.session}


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
