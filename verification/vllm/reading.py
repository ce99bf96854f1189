"""Read a scenario's answer off a run of serQ.

Input: a finished run that kept its samples and its iterations. Output: an `Answer`. Send, first and last token are the
program's observes; admissions, preemptions and steps are the iterations, read one by one as the live driver watches the
scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from serq.api import Finished
from serq.report import Iteration
from verification.vllm.answer import STEP_COLUMNS, Answer, RequestRow
from verification.vllm.scenario import Scenario, sources

Key = tuple[int, int]
"""A request in a run: serial number of its session, `turn_no`."""


def _values(finished: Finished, name: str) -> dict[Key, float]:
    """Give the one sample of an observe for each request that has it."""
    samples = finished.samples(name)
    return dict(zip(zip(samples.sessions, samples.turns, strict=True), samples.values, strict=True))


@dataclass
class _Track:
    """A request while the iterations are read."""

    row_id: str
    prompt: int
    out: int
    send: float
    first: float | None = None
    done: float | None = None
    first_step: int | None = None
    done_step: int | None = None
    cached: list[int] = field(default_factory=list)
    admitted: list[int] = field(default_factory=list)
    preempted: list[int] = field(default_factory=list)
    admission: int = -1
    position: float = 0.0
    sampled: int = 0

    def row(self) -> RequestRow:
        return RequestRow(
            self.row_id,
            self.send,
            self.prompt,
            self.out,
            self.first,
            self.done,
            self.first_step,
            self.done_step,
            tuple(self.cached),
            tuple(self.admitted),
            tuple(self.preempted),
        )


class _Reader:
    """Reads a run step by step, as the live driver watches the scheduler."""

    def __init__(self, finished: Finished, scenario: Scenario) -> None:
        self.iterations = finished.iterations
        self.block = scenario.config.block_size
        self.c0 = scenario.c0
        sent, first, done = (_values(finished, name) for name in ("sent", "first", "done"))
        self.tracks: dict[Key, _Track] = {}
        for serial, source in enumerate(sources(scenario)):
            for turn, request in enumerate(source.requests, 1):
                key = (serial, turn)
                if key in sent:
                    track = _Track(request.id, request.prompt, request.out, sent[key], first.get(key), done.get(key))
                    self.tracks[key] = track
        self.steps: list[tuple[float, ...]] = []
        self.scheduled: list[dict[str, int]] = []
        self.decoding: dict[Key, _Track] = {}

    def answer(self) -> Answer:
        for number, iteration in enumerate(self.iterations, 1):
            self._read(number, iteration)
        tracks = sorted(self.tracks.values(), key=lambda track: track.send)  # stable: serial order among equals
        arrived = max((track.send + self.c0 for track in tracks), default=0.0)
        last = self.iterations[-1] if self.iterations else None
        return Answer(
            status="ok" if all(track.done is not None for track in tracks) else "stuck",
            steps=len(self.iterations),
            end=max(arrived, 0.0 if last is None else last.start + last.cost),
            preemptions=sum(len(track.preempted) for track in tracks),
            requests=tuple(track.row() for track in tracks),
            step_cols=STEP_COLUMNS,
            step_rows=tuple(self.steps),
            step_sched=tuple(self.scheduled),
        )

    def _read(self, number: int, iteration: Iteration) -> None:
        decoding = self.decoding
        dec_res, kv_res = len(decoding), sum(track.position for track in decoding.values())
        for lost in iteration.preempted:
            track = self.tracks[lost.session, lost.turn]
            track.preempted.append(number)
            decoding.pop((lost.session, lost.turn), None)
        end = iteration.start + iteration.cost
        finished = 0
        freed = 0.0
        kv = 0.0
        batch: dict[str, int] = {}
        for job in iteration.scheduled:
            key = (job.session, job.turn)
            track = self.tracks[key]
            if job.admission != track.admission:
                track.admission = job.admission
                track.cached.append(int(job.position))
                track.admitted.append(number)
            batch[track.row_id] = int(job.tokens)
            kv += job.position if job.is_decode else 0.0
            track.position = job.position + job.tokens
            if job.is_decode or track.position == track.prompt + track.sampled:  # its last known token was computed
                track.sampled += 1
                decoding[key] = track
                if track.sampled == 1:
                    track.first_step = number
                    if track.done is None:  # its program observes it at the end, which never comes
                        track.first = end
            if track.sampled == track.out:
                track.done_step = number
                finished += 1
                freed += job.allocation
                del decoding[key]
        self.scheduled.append(batch)
        values: Mapping[str, float] = {
            "t": iteration.start,
            "tokens": iteration.tokens,
            "dec_res": dec_res,
            "kv_res": kv_res,
            "dec": iteration.decoders,
            "kv": kv,
            "kv_alloc": iteration.kv_decode,
            "prefilled": iteration.prefilled,
            "attention": iteration.attention,
            "running": iteration.residents - finished,
            "waiting": iteration.waiting,
            "free": (iteration.free + freed) / self.block,
        }
        self.steps.append(tuple(values[name] for name in STEP_COLUMNS))


def answer_of(finished: Finished, scenario: Scenario) -> Answer:
    """Read the answer off a finished run."""
    return _Reader(finished, scenario).answer()
