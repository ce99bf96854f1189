"""Turn the serving vocabulary into the kernel: prefill, decode, tool and transfer; and `run (w)` in a queue.

Before:  prefill (n) growing kv;          transfer on up, down (n) from P to D (m);
After:   run engine prefill (n) growing kv;   run up, down (n); load D (m); release P;

Which stage: the one of the role's name among those declared above the form; failing that, for prefill and decode, the
step engine. Exactly one must qualify. In a queue's entry it is the queue's own stage that takes the engine's place,
of whatever kind, and no other step engine is in sight.

A transfer that names a link queue with a latency runs the link's wait first, once for each link, in the order named.

Reference: language §2, The serving vocabulary and Queues.   Relies on: definitions expanded, pull relations expanded.
Establishes: no Serving, no Transfer, no Run without a stage is left.
Reports: no-stage-for-role, several-stages-for-role, stage-not-above, transfer-without-pools, run-without-stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from serq.diagnostics import Origin, Span
from serq.expand.items import map_item_bodies
from serq.expand.report import Report, did_you_mean, listed
from serq.expand.tree import map_body, through
from serq.records import dataclass, replace
from serq.syntax.nodes import (
    Delay,
    Entry,
    Expression,
    Item,
    Load,
    Program,
    Queue,
    Reference,
    Release,
    Run,
    Serving,
    Stage,
    StageKind,
    Statement,
    Step,
    Transfer,
)

# The names of stages that play each role.
ROLE_NAMES = {"prefill": ("prefill",), "decode": ("decode",), "tool": ("tool",), "transfer": ("link", "transfer")}
ENGINE_VERBS = ("prefill", "decode")


@dataclass(frozen=True, slots=True)
class _Visible:
    """A stage a form can run on: its kind, and the wait before a transfer over it."""

    name: str
    kind: StageKind
    latency: Expression | None = None
    own: bool = False

    @property
    def is_engine(self) -> bool:
        return isinstance(self.kind, Step)


def expand_serving(program: Program, report: Report) -> Program:
    """Replace the serving forms by the kernel statements they stand for."""
    above: dict[str, _Visible] = {}
    items: list[Item] = []
    for item in program.items:
        match item:
            case Stage():
                above.setdefault(item.name, _Visible(item.name, item.kind))
                items.append(item)
            case Queue():
                own = _stages_of(item)
                items.append(_in_queue(item, above, own, report))
                for stage in own.values():
                    above.setdefault(stage.name, replace(stage, own=False))
            case _:
                items.append(map_item_bodies(item, _rewriter(_Forms(above, None, report))))
    return Program(program.span, tuple(items))


def _stages_of(queue: Queue) -> dict[str, _Visible]:
    """Give the stages a queue declares, by name."""
    stages: list[_Visible] = []
    if queue.serve is not None:
        stages.append(_Visible(queue.name, queue.serve.kind, queue.serve.latency, own=True))
        if queue.serve.latency is not None:
            stages.append(_Visible(f"{queue.name}.latency", Delay(queue.serve.span), own=True))
    if queue.nic is not None:
        stages.append(_Visible(f"{queue.name}.nic", queue.nic, own=True))
    return {stage.name: stage for stage in stages}


def _in_queue(queue: Queue, above: dict[str, _Visible], own: dict[str, _Visible], report: Report) -> Queue:
    """Rewrite the entries of a queue, which see its own stages and the others that are no step engines."""

    def entry(one: Entry) -> Entry:
        others = {name: stage for name, stage in above.items() if not stage.is_engine or one.verb == "route"}
        forms = _Forms({**others, **own}, queue, report)
        return replace(one, body=_rewriter(forms)(one.body))

    return replace(queue, entries=tuple(entry(one) for one in queue.entries))


def _rewriter(forms: _Forms) -> Callable[[tuple[Statement, ...]], tuple[Statement, ...]]:
    """Give the rewriting of one statement list."""
    return lambda body: map_body(body, forms.statement)


class _Forms:
    """The forms under one set of visible stages."""

    def __init__(self, visible: dict[str, _Visible], queue: Queue | None, report: Report) -> None:
        self.visible = visible
        self.queue = queue
        self.report = report

    def statement(self, statement: Statement) -> Iterable[Statement]:
        """Rewrite one statement; the bodies in it are rewritten already."""
        match statement:
            case Serving():
                return self._serving(statement)
            case Transfer():
                return self._transfer(statement)
            case Run(stages=()):
                return self._own_run(statement)
            case _:
                return (statement,)

    def _serving(self, form: Serving) -> Iterable[Statement]:
        """Turn prefill, decode or tool into a run."""
        stages = self._stages(form.verb, form.index, form.stages, form.span)
        if stages is None:
            return ()
        stage = self.visible[stages[0].name]
        mode = form.verb if stage.is_engine and form.verb in ENGINE_VERBS else None
        run = Run(form.span, stages, mode, form.work, form.growing)
        shown = " ".join(["run", _shown(stages), *([mode] if mode else []), "(…)"])
        if form.growing is not None:
            shown += f" growing {_shown((form.growing,))}"
        return (through(run, Origin(f"`{form.verb}` here means: {shown}", form.span)),)

    def _transfer(self, form: Transfer) -> Iterable[Statement]:
        """Turn a transfer into the link's run, the load where the KV arrives and the release where it was."""
        source, target, tokens = form.source, form.target, form.tokens
        if source is None or target is None or tokens is None:
            missing = "from POOL" if source is None else "to POOL (tokens)"
            if source is None and target is None:
                missing = "from POOL to POOL (tokens)"
            self.report.add(
                "transfer-without-pools",
                f"`transfer` needs `{missing}`: it moves KV from one pool to another",
                form.span,
                f"no `{missing}`",
                notes=("the KV leaves the session's lease or hold there and enters its hold here",),
                helps=("a link that stores and forwards is a stage of its own: `run link (…);`",),
            )
            return ()
        stages = self._stages("transfer", form.index, form.stages, form.span)
        if stages is None:
            return ()
        waits = self._waits(stages, form.span)
        run = Run(form.span, stages, None, form.work, None)
        load = Load(form.span, target, tokens)
        release = Release(form.span, source)
        parts = [f"run {_shown(wait.stages)} (…)" for wait in waits]
        parts += [f"run {_shown(stages)} (…)", f"load {_shown((target,))} (…)", f"release {_shown((source,))}"]
        origin = Origin(f"`transfer` here means: {'; '.join(parts)};", form.span)
        parts_in_order: tuple[Statement, ...] = (*waits, run, load, release)
        return tuple(through(part, origin) for part in parts_in_order)

    def _waits(self, stages: tuple[Reference, ...], span: Span) -> list[Run]:
        """Give the waits before a transfer: one for each link named that has a latency."""
        waits = []
        for reference in stages:
            latency = self.visible[reference.name].latency
            if latency is not None:
                wait = replace(reference, name=f"{reference.name}.latency")
                waits.append(Run(span, (wait,), None, replace(latency, span=latency.span), None))
        return waits

    def _own_run(self, run: Run) -> Iterable[Statement]:
        """Put the queue's stage in a `run (w)` that names none."""
        if self.queue is None:
            self.report.add(
                "run-without-stage",
                "`run` names the stage its work runs on",
                run.span,
                "no stage",
                notes=("only in a queue's entry does `run (…)` name one by itself: the queue's own",),
                helps=("write `run STAGE (…);`",),
            )
            return ()
        if self.queue.name not in self.visible:
            self.report.add(
                "run-without-stage",
                f"queue `{self.queue.name}` has no `serve`, so `run (…)` has no stage to run on",
                run.span,
                "runs on the queue's own stage",
                helps=("give the queue a `serve`, or name another stage: `run STAGE (…);`",),
            )
            return ()
        return (replace(run, stages=(Reference(run.span, self.queue.name),)),)

    # ---------------------------------------------------------------------------------------- which stage

    def _stages(
        self, verb: str, index: Expression | None, named: tuple[Reference, ...], span: Span
    ) -> tuple[Reference, ...] | None:
        """Give the stages a form runs on, or report why there is not exactly one that qualifies."""
        if named:
            return self._named(verb, named)
        stage = self._by_role(verb, span)
        return None if stage is None else (Reference(span, stage.name, index),)

    def _named(self, verb: str, named: tuple[Reference, ...]) -> tuple[Reference, ...] | None:
        """Check that the stages after `on` are declared above."""
        sound = True
        for reference in named:
            if reference.name not in self.visible:
                sound = False
                self.report.add(
                    "stage-not-above",
                    f"`{verb} on {reference.name}`: no stage `{reference.name}` is declared above",
                    reference.span,
                    "not a stage the form can see",
                    notes=self._sight(),
                    helps=did_you_mean(reference.name, self.visible),
                )
        return named if sound else None

    def _by_role(self, verb: str, span: Span) -> _Visible | None:
        """Find the one stage that plays a form's role."""
        playing = [stage for name, stage in self.visible.items() if name in ROLE_NAMES[verb]]
        if not playing and self.queue is not None:
            own = self.visible.get(self.queue.name)
            # `tool` and `transfer` take time; an engine of tokens is not what they mean.
            if own is not None and (verb in ENGINE_VERBS or not own.is_engine):
                playing = [own]
        elif verb in ENGINE_VERBS:
            engines = [stage for stage in self.visible.values() if stage.is_engine]
            if not playing:
                playing = engines
        if len(playing) == 1:
            return playing[0]
        example = f"{verb} on STAGE (…)"
        if playing:
            self.report.add(
                "several-stages-for-role",
                f"`{verb}` could run on {listed((stage.name for stage in playing), 'or')}",
                span,
                "which of them?",
                notes=self._sight(),
                helps=(f"name it: `{example}`",),
            )
        else:
            words = listed(ROLE_NAMES[verb], "or")
            engine = " and no step engine" if verb in ENGINE_VERBS else ""
            self.report.add(
                "no-stage-for-role",
                f"no stage above plays `{verb}`",
                span,
                f"no stage named {words}{engine}",
                notes=self._sight(),
                helps=(f"declare a stage named {words} above, or name one: `{example}`",),
            )
        return None

    def _sight(self) -> tuple[str, ...]:
        """Say which stages a form sees here."""
        if self.queue is not None:
            return ("an entry sees its queue's own stage and the stages above that are no step engines",)
        if not self.visible:
            return ("no stage is declared above",)
        names = list(self.visible)
        shown = listed(names[:4]) if len(names) <= 4 else listed(names[:4]) + " and others"
        return (f"the stages declared above are {shown}",)


def _shown(references: tuple[Reference, ...]) -> str:
    """Write references out for a phrase, each as it is named after expansion."""
    return ", ".join(r.name if r.index is None else f"{r.name}[{r.index.span.text}]" for r in references)
