"""The way in: libraries, bodies set from outside, findings, and where an expanded node says it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.diagnostics import ProgramError, SourceFile, Span
from serq.expand import NotKernel, assert_kernel, expand, load_beside
from serq.expand.tree import walk
from serq.syntax import nodes, parse, parse_expression
from serq.syntax.printer import print_program

PLAIN = "stage z : delay; workload { arrive batch(1); } session { run z (f(2)); end; } run { horizon 2; }"


def tree(text: str, name: str = "t.sq") -> nodes.Program:
    return parse(SourceFile(name, text))


def findings(program: nodes.Program, **options) -> list[str]:
    with pytest.raises(ProgramError) as caught:
        expand(program, **options)
    return [diagnostic.name for diagnostic in caught.value.diagnostics]


def expression(text: str) -> nodes.Expression:
    return parse_expression(SourceFile("--def", text))


def runs(program: nodes.Program) -> list[str]:
    """Give the lines of the kernel that run something."""
    return [line.strip() for line in print_program(program).splitlines() if "run " in line and ";" in line]


# ------------------------------------------------------------------------------------------------ libraries


def test_a_library_is_read_beside_the_program(tmp_path: Path) -> None:
    """A path is relative to the file that holds it, not to the working directory."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "lib.sq").write_text('use "inner.sq"; def f(x) = g(x) + 1;')
    (tmp_path / "parts" / "inner.sq").write_text("def g(x) = 10 * x;")
    program = tree(f'use "parts/lib.sq"; {PLAIN}', str(tmp_path / "main.sq"))
    assert "run z (10 * 2 + 1);" in print_program(expand(program, loader=load_beside))


def test_a_program_given_as_text_has_the_shipped_libraries() -> None:
    """`serq/NAME.sq` needs no file of the user's; a path does."""
    kernel = expand(tree(f'use "serq/vllm.sq"; {PLAIN.replace("f(2)", "2")}', "<text>"))
    assert [line for line in runs(kernel) if line.startswith("session")] or "run z (2);" in print_program(kernel)
    assert findings(tree(f'use "lib.sq"; {PLAIN}', "<text>")) == ["use-not-readable"]


def test_a_shipped_library_defines_vllms_request() -> None:
    """The library of §2: its definition is in sight of the program below the `use`."""
    text = 'use "serq/vllm.sq"; workload { arrive batch(1); } session { vllm_request(1, 2, 3, 4, 5, 6, 7, 8, 9); end; }'
    assert "unknown-definition" not in findings(tree(text, "<text>"))


