"""The jobs of a processor-sharing stage by finish tag.

Input: jobs with the virtual time at which each is done. Output: the one that is done first.
Invariants: equal tags come in the order of the job numbers, so the order is total and the heap's shape never shows; a
job's `slot` is its place in `jobs` while it is present.

A heap of four children a node over two arrays, the tags and the slots: its children lie side by side in memory and it
is half as deep as a binary one; compiled, a comparison of two tags touches no job.

References: D. B. Johnson, "Priority queues with update and finding minimum spanning trees" (Information Processing
Letters 4, 1975): d-ary heaps; A. LaMarca and R. E. Ladner, "The influence of caches on the performance of heaps"
(Journal of Experimental Algorithmics 1, 1996): why four.
"""

from __future__ import annotations

from typing import Final

from librt.vecs import append, vec
from mypy_extensions import i64

from serq.engine.session import Job


class TagHeap:
    """Jobs by (tag, job number); `size` of them."""

    def __init__(self) -> None:
        self.size: i64 = 0
        self.tags = vec[float]()
        self.slots = vec[i64]()
        self.jobs: Final[list[Job]] = []  # by slot; a free slot keeps the job it had
        self.free_slots = vec[i64]()
        self.free_count: i64 = 0

    def first_tag(self) -> float:
        """Give the smallest tag; there is one."""
        return self.tags[0]

    def push(self, job: Job, tag: float) -> None:
        """Let a job come."""
        place: i64 = self.size
        self.size = place + 1
        if place == len(self.tags):
            self.tags = append(self.tags, tag)
            self.slots = append(self.slots, 0)
        slot: i64
        if self.free_count > 0:
            self.free_count -= 1
            slot = self.free_slots[self.free_count]
            self.jobs[slot] = job
        else:
            slot = len(self.jobs)
            self.jobs.append(job)
            self.free_slots = append(self.free_slots, 0)
        job.slot = slot
        self._rise(place, tag, slot)

    def pop(self) -> Job:
        """Let the job with the smallest tag go; there is one."""
        slot: i64 = self.slots[0]
        self._take_out(0)
        return self.jobs[slot]

    def remove(self, job: Job) -> float:
        """Let a job that is present go; give its tag."""
        slots = self.slots
        place: i64 = 0
        while slots[place] != job.slot:
            place += 1
        tag = self.tags[place]
        self._take_out(place)
        return tag

    def _take_out(self, place: i64) -> None:
        self.free_slots[self.free_count] = self.slots[place]
        self.free_count += 1
        last: i64 = self.size - 1
        self.size = last
        if place < last:
            tag = self.tags[last]
            slot: i64 = self.slots[last]
            place = self._sink(place, tag, slot)
            self._rise(place, tag, slot)

    def _precedes(self, slot: i64, other: i64) -> bool:
        """Order two jobs of one tag."""
        return self.jobs[slot].job_number < self.jobs[other].job_number

    def _rise(self, place: i64, tag: float, slot: i64) -> None:
        """Put a job where it belongs between a place and the root."""
        tags = self.tags
        slots = self.slots
        while place > 0:
            above: i64 = (place - 1) >> 2
            over = tags[above]
            if over <= tag and (over < tag or self._precedes(slots[above], slot)):
                break
            tags[place] = over
            slots[place] = slots[above]
            place = above
        tags[place] = tag
        slots[place] = slot

    def _sink(self, place: i64, tag: float, slot: i64) -> i64:
        """Move smaller children up, from a place on; give the place that is left for a job."""
        tags = self.tags
        slots = self.slots
        size: i64 = self.size
        while True:
            best: i64 = 4 * place + 1
            if best >= size:
                return place
            least = tags[best]
            child: i64 = best + 1
            end: i64 = best + 4
            if end > size:
                end = size
            while child < end:
                other = tags[child]
                if other <= least and (other < least or self._precedes(slots[child], slots[best])):
                    best = child
                    least = other
                child += 1
            if tag <= least and (tag < least or self._precedes(slot, slots[best])):
                return place
            tags[place] = least
            slots[place] = slots[best]
            place = best
