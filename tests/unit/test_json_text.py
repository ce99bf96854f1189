"""JSON values are written as the standard library writes them."""

from __future__ import annotations

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


def test_floats_may_be_written_in_another_way() -> None:
    assert json_text([1, 1.0, True], lambda value: f"{value:.3f}") == "[\n  1,\n  1.000,\n  true\n]"
