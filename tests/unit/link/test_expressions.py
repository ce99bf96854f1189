"""Expressions: folding, aggregates, members, and the table of moments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.ir import model as ir
from serq.ir.evaluate import NotConstant, Terms, evaluate
from serq.ir.vocabulary import CONTEXT_VARIABLES
from serq.link import moments
from serq.link.context import Context
from serq.link.expressions import link_expression
from serq.link.moments import Moment
from unit.link.programs import findings, linked, names, observed, program, shape

KV = "let N = 2; pool kv[N] { cap 10; block 5; } stage z : fifo; stage e : step { budget 8; cost 1; }"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7.0),
        ("serial + (1 + 2)", ["+", "serial", 3.0]),
        ("serial + 1 + 2", ["+", ["+", "serial", 1.0], 2.0]),
        ("0 && ~exp(1)", 0.0),
        ("1 || serial", 1.0),
        ("1 && serial", ["&&", 1.0, "serial"]),
        ("~exp(1) && 0", ["&&", ["~exp", 1.0], 0.0]),
        ("N > 1 ? serial : ~exp(1)", "serial"),
        ("!serial", ["not", "serial"]),
        ("-now", ["negate", "now"]),
        ("0 * serial", ["*", 0.0, "serial"]),
        ("blocksize(kv[0])", 5.0),
        ("used(kv[1])", ["used", (1, 1, None)]),
        ("used(kv[N - 2])", ["used", (0, 1, None)]),
        ("used(kv[serial])", ["used", (0, 2, "serial")]),
        ("price(z, serial, 1)", ["price", (0, 1, None), "serial", 1.0]),
        ("max k in N (used(kv[k]))", ["max", ["used", (0, 1, None)], ["used", (1, 1, None)]]),
        ("sum j in 3 (j)", 3.0),
        ("sum j in 3 (serial)", ["+", ["+", "serial", "serial"], "serial"]),
        ("sum j in 2 (sum k in (j + 1) (j + k))", 3.0),
        ("min(max(serial, 1), 2 + 2)", ["min", ["max", "serial", 1.0], 4.0]),
    ],
)
def test_how_an_expression_is_linked(text: str, expected: object) -> None:
    """Folded bottom up, never across a draw; aggregates are written out from the left."""
    assert shape(observed(KV, text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("used(kv[2])", "index-out-of-range"),
        ("used(kv[-1])", "index-out-of-range"),
        ("used(kv[0.5])", "index-out-of-range"),
        ("used(kv)", "family-not-indexed"),
        ("used(z)", "unknown-pool"),
        ("queue(kv)", "unknown-stage"),
        ("used(nothing)", "unknown-pool"),
        ("used(1 + 1)", "unknown-pool"),
        ("kv", "not-a-number"),
        ("used(kv[0], 2)", "function-arity"),
        ("cube(2)", "unknown-function"),
        ("max(1)", "function-arity"),
        ("nothing", "unknown-name"),
        ("budget_left(z)", "not-a-step-stage"),
        ("sum j in serial (1)", "not-constant"),
        ("sum j in 0 (1)", "aggregate-bound"),
        ("sum now in 2 (1)", "name-taken"),
        ("sum kv in 2 (1)", "name-taken"),
        ("sum j in 65 (sum k in 64 (1))", "aggregate-too-large"),
        ("blocksize(plain)", "no-block"),
    ],
)
def test_what_an_expression_cannot_be(text: str, expected: str) -> None:
    assert names(program(KV + "pool plain { }", f"observe x = {text}; end;")) == [expected]


def test_a_family_of_one_is_named_with_an_index_or_without() -> None:
    for text in ("used(one)", "used(one[0])", "used(lone[0])", "used(lone)"):
        assert observed("pool one[1] { } pool lone { }", text).reference.count == 1


def test_the_terms_of_a_whole_program_count_together() -> None:
    text = program("", "observe x = sum j in 4000 (j); observe y = sum j in 97 (j); end;")
    assert names(text) == ["aggregate-too-large"]


def test_a_family_shares_the_terms_of_its_expressions() -> None:
    """A cost is written out once for the family, not once for every member."""
    stages = linked(program("stage e[9] : step { budget 4; cost sum j in 1000 (tokens); }")).stages
    assert len(stages) == 9
    assert all(stage.cost is stages[0].cost for stage in stages)


def test_an_unknown_name_is_placed_and_helped() -> None:
    (found,) = findings(program("", "set prompt = 3; observe x = promt + 1; end;"))
    assert found.primary is not None
    assert (found.primary.place.text, found.helps) == ("promt", ("did you mean `prompt`?",))


# One position for every moment: a program with a hole, and the context variables that exist there (notes §2).
TOTALS = {"residents", "decoders", "kv_decode", "kv_prefill"}
STEP = "stage s : step {{ budget {}; cost {}; chunk {}; serve by ({}); }}"
POSITIONS = {
    "session": (program("stage z : fifo; pool m { }", "set a = 1; observe x = #; end;"), {"now"}),
    "cache": (program("pool m { }", "set a = 1; hold m (1) { } cache (#) end;"), {"now"}),
    "work": (program("stage z : fifo; pool m { }", "set a = 1; run z (#); end;"), {"now"}),
    "units": (program("pool m { }", "set a = 1; hold m (#) { } end;"), {"now"}),
    "reserve": (program("pool m { }", "set a = 1; hold m (1) reserve (#) { } end;"), {"now"}),
    "reuse": (program("pool m { }", "set a = 1; hold m (1) reuse (#) { } cache (1) end;"), {"now"}),
    "queue": (program("pool m { queue by (#); }", "set a = 1; end;"), {"now", "waited"}),
    "evict": (program("pool m { evict by (#); }", "set a = 1; end;"), {"now", "size", "age", "last", "waiting"}),
    "spill work": (
        program("stage z : fifo; pool f { } pool m { spill f via z (#) when (1); }", "set a = 1; end;"),
        {"now", "size", "age", "last", "waiting"},
    ),
    "spill when": (
        program("stage z : fifo; pool f { } pool m { spill f via z (1) when (#); }", "set a = 1; end;"),
        {"now", "size", "age", "last", "waiting"},
    ),
    "preempt": (program("pool m { preempt by (#); }", "set a = 1; end;"), {"now"}),
    "ps": (program("pool m { } stage s : ps(#);", "set a = 1; end;"), {"now", "present"}),
    "budget": (program("pool m { } stage s : step { budget #; cost 1; }", "set a = 1; end;"), {"now", *TOTALS}),
    "chunk": (program("pool m { } stage s : step { budget 1; cost 1; chunk #; }", "set a = 1; end;"), {"now", *TOTALS}),
    "cost": (
        program("pool m { } stage s : step { budget 1; cost #; }", "set a = 1; end;"),
        {"now", "tokens", "prefilled", "attention", *TOTALS},
    ),
    "serve": (
        program("pool m { } stage s : step { budget 1; cost 1; serve by (#); }", "set a = 1; end;"),
        {"now", "decoding", "admission", "remaining", *TOTALS},
    ),
    "gauge": (program("pool m { } gauge g = #;", "set a = 1; end;"), set()),
    "gap": (program("pool m { }", "set a = 1; end;", "arrive renewal(1 + #);"), set()),
}
SESSION_SIDE = {"session", "cache", "work"}
SEES_A_SESSION = SESSION_SIDE | {
    "units",
    "reserve",
    "reuse",
    "queue",
    "evict",
    "spill work",
    "spill when",
    "preempt",
    "serve",
}


def accepted(text: str) -> bool:
    try:
        linked(text)
    except Exception as problem:
        assert hasattr(problem, "diagnostics"), problem
        return False
    return True


@pytest.mark.parametrize("position", POSITIONS)
def test_a_context_variable_exists_at_its_moments_alone(position: str) -> None:
    """The table of notes §2, every variable at every position."""
    text, existing = POSITIONS[position]
    assert {name for name in CONTEXT_VARIABLES if accepted(text.replace("#", name))} == existing


@pytest.mark.parametrize("position", POSITIONS)
def test_who_may_read_what(position: str) -> None:
    """Attributes need a session, hidden ones the session's side, draws a position that is read once."""
    text, _ = POSITIONS[position]
    hidden = text.replace("workload {", "workload { hidden a;")
    assert accepted(text.replace("#", "a")) == (position in SEES_A_SESSION)
    assert accepted(hidden.replace("#", "a")) == (position in SESSION_SIDE)
    assert accepted(text.replace("#", "cachedin(m)")) == (position in SEES_A_SESSION)
    assert accepted(text.replace("#", "used(m)")) == (position != "gap")
    assert accepted(text.replace("#", "~exp(1)")) == (position not in {"queue", "preempt", "serve", "gauge"})


