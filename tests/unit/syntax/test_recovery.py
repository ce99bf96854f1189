"""Errors: each mistake once, at its place, and the next one still seen; no text does anything worse."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.diagnostics import ProgramError, SourceFile
from serq.syntax import nodes, parse
from serq.syntax.printer import print_program
from serq.syntax.tokens import MARKS, WORDS
from unit.syntax import strategies

ROOT = Path(__file__).parents[3]

TEXTS = [
    'use "lib.sq";\ndef f(a, b) = a + b;\ndef g(x) { set y = x; }\nlet N = 2; let lam = 1e-3;\n'
    "pool kv[N] { cap 64; block 16; evict by (waiting, size); preempt lifo; queue by (k); admit via E; unfit wait; }\n"
    "stage E[N] : step { budget 8; cost max(1, tokens); chunk 4; serve by (remaining); memory kv; }\n"
    "stage z : fifo (2); stage s : ps (min(present, 4)); stage d : delay;\n",
    'workload { arrive poisson (0.5); trace "t.csv" ordered; hidden o; init { set K = 0; } turn { set o = ~exp(2); }\n'
    "  session { turn; loop { request; branch (more) { tool (~exp(3)); turn; } else { end; } } } }\n"
    "server { hold kv[0] (u) reserve (r) reuse (v) at admission (h = cachedin(kv[0])) { prefill (h) growing kv[0];\n"
    "  decode[1] o - 1; } cache (K + o) lease kv[0] (inf); }\nrun { horizon 10; warmup 1; seed 2; arrivals 3; }\n",
    "queue P[2] : prefill { pool kv { cap 8; } serve fifo latency 2; nic ps (1); prefill (p) { run (p); mark t; } }\n"
    "queue D : decode { serve delay; decode (p) from src { transfer (p) from src to kv (p); grow kv (1); } }\n"
    "D pull P latency 0.1 share maxmin;\ngauge g = sum j in 2 (used(P[j].kv));\n"
    "session { P[0].prefill (1); D.decode (1) from P[0]; choose j in N by (queue(s[j]), 1); run a, b (2); end; }\n",
]
PROGRAMS = TEXTS + [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("examples/**/*.sq"))]


def found(text: str) -> list[str]:
    """Give what is wrong with a text, as `name@line:column`."""
    try:
        parse(SourceFile("<test>", text))
    except ProgramError as failed:
        places = []
        for diagnostic in failed.diagnostics:
            span = diagnostic.primary.place
            line, column = span.source.line_column(span.start)
            places.append(f"{diagnostic.name}@{line}:{column}")
        return places
    return []


@pytest.mark.parametrize("text", TEXTS)
def test_the_texts_are_good(text: str) -> None:
    """What is mutated below parses as it stands, and prints to the same tree."""
    tree = parse(SourceFile("<test>", text))
    assert parse(SourceFile("<test>", print_program(tree))) == tree


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("examples/**/*.sq")), ids=lambda path: str(path.relative_to(ROOT / "examples"))
)
def test_the_examples_parse_and_print(path: Path) -> None:
    """Every example reads, and its printed form reads back."""
    tree = parse(SourceFile(path.name, path.read_text(encoding="utf-8")))
    assert parse(SourceFile("<printed>", print_program(tree))) == tree


def test_each_mistake_is_reported_once() -> None:
    """Six mistakes in six lines are six findings, none at what is right."""
    text = """\
