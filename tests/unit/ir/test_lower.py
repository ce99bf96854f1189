"""Kernel tree to IR: constants, what stays as written, and where each part stood."""

import json
from pathlib import Path

import pytest

from serq.diagnostics import ProgramError, SourceFile
from serq.expand import expand, load_beside
from serq.ir import model as ir
from serq.ir.lower import Lowered, lower
from serq.ir.read_json import decode_program
from serq.ir.validate import validate
from serq.ir.write_json import encode_program
from serq.syntax import parse, parse_expression

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted((ROOT / "examples").rglob("*.sq"))


def lowered(text: str, **sets: str) -> Lowered:
    expressions = {name: parse_expression(SourceFile("--set", value)) for name, value in sets.items()}
    return lower(expand(parse(SourceFile("p.sq", text))), expressions)


def program(declarations: str = "", session: str = "end;") -> str:
    return f"{declarations} workload {{ arrive batch(1); }} session {{ {session} }} run {{ horizon 9; }}"


def names(text: str, **sets: str) -> list[str]:
    with pytest.raises(ProgramError) as caught:
        lowered(text, **sets)
    return [found.name for found in caught.value.diagnostics]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_every_example_comes_back_from_its_json(path: Path) -> None:
    """text → IR → JSON → IR is the identity, and every part of the source map is a part of the JSON."""
    tree = expand(parse(SourceFile(str(path), path.read_text(encoding="utf-8"))), loader=load_beside)
    result = lower(tree)
    validate(result.program)
    text = encode_program(result.program)
    assert decode_program(text) == result.program
    document = json.loads(text)
    for place in result.source_map:
        if not place.startswith(("$.let", "$.share")):
            assert reaches(document, place), place


def reaches(document: object, path: str) -> bool:
    """Tell whether a path leads somewhere, or to a field that holds its default and is left out."""
    value = document
    for step in path.removeprefix("$").replace("[", ".[").split(".")[1:]:
        if step.startswith("["):
            if not isinstance(value, list) or int(step[1:-1]) >= len(value):
                return False
            value = value[int(step[1:-1])]
        elif isinstance(value, dict):
            if step not in value:
                return True
            value = value[step]
        else:
            return False
    return True


def test_constants_become_numbers_in_order() -> None:
    pools = lowered(program("let a = 2; let b = a ^ 3; pool kv { cap b; block 0.5; }")).program.pools
    assert pools == (ir.Pool(name="kv", cap=8.0, block=0.5),)


def test_infinity_keeps_its_name() -> None:
    observed = lowered(program("let a = 1 / 0;", "observe x = a; observe y = -a; end;")).program.session
    assert observed[0] == ir.Observe(name="x", value="inf")
    assert lowered(program("let b = -inf;", "observe x = b;")).program.session[0] == ir.Observe(
        name="x", value=ir.Unary(op="-", operand="inf")
    )


def test_everything_else_stays_as_written() -> None:
    observed = lowered(program("let n = 2;", "observe x = 1 + 2 * n;")).program.session[0]
    assert observed == ir.Observe(
        name="x", value=ir.Binary(op="+", left=1.0, right=ir.Binary(op="*", left=2.0, right=2.0))
    )


def test_a_set_takes_the_place_of_a_let_and_sees_those_above() -> None:
    text = program("let a = 2; let b = 5; let c = b + 1; pool kv { cap c; }")
    assert lowered(text, b="a * 10").program.pools[0].cap == 21.0


def test_an_observable_names_a_pool_even_when_a_constant_has_its_name() -> None:
    observed = lowered(program("let kv = 3; pool kv { cap kv; }", "observe x = used(kv) + kv;")).program.session[0]
    assert observed == ir.Observe(
        name="x", value=ir.Binary(op="+", left=ir.Call(function="used", args=("kv",)), right=3.0)
    )


def test_decode_first_is_a_key() -> None:
    stages = lowered(program("stage e : step { budget 4; cost 1; serve decode first; }")).program.stages
    assert isinstance(stages[0].kind, ir.Step)
    assert stages[0].kind.serve == (ir.Conditional(test="decoding", then=0.0, otherwise=1.0),)


def test_a_part_leads_back_to_its_text() -> None:
    spans = lowered(program("pool kv { cap 9; }", "hold kv (1 + 2) { observe x = now; }")).source_map
    assert spans["$.session[0].pools[0].units"].text == "1 + 2"
    assert spans["$.session[0].body[0].value"].text == "now"
    assert spans["$.session[0].body[0].name"].text == "x"
    assert spans["$.pools[0].name"].text == "kv"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (program("let a = b; let b = 1;"), ["not-constant"]),
        (program("let a = serial;"), ["not-constant"]),
        (program("let a = inf - inf;"), ["constant-nan"]),
        (program("let a = cube(2);"), ["unknown-function"]),
        (program("let a = min(2);"), ["function-arity"]),
        (program("let a = sum j in 5000 (j);"), ["aggregate-too-large"]),
        (program("let a = 1; let a = 2;"), ["duplicate-declaration"]),
        (program("let size = 1;"), ["name-taken"]),
        (program("let n = 1;", "set n = 2;"), ["name-taken"]),
        (program("let n = 1;", "observe x = sum n in 2 (n);"), ["name-taken"]),
        ("workload { arrive batch(1); }", ["missing-declaration"]),
        ("session { end; } run { warmup 1; }", ["missing-declaration"]),
    ],
)
def test_what_cannot_be_lowered(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_independent_errors_are_all_reported() -> None:
    assert names(program("let a = 0 / 0; let b = serial; let now = 3;")) == [
        "constant-nan",
        "not-constant",
        "name-taken",
    ]


def test_a_set_of_nothing_is_refused_with_the_near_name() -> None:
    with pytest.raises(ProgramError) as caught:
        lowered(program("let rate = 1;"), rat="2")
    (found,) = caught.value.diagnostics
    assert (found.name, found.helps) == ("unknown-set", ("did you mean `rate`?",))
