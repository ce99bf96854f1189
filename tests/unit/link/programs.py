"""Texts linked, for the tests of the linker and of the lints."""

import pytest

from serq.diagnostics import Diagnostic, Path, ProgramError, SourceFile
from serq.expand import expand
from serq.ir.lower import lower
from serq.link import link
from serq.link.linked import LinkedExpression, LinkedObserve, LinkedProgram
from serq.syntax import parse

ROWS = (((3.0, 4.0, 5.0, 0.0), (6.0, 7.0, 8.0, 1.0)),)


def program(declarations: str = "", session: str = "end;", workload: str = "arrive batch(1);") -> str:
    return f"{declarations} workload {{ {workload} }} session {{ {session} }} run {{ horizon 9; }}"


def linked(text: str, trace=None) -> LinkedProgram:
    lowered = lower(expand(parse(SourceFile("p.sq", text))))
    return link(lowered.program, trace, lambda path: lowered.source_map.get(path, Path(path)))


def findings(text: str, trace=None) -> list[Diagnostic]:
    with pytest.raises(ProgramError) as caught:
        linked(text, trace)
    return caught.value.diagnostics


def names(text: str) -> list[str]:
    return [found.name for found in findings(text)]


def observed(declarations: str, expression: str, before: str = "") -> LinkedExpression:
    """The linked expression of an `observe`, the last statement but `end`."""
    session = linked(program(declarations, f"{before} observe x = {expression}; end;")).session
    statement = session[-2]
    assert isinstance(statement, LinkedObserve)
    return statement.value


def shape(expression: LinkedExpression) -> object:
    """An expression without its sites: numbers, names, and lists that begin with the operator."""
    match expression.op:
        case "const":
            return expression.number
        case "attribute" | "context":
            return expression.name
    place = expression.reference
    inside = [] if place is None else [(place.base, place.count, None if place.index is None else shape(place.index))]
    name = f"~{expression.name}" if expression.op == "draw" else expression.op
    return [name, *inside, *map(shape, expression.arguments)]
