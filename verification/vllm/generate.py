"""Scenarios at random, wide enough to reach the corners of the scheduler.

Input: a seed. Output: a scenario, always the same for the seed. A scenario is of one *shape* (what its requests look
like) and one *pressure* (how the memory compares with what they want), drawn apart, so that every pair comes up:
bursts of equal arrival times, long prompts under a small cap, many short turns, forced misses, one-token outputs;
ample memory, memory for little more than one request (a preemption storm), memory in which some request can never run.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Literal

from msgspec.structs import replace

from verification.vllm.scenario import (
    FCFS,
    PRIORITY,
    AffineClock,
    Clock,
    Config,
    Request,
    Scenario,
    Session,
    StepClock,
    Turn,
    goes_back,
    sources,
)

TOKENS_MAX = 6_000
"""Of all prompts and outputs of a scenario: what keeps a run to a few hundred steps."""

BLOCK_SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 16, 16, 32, 64)
THINKS = (0.0, 0.0, 1.0, 2.0, 3.0, 8.0, 25.0)

Length = Callable[[], int]


def generate(seed: int) -> Scenario:
    """Make the scenario of a seed."""
    rng = Random(seed)
    while True:
        scenario = _Maker(rng).scenario(seed)
        if sum(r.prompt + r.out for s in sources(scenario) for r in s.requests) <= TOKENS_MAX:
            return scenario


class _Maker:
    """Draws one scenario."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.step = rng.random() < 0.6
        self.by_priority = rng.random() < 0.3
        self.outs_max = rng.choice((3, 8, 40, 40, 80))

    def scenario(self, seed: int) -> Scenario:
        rng = self.rng
        budget = rng.choice((rng.randint(1, 8), rng.randint(4, 32), rng.randint(16, 128), 256, 512))
        block_size = rng.choice((*BLOCK_SIZES, rng.randint(1, 64)))
        length = rng.choice((self._short, self._long, self._whole_blocks(block_size)))
        shape = rng.choice(("requests", "sessions", "sessions", "both"))
        requests = tuple(self._requests(length)) if shape != "sessions" else ()
        sessions = tuple(self._sessions(length, block_size)) if shape != "requests" else ()
        config = Config(
            budget=budget,
            max_seqs=rng.choice((1, 2, 3, rng.randint(2, 8), *2 * (rng.randint(4, 16),))),
            block_size=block_size,
            usable_blocks=1,
            chunk=rng.choice((0, 0, 0, 1, rng.randint(1, 16), rng.randint(1, 2 * budget))),
            prefix_caching=rng.random() < 0.75,
            policy=PRIORITY if self.by_priority else FCFS,  # type: ignore[arg-type]
        )
        scenario = Scenario(config, self._clock(), requests, sessions, seed=seed)
        return _with_blocks(scenario, self._usable_blocks(scenario))

    # ---------------------------------------------------------------------------------------------- pressure

    def _usable_blocks(self, scenario: Scenario) -> int:
        """Draw how many blocks there are, from what the requests want at their ends."""
        rng, size = self.rng, scenario.config.block_size
        wants = [-(-(r.prompt + r.out - 1) // size) for source in sources(scenario) for r in source.requests]
        most, whole = max(wants), sum(wants)
        pressure = rng.choice(("storm", "storm", "storm", "tight", "tight", "ample", "short"))
        if pressure == "storm":
            return most + rng.randint(0, max(1, most // 3))
        if pressure == "tight":
            return most + rng.randint(0, 2 * most)
        if pressure == "ample":
            return whole + rng.randint(0, 8)
        return max(1, most - rng.randint(1, max(1, most // 2)))  # some request can never end, or never begin

    # ------------------------------------------------------------------------------------------------ shapes

    def _requests(self, length: Length) -> list[Request]:
        rng = self.rng
        count = rng.randint(1, 16)
        arrive = rng.choice((self._at_once, self._in_bursts, self._spread))
        times = [arrive() for _ in range(count)]
        if rng.random() < 0.7:
            times.sort()
        return [Request(length(), self._out(), at, self._priority()) for at in times]

    def _sessions(self, length: Length, block_size: int) -> list[Session]:
        rng = self.rng
        count = rng.randint(1, 6)
        turns_max = rng.choice((2, 4, 10))
        start = rng.choice((self._at_once, self._in_bursts, self._spread))
        sessions = []
        for _ in range(count):
            turns = [self._turn(length) for _ in range(rng.randint(1, turns_max))]
            prompts: Literal["chat", "trace"] = "trace" if rng.random() < 0.3 else "chat"
            if prompts == "trace":
                turns = _growing(turns, block_size)
            sessions.append(Session(start(), tuple(turns), prompts, self._priority()))
        return sessions

    def _turn(self, length: Length) -> Turn:
        rng = self.rng
        think = rng.choice(THINKS) if self.step or rng.random() < 0.5 else rng.random() * 5
        return Turn(length(), self._out(), think, rng.random() < 0.12)

    def _out(self) -> int:
        return self.rng.choice((1, self.rng.randint(1, 3), *2 * (self.rng.randint(1, self.outs_max),)))

    def _priority(self) -> int:
        return self.rng.choice((0, 0, 1, 2, -1)) if self.by_priority else 0

    # ----------------------------------------------------------------------------------------------- lengths

    def _short(self) -> int:
        return self.rng.randint(1, 24)

    def _long(self) -> int:
        return self.rng.choice((self.rng.randint(1, 40), self.rng.randint(40, 400)))

    def _whole_blocks(self, block_size: int) -> Length:
        """Prompts of whole blocks, where a full hit leaves one block to compute again."""

        def length() -> int:
            blocks = self.rng.randint(1, max(1, 48 // block_size))
            return max(1, block_size * blocks + self.rng.choice((0, 0, 0, 1, -1)))

        return length

    # ------------------------------------------------------------------------------------------------- times

    def _clock(self) -> Clock:
        if self.step:
            return StepClock()
        rng = self.rng
        c0 = rng.choice((0.0, 0.0, 0.04, rng.random()))
        if rng.random() < 0.3:
            return AffineClock(rng.choice((0.25, 0.5, 1.0, 3.0)), decoders="allocated", c0=c0)
        return AffineClock(
            c=rng.uniform(0.002, 0.02),
            d=rng.uniform(0, 1e-4),
            e=rng.uniform(0, 1e-5),
            a=rng.uniform(0, 1e-3),
            b=rng.uniform(0, 1e-6),
            decoders="allocated",
            c0=c0,
        )

    def _at_once(self) -> float:
        return 0.0

    def _in_bursts(self) -> float:
        return float(self.rng.choice((0, 5, 5, 10, 11)))

    def _spread(self) -> float:
        return self.rng.randint(0, 60) / 4 if self.step else self.rng.random() * 3


def _growing(turns: list[Turn], block_size: int) -> list[Turn]:
    """Let each prompt be at least as long as the one before it, but after a forced miss.

    One that ends with the whole blocks of the one before it, so that a block is computed again, is the last of its
    stream: what `scenario.goes_back` says is beyond the language.
    """
    grown: list[Turn] = []
    length = 0
    for turn in turns:
        forced = bool(turn.forced) or goes_back(Session(0.0, (*grown, turn), "trace"), block_size)
        length = turn.new if forced else max(length, length + turn.new - 8, 1)
        grown.append(Turn(length, turn.out, turn.think, forced))
    return grown


def _with_blocks(scenario: Scenario, usable_blocks: int) -> Scenario:
    return replace(scenario, config=replace(scenario.config, usable_blocks=usable_blocks))
