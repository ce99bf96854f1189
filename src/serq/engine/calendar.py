"""The event calendar: what happens next, in the order (time, sequence number).

Input: events to schedule, move or take out. Output: the earliest one.
Invariants: the sequence number is given when an event is scheduled and is the only tie-break (language §3, Ties); an
event that
is moved or cancelled leaves nothing stale behind. The order is total, so the shape of the heap never shows in a run.

The heap is a pairing heap of the events themselves, linked by their attributes: compiled, that is faster here than any
list,
whose items are checked and counted at every access (docs/design/0007).

References: M. L. Fredman, R. Sedgewick, D. D. Sleator, R. E. Tarjan, "The pairing heap" (Algorithmica 1, 1986).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy_extensions import i64

if TYPE_CHECKING:
    from serq.engine.world import World


class Event:
    """Something that will happen.

    Attributes
    ----------
    at : [t] when, once scheduled; number : its sequence number
    is_scheduled : whether it is in the calendar
    is_arrival : whether a session comes with it, so that it cannot free what others wait for
    child, sibling, previous : its links in the heap (first child, next sibling, left sibling or parent)
    """

    def __init__(self) -> None:
        self.at = 0.0
        self.number: i64 = 0
        self.is_scheduled = False
        self.is_arrival = False
        self.child: Event | None = None
        self.sibling: Event | None = None
        self.previous: Event | None = None

    def fire(self, world: World) -> None:
        """Happen."""
        raise NotImplementedError


class Calendar:
    """The events to come."""

    def __init__(self) -> None:
        self.first: Event | None = None
        self.scheduled_count: i64 = 0

    def schedule(self, event: Event, at: float) -> None:
        """Put an event at a time, behind all that was scheduled before for that time; move it when it is there."""
        if event.is_scheduled:
            self.cancel(event)
        event.at = at
        event.number = self.scheduled_count
        self.scheduled_count += 1
        event.is_scheduled = True
        earliest = self.first
        if earliest is None:
            self.first = event
            return
        first = earliest  # no option from here on: compiled, an option is looked at again at every use
        if at < first.at:
            event.child = first
            first.previous = event
            self.first = event
        else:  # at an equal time too: no other number is as high
            child = first.child
            if child is not None:
                event.sibling = child
                child.previous = event
            event.previous = first
            first.child = event

    def pop(self) -> Event:
        """Take the earliest event, which must exist."""
        first = self.first
        assert first is not None
        self.drop_first()
        return first

    def drop_first(self) -> None:
        """Take the earliest event out, which must exist."""
        earliest = self.first
        assert earliest is not None
        first = earliest
        first.is_scheduled = False
        below = first.child
        if below is None:
            self.first = None
            return
        child = below
        first.child = None
        if child.sibling is None:
            child.previous = None
            self.first = child
        else:
            self.first = combine(child)

    def cancel(self, event: Event) -> None:
        """Take an event out."""
        if not event.is_scheduled:
            return
        if event is self.first:
            self.drop_first()
            return
        event.is_scheduled = False
        previous = event.previous
        sibling = event.sibling
        assert previous is not None
        if previous.child is event:
            previous.child = sibling
        else:
            previous.sibling = sibling
        if sibling is not None:
            sibling.previous = previous
        event.previous = None
        event.sibling = None
        child = event.child
        if child is not None:
            event.child = None
            first = self.first
            assert first is not None
            self.first = meld(first, combine(child))

    def is_due(self, now: float) -> bool:
        """Tell whether another event waits at this very instant."""
        first = self.first
        return first is not None and first.at <= now


def meld(one: Event, other: Event) -> Event:
    """Join two heaps, each without siblings; give the root, the earlier of the two."""
    if other.at < one.at or (other.at == one.at and other.number < one.number):
        root, under = other, one
    else:
        root, under = one, other
    child = root.child
    under.sibling = child
    if child is not None:
        child.previous = under
    under.previous = root
    root.child = under
    return root


def combine(siblings: Event) -> Event:
    """Join a row of siblings: in pairs from the left, then the pairs from the right."""
    paired: Event | None = None
    rest: Event | None = siblings
    while rest is not None:
        one = rest
        other = one.sibling
        one.previous = None
        if other is None:
            rest = None
            root = one
        else:
            rest = other.sibling
            one.sibling = None
            other.sibling = None
            other.previous = None
            root = meld(one, other)
        root.sibling = paired
        paired = root
    assert paired is not None
    result = paired
    remaining = result.sibling
    result.sibling = None
    while remaining is not None:
        following = remaining.sibling
        remaining.sibling = None
        result = meld(result, remaining)
        remaining = following
    return result
