"""What is installed is what was meant: a compiled engine where there is a compiler, and every file that is data."""

from __future__ import annotations

import runpy
import shutil
import tomllib
from pathlib import Path

import pytest

import serq
from serq.version import VERSION, engine_kind

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = Path(serq.__file__).resolve().parent


def test_the_engine_is_compiled_where_it_can_be() -> None:
    """A fallback nobody notices would make every run twenty times slower."""
    if INSTALLED.is_relative_to(ROOT / "src"):
        pytest.skip("runs from the sources")
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("there is no C compiler")
    assert engine_kind() == "compiled"


@pytest.mark.parametrize(
    "pattern", ["py.typed", "lib/*.sq", "diagnostics/explain/*.md", "syntax/grammar.txt", "ir/*.json"]
)
def test_data_is_installed_with_the_code(pattern: str) -> None:
    """Every file of the sources that is no module is in the installation."""
    source = ROOT / "src" / "serq"
    wanted = {path.relative_to(source) for path in source.glob(pattern)}
    assert wanted and wanted <= {path.relative_to(INSTALLED) for path in INSTALLED.glob(pattern)}


def test_the_profile_of_the_build_is_taken_of_programs_that_load() -> None:
    """A training that fails costs a tenth of the speed, and no more than a line in an installation's output tells."""
    path = ROOT / "benchmarks" / "train.py"
    training = runpy.run_path(str(path))
    for name, _, constants in training["PROGRAMS"]:
        assert serq.load(training["EXAMPLES"] / name, set=constants).horizon > 0
    assert (training["EXAMPLES"] / training["PLAIN"][0]).exists()


def test_the_project_says_one_version() -> None:
    """The version is read from the package; the licence and the markers are there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"]["attr"] == "serq.version.VERSION"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").lstrip().startswith("Apache License")
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
