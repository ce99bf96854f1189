"""What a command prints: the one place that writes to stdout.

Invariants: a command prints once, when it has succeeded; a reader that went away is no fault, a full disk is one.
"""

from __future__ import annotations

import os
import sys


class StdoutFailed(Exception):
    """Stdout cannot be written, and not because its reader went away."""


def emit(text: str) -> None:
    """Print a command's result. Raises `BrokenPipeError` or `StdoutFailed`."""
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
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
