"""The printer against the parser: what is printed reads back as the same tree."""

import pytest
from hypothesis import given, settings

from serq.diagnostics import SourceFile
from serq.syntax import nodes, parse, parse_expression
from serq.syntax.printer import print_expression, print_program
from unit.syntax import strategies


def read(text: str) -> nodes.Program:
    return parse(SourceFile("<test>", text))


@settings(max_examples=400, deadline=None)
@given(strategies.expressions)
def test_a_printed_expression_reads_back(tree: nodes.Expression) -> None:
    """parse ∘ print is the identity on expressions."""
    assert parse_expression(SourceFile("<test>", print_expression(tree))) == tree


@settings(max_examples=150, deadline=None)
@given(strategies.programs)
def test_a_printed_program_reads_back(tree: nodes.Program) -> None:
    """parse ∘ print is the identity on programs."""
    assert read(print_program(tree)) == tree


@settings(max_examples=60, deadline=None)
@given(strategies.programs)
def test_printing_is_canonical(tree: nodes.Program) -> None:
    """Printing what was read changes nothing more."""
    text = print_program(tree)
    assert print_program(read(text)) == text


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("(a + b) + c", "a + b + c"),
        ("a + (b + c)", "a + (b + c)"),
        ("(a * b) + (c ^ d)", "a * b + c ^ d"),
        ("(2 ^ 3) ^ 2", "(2 ^ 3) ^ 2"),
        ("2 ^ (3 ^ 2)", "2 ^ 3 ^ 2"),
        ("2 ^ (-3)", "2 ^ -3"),
        ("(-2) ^ 2", "(-2) ^ 2"),
        ("-(2 ^ 2)", "-2 ^ 2"),
        ("(~exp(1)) ^ 2", "(~exp(1)) ^ 2"),
        ("(a < b) < c", "(a < b) < c"),
        ("a ? b : (c ? d : e)", "a ? b : c ? d : e"),
        ("(a ? b : c) ? d : e", "(a ? b : c) ? d : e"),
        ("!(a && b)", "!(a && b)"),
        ("1_000.50e0", "1000.5"),
        ("1e-5 + 2.5e+16", "1e-5 + 2.5e16"),
        ("max j in (n) (x)", "max j in n (x)"),
        ("max j in (n + 1) (x)", "max j in (n + 1) (x)"),
        ("P[j].kv", "P.kv[j]"),
    ],
)
def test_brackets_are_the_needed_ones(written: str, canonical: str) -> None:
    """Brackets that say what precedence says anyway are left out, the others stay."""
    assert print_expression(parse_expression(SourceFile("<test>", written))) == canonical


def test_numbers_that_no_text_has_are_printed_by_value() -> None:
    """An expansion may fold to a negative or infinite number; its text has the same value."""
    number = nodes.Number(strategies.HERE, -2.0)
    power = nodes.Binary(strategies.HERE, "^", number, number)
    assert print_expression(power) == "(-2) ^ -2"
    assert print_expression(nodes.Number(strategies.HERE, float("inf"))) == "inf"
    assert print_expression(nodes.Number(strategies.HERE, float("nan"))) == "(0 / 0)"


def test_the_layout_of_a_program() -> None:
    """Short braces stay on a line, long ones go a form a line, with blank lines around long items."""
    text = """\
let N = 2;
pool reqs { cap 16; admit via engine; }
pool kv[N] { cap 160; block 16; evict by (size, last); preempt lifo; queue fifo; unfit wait; }

workload {
  arrive poisson (0.5);
  hidden o;
  turn { set o = ~exp(200) + 1; }
}

session {
  turn;
  hold reqs (1), kv[0] (known) reserve (known) at admission (hit = cachedin(kv[0])) {
    prefill (known - cached) growing kv[0];
    branch (o > 1) { decode (o - 1) growing kv[0]; }
  } cache (known + o) lease kv[0] (30);
  branch with (0.5) { run tool (3); } else { end; }
}

run { horizon 100; warmup 10; seed 1; }
"""
    assert print_program(read(text)) == text


def test_a_call_of_what_is_named_else_is_no_side_of_the_branch_before_it() -> None:
    """No word is reserved: `else` may be a definition or a queue."""
    text = "session {\n  branch (a) { end; } else { }\n  else(1);\n  branch (b) { }\n  end;\n}\n"
    tree = read(text)
    assert print_program(tree) == text
    assert read(print_program(tree)) == tree
