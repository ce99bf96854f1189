"""Programs that link and were not meant."""

import pytest

from unit.link.programs import findings, linked, names, program

DECLARED = "pool kv[2] { cap 100; } stage z : fifo; stage e : step { budget 4; cost 1; }"


@pytest.mark.parametrize(
    ("session", "stale"),
    [
        ("set x = cachedin(kv[0]); hold kv[0] (x) { }", True),
        ("set x = 1 + min(3, free(kv[1])); hold kv[0] (x) { }", True),
        ("set x = used(kv[queue(z)]); hold kv[0] (1) reserve (x) { }", True),
        ("set x = est_wait(z); hold kv[0] (1) reuse (x) { } cache (1)", True),
        ("set x = budget_left(e); hold kv[0] (1) { } cache (x)", True),
        ("set x = work(z); branch (serial) { loop { hold kv[0] (x) { } end; } }", True),
        ("set x = work(z); branch (serial) { } else { hold kv[0] (x) { } }", True),
        ("branch (serial) { set x = work(z); hold kv[0] (x) { } }", True),
        ("hold kv[0] (1) { set x = work(z); hold kv[1] (x) { } }", True),
        ("set x = work(z); branch (serial) { set x = 1; } hold kv[0] (x) { }", True),
        ("set x = work(z); hold kv[0] (1) { hold kv[1] (x) { } }", False),
        ("set x = work(z); set x = 1; hold kv[0] (x) { }", False),
        ("set x = work(z); choose x in 2 by (x); hold kv[0] (x) { }", False),
        ("set x = work(z); branch (serial) { set x = 1; hold kv[0] (x) { } }", False),
        ("branch (serial) { set x = work(z); } hold kv[0] (x) { }", False),
        ("hold kv[0] (x) { } set x = work(z);", False),
        ("set x = work(z); observe y = x; run z (x); hold kv[0] (1) { grow kv[0] (x); }", False),
        ("set x = blocksize(b) + now; hold kv[0] (x) { }", False),
        ("hold kv[0] (x) at admission (x = cachedin(kv[0])) { }", False),
    ],
)
def test_a_header_that_reads_what_was_so_before_the_wait(session: str, stale: bool) -> None:
    """Exactly the rule of notes §11: the same body on, branches and loops in it, never a hold's body from outside."""
    text = program(DECLARED + "pool b { block 2; }", session + " end;")
    if stale:
        assert names(text) == ["stale-header-read"]
    else:
        linked(text)


def test_the_message_names_pool_read_and_clause() -> None:
    (found,) = findings(program(DECLARED, "set hit = min(cachedin(kv[0]), 9); hold kv[0] (hit + 1) { } end;"))
    assert "`kv`" in found.message and "`cachedin(kv[…])`" in found.message
    assert found.primary is not None and found.primary.place.text == "hit"
    assert found.secondary[0].place.text == "cachedin(kv[0])"
    assert "at admission (hit = …)" in found.helps[0]


@pytest.mark.parametrize(
    ("guard", "refused", "hint"),
    [
        ("0", False, False),
        ("1", False, False),
        ("2 > 1", False, False),
        ("0 && serial", False, False),
        ("serial", False, False),
        ("1 && serial", False, False),
        ("0.3", True, True),
        ("1 / 3", True, True),
        ("p", True, True),
        ("2", True, False),
        ("-1", True, False),
        ("inf", True, False),
        ("0 / 0", True, False),
    ],
)
def test_a_constant_guard_is_0_or_1(guard: str, refused: bool, hint: bool) -> None:
    text = program("let p = 0.5;", f"loop {{ branch ({guard}) {{ end; }} end; }}")
    if not refused:
        linked(text)
        return
    (found,) = findings(text)
    assert found.name == "constant-guard"
    assert any("branch with" in text for text in found.helps) == hint


def test_lints_are_heard_beside_other_errors() -> None:
    assert names(program("", "observe x = nothing; branch (3) { } end;")) == ["unknown-name", "constant-guard"]
