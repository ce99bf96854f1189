"""Walking and substituting, against an evaluator: what goes in keeps its meaning, whatever is bound around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.diagnostics import SourceFile, Span
from serq.expand.tree import NotAReference, draws, free_names, substitute, walk
from serq.syntax import nodes, parse_expression

NOWHERE = Span(SourceFile("<test>", ""), 0, 0)
NAMES = ("a", "b", "j", "j_2", "k")


def expression(text: str) -> nodes.Expression:
    return parse_expression(SourceFile("<test>", text))


def evaluate(tree: nodes.Expression, values: dict[str, float]) -> float:
    """Evaluate, by the plainest reading of §2: names are looked up, an aggregate binds its index."""
    match tree:
        case nodes.Number():
            return tree.value
        case nodes.Name():
            return values[tree.name]
        case nodes.Binary(operator="+"):
            return evaluate(tree.left, values) + evaluate(tree.right, values)
        case nodes.Binary(operator="*"):
            return evaluate(tree.left, values) * evaluate(tree.right, values)
        case nodes.Aggregate():
            bound = range(int(evaluate(tree.bound, values)))
            terms = [evaluate(tree.body, {**values, tree.index: float(n)}) for n in bound]
            return sum(terms) if tree.kind == "sum" else max(terms)
    raise AssertionError(tree)


names = st.sampled_from(NAMES).map(lambda name: nodes.Name(NOWHERE, name))
numbers = st.integers(0, 3).map(lambda value: nodes.Number(NOWHERE, float(value)))
bounds = st.integers(1, 3).map(lambda value: nodes.Number(NOWHERE, float(value)))


def larger(inner: st.SearchStrategy[nodes.Expression]) -> st.SearchStrategy[nodes.Expression]:
    binary = st.builds(
        lambda o, left, right: nodes.Binary(NOWHERE, o, left, right), st.sampled_from("+*"), inner, inner
    )
    aggregate = st.builds(
        lambda kind, index, bound, body: nodes.Aggregate(NOWHERE, kind, index, bound, body),
        st.sampled_from(("sum", "max")),
        st.sampled_from(NAMES),
        bounds,
        inner,
    )
    return st.one_of(binary, aggregate)


expressions = st.recursive(st.one_of(names, numbers), larger, max_leaves=12)
environments = st.fixed_dictionaries({name: st.integers(0, 5).map(float) for name in NAMES})


@given(expressions, expressions, expressions, environments)
def test_substituting_is_evaluating_first(
    body: nodes.Expression, first: nodes.Expression, second: nodes.Expression, values: dict[str, float]
) -> None:
    """`f(e1, e2)` has the value of the body with its parameters bound to the values of `e1` and `e2`."""
    put_in = substitute(body, {"a": first, "b": second})
    bound = {**values, "a": evaluate(first, values), "b": evaluate(second, values)}
    assert evaluate(put_in, values) == evaluate(body, bound)


@given(expressions, expressions)
def test_free_names_are_what_a_value_depends_on(body: nodes.Expression, other: nodes.Expression) -> None:
    """A substitution for a name that is not free changes nothing."""
    free = set(free_names(body))
    for name in set(NAMES) - free:
        assert substitute(body, {name: other}) == body
    assert free <= {node.name for node in walk(body) if isinstance(node, nodes.Name)}


@pytest.mark.parametrize(
    ("text", "argument", "expected"),
    [
        ("used(p)", "kv", "used(kv)"),
        ("used(p)", "kv[i + 1]", "used(kv[i + 1])"),
        ("used(p[j])", "kv", "used(kv[j])"),
        ("used(p.kv)", "P", "used(P.kv)"),
        ("used(p.kv)", "P[i]", "used(P.kv[i])"),
        ("p.first + p", "Q", "Q.first + Q"),
        ("sum p in 2 (p) + p", "x", "sum p in 2 (p) + x"),
        ("sum j in p (j)", "x", "sum j in x (j)"),
    ],
)
def test_a_parameter_may_name_things(text: str, argument: str, expected: str) -> None:
    """A pool, a member, a family, a queue in front of a dot."""
    assert substitute(expression(text), {"p": expression(argument)}) == expression(expected)


@pytest.mark.parametrize(("text", "argument"), [("used(p[0])", "kv[1]"), ("used(p.kv)", "1 + 2"), ("used(p[0])", "3")])
def test_an_expression_names_nothing(text: str, argument: str) -> None:
    """Where a second index or a queue's name would have to be."""
    with pytest.raises(NotAReference):
        substitute(expression(text), {"p": expression(argument)})


def test_an_index_that_would_capture_is_renamed_past_the_names_in_use() -> None:
    """`j` is put in, `j_2` is read inside: the index becomes `j_3`."""
    tree = substitute(expression("sum j in 2 (a + j + j_2)"), {"a": expression("j")})
    assert tree == expression("sum j_3 in 2 (j + j_3 + j_2)")


def test_draws_are_found_at_any_depth() -> None:
    assert draws(expression("1 + max j in 2 (used(kv[~uniform(0, j)]))"))
    assert not draws(expression("exp(1)"))
