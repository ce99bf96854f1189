"""The parser: what trees it makes, how it takes words, where spans lie."""

import re
from pathlib import Path

import pytest

from serq.diagnostics import ProgramError, SourceFile
from serq.syntax import nodes as n
from serq.syntax import parse, parse_expression
from serq.syntax.cursor import NESTING_LIMIT
from serq.syntax.expressions import DEPTH_LIMIT
from serq.syntax.tokens import WORDS
from unit.syntax.strategies import HERE

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def program(text: str) -> n.Program:
    return parse(SourceFile("<test>", text))


def item(text: str) -> n.Item:
    (only,) = program(text).items
    return only


def statement(text: str) -> n.Statement:
    session = item(f"session {{ {text} }}")
    assert isinstance(session, n.Session)
    (only,) = session.body
    return only


def expression(text: str) -> n.Expression:
    return parse_expression(SourceFile("<test>", text))


def number(value: float) -> n.Number:
    return n.Number(HERE, value)


def name(text: str) -> n.Name:
    return n.Name(HERE, text)


def ref(text: str, index: n.Expression | None = None) -> n.Reference:
    return n.Reference(HERE, text, index)


def value_of(tree: n.Expression) -> float:
    """Work an expression of numbers out, with a plain evaluator of its own."""
    match tree:
        case n.Number(value=value):
            return value
        case n.Unary(operator="-", operand=operand):
            return -value_of(operand)
        case n.Unary(operand=operand):
            return float(not value_of(operand))
        case n.Binary(operator="^", left=left, right=right):
            return value_of(left) ** value_of(right)
        case n.Binary(operator="&&", left=left, right=right):
            return float(bool(value_of(left)) and bool(value_of(right)))
        case n.Binary(operator="||", left=left, right=right):
            return float(bool(value_of(left)) or bool(value_of(right)))
        case n.Binary(operator=operator, left=left, right=right):
            return float(eval(f"a {operator} b", {"a": value_of(left), "b": value_of(right)}))
        case n.Conditional(test=test, then=then, otherwise=otherwise):
            return value_of(then) if value_of(test) else value_of(otherwise)
    raise AssertionError(tree)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("10 - 2 - 3", 5),
        ("16 / 4 / 2", 2),
        ("-2 ^ 2", -4),
        ("2 ^ -1", 0.5),
        ("2 ^ 3 ^ 2", 512),
        ("-2 ^ -2 * 4", -1),
        ("!0 + 1", 2),
        ("--3", 3),
        ("1 < 2 == 0 || 1", 1),
        ("1 || 0 && 0", 1),
        ("0 == 1 && 1 == 1", 0),
        ("1 + 1 == 2 && 3 > 2", 1),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("1 ? 0 ? 1 : 2 : 3", 2),
        ("1 || 0 ? 5 : 6", 5),
        ("(1 + 2) * 3", 9),
    ],
)
def test_precedence(text: str, value: float) -> None:
    """Operators bind as notes §1 says; comparisons do not chain, so one case is an error instead."""
    if text == "1 < 2 == 0 || 1":
        with pytest.raises(ProgramError) as failed:
            expression(text)
        assert [d.name for d in failed.value.diagnostics] == ["chained-comparison"]
    else:
        assert value_of(expression(text)) == value


def test_aggregates_and_functions_of_one_name() -> None:
    """`max j in n (…)` runs over an index; `max(a, b)` is a call; `max` is a name."""
    call = n.Call(HERE, "max", (name("a"), name("max")))
    assert expression("max(a, max)") == call
    assert expression("max j in n (j)") == n.Aggregate(HERE, "max", "j", name("n"), name("j"))
    assert expression("max in in in (in)") == n.Aggregate(HERE, "max", "in", name("in"), name("in"))
    assert expression("sum j in (n + 1) (2)") == n.Aggregate(
        HERE, "sum", "j", n.Binary(HERE, "+", name("n"), number(1)), number(2)
    )


