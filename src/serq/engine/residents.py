"""The residents of an engine in the order of their admission, linked through the jobs; and whom an iteration serves.

Input: jobs that come and go. Output: the line, walked by `behind` from its head or by `ahead` from its tail.
Invariants: sorted by (admission number, job number); a job is in one line at most, so its links serve either.
"""

from __future__ import annotations

from mypy_extensions import i64

from serq.engine.line import JobLine
from serq.engine.session import Job


class ResidentLine(JobLine):
    """A sorted line; who comes last is put at its end without a search.

    Attributes
    ----------
    count : how many there are, a float: it goes into sums, and compiled it takes long to make one of an integer
    """

    def __init__(self) -> None:
        super().__init__()
        self.count = 0.0

    def insert(self, job: Job) -> None:
        """Put a job in its place."""
        ahead = self.tail
        while ahead is not None and is_before(job, ahead):
            ahead = ahead.ahead
        self.count += 1.0
        job.ahead = ahead
        if ahead is None:
            behind = self.head
            self.head = job
        else:
            behind = ahead.behind
            ahead.behind = job
        job.behind = behind
        if behind is None:
            self.tail = job
        else:
            behind.ahead = job

    def remove(self, job: Job) -> None:
        super().remove(job)
        self.count -= 1.0


def is_before(one: Job, other: Job) -> bool:
    """Tell whether a job was admitted before another; of one admission the job that started first comes first."""
    if one.admission != other.admission:
        return one.admission < other.admission
    return one.job_number < other.job_number


def put_in_order(jobs: list[Job]) -> None:
    """Sort jobs by their admission; they mostly are."""
    for i in range(1, len(jobs)):
        if is_before(jobs[i], jobs[i - 1]):
            jobs.sort(key=lambda job: (job.admission, job.job_number))
            return


class Batch:
    """The jobs an iteration serves one by one, in the order served; the list keeps its length for the next iteration.

    Attributes
    ----------
    jobs : the first `count` are in the batch
    """

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.count: i64 = 0

    def add(self, job: Job) -> None:
        """Put a job at the end."""
        if self.count < len(self.jobs):
            self.jobs[self.count] = job
        else:
            self.jobs.append(job)
        self.count += 1

    def listed(self) -> list[Job]:
        """Give the jobs as a list of their own."""
        return self.jobs[: self.count]

    def put(self, jobs: list[Job]) -> None:
        """Be these jobs."""
        self.jobs = jobs
        self.count = len(jobs)

    def remove(self, job: Job) -> None:
        """Take a job out, if it is there."""
        jobs = self.listed()
        if job in jobs:
            jobs.remove(job)
            self.put(jobs)

    def clear(self) -> None:
        """Be empty."""
        self.count = 0
