"""The façade: load a program, run it, read the report.

    program = serq.load("chat.sq", set={"rate": 2.5})
    report = program.run(seed=3)

Input: a file or a text (serQ or its IR as JSON), overrides. Output: `Program`, `Report`.

Invariants: a `Program` is a value: running it changes nothing, and the same program and seed give the same report. What
is wrong with a program is raised as `ProgramError` when it is loaded; what goes wrong in a run as `RunFailed`.
"""

from __future__ import annotations

import os
import shlex
import sys
from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from serq import pipeline
from serq.diagnostics import Diagnostic, Place, ProgramError, SourceFile, error
from serq.engine.results import RunError, RunResult
from serq.errors import RunFailed
from serq.expand import load_beside, load_nothing
from serq.ir import model as ir
from serq.ir.write_json import encode_program
from serq.link.linked import LinkedProgram
from serq.lint import find_remarks
from serq.records import dataclass, field, replace
from serq.report import Iteration, Provenance, Report, build_report, digest, iterations_of
from serq.report.notes import ABOUT_FIGURES
from serq.report.numbers import plain
from serq.syntax import nodes, parse_expression
from serq.version import VERSION

if TYPE_CHECKING:
    from serq.engine.results import SampleSink
    from serq.engine.simulation import Progress
    from serq.workload.traces import Trace

STDIN = "-"
TEXT = "<text>"

Value = float | str
"""An override: a number, or an expression of constants as text."""

RUN_BLOCK = ("horizon", "warmup", "seed", "arrivals")


def load(
    path: str | os.PathLike[str],
    *,
    set: Mapping[str, Value] | None = None,
    definitions: Mapping[str, Value] | None = None,
    seed: int | None = None,
    horizon: float | None = None,
    warmup: float | None = None,
    arrivals: int | None = None,
    trace: str | os.PathLike[str] | None = None,
) -> Program:
    """Load a program from a file: text, or IR when its first character is `{`; `-` is stdin.

    Parameters
    ----------
    path : the file; its libraries and trace are looked for beside it
    set : values for `let` constants of the program
    definitions : expressions for definitions without parameters
    seed, horizon [t], warmup [t], arrivals : in place of the program's run block
    trace : a trace file in place of the program's, relative to the current directory

    Raises
    ------
    ProgramError
        When the file cannot be read or the program does not link.
    """
    name = os.fspath(path)
    overrides = Overrides(seed, horizon, warmup, arrivals, None if trace is None else os.fspath(trace))
    command = replay_command(name, set or {}, definitions or {}, overrides)
    return _load(read_source(name), None if name == STDIN else name, set or {}, definitions or {}, overrides, command)


def loads(
    text: str,
    *,
    set: Mapping[str, Value] | None = None,
    definitions: Mapping[str, Value] | None = None,
    seed: int | None = None,
    horizon: float | None = None,
    warmup: float | None = None,
    arrivals: int | None = None,
    trace: str | os.PathLike[str] | None = None,
    name: str = TEXT,
) -> Program:
    """Load a program from its text, as `load` does; it has no file to find a library beside."""
    overrides = Overrides(seed, horizon, warmup, arrivals, None if trace is None else os.fspath(trace))
    return _load(SourceFile(name, text), None, set or {}, definitions or {}, overrides, "")


