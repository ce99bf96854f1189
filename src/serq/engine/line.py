"""First-in, first-out lines of sessions: the ready list, a pool's waiting line, its growers.

Input: sessions joining and leaving. Output: the head. Invariants: the order is the order of joining; leaving from the
middle
keeps it; a session is in at most one line, so the line is linked through the sessions themselves (`behind`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy_extensions import i64

if TYPE_CHECKING:
    from serq.engine.session import Session


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
