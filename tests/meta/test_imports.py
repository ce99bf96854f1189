"""Imports run one way along the pipeline, and nothing imports the command line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "serq"

STAGES = {"diagnostics", "syntax", "expand", "ir", "link", "lint", "workload"}

# Which units a unit may import besides itself: packages, modules at the top, and the modules named below.
ALLOWED: dict[str, set[str]] = {
    "arithmetic": set(),
    "records": set(),
    "json_text": set(),
    "diagnostics": set(),
    "syntax": {"diagnostics"},
    "expand": {"diagnostics", "syntax"},
    "ir": {"diagnostics", "syntax", "arithmetic", "json_text"},
    "workload": {"diagnostics"},
    "link": {"diagnostics", "ir", "lint", "arithmetic"},
    "lint": {"diagnostics", "ir", "link"},
    "engine": {"arithmetic", "engine.results"},
    "engine.results": set(),
    "engine.assemble": {"engine", "engine.refusals", "engine.results", "link", "arithmetic"},
    "engine.refusals": {"link"},
    "statistics": set(),
    "theory": set(),
    "version": {"engine.results"},
    "errors": {"diagnostics", "version"},
    "report": {"diagnostics", "engine.results", "statistics", "json_text"},
    "pipeline": {*STAGES, "engine.assemble", "engine.results", "engine"},
    "api": {*STAGES, "pipeline", "engine.results", "engine", "errors", "report", "version"},
    "cli": {"api", "diagnostics", "engine", "errors", "report", "syntax", "version"},
    "serq": {"api", "diagnostics", "errors", "report", "version"},
    "__main__": {"cli"},
}
NAMED_MODULES = ("engine.results", "engine.assemble", "engine.refusals")


def unit_of(module: str) -> str:
    """Give the unit a module (`serq.engine.assemble`) belongs to."""
    inside = module.removeprefix("serq.")
    if module == "serq":
        return "serq"
    if inside in NAMED_MODULES:
        return inside
    return inside.split(".")[0]


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Give line and name of every import of ours in a file, wherever it stands."""
    package = module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] == "serq")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(
                    [*package.split(".")[: len(package.split(".")) - node.level + 1], *filter(None, [base])]
                )
            if base.split(".")[0] == "serq":
                for alias in node.names:
                    below = f"{base}.{alias.name}"
                    yield node.lineno, below if exists(below) else base


def exists(module: str) -> bool:
    place = PACKAGE.parent.joinpath(*module.split("."))
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


FILES = sorted(path for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[module_of(path) for path in FILES])
def test_imports_run_one_way(path: Path) -> None:
    """A module imports its own unit and the units it may know."""
    unit = unit_of(module_of(path))
    assert unit in ALLOWED, f"say in ALLOWED what `{unit}` may import"
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for line, module in imported(path)
        if unit_of(module) not in ALLOWED[unit] | {unit, "records"}
    ]
    assert wrong == []


def test_the_rules_have_no_cycle_but_the_one_of_link_and_its_lints() -> None:
    """A unit is not among the units behind it."""
    behind = {unit: set(units) - ({"lint"} if unit == "link" else set()) for unit, units in ALLOWED.items()}
    for unit in behind:
        reached: set[str] = set()
        ahead = set(behind[unit])
        while ahead:
            other = ahead.pop()
            if other not in reached:
                reached.add(other)
                ahead |= behind.get(other, set())
        assert unit not in reached, unit


def test_a_run_imports_nothing_slow() -> None:
    """The run path leaves numpy, argparse, rich and typer alone; numbers that matter are in the CLI's tests."""
    slow = {"numpy", "scipy", "argparse", "matplotlib", "typer", "pandas"}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            found = slow.intersection(name.split(".")[0] for name in names)
            assert not found, f"{path}: {found}"
