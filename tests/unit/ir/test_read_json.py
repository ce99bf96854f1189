"""The JSON form: identity both ways, and an answer to whatever bytes there are."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from serq.diagnostics import ProgramError
from serq.ir import model as ir
from serq.ir.read_json import decode_program, schema
from serq.ir.write_json import encode_program
from unit.ir import strategies

SCHEMA = Path(ir.__file__).with_name("ir.schema.json")


def smallest(**fields: object) -> dict[str, object]:
    """The JSON of the least program there is, with fields put in."""
    return {"version": 1, "workload": {}, "session": [], "run": {"horizon": 10}, **fields}


def fault(content: str | bytes) -> tuple[str, str, str]:
    """The one finding about some content: its name, its path and its message."""
    with pytest.raises(ProgramError) as caught:
        decode_program(content, "x.json")
    (found,) = caught.value.diagnostics
    assert found.primary is not None
    return found.name, found.primary.place.text, found.message


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(strategies.programs)
def test_what_is_written_is_read_back(program: ir.Program) -> None:
    text = encode_program(program)
    assert decode_program(text) == program
    assert encode_program(decode_program(text)) == text


@given(st.one_of(st.binary(), st.text().map(str.encode)))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with pytest.raises(ProgramError):
        decode_program(content)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3),
        st.dictionaries(st.sampled_from(("do", "kind", "name", "value", "version", "pools")), parts, max_size=4),
    ),
    max_leaves=12,
)


@given(json_values, st.sampled_from(("session", "workload", "pools", "run", "version", "other")))
def test_any_json_in_any_field_is_read_or_refused(value: object, field: str) -> None:
    try:
        decode_program(json.dumps(smallest(**{field: value})))
    except ProgramError as problem:
        assert all(found.primary is not None for found in problem.diagnostics)


def test_a_wrong_part_is_named_by_its_path() -> None:
    statements = [{"do": "end"}, {"do": "set", "name": "x", "value": True}]
    name, path, message = fault(json.dumps(smallest(session=statements)))
    assert (name, path) == ("ir-shape", "$.session[1].value")
    assert message == "this needs an expression: a number, a name, or an object with a `kind`, and is true or false"


def test_an_unknown_statement_is_named() -> None:
    assert fault(json.dumps(smallest(session=[{"do": "leave"}]))) == (
        "ir-shape",
        "$.session[0].do",
        "the IR has no `leave` here",
    )


def test_a_field_given_twice_is_refused() -> None:
    text = json.dumps(smallest()).replace('"horizon": 10', '"horizon": 10, "horizon": 20')
    assert fault(text)[:2] == ("ir-shape", "$.run")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("", "ir-not-json"),
        ("{", "ir-not-json"),
        (b"\xff\xfe", "ir-not-json"),
        ("[" * 100_000, "nesting-too-deep"),
        ("[]", "ir-shape"),
        ('{"version": 1' + "0" * 5000 + "}", "ir-shape"),
        ('{"version": true}', "ir-version"),
        ('{"version": 2, "nonsense": 1}', "ir-version"),
        ("{}", "ir-version"),
        (json.dumps(smallest()).replace("10", "NaN"), "ir-not-json"),
        (json.dumps(smallest()).replace("10", "-Infinity"), "ir-not-json"),
        (json.dumps(smallest()).replace("10", "1e400"), "ir-shape"),
    ],
)
def test_content_that_is_no_ir(content: str | bytes, name: str) -> None:
    assert fault(content)[0] == name


@pytest.mark.parametrize("depth", [300, 900, 20_000])
def test_deep_nesting_is_refused_and_never_overflows(depth: int) -> None:
    value = '{"kind":"unary","op":"-","operand":' * depth + "1" + "}" * depth
    name, path, _ = fault(
        json.dumps(smallest(session=[{"do": "set", "name": "x", "value": "@"}])).replace('"@"', value)
    )
    assert name == "nesting-too-deep"
    assert len(path) < 100


def test_depth_within_the_limit_is_read() -> None:
    value: object = 1
    for _ in range(250):
        value = {"kind": "unary", "op": "-", "operand": value}
    decode_program(json.dumps(smallest(session=[{"do": "set", "name": "x", "value": value}])))


def test_the_published_schema_is_current() -> None:
    """`ir.schema.json` is what the model says; write it anew with `python -m serq.ir.read_json`."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema()


def test_the_schema_knows_every_statement() -> None:
    """The document is a schema of its own: its tags are the model's."""
    tags = {
        part["properties"]["do"]["enum"][0] for part in schema()["$defs"].values() if "do" in part.get("properties", {})
    }
    assert tags == {kind.TAG[1] for kind in ir.Statement.__args__}
