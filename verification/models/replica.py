"""The two-resource replica as a fluid: decode rates shared under a memory limit, prefill in the compute decode leaves.

Second implementation of `examples/multi-turn/replica.sq`. The program runs iterations of a fraction of a millisecond;
here nothing is discrete but the events. With d decoding turns whose contexts sum to S tokens, an iteration would take T
= max(omega + beta·S, a·d) seconds and give each of them one token, so a decoding turn runs at 1/T tokens a second; the
oldest prefill gets the rest of the compute, 1 − a·d/T of it. Rates are constant between events.

At high memory pressure the two differ by construction: the fluid never waits for an iteration to end, so a collapse
begins a little later. The reference project saw the same: agreement at 16 and 20 live sessions, not at 24.
"""

import heapq
import math
import random
from collections import deque
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Parameters:
    """Times in [s], sizes in [tokens].

    Attributes
    ----------
    arrival_rate : [sessions/s]
    live : sessions inside at once; the rest wait outside
    batch : turns in service at once
    memory : KV tokens
    overhead : [s] a turn costs before its first token
    per_token, per_token_and_context : [s] of prefill
    iteration : [s] of an iteration without contexts
    per_context : [s] an iteration takes for each token of the decoding contexts
    horizon, warmup : [s]
    """

    arrival_rate: float = 0.28
    live: int = 24
    batch: int = 8
    memory: float = 6e5
    overhead: float = 0.005
    per_token: float = 2e-5
    per_token_and_context: float = 2e-9
    iteration: float = 2e-4
    per_context: float = 2e-9
    output_mean: float = 300.0
    horizon: float = 3_000.0
    warmup: float = 500.0


@dataclass(frozen=True, slots=True)
class Kind:
    """One class of sessions: agents have many short turns, documents few on a long context."""

    first_range: tuple[float, float]
    new_mean: float
    continue_probability: float
    tool_mean: float


KINDS = (Kind((4_000.0, 8_000.0), 800.0, 0.95, 6.0), Kind((15_000.0, 30_000.0), 500.0, 0.3, 2.0))


@dataclass(slots=True, eq=False)
class Session:
    """A session and the turn it is in."""

    kind: Kind
    turn: int = 0
    context: float = 0.0
    new: float = 0.0
    output: float = 0.0
    again: bool = False
    sent_at: float = 0.0
    waiting: bool = False
    hit: bool = False
    prefill_left: float = 0.0  # [s] of the whole device's compute

    @property
    def total(self) -> float:
        """The KV this turn holds, and leaves in the cache [tokens]."""
        return self.context + self.new + self.output


@dataclass(slots=True)
class Replica:
    """The device: who is being served, what is in the memory, and what was measured."""

    outside: deque[Session] = field(default_factory=deque)
    inside_count: int = 0
    line: deque[Session] = field(default_factory=deque)
    prefills: deque[Session] = field(default_factory=deque)  # oldest admission first
    decodes: list[tuple[float, int, Session]] = field(default_factory=list)  # a heap by finish tag
    decoded: float = 0.0  # tokens a decoding turn that was always there would have
    decode_context: float = 0.0
    used: float = 0.0
    cache: dict[Session, float] = field(default_factory=dict)  # in the order the entries were left
    ttfts: list[float] = field(default_factory=list)
    responses: list[float] = field(default_factory=list)
    hits: list[float] = field(default_factory=list)

    def rates(self, parameters: Parameters) -> tuple[float, float]:
        """Return the tokens a second of each decoding turn and the share of the compute left to the oldest prefill."""
        count = len(self.decodes)
        if count == 0:
            return 0.0, 1.0
        compute = parameters.per_token * count
        period = max(parameters.iteration + parameters.per_context * self.decode_context, compute)
        return 1.0 / period, 1.0 - compute / period