@dataclass(frozen=True, slots=True)
class Overrides:
    """What stands in place of the program's run block and trace; None leaves the program's."""

    seed: int | None = None
    horizon: float | None = None
    warmup: float | None = None
    arrivals: int | None = None
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A program that links: its IR, and the linked form the engine is made of.

    Attributes
    ----------
    compiled : the IR (overrides of the run block in it) and where its parts stood in the text
    linked : names are indices, constants numbers
    trace : the rows of its trace, or None
    """

    compiled: pipeline.Compiled
    linked: LinkedProgram
    trace: Trace | None = field(repr=False)
    command: str = ""

    @property
    def ir(self) -> ir.Program:
        """The definition of the program."""
        return self.compiled.program

    @property
    def horizon(self) -> float:
        """When a run stops at the latest [t]."""
        return self.linked.horizon

    @property
    def remarks(self) -> list[Diagnostic]:
        """What the program probably does not mean, as notes; none of them changes a run."""
        return find_remarks(self.ir, self.compiled.place_of)

    def to_json(self, *, inline_trace: bool = False) -> str:
        """Give the IR as JSON; with `inline_trace` the rows of the trace are in it, in place of a path."""
        program = self.ir
        trace = program.workload.trace
        if inline_trace and isinstance(trace, ir.TraceFile) and self.trace is not None:
            rows = tuple(tuple(ir.TraceRow(*row) for row in turns) for turns in self.trace)
            inline = ir.InlineTrace(sessions=rows, ordered=trace.ordered)
            program = replace(program, workload=replace(program.workload, trace=inline))
        return encode_program(program)

    def run(self, *, seed: int | None = None) -> Report:
        """Simulate the program and report what it measured.

        Parameters
        ----------
        seed : in place of the program's

        Raises
        ------
        RunFailed
            When a value cannot be meant or an instant never settles; it names the time, session and expression.
        """
        return self.simulate(seed=seed).report

    def simulate(
        self,
        *,
        seed: int | None = None,
        records_samples: bool = False,
        records_iterations: bool = False,
        checks: bool = False,
        plain: bool = False,
        progress: Progress | None = None,
        sink: SampleSink | None = None,
    ) -> Finished:
        """Simulate the program and keep everything the run left.

        Parameters
        ----------
        seed : in place of the program's
        records_samples : keep the time, session and turn of every sample
        records_iterations : keep what every iteration of a step stage was, for `Finished.iterations`
        checks : hold the state against its invariants after every event
        plain : form every iteration of an engine resident by resident, as the language defines it; slower, and the
            same to the last bit
        progress : is told how far the run is now and then; a subclass of `serq.engine.simulation.Progress`
        sink : takes the time, session and turn of the samples as they come, which are then not kept; a subclass of
            `serq.engine.results.SampleSink`

        Returns
        -------
        The run, with `report`, `result`, `samples(NAME)` and `iterations`.
        """
        linked = self.linked if seed is None else replace(self.linked, seed=seed)
        command = self.command if seed is None else with_options(self.command, {"--seed": str(seed)})
        try:
            result = pipeline.simulate(
                linked,
                records_samples=records_samples,
                records_iterations=records_iterations,
                checks=checks,
                plain=plain,
                progress=progress,
                sink=sink,
            )
        except RunError as problem:
            raise self._failed(problem, linked, command) from None
        provenance = Provenance(
            version=VERSION,
            seed=linked.seed,
            command=command,
            digest_of_program=lambda: digest(encode_program(self.ir)),
            digest_of_trace=lambda: "" if self.trace is None else digest(repr(self.trace)),
        )
        return Finished(result, build_report(result, provenance, self._where), self)

    def place_of_site(self, site: int) -> Place:
        """Give the text (or the IR path) of an expression or statement of the linked program."""
        return self.compiled.place_of(self.linked.sites[site])

    def _where(self, site: int) -> str:
        """Give the place of a site in a few words; for one inside a definition or an entry, the call too."""
        from serq.diagnostics.layout import expansions, where

        place = self.place_of_site(site)
        calls = [step for step in expansions(place) if step.phrase.startswith("in ")]
        return where(place) + (f", called at {where(calls[-1].span)}" if calls else "")

    def _failed(self, problem: RunError, linked: LinkedProgram, command: str) -> RunFailed:
        """Word a run that stopped: the expression, the moment, the way back to it."""
        moment = f"at t = {plain(problem.time)}"
        if problem.session >= 0:
            moment += f", session {problem.session}, turn {problem.turn}"
        options = {"--seed": str(linked.seed)}
        # the horizon is inclusive, so the moment itself is run; an arrival limit would fail for another reason there
        if problem.time > linked.warmup and linked.arrivals_limit < 0:
            options["--horizon"] = repr(problem.time)
        notes = (moment, f"replay: {with_options(command, options)}") if command else (moment,)
        diagnostic = error(
            problem.name,
            problem.message,
            self.place_of_site(problem.site) if problem.site >= 0 else None,
            notes=notes,
            helps=(problem.help_text,) if problem.help_text else (),
        )
        return RunFailed(diagnostic, problem.time, problem.session, problem.turn)


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of one observe, those at or after the warm-up, in the order sampled.

    Attributes
    ----------
    values : as observed
    times : [t]; sessions : serial numbers; turns : of the sessions' turns; all three empty unless the run recorded them
    """

    name: str
    values: list[float]
    times: list[float]
    sessions: list[int]
    turns: list[int]


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that came to its end.

    Attributes
    ----------
    result : what the engine left: samples and change points, in arrays of doubles
    report : the figures of it
    """

    result: RunResult = field(repr=False)
    report: Report
    program: Program = field(repr=False)

    def samples(self, name: str) -> Samples:
        """Give the samples of an observe: `values`, and where they were recorded `times`, `sessions` and `turns`.

        Raises
        ------
        KeyError
            When the program observes no such name.
        """
        for observe in self.result.observes:
            if observe.name == name:
                return Samples(
                    name, list(observe.values), list(observe.times), list(observe.sessions), list(observe.turns)
                )
        raise KeyError(name)

    @property
    def iterations(self) -> list[Iteration]:
        """The iterations of the step stages, in the order they started; none without `records_iterations`."""
        return iterations_of(self.result)

    def refuse(self) -> NoReturn:
        """Raise the notes of a run that could not go on as errors: what `--strict` asks for."""
        worded = [note for note in self.report.notes if note.kind not in ABOUT_FIGURES]
        places = [None if found.site < 0 else self.program.place_of_site(found.site) for found in self.result.notes]
        raise ProgramError(
            [
                error("run-cannot-go-on", note.message, place)
                for note, place in zip(worded, places, strict=True)
                if note.blocks_run
            ]
        )


def expanded(path: str, *, definitions: Mapping[str, Value]) -> str:
    """Give the kernel program that the text of a file stands for, as text."""
    from serq.syntax.printer import print_program

    source = read_source(path)
    if _is_ir(source):
        message = f"`{path}` is IR, which has no sugar to expand"
        raise ProgramError([error("ir-not-text", message, None)])
    loader = load_nothing if path == STDIN else load_beside
    return print_program(pipeline.expand_text(source, loader, _expressions("--def", definitions)))


def read_source(path: str) -> SourceFile:
    """Read a program's file, `-` for stdin; `ProgramError` says why it cannot be read."""
    try:
        if path == STDIN:
            if sys.stdin is None:  # closed by whoever started us
                raise OSError("stdin is closed")
            content, name = sys.stdin.buffer.read(), "<stdin>"
        else:
            name = path
            with open(path, "rb") as file:
                content = file.read()
        return SourceFile(name, content.removeprefix(BOM_UTF8).decode())
    except UnicodeDecodeError as problem:
        reason = f"byte {problem.start} is not UTF-8"
    except (OSError, ValueError) as problem:  # ValueError: a null character in the path
        reason = (getattr(problem, "strerror", None) or str(problem)).lower()
    raise ProgramError([error("file-not-readable", f"`{path}` cannot be read: {reason}", None)])


