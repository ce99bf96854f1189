"""The first step at which serQ and the scheduler differ: both states side by side, whom it concerns, and the statement
of the program that decided.

Input: a scenario, the scheduler's answer, and a program. Output: a `Divergence`, and the words for it.

A step of serQ is what its program's expressions made of the residents and the waiting, so a difference has a place in
the text: a request that one side admits and the other does not was judged by its hold's claim on the memory; different
tokens by the stage's budget or chunk; a victim by the pool's `preempt`. `_Places` says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from serq.api import Finished, Program
from serq.diagnostics import Place, Span
from serq.diagnostics.layout import expansions, where
from serq.ir import model as ir
from serq.ir.walk import statements
from verification.vllm import compare, model
from verification.vllm.answer import Answer, RequestRow
from verification.vllm.reading import answer_of
from verification.vllm.scenario import Scenario

WORDS = {
    "t": "begins at",
    "tokens": "tokens",
    "dec_res": "decoding before",
    "kv_res": "… their positions",
    "dec": "decodes",
    "kv": "… their positions",
    "kv_alloc": "… their allocation",
    "prefilled": "prefilled",
    "attention": "attention",
    "running": "running after",
    "waiting": "waiting after",
    "free": "free blocks after",
}

LINES_OF_STATEMENT_MAX = 4


@dataclass(frozen=True)
class Line:
    """One line of the two states: what, serQ's, the scheduler's."""

    what: str
    ours: str
    theirs: str

    @property
    def differs(self) -> bool:
        """Tell whether the sides differ in it."""
        return self.ours != self.theirs


@dataclass(frozen=True)
class Concern:
    """A request, or the step itself (""), what happened to it on either side, and what in the program decided."""

    request: str
    what: str
    place: Place


@dataclass(frozen=True)
class Divergence:
    """Where two runs part.

    Attributes
    ----------
    step : the first that differs; None when every step is the same and only a request's fields differ
    lines : both states after it
    concerns : whom it concerns
    facts : every difference of the two answers
    """

    step: int | None
    time: float | None
    lines: tuple[Line, ...]
    concerns: tuple[Concern, ...]
    facts: tuple[str, ...]


def find(scenario: Scenario, release: str, theirs: Answer, program: Path | None = None) -> Divergence | None:
    """Run a scenario and give where it parts from the scheduler's answer, or None when it does not."""
    loaded = model.load(scenario, release, program)
    finished = model.simulate(loaded)
    ours = answer_of(finished, scenario)
    facts = compare.differences(ours, theirs)
    if not facts:
        return None
    step = compare.first_difference(ours, theirs)
    if step is None:
        return Divergence(None, None, (), (), tuple(facts))
    time = next((a.step(step)["t"] for a in (theirs, ours) if step <= len(a.step_rows)), None)
    concerns = tuple(_Concerns(loaded, finished, scenario, ours, theirs, step).all())
    return Divergence(step, time, tuple(_lines(ours, theirs, step)), concerns, tuple(facts))


# ------------------------------------------------------------------------------------------------------- states


def _lines(ours: Answer, theirs: Answer, step: int) -> Iterator[Line]:
    """Give both states at the end of a step; what a side has not is "–"."""
    mine = ours.step(step) if step <= len(ours.step_rows) else {}
    recorded = theirs.step(step) if step <= len(theirs.step_rows) else {}
    for name in theirs.step_cols or ours.step_cols:
        own, other = mine.get(name), recorded.get(name)
        if own is not None and other is not None and compare.close(own, other):
            other = own
        yield Line(WORDS.get(name, name), _number(own), _number(other))
    if ours.step_sched and theirs.step_sched:
        yield Line("scheduled", _batch(ours, step), _batch(theirs, step))
    yield Line("admitted", _admitted(ours, step), _admitted(theirs, step))
    yield Line("preempted", _preempted(ours, step), _preempted(theirs, step))
    yield Line("running", " ".join(_running(ours, step)) or "–", " ".join(_running(theirs, step)) or "–")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.12g}"


