"""Compile the engine ahead of time where that is possible, and say so where it is not.

What is compiled: the engine (all but `assemble.py` and `refusals.py`, which read the linker's records), the statistics
(all but their records) and the arithmetic both call, as one mypyc group, so that calls between their modules are
native. The same files run uncompiled, with the same results bit for bit (`-ffp-contract=off`: no multiply-add is
fused), about twenty times slower.

With gcc it is compiled twice: the first time to count its branches while the examples run (`benchmarks/train.py`), the
second time with what was counted, which is faster and takes longer to build (docs/design/0011). `SERQ_PROFILE=0` leaves
that out.

Fallback: with `SERQ_PURE=1`, without mypy, or without a C compiler that finds Python's headers, the package is
installed as plain Python. `serq --version` tells which of the two is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
COMPILED_PACKAGES = ("src/serq/engine", "src/serq/statistics")
COMPILED_MODULES = ("src/serq/arithmetic.py",)
UNCOMPILED = frozenset({"assemble.py", "refusals.py", "summaries.py", "__init__.py"})
# One C file and no interposition of symbols: the compiler may then inline across modules, 1.15 times as fast on M/G/1.
GROUP = "serq_engine"
C_FLAGS = ["-ffp-contract=off", "-fno-semantic-interposition", "-Wno-error"]


def compiled_sources() -> list[str]:
    """Give the modules to compile, as paths relative to this file, in a fixed order."""
    found = [
        str(path.relative_to(ROOT))
        for package in COMPILED_PACKAGES
        for path in sorted((ROOT / package).glob("*.py"))
        if path.name not in UNCOMPILED
    ]
    return found + [module for module in COMPILED_MODULES if (ROOT / module).exists()]


def say(message: str) -> None:
    """Tell the person who installs; `pip install -v` shows it."""
    print(f"serq: {message}", file=sys.stderr)


def why_not() -> str:
    """Give the reason for a pure Python installation, or "" when the engine can be compiled."""
    if os.environ.get("SERQ_PURE", "") not in {"", "0"}:
        return "SERQ_PURE is set"
    try:
        import mypyc.build  # noqa: F401
    except ImportError as problem:
        return f"mypy is not at hand ({problem})"
    return c_compiler_problem()


def c_compiler_problem() -> str:
    """Compile three lines of C against Python's headers; give what went wrong, or ""."""
    from setuptools._distutils.ccompiler import new_compiler
    from setuptools._distutils.sysconfig import customize_compiler, get_python_inc

    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder) / "probe.c"
        probe.write_text("#include <Python.h>\nint main(void) { return PY_VERSION_HEX == 0; }\n")
        try:
            compiler = new_compiler()
            customize_compiler(compiler)
            compiler.compile([str(probe)], output_dir=folder, include_dirs=[get_python_inc()])
        except Exception as problem:
            return f"no C compiler that finds Python's headers ({problem})"
    return ""


def engine_extensions() -> list[Extension]:
    """Translate the engine to C; [] when it cannot be, with the reason said."""
    reason = why_not()
    if not reason:
        from mypyc.build import mypycify

        os.chdir(ROOT)
        try:
            extensions = mypycify(
                ["--config-file=", "--follow-imports=silent", *compiled_sources()],
                opt_level="3",
                debug_level="0",
                multi_file=False,
                separate=False,
                group_name=GROUP,
            )
        except SystemExit as problem:  # mypycify ends the process on a type error
            reason = f"mypyc could not translate it ({problem})"
        else:
            for extension in extensions:
                extension.extra_compile_args = [*extension.extra_compile_args, *C_FLAGS]
            return list(extensions)
    say(f"the engine is installed as plain Python: {reason}")
    return []


TRAINING = ROOT / "benchmarks" / "train.py"
TRAINING_SECONDS_MAX = 300


def is_off(variable: str) -> bool:
    """Tell whether a switch of the environment is set to 0."""
    return os.environ.get(variable, "") == "0"


def is_gcc(command: str) -> bool:
    """Tell whether a C compiler is gcc: others profile in other ways."""
    try:
        said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    return "Free Software Foundation" in said


def _is_newer(source: str, built: Path) -> bool:
    return os.path.getmtime(source) > built.stat().st_mtime


class BuildEngine(build_ext):
    """Compile all of the engine or nothing: a half-compiled group would not import."""

    def run(self) -> None:
        """Build the extensions; on failure remove what was built and go on without."""
        try:
            super().run()
        except Exception as problem:
            say(f"the engine is installed as plain Python: compiling failed ({problem})")
            self._remove(self.get_ext_fullpath(extension.name) for extension in self.extensions)
            self.extensions = []
            self.distribution.ext_modules = []

    def build_extensions(self) -> None:
        """Compile, under a profile where one can be taken."""
        engine = next((extension for extension in self.extensions if extension.name == f"{GROUP}__mypyc"), None)
        if engine is None or not self._may_profile(engine):
            super().build_extensions()
            return
        plain = engine.extra_compile_args, engine.extra_link_args
        try:
            self._train(engine)
            # what the training did not reach is compiled as ever, not for size
            engine.extra_compile_args = [*plain[0], "-fprofile-use", "-fprofile-partial-training"]
            super().build_extensions()
        except Exception as problem:
            say(f"the engine is compiled without a profile: {problem}")
            engine.extra_compile_args = plain[0]
            super().build_extensions()

    def _may_profile(self, engine: Extension) -> bool:
        """Tell whether there is something to compile, and a way to profile it."""
        if is_off("SERQ_PROFILE") or not TRAINING.exists() or not is_gcc(self.compiler.compiler[0]):
            return False
        built = Path(self.get_ext_fullpath(engine.name))
        return self.force or not built.exists() or any(_is_newer(source, built) for source in engine.sources)

    def _train(self, engine: Extension) -> None:
        """Run the training on an engine that counts: gcc leaves the counts beside the object file.

        That engine is built apart, so that one who interrupts this finds none where an installation looks for it.
        """
        objects = Path(self.build_temp)
        for old in objects.rglob("*.gcda"):
            old.unlink()
        plain = engine.extra_compile_args, engine.extra_link_args
        build_lib = self.build_lib
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "src"
            shutil.copytree(ROOT / "src", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
            engine.extra_compile_args, engine.extra_link_args = ([*args, "-fprofile-generate"] for args in plain)
            self.build_lib = str(package)
            try:
                super().build_extensions()
            finally:
                self.build_lib = build_lib
                engine.extra_compile_args, engine.extra_link_args = plain
            paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
            environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
            command = [sys.executable, str(TRAINING)]
            subprocess.run(command, check=True, capture_output=True, env=environment, timeout=TRAINING_SECONDS_MAX)
        if not any(objects.rglob("*.gcda")):
            raise LookupError("the training left no counts")

    @staticmethod
    def _remove(paths: Iterable[str]) -> None:
        for path in paths:
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            elif os.path.exists(path):
                os.unlink(path)


def builds() -> bool:
    """Tell whether this call builds something; pip also calls for the metadata alone, twice."""
    return not {"egg_info", "dist_info", "sdist"}.intersection(sys.argv[1:2])


setup(ext_modules=engine_extensions() if builds() else [], cmdclass={"build_ext": BuildEngine})
