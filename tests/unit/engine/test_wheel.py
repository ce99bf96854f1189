"""The timing wheel against a list: jobs scheduled at ticks to come, taken out early, and due one tick after another."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from serq.engine.residents import put_in_order
from serq.engine.session import Job, Session
from serq.engine.stage import Stage
from serq.engine.statements import EndStatement
from serq.engine.wheel import SLOTS_AT_FIRST, TimingWheel

JOBS = 10

# how far off; a round is SLOTS_AT_FIRST ticks, so some jobs pass their slot once or more before they are due
AHEAD = st.sampled_from([1, 1, 2, 3, SLOTS_AT_FIRST, SLOTS_AT_FIRST + 1, 2 * SLOTS_AT_FIRST])
# which job and when; None takes it out; -1 is a tick
ACTIONS = st.lists(st.tuples(st.integers(-1, JOBS - 1), AHEAD | st.none()), max_size=60)


def new_jobs(count: int) -> list[Job]:
    stage = Stage(0, "engine", -1)
    session = Session(0, 4, EndStatement(-1))
    return [Job(session, stage, 1.0, number) for number in range(count)]


def take_all_due(wheel: TimingWheel) -> set[int]:
    """Take out those due now, and give their numbers."""
    taken = []
    is_due = wheel.due() is not None
    job = wheel.take_due()
    assert is_due is (job is not None)
    while job is not None:
        assert not job.is_scheduled
        taken.append(int(job.job_number))
        behind = job.in_slot_behind
        job.in_slot_behind = None
        job = behind
    assert wheel.due() is None and len(taken) == len(set(taken))
    return set(taken)


@given(ACTIONS)
def test_wheel_is_a_list_of_ticks(actions: list[tuple[int, int | None]]) -> None:
    wheel = TimingWheel()
    jobs = new_jobs(JOBS)
    due_at: dict[int, int] = {}
    tick = 0
    for which, ahead in [*actions, *[(-1, 1)] * (2 * SLOTS_AT_FIRST)]:
        if which < 0:
            tick += 1
            wheel.tick += 1
            expected = {number for number, at in due_at.items() if at == tick}
            assert take_all_due(wheel) == expected
            due_at = {number: at for number, at in due_at.items() if at > tick}
        elif which in due_at:
            wheel.cancel(jobs[which])
            del due_at[which]
        elif ahead is not None:
            wheel.schedule(jobs[which], float(tick + ahead))
            due_at[which] = tick + ahead
        assert wheel.count == len(due_at)
        assert [job.is_scheduled for job in jobs] == [number in due_at for number in range(JOBS)]
    assert not due_at


def test_wheel_grows_with_its_jobs() -> None:
    """Slots double while jobs of several rounds are in; each comes out at its own tick."""
    wheel = TimingWheel()
    jobs = new_jobs(5 * SLOTS_AT_FIRST)
    due_at = {number: 1 + (number * 7919) % 3001 for number in range(len(jobs))}
    for number, at in due_at.items():
        wheel.schedule(jobs[number], float(at))
    assert len(wheel.slots) >= len(jobs)
    for number in range(0, len(jobs), 3):
        wheel.cancel(jobs[number])
        del due_at[number]
    for tick in range(1, 3002):
        wheel.tick += 1
        assert take_all_due(wheel) == {number for number, at in due_at.items() if at == tick}
    assert wheel.count == 0


def test_jobs_are_sorted_by_admission() -> None:
    """And those of one admission by their own number, whatever order they were in."""
    generator = random.Random(5)
    for count in (0, 1, 2, 3, 50):
        jobs = new_jobs(count)
        for job in jobs:
            job.admission = generator.randrange(10)
        for _ in range(5):
            put_in_order(jobs)
            found = [(int(job.admission), int(job.job_number)) for job in jobs]
            assert found == sorted(found)
            generator.shuffle(jobs)
