"""The JSON of a program is written as msgspec would write its values."""

from __future__ import annotations

import json
import struct

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from serq.ir import model as ir
from serq.ir.read_json import decode_program
from serq.ir.validate import MAX_DEPTH
from serq.ir.write_json import encode_program
from unit.ir import strategies

finite = st.floats(allow_nan=False, allow_infinity=False)
any_bits = st.binary(min_size=8, max_size=8).map(lambda bits: float(struct.unpack("d", bits)[0]))
decimal = st.builds(
    lambda digits, power: float(f"{digits}e{power}"), st.integers(-(10**6), 10**6), st.integers(-25, 25)
)


def program(value: float, path: str = "") -> ir.Program:
    """A program that says a number, and a text when there is one."""
    trace = ir.TraceFile(path=path) if path else None
    return ir.Program(
        version=1, workload=ir.Workload(trace=trace), session=(ir.Set("x", value),), run=ir.RunBlock(horizon=1.0)
    )


def as_msgspec_writes(text: str) -> str:
    """Write again what a text says, numbers and strings included, by msgspec."""
    values = json.loads(text)
    return msgspec.json.format(msgspec.json.encode(values), indent=2).decode() + "\n"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(strategies.programs)
def test_any_program_is_written_as_msgspec_writes_it(made: ir.Program) -> None:
    text = encode_program(made)
    assert text == as_msgspec_writes(text)


@settings(max_examples=1000)
@given(st.one_of(finite, decimal, any_bits.filter(lambda value: value - value == 0.0)))
def test_any_number_is_written_as_msgspec_writes_it(value: float) -> None:
    """msgspec has no zeros before the digits of an exponent, and one from 1e16 on and below 1e-5."""
    text = encode_program(program(value))
    assert text == as_msgspec_writes(text)
    assert json.loads(text)["session"][0]["value"] == value


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_any_text_is_written_as_msgspec_writes_it(path: str) -> None:
    text = encode_program(program(1.0, path))
    assert text == as_msgspec_writes(text)
    assert json.loads(text)["workload"]["trace"]["path"] == path


def test_a_default_that_was_written_is_no_other_document() -> None:
    written = ir.Program(
        version=1,
        pools=(),
        workload=ir.Workload(arrive=ir.NoArrivals(), init=()),
        session=(),
        run=ir.RunBlock(1.0, 0.0, 1.0, None),
    )
    left_out = ir.Program(version=1, workload=ir.Workload(), session=(), run=ir.RunBlock(horizon=1.0))
    assert encode_program(written) == encode_program(left_out)


@pytest.mark.parametrize("form", ["loop", "branch", "call"])
def test_a_program_as_deep_as_programs_may_be_is_written_and_read(form: str) -> None:
    """Bodies in bodies, arguments in arguments: `serq ir` prints what `serq check` takes."""
    value: object = 1.0
    body: object = [{"do": "end"}]
    for _ in range(MAX_DEPTH - 10):
        if form == "call":
            value = {"kind": "call", "function": "min", "args": [value, 2.0]}
        elif form == "loop":
            body = [{"do": "loop", "body": body}]
        else:
            body = [{"do": "branch", "guard": 1.0, "then": body}]
    given = {
        "version": 1,
        "workload": {"arrive": {"kind": "batch", "count": 1.0}},
        "session": [{"do": "set", "name": "x", "value": value}, *body],  # type: ignore[misc]
        "run": {"horizon": 1.0},
    }
    text = encode_program(decode_program(json.dumps(given)))
    assert json.loads(text) == given
