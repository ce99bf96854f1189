"""THE FILE TO READ FIRST: the stages of serQ in order, a line each.

    text ──parse──▶ surface tree ──expand──▶ kernel tree ──lower──▶ IR ──link──▶ linked program ──assemble──▶ simulation
                                                             ▲
                                               JSON ──decode─┘

Input: a program as text or as IR JSON. Output: after each stage the value named above, at last what a run measured.

Invariants: a stage that finds something wrong raises `ProgramError` with all it found, and the next stage never sees
its input; every value is immutable, so two programs can be compiled at once; nothing here prints, exits or keeps state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from serq.diagnostics import Path, Place, SourceFile, Span
from serq.engine.results import RunResult
from serq.expand import Loader, expand
from serq.ir import model as ir
from serq.ir.lower import lower
from serq.link import link
from serq.link.linked import LinkedProgram
from serq.records import dataclass, replace
from serq.syntax import nodes, parse

if TYPE_CHECKING:
    from serq.engine.results import SampleSink
    from serq.engine.simulation import Progress
    from serq.workload.traces import Trace

Expressions = Mapping[str, nodes.Expression]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program as IR, and where in the text its parts stood.

    Attributes
    ----------
    program : the definition of the program
    source_map : IR path → span; empty for a program that came as IR
    document : what messages call the IR
    constants : names of the `let`s that are folded into it; for messages
    """

    program: ir.Program
    source_map: Mapping[str, Span]
    document: str
    constants: tuple[str, ...] = ()

    def place_of(self, path: str) -> Place:
        """Give the text an IR path came from, or that of the nearest part around it; the path itself for IR."""
        around = path
        while around:
            span = self.source_map.get(around)
            if span is not None:
                return span
            around = around[: max(around.rfind("."), around.rfind("["), 0)]
        return Path(path, self.document)


def expand_text(source: SourceFile, loader: Loader, definitions: Expressions) -> nodes.Program:
    """Text into the kernel tree  (serq expand). `loader` reads the libraries that `use` names."""
    surface = parse(source)  #                                              text         → surface tree
    return expand(surface, loader=loader, definitions=definitions)  #       surface tree → kernel tree


def compile_text(source: SourceFile, loader: Loader, sets: Expressions, definitions: Expressions) -> Compiled:
    """Text into IR  (serq ir). `sets` stand in place of `let`s, `definitions` of `def`s without parameters."""
    kernel = expand_text(source, loader, definitions)
    lowered = lower(kernel, sets=sets)  #                                   kernel tree  → IR
    return Compiled(lowered.program, lowered.source_map, source.name, lowered.constants)


def compile_ir(source: SourceFile) -> Compiled:
    """IR JSON into IR."""
    from serq.ir.read_json import decode_program  # msgspec is loaded by those who read JSON

    return Compiled(decode_program(source.text, source.name), {}, source.name)


def with_overrides(compiled: Compiled, overrides: Mapping[str, float], trace_path: str | None) -> Compiled:
    """Put run options into the IR; a message about one of them points at the option.

    Parameters
    ----------
    overrides : fields of the run block and their values
    trace_path : in place of the path of the program's trace; needs a program with a trace
    """
    places = dict(compiled.source_map)
    for name, value in overrides.items():
        text = repr(value)
        places[f"$.run.{name}"] = Span(SourceFile(f"--{name}", text), 0, len(text))
    workload = compiled.program.workload
    if trace_path is not None and workload.trace is not None:
        places["$.workload.trace"] = Span(SourceFile("--trace", trace_path), 0, len(trace_path))
        workload = replace(workload, trace=ir.TraceFile(path=trace_path, ordered=workload.trace.ordered))
    run = replace(compiled.program.run, **overrides)
    program = replace(compiled.program, run=run, workload=workload)
    return Compiled(program, places, compiled.document, compiled.constants)


def link_program(compiled: Compiled, trace: Trace | None) -> LinkedProgram:
    """IR into a linked program: names are indices, constants numbers; lints are heard  (serq check)."""
    return link(compiled.program, trace, compiled.place_of, compiled.constants)


def simulate(
    linked: LinkedProgram,
    *,
    records_samples: bool,
    records_iterations: bool,
    checks: bool,
    plain: bool,
    progress: Progress | None,
    sink: SampleSink | None,
) -> RunResult:
    """Run a linked program  (serq run). `progress` is told now and then how far it is, `sink` of every sample."""
    from serq.engine.assemble import assemble  # the engine is loaded by those who run

    simulation = assemble(
        linked,
        records_samples=records_samples,
        records_iterations=records_iterations,
        checks=checks,
        plain=plain,
        sink=sink,
    )
    return simulation.run(progress)
