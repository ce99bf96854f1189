"""Scenarios at random: the same for a seed, wide enough, and shrunk to what shows a difference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from verification.vllm import model, recordings
from verification.vllm.compare import differences
from verification.vllm.fuzz import kinds_of
from verification.vllm.generate import TOKENS_MAX, generate
from verification.vllm.scenario import AffineClock, Config, Request, Scenario, Session, Turn, decode, encode, sources
from verification.vllm.shrink import candidates, shrink

KINDS = {
    "a budget below the slots",
    "a long-prefill cap",
    "a prefix found",
    "a request preempted twice",
    "a request that never ends",
    "equal arrival times",
    "forced misses",
    "preemptions",
    "prefix caching",
    "sessions",
    "the affine clock",
    "the priority policy",
}


def test_a_seed_is_a_scenario() -> None:
    assert encode(generate(7)) == encode(generate(7)) != encode(generate(8))
    assert decode(encode(generate(7))) == generate(7)


def test_every_kind_comes_up() -> None:
    """In 200 seeds, each kind that the figures count; blocks of one token and of more than 32; a burst of arrivals."""
    given = [generate(seed) for seed in range(200)]
    kinds: Counter[str] = Counter()
    for scenario in given:
        kinds.update(kinds_of(scenario, model.answer(scenario, "0.33.0")))
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 5, kinds
    sizes = {scenario.config.block_size for scenario in given}
    assert 1 in sizes and max(sizes) > 32
    assert any(len(session.turns) >= 8 for scenario in given for session in scenario.sessions)


@pytest.mark.parametrize("seed", range(40))
def test_a_scenario_is_one_that_both_sides_can_run(seed: int) -> None:
    scenario = generate(seed)
    requests = [request for source in sources(scenario) for request in source.requests]
    assert 0 < sum(request.prompt + request.out for request in requests) <= TOKENS_MAX
    assert all(request.prompt > 0 and request.out > 0 and 0 <= request.shared <= request.prompt for request in requests)
    assert scenario.config.usable_blocks > 0


SCENARIO = Scenario(
    Config(budget=64, max_seqs=4, block_size=16, usable_blocks=40, chunk=8, prefix_caching=True),
    AffineClock(c=0.01, decoders="allocated", c0=0.5),
    (Request(30, 4, 1.25), Request(50, 9)),
    (Session(2.5, (Turn(20, 3, 1.0), Turn(5, 1, 2.0, True))),),
)


def test_shrinking_leaves_only_what_shows_it() -> None:
    """The "difference" is there while some prompt has 17 tokens or more and there is a long-prefill cap."""

    def shows(scenario: Scenario) -> bool:
        prompts = [request.prompt for source in sources(scenario) for request in source.requests]
        return max(prompts) >= 17 and scenario.config.chunk > 0

    smallest = shrink(SCENARIO, shows)
    assert shows(smallest)
    assert not any(shows(candidate) for candidate in candidates(smallest))
    assert sum(len(source.requests) for source in sources(smallest)) == 1
    assert max(request.prompt for source in sources(smallest) for request in source.requests) == 17
    assert (smallest.config.chunk, smallest.config.block_size, smallest.config.budget) == (1, 1, 1)


def test_every_step_of_shrinking_is_towards_less() -> None:
    def size(scenario: Scenario) -> float:
        config = scenario.config
        items = [*scenario.requests, *scenario.sessions, *(turn for s in scenario.sessions for turn in s.turns)]
        tokens = sum(request.prompt + request.out for source in sources(scenario) for request in source.requests)
        times = sum(source.start for source in sources(scenario))
        thinks = sum(turn.think for session in scenario.sessions for turn in session.turns)
        setup = config.budget + config.max_seqs + config.block_size + config.usable_blocks + config.chunk
        switches = config.prefix_caching + isinstance(scenario.clock, AffineClock) + (scenario.c0 > 0)
        forced = sum(bool(turn.forced) for session in scenario.sessions for turn in session.turns)
        return len(items) + tokens + times + thinks + setup + switches + forced

    for candidate in candidates(SCENARIO):
        assert size(candidate) < size(SCENARIO)


def test_what_is_kept_is_read_as_a_recording(tmp_path: Path) -> None:
    """Releases that give one answer share it; another answer stands beside it."""
    answer = model.answer(SCENARIO, "0.33.0")
    capped = model.answer(SCENARIO, "0.30.0")
    assert differences(answer, capped) != []
    path = tmp_path / "kept.json"
    path.write_bytes(
        recordings.document("kept", SCENARIO, [("0.30.0", capped), ("0.32.0", answer), ("0.33.0", answer)])
    )
    found = list(recordings.read(path))
    assert [r.release for r in found] == ["0.30.0", "0.32.0", "0.33.0"]
    assert all(r.scenario == SCENARIO for r in found)
    assert [differences(r.answer, answer) == [] for r in found] == [False, True, True]