def run(parameters: Parameters, seed: int) -> dict[str, float]:
    """Simulate once.

    Returns
    -------
    ttft, response : [s] means from a turn's sending to the end of its prefill and of its decode
    hit : share of follow-up turns that found their context in the cache
    turns : how many were answered after the warm-up
    """
    generator = random.Random(seed)
    replica = Replica()
    calendar: list[tuple[float, int, Session | None]] = [(0.0, 0, None)]  # arrivals (None) and ends of tool calls
    sequence = 0
    now = 0.0

    def schedule(at: float, session: Session | None) -> None:
        nonlocal sequence
        sequence += 1
        heapq.heappush(calendar, (at, sequence, session))

    def start_turn(session: Session) -> None:
        session.turn += 1
        kind = session.kind
        first = session.turn == 1
        session.new = generator.uniform(*kind.first_range) if first else generator.expovariate(1.0 / kind.new_mean)
        session.output = generator.expovariate(1.0 / parameters.output_mean)
        session.again = generator.random() < kind.continue_probability
        if session.total > parameters.memory / 2.0:
            leave(session)
            return
        session.sent_at = now
        session.waiting = True
        replica.line.append(session)

    def leave(session: Session) -> None:
        replica.cache.pop(session, None)
        replica.inside_count -= 1

    def finish_decode() -> None:
        _, _, session = heapq.heappop(replica.decodes)
        replica.decode_context = max(replica.decode_context - session.total, 0.0) if replica.decodes else 0.0
        replica.used -= session.total
        replica.cache[session] = session.total
        if now >= parameters.warmup:
            replica.responses.append(now - session.sent_at)
            if session.turn > 1:
                replica.hits.append(float(session.hit))
        session.context = session.total
        session.new = session.output = 0.0
        if session.again:
            schedule(now + generator.expovariate(1.0 / session.kind.tool_mean), session)
        else:
            leave(session)

    def finish_prefill() -> None:
        nonlocal sequence
        session = replica.prefills.popleft()
        if now >= parameters.warmup:
            replica.ttfts.append(now - session.sent_at)
        sequence += 1
        heapq.heappush(replica.decodes, (replica.decoded + session.output, sequence, session))
        replica.decode_context += session.total

    while True:
        token_rate, compute_left = replica.rates(parameters)
        next_calendar = calendar[0][0]
        next_decode = now + (replica.decodes[0][0] - replica.decoded) / token_rate if replica.decodes else math.inf
        next_prefill = math.inf
        if replica.prefills and compute_left > 0.0:
            next_prefill = now + replica.prefills[0].prefill_left / compute_left
        then = min(next_calendar, next_decode, next_prefill)
        if then > parameters.horizon:
            break
        replica.decoded += token_rate * (then - now)
        if replica.prefills:
            replica.prefills[0].prefill_left -= compute_left * (then - now)
        now = then
        if then == next_decode:
            finish_decode()
        elif then == next_prefill:
            finish_prefill()
        else:
            _, _, session = heapq.heappop(calendar)
            if session is None:
                schedule(now + generator.expovariate(parameters.arrival_rate), None)
                replica.outside.append(Session(KINDS[0] if generator.random() < 0.5 else KINDS[1]))
            else:
                start_turn(session)
        while replica.outside and replica.inside_count < parameters.live:
            replica.inside_count += 1
            start_turn(replica.outside.popleft())
        _admit(parameters, replica)
    return {
        "ttft": sum(replica.ttfts) / len(replica.ttfts),
        "response": sum(replica.responses) / len(replica.responses),
        "hit": sum(replica.hits) / len(replica.hits),
        "turns": float(len(replica.responses)),
    }


def _admit(parameters: Parameters, replica: Replica) -> None:
    """Admit turns from the head of the line while a slot and memory are there; make room in the cache for them."""
    while replica.line and len(replica.prefills) + len(replica.decodes) < parameters.batch:
        session = replica.line[0]
        if replica.used + session.total > parameters.memory:
            return
        replica.line.popleft()
        session.waiting = False
        found = replica.cache.pop(session, 0.0)
        session.hit = found >= session.context
        cached = sum(replica.cache.values())
        while replica.cache and replica.used + session.total + cached > parameters.memory:
            # `min` takes the first of equals, which is the entry that was left first
            victim = min(replica.cache, key=lambda owner: (owner.waiting, replica.cache[owner]))
            cached -= replica.cache.pop(victim)
        replica.used += session.total
        session.prefill_left = _prefill(parameters, session)
        replica.prefills.append(session)


def _prefill(parameters: Parameters, session: Session) -> float:
    """Return the time [s] the prefill of this turn takes with the whole compute."""
    context, new = (session.context, session.new) if session.hit else (0.0, session.context + session.new)
    attention = parameters.per_token_and_context * new * (context + new / 2.0)
    return parameters.overhead + parameters.per_token * new + attention
