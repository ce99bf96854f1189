"""A bar on stderr for runs that take longer than a second, on a terminal only.

Input: how far the clock is. Output: a bar that leaves nothing behind.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from serq.engine.simulation import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

PATIENCE = 1.0
"""[s] of silence before a bar appears; most runs are over by then, and rich need not be imported."""


class ProgressBar(Progress):
    """Shows how far a run is; as a context it removes the bar however the run ends."""

    def __init__(self, horizon: float, stream: TextIO | None) -> None:
        self.horizon = horizon
        self.stream = stream
        self.shown = stream is not None and stream.isatty()  # None: closed by whoever started us
        self.began_at = time.monotonic()
        self.bar: Bar | None = None
        self.task: TaskID | None = None

    def report(self, now: float, events: int) -> None:
        """Tell that the clock is at `now` [t]. Being interpreted, it also lets an interrupt through a compiled run."""
        if not self.shown or time.monotonic() - self.began_at < PATIENCE:
            return
        if self.bar is None:
            from rich.console import Console
            from rich.progress import Progress as Bar

            self.bar = Bar(console=Console(file=self.stream), transient=True)
            self.bar.start()
            self.task = self.bar.add_task("simulating", total=self.horizon)
        if self.task is not None:
            self.bar.update(self.task, completed=min(now, self.horizon))

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
