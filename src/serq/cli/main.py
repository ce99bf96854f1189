"""`serq`: find the command, run it, and turn whatever happens into an exit code.

Input: the arguments. Output: an exit code; text on stdout when a command succeeds, and only then; messages on stderr.

    0    done
    1    the program, its IR, trace, output or run is at fault
    2    the command line is
    70   serq is; the message says how to reproduce it
    130  interrupted; 141 the reader of stdout went away

Invariant: what a plain `serq run` does not need is not imported for it, click included (`quick.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from serq.cli.output import StdoutFailed, rendered, say
from serq.cli.quick import read_run
from serq.cli.simulate import simulate
from serq.diagnostics.diagnostic import ProgramError

EXIT_DONE, EXIT_PROGRAM, EXIT_USAGE, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_PIPE = 0, 1, 2, 70, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        request = read_run(given)
        if request is not None:
            return simulate(request)
        from serq.cli.commands import invoke

        return invoke(given)
    except ProgramError as problem:
        say(rendered(problem.diagnostics, _format_wanted(given)))
        return EXIT_PROGRAM
    except StdoutFailed as problem:
        say(f"serq: stdout cannot be written: {problem}\n")
        return EXIT_PROGRAM
    except BrokenPipeError:
        return EXIT_PIPE
    except KeyboardInterrupt:
        say("serq: interrupted\n")
        return EXIT_INTERRUPTED
    except Exception as problem:
        from serq.errors import InternalError

        if os.environ.get("SERQ_DEBUG", "") not in {"", "0"}:
            import traceback

            traceback.print_exc()
        say(InternalError.of(problem, given).report())
        return EXIT_INTERNAL


def _format_wanted(arguments: list[str]) -> str:
    """Give the value of `--format`, which click has already checked."""
    form = "text"
    for index, argument in enumerate(arguments):
        if argument == "--format" and index + 1 < len(arguments):
            form = arguments[index + 1]
        elif argument.startswith("--format="):
            form = argument.removeprefix("--format=")
    return form