@pytest.mark.parametrize("position", ["budget", "chunk", "serve", "gauge"])
def test_budget_left_is_not_read_where_it_would_define_itself(position: str) -> None:
    text, _ = POSITIONS[position]
    other = text.replace("workload {", "stage other : step { budget 4; cost 1; } workload {", 1)
    assert not accepted(other.replace("#", "budget_left(other)"))


def test_every_moment_is_in_the_table() -> None:
    """A new moment needs a position here."""
    used = {id(value) for value in vars(moments).values() if isinstance(value, Moment)}
    assert len(used) == 11


def test_a_gauge_names_its_members() -> None:
    assert names(program(KV + "gauge g = used(kv[queue(z)]);")) == ["index-not-constant"]
    assert accepted(program(KV + "gauge g = used(kv[N - 1]) + max k in N (used(kv[k]));"))


numbers = st.floats(-8, 8, allow_nan=False).map(lambda value: round(value * 4) / 4)


def larger(parts):
    operators = st.sampled_from(("+", "-", "*", "/", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"))
    return st.one_of(
        st.builds(ir.Unary, op=st.sampled_from(("-", "!")), operand=parts),
        st.builds(ir.Binary, op=operators, left=parts, right=parts),
        st.builds(ir.Conditional, test=parts, then=parts, otherwise=parts),
        st.builds(ir.Call, function=st.sampled_from(("min", "max", "pow")), args=st.tuples(parts, parts)),
        st.builds(
            ir.Call, function=st.sampled_from(("abs", "floor", "ceil", "sqrt", "exp", "ln")), args=st.tuples(parts)
        ),
    )


@given(st.recursive(st.one_of(numbers, st.just("inf")), larger, max_leaves=12))
def test_a_constant_folds_to_its_value(expression: ir.Expression) -> None:
    """Folding while linking and evaluating a constant agree to the last bit."""
    minimal = ir.Program(version=1, workload=ir.Workload(), session=(), run=ir.RunBlock(horizon=1.0))
    result = link_expression(Context(minimal, lambda path: None), expression, "$", moments.SESSION)
    assert result.op == "const"
    assert repr(result.number) == repr(evaluate(expression, "$", Terms()))


@given(st.recursive(st.one_of(numbers, st.just("serial")), larger, max_leaves=12))
def test_what_folds_is_what_has_a_value(expression: ir.Expression) -> None:
    minimal = ir.Program(version=1, workload=ir.Workload(), session=(), run=ir.RunBlock(horizon=1.0))
    context = Context(minimal, lambda path: None)
    context.slots = {"serial": 0}
    result = link_expression(context, expression, "$", moments.SESSION)
    try:
        value = evaluate(expression, "$", Terms())
    except NotConstant:
        assert result.op != "const" or not context.findings.items
    else:
        assert result.op == "const" and repr(result.number) == repr(value)