def _batch(answer: Answer, step: int) -> str:
    batch = answer.step_sched[step - 1] if step <= len(answer.step_sched) else {}
    return " ".join(f"{name}×{tokens}" for name, tokens in batch.items()) or "–"


def _tokens(answer: Answer, name: str, step: int) -> int:
    return answer.step_sched[step - 1].get(name, 0) if step <= len(answer.step_sched) else 0


def _admission(row: RequestRow, step: int) -> int | None:
    """Give the tokens a request found cached when it was admitted in a step, or None when it was not."""
    return row.cached[row.admitted_step.index(step)] if step in row.admitted_step else None


def _admitted(answer: Answer, step: int) -> str:
    found = [(row.id, _admission(row, step)) for row in answer.requests]
    return " ".join(f"{name} ({cached} cached)" for name, cached in found if cached is not None) or "–"


def _preempted(answer: Answer, step: int) -> str:
    return " ".join(row.id for row in answer.requests if step in row.preempted_step) or "–"


def _running(answer: Answer, step: int) -> list[str]:
    """Give the requests in the running list after a step, in the order of their ids."""
    found = []
    for row in answer.requests:
        admitted = max((a for a in row.admitted_step if a <= step), default=0)
        lost = max((p for p in row.preempted_step if p <= step), default=0)
        if admitted > lost and not (row.done_step is not None and row.done_step <= step):
            found.append(row.id)
    return sorted(found)


# ------------------------------------------------------------------------------------------------------- places


class _Places:
    """Where the program says what a step decides."""

    def __init__(self, program: Program) -> None:
        self.program = program
        definition = program.ir
        self.engine = next(i for i, stage in enumerate(definition.stages) if isinstance(stage.kind, ir.Step))
        kind = definition.stages[self.engine].kind
        assert isinstance(kind, ir.Step)
        self.kind = kind
        self.memory = next(i for i, pool in enumerate(definition.pools) if pool.name == kind.memory)
        self.hold, self.claim = self._hold()

    def _hold(self) -> tuple[str, int]:
        memory = self.kind.memory
        for statement, path in statements(self.program.ir):
            if isinstance(statement, ir.Hold):
                for number, claim in enumerate(statement.pools):
                    if claim.pool == memory:
                        return path, number
        raise LookupError(f"no hold of `{memory}` in the program")

    def at(self, path: str) -> Place:
        return self.program.compiled.place_of(path)

    @property
    def admission(self) -> Place:
        return self.at(f"{self.hold}.pools[{self.claim}]")

    @property
    def reuse(self) -> Place:
        return self.at(f"{self.hold}.reuse")

    @property
    def cache(self) -> Place:
        return self.at(f"{self.hold}.cache")

    @property
    def victim(self) -> Place:
        return self.at(f"$.pools[{self.memory}]")

    @property
    def tokens(self) -> Place:
        return self.at(f"$.stages[{self.engine}].kind.{'budget' if self.kind.chunk is None else 'chunk'}")

    @property
    def order(self) -> Place:
        return self.at(f"$.stages[{self.engine}].kind")

    @property
    def cost(self) -> Place:
        return self.at(f"$.stages[{self.engine}].kind.cost")