def test_a_member_has_one_tree_however_it_is_written() -> None:
    """`P[j].kv` and `P.kv[j]` are one member."""
    assert expression("used(P[j].kv)") == expression("used(P.kv[j])")
    assert expression("used(P[j].kv)") == n.Call(HERE, "used", (n.Indexed(HERE, "P.kv", name("j")),))
    assert statement("drop P[j].kv;") == n.Drop(HERE, ref("P.kv", name("j")))


@pytest.mark.parametrize("word", sorted(WORDS))
def test_no_word_is_reserved(word: str) -> None:
    """Every word of the language names an attribute, a constant, a pool, a stage and a gauge."""
    text = f"""
    let {word} = 1;
    gauge {word} = {word} + 1;
    pool {word} {{ cap {word}; }}
    stage {word}[{word}] : fifo ({word});
    session {{ set {word} = {word}; run {word} ({word}); hold {word} ({word}) {{ }} observe {word} = -{word}; }}
    """
    assert len(program(text).items) == 5


def test_runs_and_modes() -> None:
    """A mode follows a stage; a word where the stage stands is the stage."""
    assert statement("run E prefill (3);") == n.Run(HERE, (ref("E"),), "prefill", number(3), None)
    assert statement("run prefill (3);") == n.Run(HERE, (ref("prefill"),), None, number(3), None)
    assert statement("run prefill decode (3);") == n.Run(HERE, (ref("prefill"),), "decode", number(3), None)
    assert statement("run (3);") == n.Run(HERE, (), None, number(3), None)
    assert statement("run a, b[0] (3);") == n.Run(HERE, (ref("a"), ref("b", number(0))), None, number(3), None)
    assert statement("run E decode (3) growing kv;") == n.Run(HERE, (ref("E"),), "decode", number(3), ref("kv"))


def test_serving_forms() -> None:
    """The work needs no brackets, and brackets do not end it."""
    tree = n.Binary(HERE, "+", name("a"), number(1))
    assert statement("prefill (a) + 1;") == n.Serving(HERE, "prefill", None, (), tree, None)
    assert statement("decode[j] a + 1;") == n.Serving(HERE, "decode", name("j"), (), tree, None)
    assert statement("tool on P[j] (a + 1);") == n.Serving(HERE, "tool", None, (ref("P", name("j")),), tree, None)
    assert statement("decode a + 1 growing kv;") == n.Serving(HERE, "decode", None, (), tree, ref("kv"))
    assert statement("decode on;") == n.Serving(HERE, "decode", None, (), name("on"), None)


def test_transfers() -> None:
    """With and without a place; a missing `from` or `to` is left to the expansion."""
    whole = statement("transfer on a[i], b (w) from P[i] to kv (n);")
    assert whole == n.Transfer(
        HERE, None, (ref("a", name("i")), ref("b")), name("w"), ref("P", name("i")), ref("kv"), name("n")
    )
    assert statement("transfer 3;") == n.Transfer(HERE, None, (), number(3), None, None, None)


def test_entry_calls() -> None:
    """A name and a dot begin a call, whatever the name is; an index may stand between."""
    call = statement("D[j].decode (p) from P[i];")
    assert call == n.EntryCall(HERE, ref("D", name("j")), "decode", (name("p"),), ref("P", name("i")), None, None)
    assert statement("nic[self].transfer (n) from src to kv (m);") == n.EntryCall(
        HERE, ref("nic", name("self")), "transfer", (name("n"),), ref("src"), ref("kv"), name("m")
    )
    prefill = statement("prefill[0].prefill (1);")
    assert prefill == n.EntryCall(HERE, ref("prefill", number(0)), "prefill", (number(1),), None, None, None)
    assert statement("prefill[0] (1);") == n.Serving(HERE, "prefill", number(0), (), number(1), None)


