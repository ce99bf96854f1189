"""Whole programs linked: families, scopes, runs, constants, workloads; and that linking never crashes."""

import math

import pytest
from hypothesis import HealthCheck, given, settings

from serq.diagnostics import ProgramError
from serq.ir import model as ir
from serq.link import link
from serq.link import linked as li
from unit.ir import strategies
from unit.link.programs import ROWS, findings, linked, names, program


def test_members_are_flat_and_joined_one_for_one() -> None:
    result = linked(
        program(
            "let N = 2; pool one { } pool q[N] { admit via S; } pool kv[N] { preempt lifo; } "
            "stage z : delay; stage S[N] : step { budget 4; cost 1; memory kv; }"
        )
    )
    assert [(p.name, p.index, p.admit_via, p.memory_of) for p in result.pools] == [
        ("one", None, -1, ()),
        ("q", 0, 1, ()),
        ("q", 1, 2, ()),
        ("kv", 0, -1, (1,)),
        ("kv", 1, -1, (2,)),
    ]
    assert [(s.name, s.index, s.memory, s.serves) for s in result.stages] == [
        ("z", None, -1, ()),
        ("S", 0, 3, (1,)),
        ("S", 1, 4, (2,)),
    ]


def test_every_member_gets_the_family_of_one() -> None:
    result = linked(
        program(
            "pool q[3] { admit via S; } pool kv { } pool w { admit via S; } "
            "stage S : step { budget 4; cost 1; memory kv; }"
        )
    )
    assert [p.admit_via for p in result.pools] == [0, 0, 0, -1, 0]
    assert result.stages[0].serves == (0, 1, 2, 4)


def test_a_pool_that_engines_share_is_the_memory_of_each() -> None:
    result = linked(program("pool kv { } stage S[2] : step { budget 4; cost 1; memory kv; }"))
    assert [s.memory for s in result.stages] == [0, 0]
    assert result.pools[0].memory_of == (0, 1)


@pytest.mark.parametrize(
    ("pools", "stages", "fits"),
    [(2, 2, True), (3, 1, True), (1, 1, True), (1, 2, False), (3, 2, False), (2, 3, False)],
)
def test_which_counts_can_be_joined(pools: int, stages: int, fits: bool) -> None:
    """One for one, or every member to a family of one."""
    text = program(f"pool q[{pools}] {{ admit via S; }} stage S[{stages}] : step {{ budget 4; cost 1; }}")
    if fits:
        linked(text)
    else:
        assert names(text) == ["family-join"]


def test_attributes_have_dense_slots_with_the_builtin_first() -> None:
    result = linked(program("", "set b = 1; choose a in 2 by (a); end;", "arrive none; init { set c = 1; }"))
    assert result.attributes == ("serial", "turn_no", "cached", "computed", "c", "b", "a")
    assert (result.trace_slots, result.more_slot) == ((), -1)


def test_a_trace_brings_its_attributes() -> None:
    result = linked(program("", "turn; observe x = new + more; end;", 'arrive batch(1); trace "t.csv" ordered;'), ROWS)
    assert result.attributes[4:9] == ("new", "out", "think", "more", "forced")
    assert (result.trace_slots, result.more_slot) == ((4, 5, 6, 7, 8), 7)
    assert (result.trace, result.trace_ordered) == (ROWS, True)


def test_explicit_sessions_name_their_attributes() -> None:
    sessions = (
        ir.ExplicitSession(at=1.0, attributes={"prompt": 3.0}, turns=({"new": 4.0}, {"new": 5.0, "gap": 1.0})),
        ir.ExplicitSession(at=2.0),
    )
    minimal = ir.Program(
        version=1,
        workload=ir.Workload(arrive=ir.Explicit(sessions=sessions)),
        session=(ir.Turn(), ir.Observe(name="x", value=ir.Binary(op="+", left="prompt", right="more"))),
        run=ir.RunBlock(horizon=9.0),
    )
    result = link(minimal, None)
    slots = {name: slot for slot, name in enumerate(result.attributes)}
    assert result.explicit == (
        li.LinkedExplicitSession(
            1.0, ((slots["prompt"], 3.0),), (((slots["new"], 4.0),), ((slots["new"], 5.0), (slots["gap"], 1.0)))
        ),
        li.LinkedExplicitSession(2.0, (), ()),
    )
    assert result.more_slot == slots["more"]
    assert result.arrivals == li.LinkedArrivals("explicit", 2.0)


