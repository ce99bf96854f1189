"""What a command prints: the one place that writes to stdout.

Invariants: a command prints once, when it has succeeded; a reader that went away is no fault, a full disk is one.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from serq.diagnostics import Diagnostic


class StdoutFailed(Exception):
    """Stdout cannot be written, and not because its reader went away."""


def emit(text: str) -> None:
    """Print a command's result. Raises `BrokenPipeError` or `StdoutFailed`."""
    if sys.stdout is None:  # closed by whoever started us
        raise StdoutFailed("it is closed")
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:  # a terminal of another alphabet, or a file name that is no text
            encoding = sys.stdout.encoding
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        abandon_stdout()
        raise
    except OSError as problem:
        abandon_stdout()
        raise StdoutFailed((problem.strerror or str(problem)).lower()) from None


def abandon_stdout() -> None:
    """Point stdout elsewhere, so that what is still buffered does not fail again when the interpreter closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Tell something on stderr; when that is closed, the exit code is all that is left to tell."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass


def rendered(diagnostics: Iterable[Diagnostic], form: str) -> str:
    """Draw findings in the form asked for; "" for none."""
    found = list(diagnostics)
    if not found:
        return ""
    if form == "json":
        from serq.diagnostics.render_json import render_json

        return render_json(found)
    if form == "concise":
        from serq.diagnostics.render_concise import render_concise

        return render_concise(found)
    from serq.diagnostics.render_text import render_text

    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    return render_text(found, colour=on_terminal and not os.environ.get("NO_COLOR"))