def test_a_hold_with_every_clause() -> None:
    """Clauses in their order; the last `;` may be left out."""
    text = (
        "hold reqs (1), kv[j] (u) reserve (r) reuse (v) at admission (h = 1, k = h) "
        "{ turn; } cache (c) lease kv[j] (inf)"
    )
    kv = ref("kv", name("j"))
    tree = n.Hold(
        HERE,
        (n.Claim(HERE, ref("reqs"), number(1), None), n.Claim(HERE, kv, name("u"), name("r"))),
        name("v"),
        (n.Binding(HERE, "h", number(1)), n.Binding(HERE, "k", name("h"))),
        (n.Turn(HERE),),
        name("c"),
        n.Lease(HERE, kv, name("inf")),
    )
    assert statement(text) == tree
    assert statement(text + ";") == tree


def test_pool_options() -> None:
    """Each option has its slot; the three of this project are there."""
    pool = item(
        "pool kv[2] { cap 9; block 3; evict lru; preempt by (a, b) then continue; queue fifo; admit via E; "
        "spill t via l (size) when (1); unfit wait; }"
    )
    assert pool == n.Pool(
        HERE, "kv", number(2), number(9), number(3), (), (name("a"), name("b")), "continue", (), ref("E"),
        n.Spill(HERE, ref("t"), ref("l"), name("size"), number(1)), "wait", HERE,
    )  # fmt: skip
    bare = item("pool m { }")
    assert bare == n.Pool(HERE, "m", None, None, None, None, None, None, None, None, None, None, HERE)


@pytest.mark.parametrize(
    ("clause", "serve"),
    [
        ("", None),
        ("serve admission;", "admission"),
        ("serve decode first;", "decode first"),
        ("serve exclusive prefill;", "exclusive prefill"),
        ("serve by (remaining, 1);", (n.Name(HERE, "remaining"), n.Number(HERE, 1.0))),
    ],
)
@pytest.mark.parametrize("end", ["", ";"])
def test_step_engines(clause: str, serve: object, end: str) -> None:
    """All serving orders; the `;` behind the braces may be left out."""
    stage = item(f"stage E : step {{ budget 4; cost 1; chunk 2; {clause} memory kv; }}{end}")
    kind = n.Step(HERE, number(4), number(1), number(2), serve, ref("kv"))
    assert stage == n.Stage(HERE, "E", None, kind, HERE)


def test_a_queue() -> None:
    """Pools, stage, NIC and entries; roles are names."""
    text = """
    queue D[ND] : decode, prefill {
      pool kv { cap 8; }
      serve step { budget 4; cost 1; }
      nic ps (2);
      decode (prompt) { run (1); }
      decode (prompt) from src { mark first; }
      prefill { }
    }"""
    queue = item(text)
    assert isinstance(queue, n.Queue)
    assert (queue.name, queue.size, [role.name for role in queue.roles]) == ("D", name("ND"), ["decode", "prefill"])
    assert queue.serve == n.Serve(HERE, n.Step(HERE, number(4), number(1), None, None, None), None)
    assert queue.nic == n.ProcessorSharing(HERE, number(2))
    prompt = (n.Parameter(HERE, "prompt"),)
    assert queue.entries == (
        n.Entry(HERE, "decode", prompt, None, (n.Run(HERE, (), None, number(1), None),)),
        n.Entry(HERE, "decode", prompt, n.Parameter(HERE, "src"), (n.Mark(HERE, "first"),)),
        n.Entry(HERE, "prefill", (), None, ()),
    )


def test_pull_relations() -> None:
    """The reader comes first; what is missing is left to the expansion."""
    assert item("D pull P latency x0 share maxmin;") == n.Pull(HERE, ref("D"), ref("P"), name("x0"), "maxmin")
    assert item("pool pull P;") == n.Pull(HERE, ref("pool"), ref("P"), None, None)
    assert isinstance(item("pool pull { }"), n.Pool)


def test_workload_items() -> None:
    """Hidden names gather; an empty session is not a missing one."""
    workload = item(
        'workload { arrive renewal (~exp(2)); trace "a b.csv" ordered; hidden o; '
        "hidden p, q; init { set x = 1; } session { } }"
    )
    assert workload == n.Workload(
        HERE,
        n.Arrive(HERE, "renewal", n.Draw(HERE, "exp", (number(2),))),
        n.Trace(HERE, "a b.csv", True),
        (n.SetStatement(HERE, "x", number(1), HERE),),
        (),
        (),
        (name("o"), name("p"), name("q")),
    )
    assert item("workload { arrive none; }") == n.Workload(HERE, n.Arrive(HERE, "none", None), None, (), (), None, ())