def _load(
    source: SourceFile,
    path: str | None,
    sets: Mapping[str, Value],
    definitions: Mapping[str, Value],
    overrides: Overrides,
    command: str,
) -> Program:
    """Compile and link; `path` is None for a program that has no file."""
    if _is_ir(source):
        if sets or definitions:
            raise ProgramError([_folded(source.name, sets, definitions)])
        compiled = pipeline.compile_ir(source)
    else:
        loader = load_nothing if path is None else load_beside
        values, expressions = _expressions("--set", sets), _expressions("--def", definitions)
        compiled = pipeline.compile_text(source, loader, values, expressions)
    compiled = _overridden(compiled, overrides)
    trace = _trace_rows(compiled, "" if path is None else os.path.dirname(path), overrides.trace is not None)
    return Program(compiled, pipeline.link_program(compiled, trace), trace, command)


def _is_ir(source: SourceFile) -> bool:
    return source.name.endswith(".json") or source.text.lstrip()[:1] == "{"


def _expressions(option: str, values: Mapping[str, Value]) -> dict[str, nodes.Expression]:
    """Parse overrides; messages call their text by the option."""
    return {
        name: parse_expression(SourceFile(f"{option} {name}", value if isinstance(value, str) else repr(value)))
        for name, value in values.items()
    }


