"""What holds of every run of every program: it ends, its state stays consistent, and nothing else decides its
figures."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import serq
from properties.programs import Allowed, write_program
from properties.strategies import Outcome, outcome, outcome_of, programs
from serq.diagnostics import SourceFile
from serq.engine.assemble import assemble
from serq.engine.results import RunError
from serq.ir.write_json import encode_program
from serq.syntax import parse
from serq.syntax.printer import print_program

RUN_ERRORS = {
    "amount-not-valid",
    "arrivals-not-drained",
    "guard-not-boolean",
    "index-out-of-range",
    "instant-never-settles",
    "load-beyond-allocation",
    "outside-hold",
    "pool-held-twice",
}
"""What a random program may stop with: each is a fault of the program."""

few = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
fewer = settings(few, max_examples=25)


@settings(few, max_examples=120)
@given(programs())
def test_every_run_ends_with_a_report_or_an_error_of_serq(text: str) -> None:
    """The invariants of memory, lines and clock are checked by the engine after every event."""
    found = outcome_of(text)
    assert "error" not in found or found["error"] in RUN_ERRORS, found


@few
@given(programs())
def test_sessions_are_conserved(text: str) -> None:
    """Whoever arrived has ended or lives; whoever lives waits, grows or is served; an admission to several pools is
    counted at each of them."""
    program = serq.loads(text, warmup=0.0)
    simulation = assemble(program.linked, records_samples=False, checks=True)
    try:
        result = simulation.run()
    except RunError:
        assume(False)
    world = simulation.world
    assert result.arrivals == result.ended + world.live_count
    waiting = sum(len(pool.preempted) + pool.line.count for pool in world.pools)
    assert sum(pool.admissions for pool in world.pools) >= world.admission_count
    if "share" not in text and "spill" not in text:  # a flow is present at several stages, a spill has no session
        served = sum(stage.number.value for stage in world.stages)
        growing = sum(pool.growers.count for pool in world.pools)
        assert waiting + served <= world.live_count <= waiting + served + growing


@few
@given(programs())
def test_the_same_program_gives_the_same_run(text: str) -> None:
    """Twice from one program, once from a second load of it."""
    program = serq.loads(text)
    first = outcome(program)
    assert outcome(program) == first
    assert outcome_of(text) == first


def test_another_process_gives_the_same_run(tmp_path: Path) -> None:
    """With another seed of the hashes of strings: no order of a set or of memory shows in a report."""
    texts = [write_program(random.Random(seed)) for seed in range(300, 330)]
    expected: list[Outcome] = []
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.sq").write_text(text, encoding="utf-8")
        expected.append(outcome_of(text))
    script = (
        "import json, sys; sys.path.insert(0, sys.argv[1])\n"
        "from properties.strategies import outcome_of\n"
        "print(json.dumps([outcome_of(open(f'{sys.argv[2]}/{n}.sq').read()) for n in range(int(sys.argv[3]))]))\n"
    )
    tests = Path(__file__).resolve().parents[1]
    for hash_seed in ("1", "4242"):
        finished = subprocess.run(
            [sys.executable, "-c", script, str(tests), str(tmp_path), str(len(texts))],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert finished.returncode == 0, finished.stderr[-2000:]
        assert json.loads(finished.stdout) == json.loads(json.dumps(expected))


@few
@given(programs())
def test_the_ir_runs_as_the_text_does(text: str) -> None:
    """Text → IR → JSON → run; and the IR of the IR is itself."""
    from_text = serq.loads(text)
    document = from_text.to_json()
    from_ir = serq.loads(document, name="program.json")
    assert from_ir.to_json() == document == encode_program(from_text.ir)
    assert outcome(from_ir) == outcome(from_text)


@few
@given(programs())
def test_a_program_printed_is_the_same_program(text: str) -> None:
    """Parsed again it is equal, printed again it is the same text, and it runs the same."""
    tree = parse(SourceFile("a.sq", text))
    printed = print_program(tree)
    assert parse(SourceFile("b.sq", printed)) == tree
    assert print_program(parse(SourceFile("b.sq", printed))) == printed
    assert outcome_of(printed) == outcome_of(text)


NAMES = ("kv", "m", "tier", "e", "z", "f", "s", "a", "b", "x", "y", "o", "k", "w", "i", "j", "u", "q")


def renamed(text: str) -> str:
    """Give every pool, stage, attribute and index of a random program another name."""
    return re.sub(rf"\b({'|'.join(NAMES)})\b", r"renamed_\1", text)


@few
@given(programs())
def test_names_mean_nothing(text: str) -> None:
    found, plain = outcome_of(renamed(text)), outcome_of(text)
    assert json.dumps(found).replace("renamed_", "") == json.dumps(plain)


@few
@given(programs(), st.sampled_from(["fifo", "ps(2)", "delay", "step { budget 4; cost 1; }"]), st.booleans())
def test_what_no_session_visits_changes_nothing(text: str, kind: str, is_first: bool) -> None:
    """A stage and a pool that nobody names, before all others or behind them."""
    unused = f"stage unvisited : {kind};\npool unheld {{ cap 1; block 2; preempt lifo; }}\n"
    found, plain = outcome_of(unused + text if is_first else text + unused), outcome_of(text)
    assume("error" not in plain)
    rows = [row for row in found["stages"] if row["name"] == "unvisited"]
    rows += [row for row in found["pools"] if row["name"] == "unheld"]
    assert len(rows) == 2
    for row in rows:
        assert all(not value for name, value in row.items() if name != "name"), row
    for kind_of in ("stages", "pools"):
        found[kind_of] = [row for row in found[kind_of] if not row["name"].startswith("un")]
    assert found == plain


@few
@given(programs())
def test_a_draw_in_the_session_leaves_the_workload_alone(text: str) -> None:
    """Common random numbers: who arrives when, and with what, is no matter of what the deployment draws."""
    text = re.sub(r"(init \{[^}]*)\}", r"\1 observe born = x + y; }", text, count=1)
    text = re.sub(r"warmup [\d.]+;", "warmup 0;", text)
    plain = outcome_of(text)
    found = outcome_of(text.replace("session {", "session { set drawn = ~exp(1) + ~uniform(0, 1);", 1))
    assume("error" not in plain and "error" not in found)
    times, sessions, _, values = plain["samples"]["born"]
    again_times, again_sessions, _, again_values = found["samples"]["born"]
    if "closed" not in text:  # a closed population's later arrivals are its departures
        assert (times, sessions, values) == (again_times, again_sessions, again_values)
    else:
        common = min(len(values), len(again_values))
        assert (
            sorted(zip(sessions, values, strict=True))[:common]
            == sorted(zip(again_sessions, again_values, strict=True))[:common]
        )


@few
@given(programs(), st.integers(min_value=2, max_value=50))
def test_a_longer_run_begins_as_the_shorter_one(text: str, percent: int) -> None:
    """The horizon stops a run and does nothing else: the samples up to it are those of any longer run."""
    text = re.sub(r"warmup [\d.]+;", "warmup 0;", text)
    longer = serq.loads(text)
    horizon = longer.horizon * percent / 100.0
    found, whole = outcome(serq.loads(text, horizon=horizon)), outcome(longer)
    assume("error" not in whole)
    for name, (times, sessions, turns, values) in whole["samples"].items():
        count = sum(time <= horizon for time in times)
        assert found["samples"][name] == [times[:count], sessions[:count], turns[:count], values[:count]]


@fewer
@given(programs(Allowed(statements=60)))
def test_long_programs_run_too(text: str) -> None:
    found = outcome_of(text)
    assert "error" not in found or found["error"] in RUN_ERRORS, found
