"""serQ: a language for LLM serving deployments, its compiler and its simulator.

    import serq
    report = serq.load("examples/first/chat.sq", set={"blocks": 1000}).run(seed=3)
    print(report.observes["ttft"].mean)

    load(path), loads(text)              a `Program`; `ProgramError` says what is wrong with it
    program.run(seed=…)                  a `Report`: observes, gauges, stage(name), pool(name), to_json(), str()
    program.simulate(records_samples=True).samples(name)
                                         the samples themselves: values, times, sessions, turns

docs/reference/python.md has all of it with examples; docs/reference is the reference of the language.

What is named here is public, and nothing else is. The names are imported when they are first used, so that the command
line pays only for the stages it runs.
"""

from __future__ import annotations

from serq.version import VERSION as __version__

TYPE_CHECKING = False  # as in `typing`, which is loaded after the collector rests (`cli/process.py`)
if TYPE_CHECKING:
    from typing import Any

    from serq.api import Program, load, loads
    from serq.diagnostics import Diagnostic
    from serq.errors import InternalError, ProgramError, RunFailed
    from serq.report import Report

__all__ = [
    "Diagnostic",
    "InternalError",
    "Program",
    "ProgramError",
    "Report",
    "RunFailed",
    "__version__",
    "load",
    "loads",
]

_HOMES = {
    "Diagnostic": "serq.diagnostics",
    "InternalError": "serq.errors",
    "Program": "serq.api",
    "ProgramError": "serq.errors",
    "Report": "serq.report",
    "RunFailed": "serq.errors",
    "load": "serq.api",
    "loads": "serq.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'serq' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