def test_samples_of_one_name_go_to_one_observe() -> None:
    result = linked(program("", "observe a = now > 1; observe b = !1; observe a = 3; observe b = 1 && 0; end;"))
    assert result.observes == (li.LinkedObserveName("a", False), li.LinkedObserveName("b", True))


def test_a_site_leads_to_its_path() -> None:
    result = linked(program("stage z : delay;", "branch (serial) { run z (now + 1); } end;"))
    branch = result.session[0]
    assert isinstance(branch, li.LinkedBranch)
    run = branch.then[0]
    assert isinstance(run, li.LinkedRun)
    assert result.sites[run.work.arguments[0].site] == "$.session[0].then[0].work.left"


# -------------------------------------------------------------------------------------------------------- scopes

HELD = "pool kv { } pool far[2] { } stage e : step { budget 4; cost 1; memory kv; } stage z : delay;"


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        ("hold kv (1) { grow kv (1); load kv (1); release kv; run e decode (1) growing kv; }", None),
        ("hold kv (1) { branch (serial) { loop { grow kv (1); } } }", None),
        ("grow kv (1);", "outside-hold"),
        ("load kv (1);", "outside-hold"),
        ("release kv;", "outside-hold"),
        ("run e prefill (1) growing kv;", "outside-hold"),
        ("hold kv (1) { } grow kv (1);", "outside-hold"),
        ("release kv; hold kv (1) { } lease kv (inf);", None),
        ("hold kv (1) { } lease kv (inf); grow kv (1);", "outside-hold"),
        ("hold far[0] (1) { grow far[1] (1); }", "outside-hold"),
        ("hold far[serial] (1) { grow far[1] (1); }", None),
        ("hold far[0] (1) { } lease far[0] (1); release far[1];", "outside-hold"),
        ("hold kv (1), far[0] (1) { } lease far[0] (3);", None),
        ("hold far[serial] (1) { } lease far[serial] (3);", None),
        ("hold far[serial] (1) { } lease far[0] (3);", "lease-not-held"),
        ("hold kv (1) { } lease far[0] (3);", "lease-not-held"),
        ("hold kv (1), kv (2) { }", "claim-twice"),
        ("hold far[0] (1), far[1] (2) { }", None),
        ("hold far[serial] (1), far[1] (2) { }", None),
        ("hold kv (1) { observe c = cached; } cache (0)", None),
        ("hold kv (1) { observe c = cached; }", "cached-without-cache"),
        ("hold kv (1) { hold far[0] (1) { observe c = cached; } } cache (1)", "cached-without-cache"),
        ("hold kv (1) { hold far[0] (1) { observe c = cached; } cache (1) }", None),
        ("hold kv (1) { hold far[0] (cached) { } cache (1) }", "cached-without-cache"),
        ("hold kv (cached) { }", None),
        ("hold kv (1) { } cache (cached)", None),
        ("observe c = cached;", None),
        ("hold kv (1) reuse (1) { }", "reuse-without-cache"),
        ("run e (1);", "run-mode"),
        ("run z decode (1);", "run-mode"),
        ("hold kv (1) { run z (1) growing kv; }", "growing-without-step"),
        ("choose j in 0 by (j);", "constant-range"),
        ("choose j in serial by (j);", None),
        ("branch (2) { }", "constant-guard"),
    ],
)
def test_what_a_scope_allows(session: str, expected: str | None) -> None:
    text = program(HELD, session + " end;")
    if expected is None:
        linked(text)
    else:
        assert names(text) == [expected]


NICS = "stage a[2] : ps(2); stage b : ps(3); stage c : fifo; stage d : ps(present);"


