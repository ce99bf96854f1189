"""Well-formedness of an IR program beyond its types: what a person or a tool that writes JSON can get wrong.

Input: a program that has the right shape. Output: findings at IR paths.
Invariants after it: names are identifiers, possibly dotted; lists that must name something do; `init` and `turn` hold
only `set` and `observe`; nothing is nested beyond `MAX_DEPTH`, so later stages may recurse. Names, kinds and constants
are the linker's.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.diagnostics import DiagnosticLimit, Findings, Path, error
from serq.ir import model as ir
from serq.records import names

MAX_DEPTH = 280
"""Statements and expressions may stand so deep in one another: what the text's own limits allow, and a little more."""


_NAMED = (ir.Set, ir.Observe, ir.Choose, ir.Pool, ir.Stage, ir.Gauge, ir.Member)
_NON_EMPTY = {ir.Hold: "pools", ir.Run: "stages", ir.Choose: "keys"}


def validate(program: ir.Program, document: str = "<ir>") -> None:
    """Check a program.

    Raises
    ------
    ProgramError : with every finding
    """
    findings = Findings()
    try:
        for name, message, path in _problems(program):
            findings.add(error(name, message, Path(path, document)))
    except DiagnosticLimit:
        pass
    findings.stop_if_any()


def _problems(program: ir.Program) -> Iterator[tuple[str, str, str]]:
    """Walk the program without recursion and give name, message and path of each problem."""
    if program.version != ir.IR_VERSION:
        yield "ir-version", version_message(program.version), "$.version"
    for block in ("init", "turn"):
        for i, statement in enumerate(getattr(program.workload, block)):
            if not isinstance(statement, ir.Set | ir.Observe):
                message = f"`{block}` holds only `set` and `observe`, and this is `{_tag(statement)}`"
                yield "statement-not-allowed", message, f"$.workload.{block}[{i}]"
    for i, hidden in enumerate(program.workload.hidden):
        yield from _name(hidden, f"$.workload.hidden[{i}]")
    pending: list[tuple[object, str, int]] = [(program, "$", 0)]
    while pending:
        value, path, depth = pending.pop()
        if isinstance(value, tuple):
            pending += [(item, f"{path}[{i}]", depth) for i, item in enumerate(value)][::-1]
            continue
        if not isinstance(value, ir.IRNode) or isinstance(value, ir.InlineTrace | ir.TraceFile):
            continue
        if depth > MAX_DEPTH:
            message = f"the program is nested more than {MAX_DEPTH} forms deep here"
            yield "nesting-too-deep", message, ".".join(path.split(".")[:4])  # the whole path would fill the screen
            continue
        if isinstance(value, ir.ExplicitSession):
            yield from _explicit(value, path)
            continue
        if isinstance(value, _NAMED):
            yield from _name(value.name, f"{path}.name")
        if isinstance(value, ir.Aggregate):
            yield from _name(value.index, f"{path}.index")
        if isinstance(value, ir.Pool) and value.preempt == "none" and value.preempt_then != "stop":
            message = "`preempt` none takes memory from nobody, so `preempt_then` says nothing here"
            yield "ir-shape", message, f"{path}.preempt_then"
        needed = _NON_EMPTY.get(type(value))
        if needed is not None and not getattr(value, needed):
            yield "ir-shape", f"`{needed}` of `{_tag(value)}` needs at least one entry", f"{path}.{needed}"
        for field in names(value):
            inner = getattr(value, field)
            if isinstance(inner, ir.IRNode | tuple):
                pending.append((inner, f"{path}.{field}", depth + 1))


def _explicit(session: ir.ExplicitSession, path: str) -> Iterator[tuple[str, str, str]]:
    if not 0.0 <= session.at < float("inf"):
        yield "ir-shape", "a session arrives at a time that is not negative and finite", f"{path}.at"
    for name in session.attributes:
        yield from _name(name, f"{path}.attributes.{name}")
    for i, turn in enumerate(session.turns):
        for name in turn:
            yield from _name(name, f"{path}.turns[{i}].{name}")


def _name(name: str, path: str) -> Iterator[tuple[str, str, str]]:
    if not all(part.isidentifier() for part in name.split(".")):
        yield "ir-shape", f"{name!r} is no name: a name is letters, digits and `_`, in parts joined by dots", path


def _tag(node: ir.IRNode) -> str:
    assert node.TAG is not None
    return node.TAG[1]


def version_message(version: object) -> str:
    """Word a version that is not ours."""
    return f"this IR has version {version}, and this serQ reads version {ir.IR_VERSION}"
