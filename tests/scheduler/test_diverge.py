"""Programs that are nearly right: the harness names the step, the request and the statement."""

from __future__ import annotations

from pathlib import Path

import pytest
from verification.vllm import model, recordings
from verification.vllm.diverge import Divergence, find, render
from verification.vllm.recordings import Recording

import serq


def recording(name: str, release: str = "0.30.0") -> Recording:
    found = [r for path in recordings.files() for r in recordings.read(path) if r.name == name]
    return next(r for r in found if r.release == release)


def wrong_program(folder: Path, right: str, wrong: str) -> Path:
    """Write the harness's program, and the library it uses, with one thing in one of them changed."""
    library = (Path(serq.__file__).parent / "lib" / "vllm.sq").read_text(encoding="utf-8")
    text = (model.PROGRAMS / "fcfs.sq").read_text(encoding="utf-8").replace('"serq/vllm.sq"', '"library.sq"')
    assert text.count(right) + library.count(right) == 1
    (folder / "library.sq").write_text(library.replace(right, wrong), encoding="utf-8")
    path = folder / "wrong.sq"
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    return path


def divergence_of(given: Recording, program: Path | None = None) -> Divergence:
    found = find(given.scenario, given.release, given.answer, program)
    assert found is not None
    return found


def test_the_right_program_does_not_diverge() -> None:
    given = recording("chunk_header")
    assert find(given.scenario, given.release, given.answer) is None


def test_without_the_first_chunk_rule_a_head_finds_no_room(tmp_path: Path) -> None:
    """Request 0 takes the whole budget's blocks where vLLM gives it one chunk's, and request 1 has to wait."""
    given = recording("chunk_header")
    program = wrong_program(tmp_path, "hit + min(first_chunk, budget_left(device))", "hit + budget_left(device)")
    found = divergence_of(given, program)
    assert found.step == 1
    assert {line.what for line in found.lines if line.differs} >= {"tokens", "waiting after", "admitted", "scheduled"}
    [concern] = found.concerns
    assert (concern.request, concern.what) == ("1", "vLLM admits it, serQ does not")
    text = render(found, "chunk_header (0.30.0)")
    library = (tmp_path / "library.sq").read_text().splitlines()
    line = next(n for n, t in enumerate(library, 1) if "hold slots (1), kv_memory" in t)
    call = next(n for n, t in enumerate(program.read_text().splitlines(), 1) if "vllm_request_of(" in t)
    assert f"library.sq:{line}:19" in text
    assert "kv_memory (min(have, hit + budget_left(device))) reserve (have)" in text
    assert f"called at {program}:{call}:5" in text


def test_a_request_that_forgets_its_outputs_decodes_too_early(tmp_path: Path) -> None:
    given = recording("preempted_in_recompute")
    program = wrong_program(
        tmp_path,
        "set known = max(known, computed + 1);",
        "set known = computed < prompt_tokens ? prompt_tokens : computed + 1;",
    )
    found = divergence_of(given, program)
    assert found.step == 16
    [concern] = found.concerns
    assert (concern.request, concern.what) == ("2", "runs as a decode in serQ")
    assert "decode on device" in render(found, "x")


def test_another_victim_is_named_on_both_sides(tmp_path: Path) -> None:
    given = recording("chunk_header_alone")
    program = wrong_program(tmp_path, "unfit wait; preempt lifo", "unfit wait; preempt by (-serial)")
    found = divergence_of(given, program)
    concerns = {(concern.request, concern.what) for concern in found.concerns}
    assert concerns >= {("0", "serQ preempts it, vLLM does not"), ("2", "vLLM preempts it, serQ does not")}
    assert "preempt by (-serial)" in render(found, "x")


def test_another_chunk_is_named_with_its_tokens(tmp_path: Path) -> None:
    given = recording("chunk_cap", "0.33.0")
    program = wrong_program(tmp_path, "> 1 ? threshold : 0;", "> 1 ? threshold + 1 : 0;")
    found = divergence_of(given, program)
    assert any("tokens in serQ" in concern.what for concern in found.concerns)
    assert "vllm_chunk(reqs, chunk_cap)" in render(found, "x")


def test_another_cost_is_the_clocks(tmp_path: Path) -> None:
    given = recording("mixed_39_a100")
    program = wrong_program(tmp_path, "cost c + d * decoders", "cost c + 0.9 * d * decoders")
    found = divergence_of(given, program)
    assert [line.what for line in found.lines if line.differs] == ["begins at"]
    assert [concern.what for concern in found.concerns] == ["the step before lasted longer on one side"]


@pytest.mark.parametrize("caching", ["1", "0"])
def test_a_prefix_that_is_not_kept_or_not_found(tmp_path: Path, caching: str) -> None:
    given = recording("turns_reuse")
    program = wrong_program(
        tmp_path, "cache (caching ? prompt_tokens + output_tokens - 1 : 0)", f"cache ({caching} ? prompt_tokens : 0)"
    )
    found = divergence_of(given, program)
    assert any("tokens cached in serQ" in concern.what for concern in found.concerns)
    assert "min(usable, have - 1)" in render(found, "x")
