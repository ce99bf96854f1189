"""Arithmetic and the values of constants."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq import arithmetic
from serq.diagnostics import SourceFile
from serq.diagnostics.suggest import distance, nearest
from serq.ir import model as ir
from serq.ir.evaluate import MAX_TERMS, NotConstant, Terms, evaluate

floats = st.floats()
INF, NAN = math.inf, math.nan


def same(left: float, right: float) -> bool:
    """Equal to the last bit: NaN is NaN, and the zeros differ."""
    return (left != left and right != right) or (left == right and math.copysign(1, left) == math.copysign(1, right))


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        ("divide", (1.0, 0.0), INF),
        ("divide", (-1.0, 0.0), -INF),
        ("divide", (1.0, -0.0), -INF),
        ("divide", (0.0, 0.0), NAN),
        ("divide", (INF, 0.0), INF),
        ("divide", (NAN, 0.0), NAN),
        ("power", (0.0, 0.0), 1.0),
        ("power", (-2.0, 0.5), NAN),
        ("power", (-1.0, INF), 1.0),
        ("power", (10.0, 400.0), INF),
        ("power", (-10.0, 401.0), -INF),
        ("power", (-10.0, 400.0), INF),
        ("power", (0.0, -1.0), INF),
        ("power", (-0.0, -1.0), -INF),
        ("power", (-0.0, -2.0), INF),
        ("exponential", (1000.0,), INF),
        ("logarithm", (0.0,), -INF),
        ("logarithm", (-1.0,), NAN),
        ("square_root", (-1.0,), NAN),
        ("square_root", (INF,), INF),
        ("round_down", (-0.5,), -1.0),
        ("round_up", (-0.5,), -0.0),
        ("round_down", (INF,), INF),
        ("round_up", (NAN,), NAN),
        ("minimum", (NAN, 1.0), 1.0),
        ("maximum", (1.0, NAN), 1.0),
        ("maximum", (NAN, NAN), NAN),
        ("minimum", (0.0, -0.0), -0.0),
        ("maximum", (-0.0, 0.0), 0.0),
    ],
)
def test_corners_of_arithmetic(function: str, arguments: tuple[float, ...], value: float) -> None:
    """As IEEE 754 and C's library have it; NaN beside a number is ignored by the least and the greatest."""
    assert same(getattr(arithmetic, function)(*arguments), value)


@given(floats, floats)
def test_nothing_raises(a: float, b: float) -> None:
    for function in (arithmetic.divide, arithmetic.power, arithmetic.minimum, arithmetic.maximum):
        assert isinstance(function(a, b), float)
    for single in (arithmetic.exponential, arithmetic.logarithm, arithmetic.square_root):
        assert isinstance(single(a), float)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_is_the_nearest_integer_on_its_side(a: float) -> None:
    assert arithmetic.round_down(a) == math.floor(a)
    assert arithmetic.round_up(a) == math.ceil(a)
    assert arithmetic.is_integer(arithmetic.round_down(a))


def value_of(text: str) -> float:
    from serq.expand import expand
    from serq.ir.lower import lower
    from serq.syntax import parse

    source = f"pool p {{ cap {text}; }} workload {{ }} session {{ end; }} run {{ horizon 1; }}"
    return evaluate(lower(expand(parse(SourceFile("p.sq", source)))).program.pools[0].cap, "$", Terms())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 ^ 2", 19.0),
        ("-2 ^ 2", -4.0),
        ("7 / 2 >= 3.5", 1.0),
        ("0 && 1 / 0", 0.0),
        ("3 && 2", 1.0),
        ("0 || 0", 0.0),
        ("!3 ? 1 : 2", 2.0),
        ("0 / 0 ? 1 : 2", 1.0),
        ("max(1, min(5, 3)) + abs(-2) + floor(1.5) + ceil(1.5) + sqrt(16)", 12.0),
        ("ln(exp(1)) + pow(2, 3)", 9.0),
        ("sum j in 4 (max k in (j + 1) (k))", 6.0),
        ("min j in 3 (-j)", -2.0),
        ("1 ? 5 : serial", 5.0),
        ("0 && ~exp(1)", 0.0),
    ],
)
def test_values_of_constants(text: str, value: float) -> None:
    """Worked out by hand; the side of a test that is not taken is not looked at."""
    assert value_of(text) == value


def test_what_is_no_constant_says_where() -> None:
    with pytest.raises(NotConstant) as caught:
        evaluate(ir.Binary(op="+", left=1.0, right=ir.Call(function="abs", args=("serial",))), "$.x", Terms())
    assert (caught.value.name, caught.value.path) == ("not-constant", "$.x.right.args[0]")


def test_terms_are_counted_through_nesting() -> None:
    """64 terms around 63 more each are 64 + 64 · 63 = 4096; one more is too many."""
    inner = ir.Aggregate(of="sum", index="k", bound=63.0, body=1.0)
    terms = Terms()
    assert evaluate(ir.Aggregate(of="sum", index="j", bound=64.0, body=inner), "$", terms) == 64 * 63
    assert terms.count == MAX_TERMS
    with pytest.raises(NotConstant):
        evaluate(ir.Aggregate(of="sum", index="j", bound=1.0, body=1.0), "$", terms)


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("promt", ("prompt", "present"), "prompt"),
        ("qeuue", ("queue", "work"), "queue"),
        ("x", ("y", "long_name"), None),
        ("kv2", ("kv", "reqs"), "kv"),
        ("zzz", ("prompt",), None),
    ],
)
def test_near_names(word: str, known: tuple[str, ...], near: str | None) -> None:
    assert nearest(word, known) == near


@given(st.text("ab", max_size=5), st.text("ab", max_size=5))
def test_the_distance_is_one(left: str, right: str) -> None:
    """Symmetric, zero for equal words alone, never more than the longer word."""
    d = distance(left, right, 10)
    assert d == distance(right, left, 10)
    assert (d == 0) == (left == right)
    assert d <= max(len(left), len(right))