def test_kernel_names_with_dots() -> None:
    """Text that an expansion printed parses: dots in the names of declarations and assignments."""
    text = "pool P.kv[2] { } stage D.nic.latency : delay; let a.b = 1; "
    text += "session { set D.tok = now; choose a.j in 2 by (1); }"
    kinds = [type(part).__name__ for part in program(text).items]
    assert kinds == ["Pool", "Stage", "Let", "Session"]


def test_spans_point_at_the_text() -> None:
    """A node's span is its text; brackets belong to what they enclose, the `;` to nothing."""
    text = "session { set x = (a + 1) * b; hold kv[j] (2) { end; } cache (3); }"
    session = item(text)
    assert isinstance(session, n.Session)
    first, hold = session.body
    assert isinstance(first, n.SetStatement) and isinstance(first.value, n.Binary) and isinstance(hold, n.Hold)
    assert first.span.text == "set x = (a + 1) * b"
    assert first.name_span.text == "x"
    assert first.value.span.text == "(a + 1) * b"
    assert first.value.left.span.text == "(a + 1)"
    assert hold.span.text == "hold kv[j] (2) { end; } cache (3)"
    assert hold.claims[0].span.text == "kv[j] (2)"
    assert hold.claims[0].pool.span.text == "kv[j]"
    assert session.span.text == text


def test_depth_up_to_the_limits() -> None:
    """At the limits a text parses, one beyond it is refused by name, far beyond it nothing breaks."""
    assert expression("(" * NESTING_LIMIT + "1" + ")" * NESTING_LIMIT) == number(1)
    expression(" + ".join(["1"] * DEPTH_LIMIT))
    program("session { " + "loop { " * (NESTING_LIMIT - 1) + "}" * NESTING_LIMIT)
    beyond = [
        "(" * (NESTING_LIMIT + 1) + "1" + ")" * (NESTING_LIMIT + 1),
        "f(" * 5000 + "1" + ")" * 5000,
        "(" * 100_000,
        "a[" * 5000 + "1" + "]" * 5000,
        "max j in (" * 5000,
        "1 ? " * 5000 + "1",
        " + ".join(["1"] * (DEPTH_LIMIT + 1)),
        " + ".join(["1"] * 10_000),
        "^".join(["2"] * 10_000),
        "-" * 10_000 + "1",
        "1 ? 2 : " * 10_000 + "3",
    ]
    for text in beyond:
        with pytest.raises(ProgramError) as failed:
            expression(text)
        assert [d.name for d in failed.value.diagnostics] == ["nesting-too-deep"]
    for opening in ("loop { ", "branch (1) { ", "hold kv (1) { ", "if (1) { ", "{ "):
        with pytest.raises(ProgramError):
            program("session { " + opening * 5000)


def test_an_expression_is_the_whole_text() -> None:
    """For `--set x=e`: what follows the expression is an error at its place."""
    with pytest.raises(ProgramError) as failed:
        expression("1 + 2 3")
    (only,) = failed.value.diagnostics
    assert only.name == "unexpected-token"
    assert only.primary is not None and only.primary.place.text == "3"
    with pytest.raises(ProgramError):
        expression("")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.sq")), ids=lambda path: path.name)
def test_white_space_only_separates(path: Path) -> None:
    """No column and no line means anything: all at the margin, and word by word on lines of their own, is one tree."""
    text = path.read_text(encoding="utf-8")
    tree = parse(SourceFile("as written", text))
    margin = "\n".join(line.lstrip() for line in text.split("\n"))
    assert parse(SourceFile("at the margin", margin)) == tree
    bare = re.sub(r"//[^\n]*", "", text)
    parts = [[part] if '"' in part else part.split() for part in re.split(r'("[^"]*")', bare)]
    words = "\n".join(word for part in parts for word in part)
    assert parse(SourceFile("word by word", words)) == tree
