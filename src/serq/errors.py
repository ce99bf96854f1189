"""What can go wrong, by whose fault it is.

* `ProgramError`: the program, its IR or its trace. Carries diagnostics.
* `RunFailed`, a `ProgramError`: the run could not go on. Carries the moment as well.
* `InternalError`: serq itself. Carries what reproduces it.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from serq.diagnostics import Diagnostic, ProgramError

__all__ = ["InternalError", "ProgramError", "RunFailed"]


class RunFailed(ProgramError):
    """The run could not go on: a value that cannot be meant, or an instant that never settles.

    Attributes
    ----------
    time : [t] when; session : serial number, or -1; turn : its turn_no
    """

    def __init__(self, diagnostic: Diagnostic, time: float, session: int, turn: int) -> None:
        super().__init__([diagnostic])
        self.args = (diagnostic, time, session, turn)
        self.time = time
        self.session = session
        self.turn = turn


class InternalError(Exception):
    """A fault of ours.

    Attributes
    ----------
    what : the exception, in one line
    command : the command line that brought it about
    """

    def __init__(self, what: str, command: str) -> None:
        super().__init__(what)
        self.what = what
        self.command = command

    @classmethod
    def of(cls, problem: BaseException, arguments: Sequence[str]) -> InternalError:
        """Wrap an unexpected exception together with the arguments of the command line."""
        text = " ".join(str(problem).split())
        kind = type(problem).__name__
        return cls(f"{kind}: {text}" if text else kind, shlex.join(["serq", *arguments]))

    def report(self) -> str:
        """Give what a person is told."""
        from serq.version import version_line

        return (
            f"serq: internal error: {self.what}\n"
            f"this is a fault of serq, not of the program; it can be reproduced with\n"
            f"    {self.command}\n"
            f"({version_line()}; SERQ_DEBUG=1 shows where it happened)\n"
        )