let a = ;
pool kv { capp 4; block 16; evict foo; }
stage z : delay
session {
  x = 3;
  run z 1;
  hold kv (1) { foo; set y = 2; } cache (1);
}
server2 { run z (1); }
run { horizon 10; }
"""
    assert found(text) == [
        "unexpected-token@1:9",
        "unknown-option@2:11",
        "unknown-choice@2:35",
        "unexpected-token@3:16",
        "missing-set@5:3",
        "unexpected-token@6:9",
        "unknown-statement@7:17",
        "unknown-item@9:1",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("session { loop { turn; }\nrun { horizon 1; }\n", ["unexpected-token@2:1"]),
        ("session { turn; } }\nrun { horizon 1; }\n", ["unexpected-token@1:19"]),
        ("session { hold kv 1 { turn; } cache (2); end; }", ["unexpected-token@1:19"]),
        ("session { if (x) { turn; } else { end; } end; }", ["unknown-statement@1:11"]),
        ("session { set x = (1 + 2; set y = 3 }", ["unexpected-token@1:25", "unexpected-token@1:36"]),
        ("session { set x = 1 $ 2; end; }", ["unknown-character@1:21"]),
        ("session { set x = 1.2.3 * 2; end; }", ["malformed-number@1:19"]),
        ("session { /* turn; }", ["unterminated-comment@1:11"]),
        ("pool m[ { cap 1; }\nstage z : delay;", ["unexpected-token@1:9"]),
        ("pool m { cap 1 block 2; evict lru; }", ["unexpected-token@1:15"]),
        ("stage e : step { cost ; budget 3; }", ["unexpected-token@1:23"]),
        ("session { choose j in 2 by (); end; }", ["empty-keys@1:28"]),
        ("use lib.sq;\nlet a = 1;", ["unexpected-token@1:5"]),
        ("let a = 1\nlet b = 2\nlet c = 3;", ["unexpected-token@1:10", "unexpected-token@2:10"]),
        ("let a = ~exp(1) ^ 2;", ["unexpected-token@1:17"]),
    ],
)
def test_one_mistake_is_one_finding(text: str, expected: list[str]) -> None:
    """Nothing follows from a mistake but itself."""
    assert found(text) == expected


def test_a_proposal_for_a_near_word() -> None:
    """A misspelt word is answered with the one it is closest to."""
    for text, near in [
        ("pol m { cap 1; }", "pool"),
        ("pool m { evcit lru; }", "evict"),
        ("session { hodl m (1) { } }", "hold"),
        ("stage z : dealy;", "delay"),
        ("session { set x = ~erlan(1, 2); }", "erlang"),
        ("run { horizn 3; }", "horizon"),
        ("pool m { capacity 3; }", "cap"),
    ]:
        with pytest.raises(ProgramError) as failed:
            parse(SourceFile("<test>", text))
        assert failed.value.diagnostics[0].primary.text == f"did you mean `{near}`?"


def test_findings_are_limited() -> None:
    """A text that is no program stops at fifty findings."""
    assert len(found("@ $ " * 1000)) == 50


def test_messages_are_worded_alike() -> None:
    """Lower case, no full stop, and a finding's span lies in its text (style: diagnostics)."""
    rng = random.Random(1)
    for text in PROGRAMS:
        for _ in range(20):
            with pytest.raises(ProgramError) as failed:
                parse(SourceFile("<test>", mutated(text, rng) + "\n@"))
            for diagnostic in failed.value.diagnostics:
                assert not diagnostic.message.endswith(".")
                assert not diagnostic.message[0].isupper() or diagnostic.message.startswith("`")
                assert "\n" not in diagnostic.message
                span = diagnostic.primary.place
                assert 0 <= span.start <= span.end <= len(span.source.text)


PIECES = [*sorted(WORDS), *MARKS, "x", "kv", "3", "0.5", '"s"', "@", "/*", "*/", "//", '"', "\n", "1e999", "é", "\x00"]
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def mutated(text: str, rng: random.Random) -> str:
    """Change a text at a few places: pieces dropped, doubled, exchanged, moved or put in."""
    parts = TOKEN.findall(text)
    for _ in range(rng.randint(1, 6)):
        if not parts:
            break
        at = rng.randrange(len(parts))
        other = rng.randrange(len(parts))
        match rng.randrange(6):
            case 0:
                del parts[at]
            case 1:
                parts.insert(at, parts[other])
            case 2:
                parts[at] = rng.choice(PIECES)
            case 3:
                parts.insert(at, rng.choice(PIECES))
            case 4:
                parts[at], parts[other] = parts[other], parts[at]
            case 5:
                low, high = sorted((at, other))
                del parts[low : min(high, low + 20)]
    return "".join(parts)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PROGRAMS), st.integers(0, 2**32))
def test_no_mutation_does_worse_than_fail(text: str, seed: int) -> None:
    """A changed program gives findings or a tree, and such a tree prints to an equal one."""
    text = mutated(text, random.Random(seed))
    try:
        tree = parse(SourceFile("<mutated>", text))
    except ProgramError as failed:
        assert failed.diagnostics
    else:
        assert parse(SourceFile("<printed>", print_program(tree))) == tree


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_no_text_does_worse_than_fail(text: str) -> None:
    """Any characters at all give findings or a tree."""
    try:
        parse(SourceFile("<text>", text))
    except ProgramError as failed:
        assert failed.diagnostics


@settings(max_examples=30, deadline=None)
@given(strategies.programs, st.integers(0, 2**32))
def test_no_mutation_of_a_random_program_does_worse(tree: nodes.Program, seed: int) -> None:
    """The same for printed random trees, which use every form there is."""
    try:
        parse(SourceFile("<mutated>", mutated(print_program(tree), random.Random(seed))))
    except ProgramError as failed:
        assert failed.diagnostics
