"""Which serQ this is: the version, and whether its engine is compiled."""

from __future__ import annotations

VERSION = "0.1.0"


def engine_kind() -> str:
    """Tell how the engine of this installation runs: "compiled" (mypyc) or "pure Python"."""
    import serq.engine.results as probe

    return "pure Python" if (probe.__file__ or "").endswith((".py", ".pyc")) else "compiled"


def version_line() -> str:
    """Give what `serq --version` prints."""
    return f"serq {VERSION} ({engine_kind()} engine)"
