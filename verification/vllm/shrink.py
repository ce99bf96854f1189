"""Make a scenario as small as it can be and still show what it shows.

Input: a scenario and a test that it passes. Output: a scenario that passes it too, of which no single step below
makes a smaller one that does: fewer sessions, requests and turns, fewer tokens, round times, less of everything in
the setup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from verification.vllm.scenario import AffineClock, Request, Scenario, Session, StepClock, Turn

Test = Callable[[Scenario], bool]
T = TypeVar("T")

TRIES_MAX = 3_000


def shrink(scenario: Scenario, still_shows: Test, tries_max: int = TRIES_MAX) -> Scenario:
    """Shrink greedily: the first smaller scenario that still shows it is taken, until there is none."""
    tries = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in candidates(scenario):
            tries += 1
            if tries > tries_max:
                return scenario
            if still_shows(candidate):
                scenario = candidate
                smaller = True
                break
    return scenario


def candidates(scenario: Scenario) -> Iterator[Scenario]:
    """Give smaller scenarios, the much smaller ones first; each is smaller in a way that comes to an end."""
    for requests in _fewer(scenario.requests, 0):
        if requests or scenario.sessions:
            yield replace(scenario, requests=requests)
    for sessions in _fewer(scenario.sessions, 0):
        if sessions or scenario.requests:
            yield replace(scenario, sessions=sessions)
    for i, session in enumerate(scenario.sessions):
        for turns in _fewer(session.turns, 1):
            yield _with_session(scenario, i, replace(session, turns=turns))
    yield from _simpler_setup(scenario)
    for i, request in enumerate(scenario.requests):
        for smaller in _smaller_request(request):
            yield replace(scenario, requests=_put(scenario.requests, i, smaller))
    for i, session in enumerate(scenario.sessions):
        for k, turn in enumerate(session.turns):
            for smaller_turn in _smaller_turn(turn):
                yield _with_session(scenario, i, replace(session, turns=_put(session.turns, k, smaller_turn)))
        for start in _smaller_time(session.start):
            yield _with_session(scenario, i, replace(session, start=start))
        if session.priority:
            yield _with_session(scenario, i, replace(session, priority=0))
        if session.prompts == "trace":
            yield _with_session(scenario, i, replace(session, prompts="chat"))


def _fewer(items: tuple[T, ...], least: int) -> Iterator[tuple[T, ...]]:
    """Leave out halves, then quarters, …, then single ones."""
    size = len(items) // 2
    while size > 0:
        for start in range(0, len(items), size):
            rest = items[:start] + items[start + size :]
            if len(rest) >= least:
                yield rest
        size //= 2
    if len(items) == 1 and least == 0:
        yield ()


def _put(items: tuple[T, ...], place: int, item: T) -> tuple[T, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _with_session(scenario: Scenario, place: int, session: Session) -> Scenario:
    return replace(scenario, sessions=_put(scenario.sessions, place, session))


def _simpler_setup(scenario: Scenario) -> Iterator[Scenario]:
    config = scenario.config
    if isinstance(scenario.clock, AffineClock):
        yield replace(scenario, clock=StepClock())
        if scenario.clock.c0:
            yield replace(scenario, clock=replace(scenario.clock, c0=0.0))
    if config.prefix_caching:
        yield replace(scenario, config=replace(config, prefix_caching=False))
    if config.chunk:
        yield replace(scenario, config=replace(config, chunk=0))
    for name in ("block_size", "usable_blocks", "budget", "max_seqs", "chunk"):
        for value in _smaller_number(getattr(config, name), 1):
            yield replace(scenario, config=replace(config, **{name: value}))


def _smaller_request(request: Request) -> Iterator[Request]:
    for prompt in _smaller_number(request.prompt, 1):
        yield replace(request, prompt=prompt)
    for out in _smaller_number(request.out, 1):
        yield replace(request, out=out)
    for arrive in _smaller_time(request.arrive):
        yield replace(request, arrive=arrive)
    if request.priority:
        yield replace(request, priority=0)


def _smaller_turn(turn: Turn) -> Iterator[Turn]:
    for new in _smaller_number(turn.new, 1):
        yield replace(turn, new=new)
    for out in _smaller_number(turn.out, 1):
        yield replace(turn, out=out)
    for think in _smaller_time(turn.think):
        yield replace(turn, think=think)
    if turn.forced:
        yield replace(turn, forced=False)


def _smaller_number(value: int, least: int) -> Iterator[int]:
    """Give the least, half way, three quarters, and one less."""
    tried = {value}
    for smaller in (least, (least + value) // 2, value - (value - least) // 4, value - 1):
        if least <= smaller < value and smaller not in tried:
            tried.add(smaller)
            yield smaller


def _smaller_time(value: float) -> Iterator[float]:
    """Give 0, the whole number below, and half of a whole one."""
    if value > 0:
        yield 0.0
        if value != int(value):
            yield float(int(value))
        elif value > 1:
            yield float(int(value / 2))
            yield value - 1
