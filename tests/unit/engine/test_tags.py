"""The heap of a processor-sharing stage against a sorted list: ties, removals, slots used again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from serq.engine.session import Job, Session
from serq.engine.stage import Stage
from serq.engine.statements import EndStatement
from serq.engine.tags import TagHeap

STEPS = st.lists(st.tuples(st.sampled_from(["push", "push", "pop", "remove"]), st.integers(0, 9)), max_size=120)


@given(STEPS)
def test_the_heap_gives_the_smallest_tag_then_the_earliest_job(steps: list[tuple[str, int]]) -> None:
    """Few distinct tags, so that most comparisons are ties."""
    session, stage = Session(0, 4, EndStatement(-1)), Stage(0, "s", -1)
    heap = TagHeap()
    present: list[tuple[float, int, Job]] = []
    for number, (step, choice) in enumerate(steps):
        if step == "push":
            job = Job(session, stage, 1.0, number)
            heap.push(job, float(choice))
            present.append((float(choice), number, job))
            present.sort(key=lambda entry: entry[:2])
        elif step == "pop" and present:
            tag, _, job = present.pop(0)
            assert heap.first_tag() == tag
            assert heap.pop() is job
        elif present:
            tag, _, job = present.pop(choice % len(present))
            assert heap.remove(job) == tag
        assert heap.size == len(present)
    while present:
        assert heap.pop() is present.pop(0)[2]


def test_a_slot_is_used_again() -> None:
    """A thousand jobs one after another take the room of one."""
    session, stage = Session(0, 4, EndStatement(-1)), Stage(0, "s", -1)
    heap = TagHeap()
    for number in range(1000):
        heap.push(Job(session, stage, 1.0, number), 1.0)
        heap.pop()
    assert len(heap.jobs) == 1
