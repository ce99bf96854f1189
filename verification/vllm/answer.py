"""What a side gives for a scenario: rows of requests and of steps, in one form for the scheduler and for serQ.

Input: JSON of a recording or of the live driver. Output: an `Answer`. Steps count from 1 and are those in which
something was scheduled or preempted; times are in the clock's unit, a token's is the end of its step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

STEP_COLUMNS = (
    "t",
    "tokens",
    "dec_res",
    "kv_res",
    "dec",
    "kv",
    "kv_alloc",
    "prefilled",
    "attention",
    "running",
    "waiting",
    "free",
)
"""The columns of a step's row.

t : when the step began
tokens, prefilled : scheduled in all, and for requests that do not decode
dec_res, kv_res : requests that decoded when the step began, and their positions
dec, kv, kv_alloc : decodes scheduled, their positions before, and the tokens' worth of blocks they hold with this
step's attention : Σ n (K + n/2) over the scheduled prefills, K the position before
running, waiting, free : requests and blocks after the step, those that finished gone
"""


class RequestRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request.

    Attributes
    ----------
    send, first, done : [t], None when it did not come to it
    first_step, done_step : the steps of its first and last token
    cached : tokens found cached at each admission
    admitted_step, preempted_step : the step of each
    """

    id: str
    send: float
    prompt: int
    out: int
    first: float | None = None
    done: float | None = None
    first_step: int | None = None
    done_step: int | None = None
    cached: tuple[int, ...] = ()
    admitted_step: tuple[int, ...] = ()
    preempted_step: tuple[int, ...] = ()


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a run did.

    Attributes
    ----------
    status : "ok", or "stuck" when requests are left that can never run
    steps : how many; end : when the last thing happened [t]
    requests : those that reached the scheduler, in the order they did
    step_cols, step_rows : a row a step, its columns named; a side may not have them
    step_sched : of each step the tokens by request, in batch order; a side may not have them
    """

    status: Literal["ok", "stuck", "stopped"]
    steps: int
    end: float
    preemptions: int
    requests: tuple[RequestRow, ...]
    step_cols: tuple[str, ...] = ()
    step_rows: tuple[tuple[float, ...], ...] = ()
    step_sched: tuple[dict[str, int], ...] = ()

    def by_id(self) -> dict[str, RequestRow]:
        """Give the requests by their ids."""
        return {row.id: row for row in self.requests}

    def step(self, number: int) -> Mapping[str, float]:
        """Give a step's row by column; steps count from 1."""
        return dict(zip(self.step_cols, self.step_rows[number - 1], strict=True))


def decode(raw: bytes | str) -> Answer:
    """Read one answer."""
    return msgspec.json.decode(raw, type=Answer)


def from_builtins(value: Any) -> Answer:
    """Read one answer from what a JSON reader gave."""
    return msgspec.convert(value, type=Answer)


def encode(answer: Answer) -> str:
    """Write one answer as JSON."""
    return msgspec.json.encode(answer).decode()


def scheduled(answer: Answer, number: int) -> Sequence[tuple[str, int]]:
    """Give a step's requests and tokens in batch order; () when the side did not say."""
    return tuple(answer.step_sched[number - 1].items()) if answer.step_sched else ()