def test_a_library_is_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are a finding at the `use`, not a crash."""
    (tmp_path / "lib.sq").write_bytes(b"def f(x) = x; // gr\xf6sser")
    program = tree(f'use "lib.sq"; {PLAIN}', str(tmp_path / "main.sq"))
    assert findings(program, loader=load_beside) == ["use-not-readable"]


def test_a_folder_is_no_library(tmp_path: Path) -> None:
    """What the system says is passed on."""
    (tmp_path / "lib.sq").mkdir()
    program = tree(f'use "lib.sq"; {PLAIN}', str(tmp_path / "main.sq"))
    assert findings(program, loader=load_beside) == ["use-not-readable"]


def test_a_program_that_uses_itself(tmp_path: Path) -> None:
    """The program is the first of the files that are open."""
    (tmp_path / "main.sq").write_text("def f(x) = x;")
    program = tree(f'use "main.sq"; {PLAIN}', str(tmp_path / "main.sq"))
    assert findings(program, loader=load_beside) == ["use-cycle"]


# ------------------------------------------------------------------------------------- bodies from outside


def test_a_body_from_outside_takes_the_place_of_the_definitions_own() -> None:
    """`--def f=3*x`: the parameters keep their names."""
    program = tree(f"def f(x) = x; {PLAIN}")
    assert "run z (3 * 2);" in print_program(expand(program, definitions={"f": expression("3 * x")}))


def test_a_body_from_outside_needs_a_definition() -> None:
    """A misspelt name is an error, and so is a definition of statements."""
    program = tree(f"def f(x) = x; def s(x) {{ run z (x); }} {PLAIN}")
    assert findings(program, definitions={"ff": expression("1")}) == ["unknown-override"]
    assert findings(program, definitions={"s": expression("1")}) == ["unknown-override"]


# ------------------------------------------------------------------------------------------------- findings


def test_every_pass_reports() -> None:
    """Mistakes of different passes are found in one go."""
    text = """
        def f(x) = x;
        workload { arrive batch(1); }
        pool kv { cap 2; }
        session {
          set a = f(1, 2);
          prefill 3;
          hold kv (n) at admission (n = ~exp(1)) { }
          X.prefill(1);
        }
    """
    assert set(findings(tree(text))) == {"definition-arity", "no-stage-for-role", "binding-draws", "unknown-entry"}


def test_a_mistake_in_an_entry_is_one_finding() -> None:
    """However often the entry is called."""
    text = """
        queue P : prefill { serve fifo; prefill (n) { run (n + secret); } }
        workload { arrive batch(1); }
        session { P.prefill(1); P.prefill(2); P.prefill(3); end; }
    """
    assert findings(tree(text)) == ["entry-reads"]


def test_too_many_mistakes_end_the_collecting() -> None:
    """Sixty are as good as fifty, and no crash."""
    calls = "".join(f"g{n}(1);" for n in range(60))
    assert len(findings(tree(f"workload {{ arrive batch(1); }} session {{ {calls} }}"))) == 50


def test_a_surface_node_is_not_kernel() -> None:
    """The check on ourselves names the form."""
    with pytest.raises(NotKernel, match="Serving survived"):
        assert_kernel(tree("session { prefill 2; }"))


# -------------------------------------------------------------------------------------------------- origins


def chain(span: Span) -> list[tuple[str, str]]:
    """Give the forms a span came through, the innermost first, each with the text that was expanded."""
    forms = []
    while span.origin is not None:
        forms.append((span.origin.form, span.origin.span.text))
        span = span.origin.span
    return forms


def test_a_name_in_a_transfer_tells_its_way() -> None:
    """The note of style §6: the entry and its call, and what `transfer` means there."""
    text = """
        queue P : prefill { pool kv { cap 9; } serve fifo; nic ps(1);
          prefill (n) { hold kv (n) { run (n); } lease kv (inf); } }
        queue D : decode { pool kv { cap 9; } serve delay; nic ps(1);
          decode (n) { run (n); }
          decode (n) from src { hold kv (n) { transfer (tokens) from src to kv (n); } } }
        D pull P share maxmin;
        workload { arrive batch(1); }
        session { P.prefill(1); D.decode(1) from P; end; }
    """
    kernel = expand(tree(text))
    name = next(node for node in walk(kernel) if isinstance(node, nodes.Name) and node.name == "tokens")
    assert name.span.text == "(tokens)"
    assert chain(name.span) == [
        (
            "`transfer` here means: run P.nic, D.nic (…); load kv (…); release src;",
            "transfer (tokens) from src to kv (n)",
        ),
        ("in the entry `decode` of queue `D`", "D.decode(1) from P"),
    ]


def test_an_argument_stands_where_the_caller_wrote_it() -> None:
    """A mistake in an argument is the call's, not the definition's."""
    kernel = expand(tree("def f(x) = x + 1; session { set y = f(promt); }"))
    name = next(node for node in walk(kernel) if isinstance(node, nodes.Name) and node.name == "promt")
    assert (name.span.text, chain(name.span)) == ("promt", [])


def test_a_body_tells_the_calls_around_it() -> None:
    """Definitions in definitions, in a server: from the inside out."""
    text = """
        stage z : delay;
        def inner(x) = x + k;
        def outer(x) { run z (inner(x)); }
        workload { arrive batch(1); session { request; end; } }
        server { outer(1); }
    """
    name = next(node for node in walk(expand(tree(text))) if isinstance(node, nodes.Name) and node.name == "k")
    assert chain(name.span) == [
        ("in the definition `inner`", "inner(x)"),
        ("in the definition `outer`", "outer(1)"),
        ("in the `server`, for the `request`", "request"),
    ]


# --------------------------------------------------------------------------------------------------- limits


def doubling(steps: int) -> str:
    """Give definitions each of which uses the one before it twice, and a session that uses the last."""
    chain = "".join(f"def f{n}(x) = f{n - 1}(x) + f{n - 1}(x);" for n in range(1, steps))
    return f"def f0(x) = x + 1; {chain} workload {{ arrive batch(1); }} session {{ set y = f{steps - 1}(1); end; }}"


@pytest.mark.parametrize(
    "text",
    [
        doubling(16),
        "def f0(x) = x + 1;"
        + "".join(f"def f{n}(x) = f{n - 1}(f{n - 1}(x));" for n in range(1, 40))
        + "session { set y = f39(1); }",
        "def s0() { end; }"
        + "".join(f"def s{n}() {{ loop {{ s{n - 1}(); }} }}" for n in range(1, 400))
        + "session { s399(); }",
        "queue Q0 : prefill { serve fifo; prefill (n) { run (n); } }"
        + "".join(f"queue Q{n} : prefill {{ prefill (n) {{ Q{n - 1}.prefill(n); }} }}" for n in range(1, 400))
        + "session { Q399.prefill(1); }",
        "queue Q0 : prefill { serve fifo; prefill (n) { run (n); } }"
        + "".join(
            f"queue Q{n} : prefill {{ prefill (n) {{ Q{n - 1}.prefill(n); Q{n - 1}.prefill(n); }} }}"
            for n in range(1, 40)
        )
        + "session { Q39.prefill(1); }",
        "pool k { } session { hold k (b39) at admission (b0 = 1, "
        + ", ".join(f"b{n} = b{n - 1} + b{n - 1}" for n in range(1, 40))
        + ") { } }",
        "workload { session { " + "request; " * 1000 + "} } server { " + "set a = 1; " * 100 + "}",
    ],
    ids=["wide", "deep", "nested bodies", "nested entries", "doubling entries", "bindings", "requests"],
)
def test_what_grows_past_every_limit_is_refused(text: str) -> None:
    """Forms that double fill no memory, and the mistake is one finding."""
    assert findings(tree(text)) == ["expansion-too-large"]


def test_what_stays_within_the_limits_is_not() -> None:
    """Twelve doublings are four thousand copies."""
    assert len(print_program(expand(tree(doubling(12))))) > 4000
