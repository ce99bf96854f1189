"""Run a scenario through vLLM's scheduler: send the requests, keep the clock, make the tokens up, watch.

Input: a scenario. Output: an `Answer`. Everything that is decided is decided by `Scheduler.schedule` and
`Scheduler.update_from_output`; this module takes the place of the engine's front and of the model.

A step that begins at t sees every request that arrived at or before t, and its tokens exist at t plus its cost.
Requests that arrive at one time are added in the order in which they were made: single requests and first turns, then
later turns as the turns before them end.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import Any

from vllm.sampling_params import SamplingParams
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request

from verification.vllm.answer import STEP_COLUMNS, Answer, RequestRow
from verification.vllm.driver.scheduler import block_hasher, make_scheduler
from verification.vllm.scenario import AffineClock, Scenario, Sent, StepClock, sources

STREAM_LENGTH = 1 << 24
"""Ids of one stream: token p of stream s is s · STREAM_LENGTH + p."""


@dataclass(eq=False)
class Flight:
    """A request on its way.

    Attributes
    ----------
    later : the session's requests after it
    decodes : it has sampled a token since its latest admission
    """

    sent: Sent
    send: float
    priority: int
    later: tuple[Sent, ...] = ()
    theirs: Any = None
    decodes: bool = False
    sampled: int = 0
    first: float | None = None
    done: float | None = None
    first_step: int | None = None
    done_step: int | None = None
    cached: list[int] = field(default_factory=list)
    admitted: list[int] = field(default_factory=list)
    preempted: list[int] = field(default_factory=list)

    def row(self) -> RequestRow:
        """Give what is reported of it."""
        return RequestRow(
            self.sent.id,
            self.send,
            self.sent.prompt,
            self.sent.out,
            self.first,
            self.done,
            self.first_step,
            self.done_step,
            tuple(self.cached),
            tuple(self.admitted),
            tuple(self.preempted),
        )


@dataclass
class Totals:
    """What one step scheduled; see `answer.STEP_COLUMNS`."""

    dec_res: int = 0
    kv_res: int = 0
    dec: int = 0
    kv: int = 0
    kv_alloc: int = 0
    prefilled: int = 0
    attention: float = 0.0


class Run:
    """One run of a scenario.

    Parameters
    ----------
    keeps_steps : keep a row a step; a long run to be timed goes without
    steps_max : stop after so many, with status "stopped"
    """

    def __init__(self, scenario: Scenario, *, keeps_steps: bool = True, steps_max: int = 10**9) -> None:
        self.scenario = scenario
        self.block_size = scenario.config.block_size
        self.keeps_steps = keeps_steps
        self.steps_max = steps_max
        self.scheduler = make_scheduler(scenario.config)
        self.hasher = block_hasher(self.block_size) if scenario.config.prefix_caching else None
        self.now: float = 0.0
        self.step = 0
        self.arrivals: list[tuple[float, int, Flight]] = []
        self.made = 0
        self.flights: dict[str, Flight] = {}
        self.rows: list[tuple[float, ...]] = []
        self.scheduled: list[dict[str, int]] = []
        self.status = "ok"
        self.wall_s = 0.0
        self.scheduler_s = 0.0
        for source in sources(scenario):
            head, *rest = source.requests
            self._send(Flight(head, source.start, source.priority, tuple(rest)))

    # -------------------------------------------------------------------------------------------- requests

    def _send(self, flight: Flight) -> None:
        heapq.heappush(self.arrivals, (flight.send + self.scenario.c0, self.made, flight))
        self.made += 1

    def _add(self, flight: Flight) -> None:
        """Give a request to the scheduler."""
        sent = flight.sent
        base = sent.stream * STREAM_LENGTH
        flight.theirs = Request(
            request_id=sent.id,
            prompt_token_ids=list(range(base, base + sent.prompt)),
            sampling_params=SamplingParams(max_tokens=sent.out, ignore_eos=True),
            pooling_params=None,
            arrival_time=float(flight.send),
            priority=flight.priority,
            block_hasher=self.hasher,
        )
        self.flights[sent.id] = flight
        self.scheduler.add_request(flight.theirs)

    def _token(self, flight: Flight) -> list[int]:
        """Sample for a request whose tokens are all computed."""
        theirs = flight.theirs
        if theirs.num_computed_tokens < theirs.num_tokens:
            return []
        return [flight.sent.sampled_stream * STREAM_LENGTH + theirs.num_tokens]

    # ------------------------------------------------------------------------------------------------ steps

    def answer(self) -> Answer:
        """Run to the end."""
        started = time.perf_counter()
        while self._go_on():
            pass
        self.wall_s = time.perf_counter() - started
        flights = list(self.flights.values())
        return Answer(
            status=self.status,  # type: ignore[arg-type]
            steps=self.step,
            end=self.now,
            preemptions=sum(len(flight.preempted) for flight in flights),
            requests=tuple(flight.row() for flight in flights),
            step_cols=STEP_COLUMNS if self.keeps_steps else (),
            step_rows=tuple(self.rows),
            step_sched=tuple(self.scheduled),
        )

    def _go_on(self) -> bool:
        """Take one step, or wait for an arrival; tell whether there is more to do."""
        arrivals, scheduler = self.arrivals, self.scheduler
        while arrivals and arrivals[0][0] <= self.now:
            self._add(heapq.heappop(arrivals)[2])
        if not scheduler.has_unfinished_requests():
            return self._wait()
        if self.step >= self.steps_max:
            self.status = "stopped"
            return False
        totals = Totals()
        preemptions: dict[str, int] = {}
        for theirs in scheduler.running:
            preemptions[theirs.request_id] = theirs.num_preemptions
            if self.flights[theirs.request_id].decodes:
                totals.dec_res += 1
                totals.kv_res += theirs.num_computed_tokens
        called = time.perf_counter()
        output = scheduler.schedule()
        self.scheduler_s += time.perf_counter() - called
        tokens = output.num_scheduled_tokens
        victims = [name for name, before in preemptions.items() if self._preemptions(name) > before]
        if not tokens and not victims:
            self._update(output, [], [])
            if not arrivals:
                self.status = "stuck"
                return False
            return self._wait()
        self.step += 1
        for name in victims:
            victim = self.flights[name]
            victim.preempted.append(self.step)
            victim.decodes = False
        batch = [self._watch(name, count, name not in preemptions, totals) for name, count in tokens.items()]
        sampled = [self._token(flight) for flight in batch]
        end = self.now + self._cost(totals)
        self._update(output, list(tokens), sampled)
        for flight, token in zip(batch, sampled, strict=True):
            if token:
                self._sampled(flight, end)
        if self.keeps_steps:
            self._keep(tokens, totals)
        self.now = end
        return True

    def _wait(self) -> bool:
        """Let the clock go to the next arrival; tell whether there is one."""
        if not self.arrivals:
            return False
        self.now = self.arrivals[0][0]
        return True

    def _preemptions(self, name: str) -> int:
        return int(self.flights[name].theirs.num_preemptions)

    def _watch(self, name: str, count: int, is_admitted: bool, totals: Totals) -> Flight:
        """Take note of one scheduled request; `schedule` has already moved its position on."""
        flight = self.flights[name]
        before = flight.theirs.num_computed_tokens - count
        if is_admitted:
            flight.cached.append(before)
            flight.admitted.append(self.step)
            flight.decodes = False
        if flight.decodes:
            totals.dec += 1
            totals.kv += before
            totals.kv_alloc += self.block_size * len(self.scheduler.kv_cache_manager.get_block_ids(name)[0])
        else:
            totals.prefilled += count
            totals.attention += count * (before + count / 2)
        return flight

    def _update(self, output: Any, names: list[str], sampled: list[list[int]]) -> None:
        """Tell the scheduler what the model would have given."""
        result = ModelRunnerOutput(
            req_ids=names, req_id_to_index={name: i for i, name in enumerate(names)}, sampled_token_ids=sampled
        )
        called = time.perf_counter()
        self.scheduler.update_from_output(output, result)
        self.scheduler_s += time.perf_counter() - called

    def _sampled(self, flight: Flight, end: float) -> None:
        """Take note of a token; with the last one the session's next request is on its way."""
        flight.sampled += 1
        flight.decodes = True
        if flight.first is None:
            flight.first, flight.first_step = end, self.step
        if not flight.theirs.is_finished():
            return
        assert flight.sampled == flight.sent.out
        flight.done, flight.done_step = end, self.step
        if flight.later:
            head, *rest = flight.later
            self._send(Flight(head, end + flight.sent.think, flight.priority, tuple(rest)))

    def _cost(self, totals: Totals) -> float:
        clock = self.scenario.clock
        if isinstance(clock, StepClock):
            return 1.0
        assert isinstance(clock, AffineClock)
        decoders, kv = {
            "resident": (totals.dec_res, totals.kv_res),
            "scheduled": (totals.dec, totals.kv),
            "allocated": (totals.dec, totals.kv_alloc),
        }[clock.decoders]
        return clock.c + clock.d * decoders + clock.e * kv + clock.a * totals.prefilled + clock.b * totals.attention

    def _keep(self, tokens: dict[str, int], totals: Totals) -> None:
        running = len(self.scheduler.running)
        values = {
            "t": self.now,
            "tokens": sum(tokens.values()),
            "dec_res": totals.dec_res,
            "kv_res": totals.kv_res,
            "dec": totals.dec,
            "kv": totals.kv,
            "kv_alloc": totals.kv_alloc,
            "prefilled": totals.prefilled,
            "attention": totals.attention,
            "running": running,
            "waiting": self.scheduler.get_num_unfinished_requests() - running,
            "free": self.scheduler.kv_cache_manager.block_pool.get_num_free_blocks(),
        }
        self.rows.append(tuple(values[name] for name in STEP_COLUMNS))
        self.scheduled.append(dict(tokens))
