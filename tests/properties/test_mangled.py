"""What is no program: mangled texts, mangled IR and random bytes are refused with messages, through the API and the
CLI.

Each example has a deadline, so that a hang is a failure and not a stuck suite.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import serq
from properties.programs import write_program
from properties.strategies import outcome, programs
from serq.cli.main import main
from serq.diagnostics import ProgramError
from serq.diagnostics.registry import names

SECONDS_AT_MOST = 120
HORIZON = 5.0
REGISTERED = frozenset(names())

few = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

TOKENS = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ".",
    "=",
    "==",
    "?",
    ":",
    "+",
    "-",
    "*",
    "/",
    "^",
    "~",
    "!",
    "<",
    "&&",
    "||",
    "0",
    "1",
    "2",
    "1e",
    "0.5",
    "..",
    '"',
    "//",
    "/*",
    "*/",
    "inf",
    "now",
    "cached",
    "hold",
    "run",
    "grow",
    "set",
    "pool",
    "stage",
    "session",
    "workload",
    "branch",
    "else",
    "loop",
    "choose",
    "in",
    "by",
    "with",
    "cache",
    "lease",
    "reuse",
    "reserve",
    "release",
    "load",
    "drop",
    "turn",
    "end",
    "observe",
    "gauge",
    "let",
    "def",
    "use",
    "queue",
    "step",
    "budget",
    "cost",
    "memory",
    "via",
    "admit",
    "spill",
    "when",
    "prefill",
    "decode",
    "growing",
    "kv",
    "m",
    "e",
    "z",
    "x",
    "y",
    "exp",
    "max",
    "\x00",
    "é",
]


@contextlib.contextmanager
def deadline() -> Iterator[None]:
    """Fail, rather than hang, after a while."""

    def too_late(signum: int, frame: object) -> None:
        raise TimeoutError(f"still running after {SECONDS_AT_MOST} s")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(SECONDS_AT_MOST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def could_be_long(text: str) -> bool:
    """Tell whether a mangled number could ask for a run that is rightly long: many sessions, tiny steps."""
    return bool(re.search(r"\d{3}|\d[eE]|\.0\d|\d_", text))


@st.composite
def mangled_texts(draw: st.DrawFn) -> str:
    """A program with a few pieces taken out, doubled, swapped or written over."""
    text = draw(programs())
    for _ in range(draw(st.integers(min_value=1, max_value=4))):
        words = re.findall(r"\s+|\w+|[^\w\s]", text)
        at, other = (draw(st.integers(min_value=0, max_value=len(words) - 1)) for _ in range(2))
        what = draw(st.sampled_from(["cut", "double", "swap", "write", "insert", "tail"]))
        if what == "cut":
            del words[at : at + draw(st.integers(min_value=1, max_value=12))]
        elif what == "double":
            words[at:at] = words[at : at + draw(st.integers(min_value=1, max_value=12))]
        elif what == "swap":
            words[at], words[other] = words[other], words[at]
        elif what == "write":
            words[at] = draw(st.sampled_from(TOKENS))
        elif what == "insert":
            words.insert(at, draw(st.sampled_from(TOKENS)))
        elif draw(st.integers(min_value=0, max_value=9)) == 0:
            del words[at:]
        text = "".join(words)
        assume(text)
    return text


def check_refusal(problem: ProgramError) -> None:
    """Findings have registered names and say something."""
    assert problem.diagnostics
    for found in problem.diagnostics:
        assert found.name in REGISTERED, found.name
        assert found.message and "\n" not in found.message and "Traceback" not in found.message


def check_text(text: str, name: str) -> None:
    with deadline():
        try:
            program = serq.loads(text, horizon=HORIZON, warmup=0.0, name=name)
        except ProgramError as problem:
            check_refusal(problem)
            return
        outcome(program)


@few
@given(mangled_texts())
def test_a_mangled_program_runs_or_is_refused(text: str) -> None:
    assume(not could_be_long(re.sub(r"seed \d+", "", text)))
    check_text(text, "mangled.sq")


JSON_LEAVES = (
    0,
    1,
    -1,
    2.5,
    1e308,
    "",
    "kv",
    "x",
    "inf",
    "now",
    None,
    True,
    [],
    {},
    [[]],
    {"kind": "call"},
    {"do": "end"},
)


def mangled_json(value: Any, draw: st.DrawFn) -> Any:
    """Change one thing, somewhere inside."""
    inner = [key for key in value if isinstance(value[key], dict | list)] if isinstance(value, dict) else []
    if isinstance(value, list):
        inner = [at for at in range(len(value)) if isinstance(value[at], dict | list)]
    if inner and draw(st.integers(min_value=0, max_value=5)) > 0:
        key = draw(st.sampled_from(inner))
        copy = value.copy()
        copy[key] = mangled_json(value[key], draw)
        return copy
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return draw(st.sampled_from(JSON_LEAVES))
    key = draw(st.sampled_from(keys))
    copy = value.copy()
    what = draw(st.sampled_from(["leaf", "leaf", "cut", "other"]))
    if what == "leaf":
        copy[key] = draw(st.sampled_from(JSON_LEAVES))
    elif what == "cut":
        del copy[key]
    else:
        copy[key] = value[draw(st.sampled_from(keys))]
    return copy


@few
@given(st.data(), programs())
def test_a_mangled_ir_runs_or_is_refused(data: st.DataObject, text: str) -> None:
    document = json.loads(serq.loads(text).to_json())
    for _ in range(data.draw(st.integers(min_value=1, max_value=3))):
        document = mangled_json(document, data.draw)
        assume(isinstance(document, dict))
    rates = json.dumps(document.get("workload", ""))
    assume(not could_be_long(rates) and "Infinity" not in rates and '"count": "' not in rates)
    check_text(json.dumps(document), "mangled.json")


def run_file(content: bytes, name: str) -> tuple[int, str, str]:
    """Run a file through the command line."""
    with tempfile.TemporaryDirectory() as directory, deadline():
        path = Path(directory) / name
        path.write_bytes(content)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["run", str(path), "--horizon", str(HORIZON), "--warmup", "0"])
    return code, out.getvalue(), err.getvalue()


def check_command(content: bytes, name: str) -> None:
    """Exit 0 with a report or 1 with messages and no report; never an internal error, never a traceback."""
    code, out, err = run_file(content, name)
    assert code in (0, 1), (code, err[-2000:])
    assert "Traceback" not in err and "internal error" not in err
    if code == 0:
        assert out.startswith("serq run")
    else:
        assert out == "" and re.match(r"error\[[a-z0-9-]+\]: .", err), err[:500]


@settings(few, max_examples=60)
@given(mangled_texts(), st.data())
def test_the_command_line_takes_mangled_bytes(text: str, data: st.DataObject) -> None:
    content = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(data.draw(st.integers(min_value=0, max_value=3))):
        at = data.draw(st.integers(min_value=0, max_value=len(content) - 1))
        content[at] = data.draw(st.integers(min_value=0, max_value=255))
    assume(not could_be_long(re.sub(r"seed \d+", "", content.decode("latin-1"))))
    check_command(bytes(content), "mangled.sq")


@settings(few, max_examples=100)
@given(
    st.binary(max_size=200),
    st.sampled_from(["a.sq", "a.json"]),
    st.sampled_from([b"", b"{", b"pool p { ", b"session { "]),
)
def test_the_command_line_takes_random_bytes(content: bytes, name: str, before: bytes) -> None:
    check_command(before + content, name)


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_program_is_refused_wherever_it_is_cut(seed: int) -> None:
    """A text that stops early is never taken for a whole one, but between two items."""
    source = random.Random(seed)
    text = write_program(source)
    for _ in range(10):
        cut = text[: source.randrange(1, len(text) - 1)]
        try:
            serq.loads(cut)
        except ProgramError as problem:
            check_refusal(problem)
        else:
            assert cut.rstrip().endswith(("}", ";"))
