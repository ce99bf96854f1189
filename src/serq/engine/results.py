"""What a run leaves behind: plain values, ready to be summarised and reported.

Input: nothing (these are the types the loop fills). Units: [t] is the program's clock, [units] a pool's.
"""

from __future__ import annotations

from librt.vecs import append, vec
from mypy_extensions import i64, mypyc_attr


class ObserveResult:
    """The samples of one observe, those at or after the warm-up, in the order sampled.

    `times` [t], `sessions` (serial numbers) and `turns` stay empty unless the run records them; with a sink they are
    those of the samples from `first_kept` on, which it has not taken yet.
    """

    def __init__(self, name: str, is_test: bool) -> None:
        self.name = name
        self.is_test = is_test
        self.values = vec[float]()
        self.times = vec[float]()
        self.sessions = vec[i64]()
        self.turns = vec[i64]()
        self.first_kept: i64 = 0

    def record(self, time: float, session: i64, turn: i64) -> None:
        """Note where the latest sample was taken."""
        self.times = append(self.times, time)
        self.sessions = append(self.sessions, session)
        self.turns = append(self.turns, turn)

    def forget_rows(self) -> None:
        """Let go of what a sink has taken; the values stay."""
        self.first_kept = len(self.values)
        self.times = vec[float]()
        self.sessions = vec[i64]()
        self.turns = vec[i64]()


@mypyc_attr(allow_interpreted_subclasses=True)
class SampleSink:
    """Takes the samples of a run as they come, so that they need not all be held; subclass it and override `take`."""

    def take(self, observe: ObserveResult) -> None:
        """Take the rows of an observe that were not taken yet; the run forgets them then.

        They are its `times`, `sessions` and `turns`, and its values from `first_kept` on.
        """


class GaugeResult:
    """A gauge's change points from time 0: one per instant, consecutive values different."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.times = vec[float]()
        self.values = vec[float]()


class StageResult:
    """One stage's figures; `index` is -1 when it is no family member."""

    def __init__(self, name: str, index: int) -> None:
        self.name = name
        self.index = index
        self.mean_number = 0.0
        self.utilization = 0.0
        self.completed = 0
        self.throughput = 0.0
        self.mean_wait = 0.0
        self.mean_service = 0.0
        self.iterations = 0


class PoolResult:
    """One pool's figures; `index` is -1 when it is no family member."""

    def __init__(self, name: str, index: int) -> None:
        self.name = name
        self.index = index
        self.mean_used = 0.0
        self.mean_cached = 0.0
        self.mean_queue = 0.0
        self.mean_holders = 0.0
        self.mean_wait = 0.0
        self.admissions = 0
        self.evicted_entries = 0
        self.evicted_units = 0.0
        self.preemptions = 0
        self.spills = 0
        self.rejected = 0
        self.stuck = 0


class IterationResult:
    """The iterations of a run's step stages as flat columns, in the order they started.

    Attributes
    ----------
    stages : index of the stage; starts, costs : [t]
    tokens, decoders, prefilled, attention, kv_decode, kv_prefill, residents : what the cost could read
    waiting : sessions in the lines of the pools the stage serves, once the iteration was formed
    free : units of the stage's memory that nobody holds (a cached prefix is free), NaN without a memory
    batch_ends, preempted_ends : where the iteration's jobs and preemptions end in the columns below
    sessions, turns, job_tokens, positions, modes, allocations, admissions, sites : of each scheduled job, in batch
        order: serial, turn_no, tokens, position before them (0 for a run that does not grow), 1 for a decode,
        allocation on the memory [units], number of its admission, site of its run statement (-1 when it does not grow)
    preempted_sessions, preempted_turns, preempted_sites : serial, turn_no, site of the run that was broken off
    """

    def __init__(self) -> None:
        self.stages: list[int] = []
        self.starts: list[float] = []
        self.costs: list[float] = []
        self.tokens: list[float] = []
        self.decoders: list[float] = []
        self.prefilled: list[float] = []
        self.attention: list[float] = []
        self.kv_decode: list[float] = []
        self.kv_prefill: list[float] = []
        self.residents: list[float] = []
        self.waiting: list[int] = []
        self.free: list[float] = []
        self.batch_ends: list[int] = []
        self.sessions: list[int] = []
        self.turns: list[int] = []
        self.job_tokens: list[float] = []
        self.positions: list[float] = []
        self.modes: list[int] = []
        self.allocations: list[float] = []
        self.admissions: list[int] = []
        self.sites: list[int] = []
        self.preempted_ends: list[int] = []
        self.preempted_sessions: list[int] = []
        self.preempted_turns: list[int] = []
        self.preempted_sites: list[int] = []