class _Concerns:
    """Reads off a step which requests are treated differently, and what decided."""

    def __init__(
        self, program: Program, finished: Finished, scenario: Scenario, ours: Answer, theirs: Answer, step: int
    ) -> None:
        self.program = program
        self.names = model.names_of(scenario)
        self.iteration = finished.iterations[step - 1] if step <= len(finished.iterations) else None
        self.ours, self.theirs, self.step = ours, theirs, step
        self.places = _Places(program)
        self.knows_batch = bool(ours.step_sched and theirs.step_sched)

    def all(self) -> Iterator[Concern]:
        """Give the requests concerned; the step itself when no request of it is known to be."""
        mine, recorded = self.ours.by_id(), self.theirs.by_id()
        any_request = False
        # a request that only one side has was sent by a step's consequence, later
        for name in sorted(mine.keys() & recorded.keys()):
            for what, place in self._of_request(mine[name], recorded[name]):
                any_request = True
                yield Concern(name, what, place)
        if not any_request:
            yield from self._of_step()

    def _of_request(self, own: RequestRow, other: RequestRow) -> Iterator[tuple[str, Place]]:
        step, places = self.step, self.places
        for row, against, side, opposite in ((own, other, "serQ", "vLLM"), (other, own, "vLLM", "serQ")):
            if step in row.preempted_step and step not in against.preempted_step:
                yield f"{side} preempts it, {opposite} does not", places.victim
            if _admission(row, step) is not None and _admission(against, step) is None:
                yield f"{side} admits it, {opposite} does not", places.admission
        found, expected = _admission(own, step), _admission(other, step)
        if found is not None and expected is not None and found != expected:
            yield f"admitted with {found} tokens cached in serQ, {expected} in vLLM", places.reuse
            yield "what a request leaves cached", places.cache
            return
        was_judged = (found is None) != (expected is None) or step in (*own.preempted_step, *other.preempted_step)
        if was_judged or not self.knows_batch:
            return
        tokens = [_tokens(side, own.id, step) for side in (self.ours, self.theirs)]
        if tokens[0] != tokens[1]:
            place = places.tokens if all(tokens) else places.order
            yield f"{tokens[0]} tokens in serQ, {tokens[1]} in vLLM", place

    def _of_step(self) -> Iterator[Concern]:
        places = self.places
        differing = {fact.partition(":")[0] for fact in compare.step_differences(self.ours, self.theirs, self.step)}
        if "tokens" in differing:
            if _preempted(self.ours, self.step) != "–":
                yield Concern("", "after the preemption the sides serve different requests", places.victim)
            else:
                yield Concern("", "the sides give different tokens", places.tokens)
        elif differing & {"dec", "prefilled"} and self.iteration is not None:
            for job in self.iteration.scheduled:
                what = f"runs as a {'decode' if job.is_decode else 'prefill'} in serQ"
                yield Concern(self.names[job.session, job.turn], what, self.program.place_of_site(job.site))
        elif differing & {"free", "kv_alloc"}:
            yield Concern("", "the requests hold other amounts of memory", places.admission)
        elif differing == {"t"}:
            yield Concern("", "the step before lasted longer on one side", places.cost)
        else:
            yield Concern("", "a request is sent, or done, at another time", places.at("$.session"))


# -------------------------------------------------------------------------------------------------------- words


def render(divergence: Divergence, label: str) -> str:
    """Give a divergence in words."""
    if divergence.step is None:
        return "\n".join([f"{label}: every step is the same, but", *(f"  {fact}" for fact in divergence.facts)]) + "\n"
    steps = divergence.step - 1
    agreed = f"; the {steps} before agree" if steps > 1 else "; the one before agrees" if steps else ""
    text = [f"{label}: serQ and vLLM differ first in step {divergence.step}, at t = {divergence.time:.12g}{agreed}", ""]
    text += _table(divergence.lines)
    text.append("")
    for concern in divergence.concerns:
        who = f"request {concern.request}: " if concern.request else ""
        text.append(f"{who}{concern.what}")
        text += [f"    {line}" for line in _statement(concern.place)]
    text += ["", f"{len(divergence.facts)} fields differ in the whole run"]
    return "\n".join(text) + "\n"


def _table(lines: tuple[Line, ...]) -> list[str]:
    rows = [("", "serQ", "vLLM", False), *((line.what, line.ours, line.theirs, line.differs) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1, 2)]  # type: ignore[arg-type]
    return [
        f"  {what:{widths[0]}}  {ours:{widths[1]}}  {theirs:{widths[2]}}{'  ←' if differs else ''}".rstrip()
        for what, ours, theirs, differs in rows
    ]


def _statement(place: Place) -> list[str]:
    """Give a place, the text there, and the call when it is inside a definition."""
    lines = [where(place)]
    if isinstance(place, Span):
        text = [line.strip() for line in place.text.splitlines()]
        lines += [f"  {line}" for line in text[:LINES_OF_STATEMENT_MAX]]
        if len(text) > LINES_OF_STATEMENT_MAX:
            lines.append("  …")
        lines += [f"called at {where(step.span)}" for step in expansions(place) if step.phrase.startswith("in ")]
    return lines
