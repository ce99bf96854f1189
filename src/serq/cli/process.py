"""The process `serq`: begun and ended without what a process this short does not need.

Input: the arguments of the process. Output: its exit code.

Invariant: nothing of ours is imported before the garbage collector rests, so this module and `serq` itself import next
to nothing. Only a process may decide this; `main` is for those who stay.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` is to be loaded while the collector rests
    from typing import NoReturn


def run_process() -> NoReturn:
    """Run the command line, then end without taking the interpreter apart.

    The collector would look again and again at what imports leave and find nothing: hardly anything here is part of a
    cycle. To take the interpreter apart would free one by one what the system takes back at once, and nothing waits for
    it: files are closed, stdout is flushed by `emit`. mypy does both.
    """
    gc.disable()
    from contextlib import suppress

    try:
        from serq.cli.main import main

        code = main()
    except KeyboardInterrupt:  # before `main` could see it
        code = 130
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed by whoever started us, or a reader that left
            stream.flush()
    os._exit(code)
