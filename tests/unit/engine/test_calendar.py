"""The calendar against a sorted list: schedule, move, cancel and pop in any order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from serq.engine.calendar import Calendar, Event

EVENTS = 12

# which event, and when: few times, so that ties are common; None cancels, and -1 pops
ACTIONS = st.lists(
    st.tuples(st.integers(0, EVENTS - 1), st.sampled_from([-1.0, None, 0.0, 1.0, 1.0, 2.0, 2.5, 1e300])), max_size=80
)


@given(ACTIONS)
def test_calendar_is_a_sorted_list(actions: list[tuple[int, float | None]]) -> None:
    """Ordered by time, then by when it was scheduled; an event that moves goes behind its new time's others."""
    calendar = Calendar()
    events = [Event() for _ in range(EVENTS)]
    model: list[tuple[float, int, int]] = []
    number = 0
    for which, at in actions:
        if at == -1.0:
            if model:
                expected = model.pop(0)
                popped = calendar.pop()
                assert popped is events[expected[2]]
                assert not popped.is_scheduled
        else:
            model = [entry for entry in model if entry[2] != which]
            if at is None:
                calendar.cancel(events[which])
            else:
                calendar.schedule(events[which], at)
                model.append((at, number, which))
                number += 1
                model.sort()
        first = calendar.first
        assert first is (events[model[0][2]] if model else None)
        assert [event.is_scheduled for event in events] == [
            any(entry[2] == which for entry in model) for which in range(EVENTS)
        ]
        for now in (0.0, 1.0, 2.0):
            assert calendar.is_due(now) == bool(model and model[0][0] <= now)
    while model:
        assert calendar.pop() is events[model.pop(0)[2]]
    assert calendar.first is None


def test_many_events_come_out_sorted() -> None:
    """Enough of them for the heap to be deep, cancelled from its middle as well."""
    calendar = Calendar()
    events = [Event() for _ in range(5000)]
    for place, event in enumerate(events):
        calendar.schedule(event, float((place * 7919) % 1009))
    for event in events[::3]:
        calendar.cancel(event)
    left = [event for place, event in enumerate(events) if place % 3]
    left.sort(key=lambda event: (event.at, event.number))
    assert [calendar.pop() for _ in left] == left
