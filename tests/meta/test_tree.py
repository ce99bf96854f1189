"""The repository keeps its own rules: sizes, names, nothing left behind."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "src" / "serq").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_a_module_says_what_it_is(path: Path) -> None:
    """A docstring at its head, and a size one can read."""
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "needs a module docstring"
    assert len(text.splitlines()) <= 800, "look for the seam"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_the_library_never_prints_or_exits(path: Path) -> None:
    """Only the command line speaks to a terminal."""
    if path.parent.name == "cli" or path.name == "__main__.py":
        return
    calls = {
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    }
    assert not calls & {"print", "exit", "quit", "sys.exit", "os._exit"}


def test_no_network_address_is_in_the_build() -> None:
    """The suite and the build name no host; pip finds packages as the machine is set up."""
    for name in ("Makefile", "pyproject.toml", "setup.py", ".ci/run"):
        assert not re.search(r"https?://|index-url|find-links", (ROOT / name).read_text(encoding="utf-8")), name
