"""JSON values are written as the standard library writes them."""

from __future__ import annotations

import enum
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.json_text import json_text

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda parts: st.one_of(st.lists(parts), st.lists(parts).map(tuple), st.dictionaries(st.text(), parts)),
    max_leaves=20,
)


@given(values)
def test_values_are_written_as_by_the_standard_library(value: object) -> None:
    assert json_text(value) == json.dumps(value, indent=2, ensure_ascii=False)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_does_not_have_is_refused(value: float) -> None:
    with pytest.raises(ValueError):
        json_text([value])
    with pytest.raises(TypeError):
        json_text({"a": {value}})
    with pytest.raises(TypeError):
        json_text({1: 2})


def test_floats_may_be_written_in_another_way() -> None:
    assert json_text([1, 1.0, True], lambda value: f"{value:.3f}") == "[\n  1,\n  1.000,\n  true\n]"


class Degrees(float):
    """A float that shows itself in another way."""

    def __repr__(self) -> str:
        return f"{float(self)}°"


class Answer(enum.IntEnum):
    """An integer with a name."""

    YES = 1


def test_numbers_of_a_kind_of_their_own_are_numbers() -> None:
    value = [Degrees(2.5), Answer.YES]
    assert json_text(value) == json.dumps(value, indent=2)


def test_depth_takes_no_calls() -> None:
    """Far deeper than Python calls may be."""
    value: object = {"end": 1}
    for _ in range(50_000):
        value = [value]
    assert json_text(value).count("[") == 50_000