def _overridden(compiled: pipeline.Compiled, overrides: Overrides) -> pipeline.Compiled:
    """Put the overrides into the IR."""
    if overrides.trace is not None and compiled.program.workload.trace is None:
        message = "`--trace` replaces the trace of a program, and this one has none"
        raise ProgramError([error("trace-not-used", message, compiled.place_of("$.workload"), "has no `trace`")])
    if overrides.trace is not None and any("\ud800" <= character <= "\udfff" for character in overrides.trace):
        shown = overrides.trace.encode(errors="backslashreplace").decode()
        message = f"the trace `{shown}` cannot be read: its name is not UTF-8, and the IR of the program names it"
        raise ProgramError([error("trace-not-readable", message, None)])
    given = {name: getattr(overrides, name) for name in RUN_BLOCK}
    run = {name: float(value) for name, value in given.items() if value is not None}
    return pipeline.with_overrides(compiled, run, overrides.trace)


def _trace_rows(compiled: pipeline.Compiled, directory: str, from_option: bool) -> Trace | None:
    """Read the trace a program names: relative to `directory`, or as it is when an option named it."""
    trace = compiled.program.workload.trace
    if trace is None:
        return None
    if isinstance(trace, ir.InlineTrace):
        return tuple(tuple((row.new, row.out, row.think, row.forced) for row in turns) for turns in trace.sessions)
    from serq.workload.traces import read_trace

    path = trace.path if from_option else os.path.join(directory, trace.path)
    return read_trace(path, compiled.place_of("$.workload.trace"))


def _folded(name: str, sets: Mapping[str, Value], definitions: Mapping[str, Value]) -> Diagnostic:
    option = "--set" if sets else "--def"
    first = next(iter(sets or definitions))
    return error(
        "override-on-ir",
        f"`{option} {first}=…` has nothing to override: `{name}` is IR, in which constants are folded",
        None,
        helps=("give the text of the program, or make the IR anew with `serq ir`",),
    )


def replay_command(file: str, sets: Mapping[str, Value], definitions: Mapping[str, Value], overrides: Overrides) -> str:
    """Give the command line that produces the same figures: what decides them, and nothing about where they go."""
    words = ["serq", "run", file]
    for option, values in (("--set", sets), ("--def", definitions)):
        for name, value in values.items():
            words += [option, f"{name}={value}"]
    options = {f"--{name}": getattr(overrides, name) for name in (*RUN_BLOCK, "trace")}
    return with_options(shlex.join(words), {name: str(value) for name, value in options.items() if value is not None})


def with_options(command: str, options: Mapping[str, str]) -> str:
    """Give a command line with options in place of those of the same names; "" stays ""."""
    words = shlex.split(command)
    for option, value in options.items():
        while option in words:
            at = words.index(option)
            del words[at : at + 2]
        words += [option, value]
    return shlex.join(words) if command else ""
