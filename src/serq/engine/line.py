"""First-in, first-out lines: of sessions (a pool's waiting line, its growers) and of jobs at a stage.

Input: sessions or jobs joining and leaving. Output: the head. Invariants: the order is the order of joining; leaving
from the middle keeps it; a session is in at most one line, and so is a job, so the lines are linked through their
members (`behind`, and `ahead` for jobs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy_extensions import i64

if TYPE_CHECKING:
    from serq.engine.session import Job, Session


class SessionLine:
    """A linked line."""

    def __init__(self) -> None:
        self.head: Session | None = None
        self.tail: Session | None = None
        self.count: i64 = 0

    def append(self, session: Session) -> None:
        """Join at the end."""
        tail = self.tail
        if tail is None:
            self.head = session
        else:
            tail.behind = session
            session.ahead = tail
        self.tail = session
        self.count += 1

    def pop_first(self) -> Session:
        """Take the head, which must exist."""
        session = self.head
        assert session is not None
        behind = session.behind
        self.head = behind
        if behind is None:
            self.tail = None
        else:
            behind.ahead = None
            session.behind = None
        self.count -= 1
        return session

    def remove(self, session: Session) -> None:
        """Take one out from anywhere, if it is there (a session that is running is ready and in no line)."""
        if self.head is session:
            self.pop_first()
            return
        ahead = session.ahead
        if ahead is None:
            return
        behind = session.behind
        ahead.behind = behind
        if behind is None:
            self.tail = ahead
        else:
            behind.ahead = ahead
        session.ahead = None
        session.behind = None
        self.count -= 1


class JobLine:
    """A first-in, first-out line of jobs, linked through the jobs; leaving from anywhere takes no search."""

    def __init__(self) -> None:
        self.head: Job | None = None
        self.tail: Job | None = None

    def append(self, job: Job) -> None:
        """Join at the end."""
        tail = self.tail
        job.ahead = tail
        if tail is None:
            self.head = job
        else:
            tail.behind = job
        self.tail = job

    def drop_first(self, job: Job) -> None:
        """Take the head, which the caller has, out."""
        behind = job.behind
        self.head = behind
        if behind is None:
            self.tail = None
        else:
            behind.ahead = None
            job.behind = None

    def remove(self, job: Job) -> None:
        """Take one out."""
        ahead = job.ahead
        behind = job.behind
        if ahead is None:
            self.head = behind
        else:
            ahead.behind = behind
            job.ahead = None
        if behind is None:
            self.tail = ahead
        else:
            behind.ahead = ahead
            job.behind = None
