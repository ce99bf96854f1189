"""A first-in, first-out line of sessions: the ready list, a pool's waiting line, its growers.

Input: sessions joining and leaving. Output: the head. Invariant: the order is the order of joining; leaving from the middle
keeps it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy_extensions import i64

if TYPE_CHECKING:
    from serq.engine.session import Session


class SessionLine:
    """A list with a moving head; the passed part is cut off once it is the larger half."""

    def __init__(self) -> None:
        self.items: list[Session] = []
        self.head: i64 = 0

    def count(self) -> i64:
        """Give how many wait."""
        return len(self.items) - self.head

    def append(self, session: Session) -> None:
        """Join at the end."""
        self.items.append(session)

    def first(self) -> Session:
        """Give the head, which must exist."""
        return self.items[self.head]

    def at(self, offset: i64) -> Session:
        """Give the session `offset` places behind the head."""
        return self.items[self.head + offset]

    def pop_first(self) -> Session:
        """Take the head."""
        head: i64 = self.head
        size: i64 = len(self.items)
        if head == 0 and size == 1:
            return self.items.pop()
        session = self.items[head]
        head += 1
        if head == size:
            self.items.clear()
            head = 0
        elif head > 64 and 2 * head > size:
            del self.items[:head]
            head = 0
        self.head = head
        return session

    def remove(self, session: Session) -> bool:
        """Take one out from anywhere; tell whether it was there."""
        items = self.items
        i: i64 = self.head
        size: i64 = len(items)
        while i < size:
            if items[i] is session:
                if i == self.head:
                    self.pop_first()
                else:
                    del items[i]
                return True
            i += 1
        return False