class RunNote:
    """Something a reader of the report must know.

    Attributes
    ----------
    kind : "rejected" (a request can never fit, and left), "unfit" (it can never fit, and waits: `unfit wait`),
        "blocked" (nothing can move any more: the session waits for room in the pool), "stuck" (preempted again and
        again without advancing)
    session : serial number; turn : its turn_no; pool : its index; site : of the statement, or -1
    units, available : [units] what was wanted and what is free (for "rejected" and "unfit": the cap)
    cap : [units] what the pool has in all
    since : [t] when it last moved
    stage : of the engine that admits to the pool, or whose memory it is; -1 when there is none, or several
    iteration : the last that this engine had begun then, 0 before its first
    iteration_end : [t] when that iteration ends or ended
    count : how many sessions the note stands for (the first few have one each, the last stands for the rest too; a
        session at the head of a line stands for those behind it)
    blocks_run : whether the run could not go on because of it (`--strict` fails)
    holds_on : whether it waits to grow to what the pool has, and others hold theirs, for the pool preempts nobody
    standing : of the sessions a "stuck" note counts, those that never got further to the end of the run
    """

    def __init__(
        self,
        kind: str,
        session: int,
        pool: int,
        site: int,
        units: float,
        available: float,
        since: float,
        count: int,
        blocks_run: bool,
    ) -> None:
        self.kind = kind
        self.session = session
        self.pool = pool
        self.site = site
        self.units = units
        self.available = available
        self.since = since
        self.count = count
        self.blocks_run = blocks_run
        self.holds_on = False
        self.standing = 0
        self.turn = 0
        self.cap = 0.0
        self.stage = -1
        self.iteration = 0
        self.iteration_end = 0.0


class RunResult:
    """Everything a run measured. Counters marked in the language notes run from time 0, the rest from the warm-up."""

    def __init__(self) -> None:
        self.horizon = 0.0
        self.end = 0.0
        self.warmup = 0.0
        self.seed = 0
        self.events = 0
        self.arrivals = 0
        self.ended = 0
        self.turns = 0
        self.mean_live = 0.0
        self.is_open = False  # sessions arrive from outside, however many are there
        self.live_at_warmup = 0
        self.live_at_end = 0
        self.arrivals_measured = 0  # at or after the warm-up
        self.observes: list[ObserveResult] = []
        self.gauges: list[GaugeResult] = []
        self.stages: list[StageResult] = []
        self.pools: list[PoolResult] = []
        self.notes: list[RunNote] = []
        self.iterations: IterationResult | None = None  # of a run that was asked for them


class RunError(Exception):
    """The run cannot go on: a value that cannot be meant, or an instant that never settles.

    Attributes
    ----------
    name : the diagnostic's name (guard-not-boolean, index-out-of-range, amount-not-valid, …)
    message : one sentence, lower case; detail and help : more, or ""
    site : of the expression or statement (an index into the linked program's sites), or -1
    time : [t]; session : serial number or -1; turn : the session's turn_no
    """

    def __init__(self, name: str, message: str, site: int, help_text: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.site = site
        self.help_text = help_text
        self.time = 0.0
        self.session = -1
        self.turn = 0


def shown(value: float) -> str:
    """Give a number as a person writes it: whole numbers without a fraction, others with all their digits."""
    if -1e15 < value < 1e15 and value == float(int(value)):
        return str(int(value))
    return repr(value)
