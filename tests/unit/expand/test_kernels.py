"""Sugar against kernels written by hand from the language reference: the same tree, whatever the spans."""

from __future__ import annotations

import pytest

from serq.diagnostics import SourceFile
from serq.expand import expand
from serq.syntax import nodes, parse

STAGES = "stage z : delay; stage link : ps(4); pool p { cap 9; } pool q { cap 9; }"
SESSION = "workload { arrive batch(2); } session { %s end; } run { horizon 20; }"

# (what it shows, declarations, the sugar's statements, the kernel's)
STATEMENTS = [
    (
        "a transfer is the link's run, the load there and the release here (§2, The serving vocabulary)",
        STAGES,
        "hold p (1) { } lease p (inf); hold q (2) { transfer (1 / 100) from p to q (2); }",
        "hold p (1) { } lease p (inf); hold q (2) { run link (1 / 100); load q (2); release p; }",
    ),
    (
        "vLLM's engine reads as its kernel (§2)",
        "pool kv { cap 9; } stage engine : step { budget 8; cost 1; memory kv; }",
        "hold kv (1) { prefill (8) growing kv; decode (3 - 1) growing kv; }",
        "hold kv (1) { run engine prefill (8) growing kv; run engine decode (3 - 1) growing kv; }",
    ),
    (
        "`branch with` is a test of a draw (§3, Branching)",
        STAGES,
        "branch with (0.3) { run z (1); } else { run z (2); }",
        "branch (~bernoulli(0.3)) { run z (1); } else { run z (2); }",
    ),
    (
        "a header inlined by hand is the header with `at admission` (§3)",
        STAGES,
        "hold p (min(serial, hit + 1)) at admission (top = 3 - 1, hit = min(cachedin(p), top)) { run z (1); }",
        "hold p (min(serial, min(cachedin(p), 3 - 1) + 1)) { run z (1); }",
    ),
    (
        "a binding the body reads is set at its top (§3, at admission)",
        STAGES,
        "hold p (known) at admission (known = computed + 1) { run z (known); }",
        "hold p (computed + 1) { set known = computed + 1; run z (known); }",
    ),
    (
        "an argument is a tree, so no bracket is lost (notes §10)",
        STAGES + " def half(x) = x / 2; def both(x, y) { run z (x); run z (half(y)); }",
        "both(1 + 2, 3 - 4);",
        "run z (1 + 2); run z ((3 - 4) / 2);",
    ),
]


def tree(text: str) -> nodes.Program:
    return parse(SourceFile("t.sq", text))


@pytest.mark.parametrize(("about", "declarations", "sugar", "kernel"), STATEMENTS, ids=[row[0] for row in STATEMENTS])
def test_statements(about: str, declarations: str, sugar: str, kernel: str) -> None:
    """A form is the kernel statements the reference says it is."""
    without_definitions = declarations.split(" def ", maxsplit=1)[0]
    expected = tree(without_definitions + SESSION % kernel)
    assert expand(tree(declarations + SESSION % sugar)) == expected


def test_the_two_sides_are_one_session() -> None:
    """§2, The two sides: the server's statements stand where `request` does."""
    sugar = """
        stage svc : fifo;
        workload { arrive batch(2); session { turn; loop { request; branch (more) { turn; } else { end; } } } }
        server { set prompt = new; run svc (prompt); }
    """
    kernel = """
        stage svc : fifo;
        workload { arrive batch(2); }
        session { turn; loop { set prompt = new; run svc (prompt); branch (more) { turn; } else { end; } } }
    """
    assert expand(tree(sugar)) == tree(kernel)


def test_a_read_is_the_kernel_the_reference_prints() -> None:
    """§2, Queues: `run D.nic.latency[j] (x0); run P.nic[i], D.nic[j] (…); load D.kv[j] (…); release P.kv[i];`."""
    sugar = """
        let x0 = 0.1;
        queue P[2] : prefill {
          pool kv { cap 8; } serve fifo; nic ps(2);
          prefill (prompt) { hold kv (prompt) { run (prompt); } cache (prompt) lease kv (inf); }
        }
        queue D[3] : decode {
          pool kv { cap 8; } serve delay; nic ps(4);
          decode (prompt) { hold kv (prompt) { run (1); } }
          decode (prompt) from src { hold kv (prompt) { transfer (prompt - 1) from src to kv (prompt - 1); mark got; } }
        }
        D pull P latency x0 share maxmin;
        queue gw : gateway { route {
          choose i in 2 by (work(P[i])); choose j in 3 by (used(D[j].kv));
          P[i].prefill (n); D[j].decode (n) from P[i]; } }
        workload { arrive batch(2); init { set n = 3; } session { request gw; observe got = D.got; end; } }
    """
    kernel = """
        let x0 = 0.1;
        pool P.kv[2] { cap 8; } stage P[2] : fifo; stage P.nic[2] : ps(2);
        pool D.kv[3] { cap 8; } stage D[3] : delay; stage D.nic[3] : ps(4);
        stage D.nic.latency[3] : delay;
        share maxmin;
        workload { arrive batch(2); init { set n = 3; } }
        session {
          choose i in 2 by (work(P[i])); choose j in 3 by (used(D.kv[j]));
          hold P.kv[i] (n) { run P[i] (n); } cache (n) lease P.kv[i] (inf);
          hold D.kv[j] (n) {
            run D.nic.latency[j] (x0); run P.nic[i], D.nic[j] (n - 1); load D.kv[j] (n - 1); release P.kv[i];
            set D.got = now;
          }
          observe got = D.got;
          end;
        }
    """
    assert expand(tree(sugar)) == tree(kernel)
