"""The dump: what the files hold, and that there are all of them or none."""

import os
from pathlib import Path

import pytest
from librt.vecs import vec
from mypy_extensions import i64

import serq
from serq.diagnostics import ProgramError
from serq.engine.results import GaugeResult, ObserveResult, RunResult
from serq.report.dump import DumpWriter, check_dump_directory


def recorded_run() -> RunResult:
    result = RunResult()
    observe = ObserveResult("D.ttft", is_test=False)
    observe.times, observe.values = vec[float]([0.1, 0.2]), vec[float]([1 / 3, 2.0])
    observe.sessions, observe.turns = vec[i64]([0, 7]), vec[i64]([1, 2])
    gauge = GaugeResult("u")
    gauge.times, gauge.values = vec[float]([0.0, 0.5]), vec[float]([0.0, 1e22])
    result.observes, result.gauges = [observe, ObserveResult("none", is_test=True)], [gauge]
    return result


def write_dump(result: RunResult, directory: str) -> None:
    with DumpWriter(directory) as writer:
        writer.finish(result)


def test_files_hold_every_sample_exactly(tmp_path: Path) -> None:
    """Floats read back; an observe without samples has a file with its head."""
    folder = tmp_path / "new" / "dump"
    write_dump(recorded_run(), str(folder))
    assert (folder / "D.ttft.csv").read_text() == ("time,session,turn,value\n0.1,0,1,0.3333333333333333\n0.2,7,2,2.0\n")
    assert (folder / "none.csv").read_text() == "time,session,turn,value\n"
    assert (folder / "gauge" / "u.csv").read_text() == "time,value\n0.0,0.0\n0.5,1e+22\n"
    assert sorted(os.listdir(folder)) == ["D.ttft.csv", "gauge", "none.csv"]


def test_an_old_dump_is_replaced(tmp_path: Path) -> None:
    """The same run twice leaves the same files."""
    (tmp_path / "D.ttft.csv").write_text("old")
    write_dump(recorded_run(), str(tmp_path))
    assert (tmp_path / "D.ttft.csv").read_text().startswith("time,")


def test_a_dump_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """A directory stands where the last file goes: the first is not written either."""
    result = recorded_run()
    (tmp_path / "gauge" / f"u.csv.{os.getpid()}.part").mkdir(parents=True)
    with pytest.raises(ProgramError) as caught:
        write_dump(result, str(tmp_path))
    assert caught.value.diagnostics[0].name == "dump-not-writable"
    assert sorted(os.listdir(tmp_path)) == ["gauge"]


def test_a_directory_that_is_a_file_is_refused_before_the_run(tmp_path: Path) -> None:
    """Itself, or one above it."""
    file = tmp_path / "f"
    file.write_text("")
    for wanted in (file, file / "below"):
        with pytest.raises(ProgramError, match="is not a directory"):
            check_dump_directory(str(wanted))
    check_dump_directory(str(tmp_path / "new" / "deeper"))
    check_dump_directory(str(tmp_path))
    assert not (tmp_path / "new").exists()


def test_a_dump_directory_has_a_name() -> None:
    """An empty name is the current directory to the system, and a mistake to its user."""
    with pytest.raises(ProgramError) as failed:
        check_dump_directory("")
    assert [found.name for found in failed.value.diagnostics] == ["dump-not-writable"]


def test_samples_go_to_the_file_while_the_run_goes_on(tmp_path: Path) -> None:
    """20 000 samples of one observe: at most 4096 rows are held, and the file has every one in order."""
    text = """
    workload { arrive closed(1); } stage z : delay;
    session { loop { run z (1); observe a = now / 4; } } run { horizon 20000; }
    """
    program = serq.loads(text)
    with DumpWriter(str(tmp_path / "d")) as writer:
        finished = program.simulate(sink=writer)
        assert len(finished.samples("a").times) == 20000 % 4096
        assert not (tmp_path / "d" / "a.csv").exists()
        writer.finish(finished.result)
    lines = (tmp_path / "d" / "a.csv").read_text().splitlines()
    assert lines[1:] == [f"{float(t)},0,0,{t / 4}" for t in range(1, 20001)]
    assert finished.report.to_json() == program.run().to_json()
    assert os.listdir(tmp_path / "d") == ["a.csv"]


def test_a_run_that_stops_leaves_no_directory(tmp_path: Path) -> None:
    """It had written samples by then; a directory that was there before stays."""
    text = """
    workload { arrive closed(1); } stage z : delay;
    session { loop { run z (1); observe a = now; branch (now == 9000 ? 2 : 1) {} } }
    run { horizon 20000; }
    """
    (tmp_path / "kept").mkdir()
    for folder in ("kept", "new/deeper"):
        with pytest.raises(serq.RunFailed), DumpWriter(str(tmp_path / folder)) as writer:
            serq.loads(text).simulate(sink=writer)
    assert sorted(os.listdir(tmp_path)) == ["kept"]
    assert os.listdir(tmp_path / "kept") == []
