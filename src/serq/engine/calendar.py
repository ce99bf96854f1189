"""The event calendar: what happens next, in the order (time, sequence number).

Input: events to schedule, move or take out. Output: the earliest one.
Invariants: a binary heap in which every event knows its place, so that a moved or cancelled event leaves nothing stale
behind; the sequence number is given when an event is scheduled and is the only tie-break (language §3, Ties).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy_extensions import i64

if TYPE_CHECKING:
    from serq.engine.world import World


class Event:
    """Something that will happen; `at` [t] and `number` are set by the calendar, `place` is -1 outside it."""

    def __init__(self) -> None:
        self.at = 0.0
        self.number: i64 = 0
        self.place: i64 = -1

    def fire(self, world: World) -> None:
        """Happen."""
        raise NotImplementedError


class Calendar:
    """A binary heap of events."""

    def __init__(self) -> None:
        self.heap: list[Event] = []
        self.scheduled_count: i64 = 0

    def schedule(self, event: Event, at: float) -> None:
        """Put an event at a time, behind everything scheduled before for that time; an event in the calendar is moved."""
        if event.place >= 0:
            self.cancel(event)
        event.at = at
        event.number = self.scheduled_count
        self.scheduled_count += 1
        heap = self.heap
        heap.append(event)
        self._rise(event, len(heap) - 1)

    def cancel(self, event: Event) -> None:
        """Take an event out."""
        place: i64 = event.place
        if place < 0:
            return
        event.place = -1
        heap = self.heap
        last = heap.pop()
        if last is event:
            return
        self._rise(last, place)
        self._sink(last, last.place)

    def next_event(self) -> Event | None:
        """Give the earliest event without taking it, or None."""
        heap = self.heap
        if len(heap) == 0:
            return None
        return heap[0]

    def pop(self) -> Event:
        """Take the earliest event."""
        heap = self.heap
        first = heap[0]
        first.place = -1
        last = heap.pop()
        if last is not first:
            self._sink(last, 0)
        return first

    def is_due(self, now: float) -> bool:
        """Tell whether another event waits at this very instant."""
        heap = self.heap
        return len(heap) > 0 and heap[0].at <= now

    def _rise(self, event: Event, place: i64) -> None:
        """Move an event up from a place until its parent is earlier."""
        heap = self.heap
        at = event.at
        number: i64 = event.number
        while place > 0:
            above: i64 = (place - 1) >> 1
            parent = heap[above]
            if parent.at < at or (parent.at == at and parent.number < number):
                break
            heap[place] = parent
            parent.place = place
            place = above
        heap[place] = event
        event.place = place

    def _sink(self, event: Event, place: i64) -> None:
        """Move an event down from a place until its children are later."""
        heap = self.heap
        size: i64 = len(heap)
        at = event.at
        number: i64 = event.number
        while True:
            child: i64 = 2 * place + 1
            if child >= size:
                break
            lower = heap[child]
            if child + 1 < size:
                other = heap[child + 1]
                if other.at < lower.at or (other.at == lower.at and other.number < lower.number):
                    child += 1
                    lower = other
            if at < lower.at or (at == lower.at and number < lower.number):
                break
            heap[place] = lower
            lower.place = place
            place = child
        heap[place] = event
        event.place = place
