"""A scenario: what is sent to the scheduler, how the scheduler is set up, and what a step costs.

Input: JSON (the form of the recordings). Output: frozen values both sides read: serQ's and the live driver's, so this
module needs msgspec and nothing else.

Streams. A prompt is a prefix of an endless *stream* of token ids, and two prompts share a prefix exactly when they
share a stream. A request has a stream of its own unless it names one. A session is one stream, its sampled tokens are
the stream's next ids, and a turn's prompt is the prompt before, its output, and `new` tokens. With ``"prompts":
"trace"`` a turn's `new` is the whole prompt and its sampled tokens are ids of their own: the next turn shares the
prompt alone. `forced` moves the session to a fresh stream from that turn on.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

FCFS = "fcfs"
PRIORITY = "priority"


class Config(msgspec.Struct, frozen=True):
    """How the scheduler is set up.

    Attributes
    ----------
    budget : tokens a step at most (max_num_batched_tokens)
    max_seqs : requests running at once (max_num_seqs)
    block_size : [tokens]
    usable_blocks : of KV memory, vLLM's null block not among them
    chunk : long_prefill_token_threshold, 0 for none
    policy : of waiting and preemption
    """

    budget: int
    max_seqs: int
    block_size: int
    usable_blocks: int
    chunk: int = 0
    prefix_caching: bool = False
    policy: Literal["fcfs", "priority"] = "fcfs"


class StepClock(msgspec.Struct, frozen=True, tag_field="kind", tag="step"):
    """Every step lasts 1, so that times are step numbers as long as somebody runs."""


class AffineClock(msgspec.Struct, frozen=True, tag_field="kind", tag="affine"):
    """A step lasts c + d·decoders + e·kv_decode + a·prefilled + b·attention; [t] is the unit of all of them.

    Attributes
    ----------
    decoders : what is counted: "allocated" is the decodes scheduled in the step and the whole blocks they hold, which
        is serQ's `kv_decode`; the others count the positions of all decodes ("resident") or of those scheduled
    c0 : from a request's send to its arrival at the scheduler [t]
    """

    c: float
    d: float = 0.0
    e: float = 0.0
    a: float = 0.0
    b: float = 0.0
    decoders: Literal["resident", "scheduled", "allocated"] = "resident"
    c0: float = 0.0


Clock = StepClock | AffineClock


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request of its own: `arrive` is when it is sent [t]; less `priority` goes first."""

    prompt: int
    out: int
    arrive: float = 0.0
    priority: int = 0
    stream: int | None = None


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """One turn: the next is sent `think` after this one is done [t]."""

    new: int
    out: int
    think: float = 0.0
    forced: bool | int = False


class Session(msgspec.Struct, frozen=True, omit_defaults=True):
    """Turns one after the other; the first is sent at `start` [t]."""

    start: float
    turns: tuple[Turn, ...]
    prompts: Literal["chat", "trace"] = "chat"
    priority: int = 0


class Scenario(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything one run is given."""

    config: Config
    clock: Clock = StepClock()
    requests: tuple[Request, ...] = ()
    sessions: tuple[Session, ...] = ()
    note: str = ""
    seed: int | None = None

    @property
    def c0(self) -> float:
        """From a request's send to its arrival at the scheduler [t]."""
        return self.clock.c0 if isinstance(self.clock, AffineClock) else 0.0


class Sent(msgspec.Struct, frozen=True):
    """One request as it will be sent, whoever it belongs to.

    Attributes
    ----------
    id : ``i`` for request i, ``i.k`` for turn k of session i
    prompt, out : [tokens]
    think : from its end to the session's next request [t]
    shared : tokens at the head of the prompt that earlier requests of the session had too
    stream : number of its stream, for the live side
    sampled_stream : of its sampled tokens
    """

    id: str
    prompt: int
    out: int
    think: float
    shared: int
    stream: int
    sampled_stream: int


class Source(msgspec.Struct, frozen=True):
    """A single request, or a session, as requests one after the other."""

    start: float
    priority: int
    requests: tuple[Sent, ...]


STREAMS_OF_REQUESTS = 1_000
"""Where the streams of single requests begin; a scenario that names streams itself stays below."""
STREAMS_OF_SESSIONS = 100_000
STREAMS_OF_OUTPUTS = 10_000_000


def sources(scenario: Scenario) -> list[Source]:
    """Give the requests of a scenario: the single ones, then the sessions, as both sides count them."""
    found = [_single(number, request) for number, request in enumerate(scenario.requests)]
    stream = STREAMS_OF_SESSIONS
    for number, session in enumerate(scenario.sessions):
        source, stream = _turns(number, session, stream + 1)
        found.append(source)
    return found


def _single(number: int, request: Request) -> Source:
    stream = STREAMS_OF_REQUESTS + number if request.stream is None else request.stream
    sent = Sent(str(number), request.prompt, request.out, 0.0, 0, stream, stream)
    return Source(request.arrive, request.priority, (sent,))


def _turns(number: int, session: Session, stream: int) -> tuple[Source, int]:
    """Give a session's requests, whose streams are numbered from `stream`, and the last number used."""
    is_trace = session.prompts == "trace"
    length = shared = 0
    requests: list[Sent] = []
    for k, turn in enumerate(session.turns, 1):
        if turn.forced:
            shared = 0
            stream += k > 1
        length = turn.new if is_trace else length + turn.new
        sampled = STREAMS_OF_OUTPUTS + 1_000 * stream + k if is_trace else stream
        requests.append(Sent(f"{number}.{k}", length, turn.out, turn.think, min(shared, length), stream, sampled))
        shared = length if is_trace else length + turn.out
        if not is_trace:
            length += turn.out
    return Source(session.start, session.priority, tuple(requests)), stream


def why_not_comparable(scenario: Scenario) -> str:
    """Say why serQ's program cannot give this scenario's answer, or "": the documented exceptions, and no others."""
    if any(request.stream is not None for request in scenario.requests):
        return "two requests share a stream, and a cache entry of the language belongs to one session"
    if any(goes_back(s, scenario.config.block_size) for s in scenario.sessions):
        return (
            "a prompt ends within the whole blocks of the one before it, and another one goes beyond: of a block that "
            "was computed twice the scheduler finds the older copy, and a session's entry is its latest"
        )
    if isinstance(scenario.clock, AffineClock) and scenario.clock.decoders != "allocated":
        return "the clock counts positions, and `kv_decode` whole blocks of the scheduled decodes"
    return ""


def goes_back(session: Session, block_size: int) -> bool:
    """Tell whether a prompt leaves whole blocks of the one before it unused, and a later one of its stream may use
    them.

    Such a block is computed a second time, since a prompt's last token always is, or left aside by a shorter prompt.
    The scheduler has both copies then, and knows them for the same.
    """
    shared = 0
    has_copies = False
    for turn in session.turns if session.prompts == "trace" else ():
        if turn.forced:
            shared, has_copies = 0, False
        if has_copies:
            return True
        has_copies = min(shared, turn.new - 1) // block_size < shared // block_size
        shared = turn.new
    return False


def decode(raw: bytes | str) -> Scenario:
    """Read one scenario; `msgspec.ValidationError` says what is wrong with it."""
    return msgspec.json.decode(raw, type=Scenario)


def from_builtins(value: Any) -> Scenario:
    """Read one scenario from what a JSON reader gave."""
    return msgspec.convert(value, type=Scenario)


def encode(scenario: Scenario) -> str:
    """Write a scenario as JSON, without what is as by default."""
    return msgspec.json.encode(scenario).decode()