@pytest.mark.parametrize(
    ("session", "share", "expected"),
    [
        ("run a[0], b (1);", "share maxmin;", None),
        ("run a[serial], b (1);", "share bottleneck;", None),
        ("run a[0], b (1);", "", "share-missing"),
        ("run b (1);", "share maxmin;", "share-unused"),
        ("run a[0], a[1] (1);", "share maxmin;", "stage-twice"),
        ("run a[0], c (1);", "share maxmin;", "shared-stage"),
        ("run a[0], d (1);", "share maxmin;", "shared-stage"),
    ],
)
def test_runs_over_several_stages(session: str, share: str, expected: str | None) -> None:
    text = program(NICS + share, session + " end;")
    if expected is None:
        assert [s.shared for s in linked(text).stages] == [True, True, True, False, False]
    else:
        assert names(text) == [expected]


# ----------------------------------------------------------------------------------------------------- the workload


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("horizon 10; warmup 2; seed 3;", (10.0, 2.0, 3, -1)),
        ("horizon 10; arrivals 4;", (10.0, 0.0, 1, 4)),
        ("horizon 0;", "constant-range"),
        ("horizon inf;", "constant-range"),
        ("horizon 10; warmup -1;", "constant-range"),
        ("horizon 10; warmup 10;", "warmup-after-horizon"),
        ("horizon 10; seed 1.5;", "constant-range"),
        ("horizon 10; seed 1e30;", "constant-range"),
        ("horizon 10; arrivals 0;", "constant-range"),
        ("horizon 10; arrivals 1.5;", "constant-range"),
        ("horizon 0 / 0;", "constant-nan"),
        ("horizon now;", "not-constant"),
    ],
)
def test_the_run_block(run: str, expected: object) -> None:
    text = f"workload {{ arrive poisson(1); }} session {{ end; }} run {{ {run} }}"
    if isinstance(expected, str):
        assert names(text) == [expected]
    else:
        result = linked(text)
        assert (result.horizon, result.warmup, result.seed, result.arrivals_limit) == expected


@pytest.mark.parametrize(
    ("arrive", "expected"),
    [
        ("poisson(2)", li.LinkedArrivals("poisson", 2.0)),
        ("closed(0)", li.LinkedArrivals("closed", 0.0)),
        ("batch(7)", li.LinkedArrivals("batch", 7.0)),
        ("none", li.LinkedArrivals("none")),
        ("poisson(inf)", "constant-range"),
        ("poisson(-1)", "constant-range"),
        ("poisson(~exp(1))", "not-constant"),
        ("renewal(-2)", "constant-range"),
        ("renewal(serial)", "no-session-here"),
        ("renewal(now)", "wrong-moment"),
        ("batch(1e12)", "constant-range"),
        ("closed(inf)", "constant-range"),
    ],
)
def test_arrivals(arrive: str, expected: object) -> None:
    text = program("", "end;", f"arrive {arrive};")
    if isinstance(expected, str):
        assert names(text) == [expected]
    else:
        assert linked(text).arrivals == expected


def test_capacities() -> None:
    pools = linked(program("pool a { } pool b { cap 0; } pool c { cap 9; block 1.5; unfit wait; }")).pools
    assert [(p.cap, p.block, p.unfit_waits) for p in pools] == [
        (math.inf, 0.0, False),
        (0.0, 0.0, False),
        (9.0, 1.5, True),
    ]


def test_independent_errors_are_all_reported() -> None:
    """One mistake, one error, and each of them."""
    text = program(
        "pool kv { cap -1; } stage e : step { budget size; cost a; }", "set a = b; hold kw (1) { } observe x = c; end;"
    )
    assert [found.name for found in findings(text)] == [
        "constant-range",
        "wrong-moment",
        "no-session-here",
        "unknown-name",
        "unknown-pool",
        "unknown-name",
    ]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(strategies.programs)
def test_any_program_links_or_is_refused(given_program: ir.Program) -> None:
    """Whatever the IR can say is linked or refused with a reason; a linked program keeps the linker's promises."""
    try:
        result = link(given_program, ROWS if given_program.workload.trace is not None else None)
    except ProgramError as problem:
        assert problem.diagnostics
        assert all(found.primary is not None and found.message for found in problem.diagnostics)
        return
    assert result.warmup < result.horizon < math.inf
    for pool in result.pools:
        assert pool.cap >= 0.0 and pool.block >= 0.0
        assert -1 <= pool.admit_via < len(result.stages)
    for stage in result.stages:
        assert stage.kind == "ps" or stage.capacity is None
        assert all(result.pools[served].admit_via >= 0 for served in stage.serves)
