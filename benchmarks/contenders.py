"""Who is timed: this tree, the reference implementation, another commit of this repository.

Input: a program and its settings. Output: seconds of processor time, from a process of its own each time.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

WHOLE_REFERENCE = "import sys, pyserq; print(pyserq.run(pyserq.compile(sys.argv[1])).json())"
"""The least a process can do with the reference: import, compile, run, print."""


@dataclass(frozen=True, slots=True)
class Contender:
    """An engine: the module the worker imports, and where it is found when not in this environment."""

    label: str
    module: str
    path: str | None = None

    def environment(self) -> dict[str, str]:
        """Give the environment of its processes; byte code is kept, as an installation has it."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        if self.path is not None:
            environment["PYTHONPATH"] = self.path
        return environment

    def measure(self, path: Path, pairs: tuple[str, ...] = (), repeats: int = 1) -> dict[str, Any]:
        """Run a program in a worker; give what it printed."""
        command = [sys.executable, str(HERE / "worker.py"), self.module, str(path), str(repeats), *pairs]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment(), cwd=HERE)
        if done.returncode != 0:
            raise SystemExit(f"{self.label} failed on {path.name}:\n{done.stderr}")
        measured: dict[str, Any] = json.loads(done.stdout)
        return measured

    def time(self, path: Path, pairs: tuple[str, ...] = (), repeats: int = 1) -> float:
        """Give the least time of a run."""
        return min(self.measure(path, pairs, repeats)["seconds"])

    def time_process(self, path: Path, repeats: int) -> float:
        """Give the least time of a process that reads the program, runs it and prints the report as JSON."""
        command = [sys.executable, "-c", WHOLE_REFERENCE, str(path)]
        if self.module == "serq":
            command = [*self._serq(), "run", str(path), "--json"]
        times = []
        for _ in range(repeats):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True, env=self.environment(), cwd=HERE)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(times)

    def _serq(self) -> list[str]:
        """Give the command a person types, where this contender is what is installed with it."""
        script = shutil.which("serq", path=sysconfig.get_path("scripts"))
        return [script] if script is not None and self.path is None else [sys.executable, "-m", "serq"]


OURS = Contender("serq", "serq")
REFERENCE = Contender("pyserq", "pyserq")


def last_commit() -> str:
    """Give the commit to compare with: the last one, or the one before when nothing has changed since."""
    status = subprocess.run(
        ["git", "-C", str(ROOT), "status", "--porcelain", "--", "src"], capture_output=True, text=True
    )
    return "HEAD" if status.stdout.strip() else "HEAD~1"


def built(revision: str, folder: Path) -> Contender:
    """Build the wheel of another commit of this repository and install it into a folder."""
    sources, target = folder / "sources", folder / "installed"
    sources.mkdir()
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", revision], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(sources)], input=archive.stdout, check=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*install, "--target", str(target), str(sources)], check=True)
    return Contender(revision, "serq", str(target))
