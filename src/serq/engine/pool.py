"""A memory pool: allocations, the prefix cache, the waiting line, growth.

Input: sessions that want units. Output: admissions, evictions, growth.
Invariants: used = Σ allocations; cached = Σ entries; used + cached <= cap; allocations and entries are whole blocks
when
the pool has blocks; entries are linked in release order (time and number rise together), so `lru` takes the head.
Reference: language §3 (Pools, Waiting selection, Ties), notes §4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from serq.arithmetic import round_down, round_up
from serq.engine.averages import TimeAverage
from serq.engine.expressions import Expression, amount
from serq.engine.line import SessionLine
from serq.engine.orders import evaluate_keys, precedes
from serq.engine.preemption import PREEMPT_NONE, choose_victim
from serq.engine.ranks import RankHeap
from serq.engine.results import RunError, shown
from serq.engine.session import (
    CACHED,
    ENDED,
    GROWING,
    READY,
    WAITING,
    ActiveHold,
    Allocation,
    CacheEntry,
    Job,
    Session,
)
from serq.engine.streams import EVICTION

if TYPE_CHECKING:
    from serq.engine.stage import Stage
    from serq.engine.statements import HoldStatement
    from serq.engine.step_engine import StepEngine
    from serq.engine.world import World

SLACK: Final = 1e-9


# How a growth went.
GREW: Final = 0
STALLED: Final = 1
PREEMPTED_ITSELF: Final = 2


class Spill:
    """Evicted pieces are written to `tier` over `link`."""

    def __init__(self, tier: Pool, link: Stage, work: Expression, when: Expression) -> None:
        self.tier: Final = tier
        self.link: Final = link
        self.work: Final = work
        self.when: Final = when


class Pool:
    """One pool, or one member of a family (`member` its number, else -1)."""

    def __init__(self, index: int, name: str, member: int, cap: float, block: float) -> None:
        self.index = index
        self.name = name
        self.member = member
        self.cap = cap
        self.block = block
        self.evict_keys: list[Expression] = []
        self.evict_keys_stay = False  # they read attributes and the entry alone: `touch` tells when they change
        self.keys_read_attributes = False
        self.preempt_rule = PREEMPT_NONE
        self.preempt_keys: list[Expression] = []
        self.serves_on = False  # after a grower that was its own victim the iteration goes on with the next resident
        self.queue_keys: list[Expression] = []
        self.admit_via: StepEngine | None = None
        self.engines: list[StepEngine] = []  # whose memory it is
        self.spill: Spill | None = None
        self.unfit_waits = False
        # the last refusal, while trying again would change nothing
        self.keys_are_fixed = True  # the order of the line is the same until somebody joins or leaves
        self.line_number: i64 = 0  # rises when somebody joins or leaves
        self.refusing_pool: Pool | None = None
        self.refused_line: i64 = -1
        self.refused_used = 0.0
        self.evicts_in_order = False  # `lru` in blocks of a whole number of units, dropped
        # the state
        self.used: Final = TimeAverage()
        self.cached: Final = TimeAverage()
        self.queue: Final = TimeAverage()
        self.holders: Final = TimeAverage()
        self.preempted: Final[list[Session]] = []  # ahead of every key, the latest last
        self.line: Final = SessionLine()
        self.line_ranks: Final = RankHeap()  # of those in the line whose keys were evaluated, when keys stay
        self.first_unranked: Session | None = None  # in the line; those behind it are not ranked either
        self.joined_count: i64 = 0
        self.growers: Final = SessionLine()
        self.first_entry: CacheEntry | None = None
        self.last_entry: CacheEntry | None = None
        self.entry_ranks: Final = RankHeap()  # of the entries whose keys were evaluated, when keys stay
        self.first_unranked_entry: CacheEntry | None = None  # in release order; those after it are not ranked either
        self.stale_entries: Final[list[CacheEntry]] = []  # ranked by keys that may have changed
        self.first_allocation: Allocation | None = None
        self.last_allocation: Allocation | None = None
        # counters
        self.wait_sum = 0.0
        self.wait_count = 0
        self.admissions = 0
        self.evicted_entries = 0
        self.evicted_units = 0.0
        self.preemptions = 0
        self.spills = 0
        self.rejected = 0
        self.stuck = 0

    # -------------------------------------------------------------------------------------------------- blocks

    def whole_blocks_up(self, units: float) -> float:
        """Round an allocation up to blocks."""
        block = self.block
        if block == 0.0:
            return units
        return round_up(units / block) * block

    def whole_blocks_down(self, units: float) -> float:
        """Round a kept or reused prefix down to blocks."""
        if self.block == 0.0:
            return units
        return round_down(units / self.block) * self.block

    # -------------------------------------------------------------------------------------------- waiting line

    def join(self, w: World, session: Session, ahead: bool) -> None:
        """Put a session in the line; `ahead` is the right of a preempted hold to go before every key."""
        session.status = WAITING
        session.joined_at = w.now
        session.is_preempted = ahead
        if ahead:
            self.preempted.append(session)
        else:
            self.line.append(session)
            if self.first_unranked is None:
                self.first_unranked = session
        self.queue.add(1.0, w.now)
        self.line_number += 1
        if self.admit_via is None:
            w.waiting_count += 1
        else:
            self.admit_via.waiting_count += 1

    def leave(self, w: World, session: Session) -> None:
        """Take a session out of the line."""
        if session.is_preempted:
            self.preempted.remove(session)
            session.is_preempted = False
        else:
            if session.place >= 0:
                self.line_ranks.remove(session)
            elif self.first_unranked is session:
                self.first_unranked = session.behind
            self.line.remove(session)
        self.queue.add(-1.0, w.now)
        self.line_number += 1
        if self.admit_via is None:
            w.waiting_count -= 1
        else:
            self.admit_via.waiting_count -= 1

    def is_waited_for(self) -> bool:
        """Tell whether anybody is in the line."""
        return len(self.preempted) > 0 or self.line.count > 0

    def is_surely_refused(self) -> bool:
        """Tell whether trying the line again would come to what it came to last, and do nothing else."""
        refusing = self.refusing_pool
        return (
            refusing is not None and self.refused_line == self.line_number and refusing.used.value >= self.refused_used
        )

    def _remember_refusal(self, w: World, statement: HoldStatement, pools: list[Pool], place: i64) -> None:
        """Note that the `place`-th pool of a hold has no room, when that stays so while no less is used there."""
        self.refusing_pool = None
        pool = pools[place]
        at_least = statement.claims[place].at_least
        if at_least is None or not self.keys_are_fixed:
            return
        if pool.used.value + pool.whole_blocks_up(at_least.evaluate(w)) <= pool.cap + SLACK:
            return
        for i in range(place + 1):
            if not statement.claims[i].is_sure:
                return
            for condition in statement.claims[i].conditions:
                if not condition.evaluate(w) >= 0.0:
                    return
        self.refusing_pool = pool
        self.refused_line = self.line_number
        self.refused_used = pool.used.value

    def waiting_sessions(self) -> list[Session]:
        """Give the line: the preempted, the latest first, then the others as they joined."""
        sessions = self.preempted[::-1]
        session = self.line.head
        while session is not None:
            sessions.append(session)
            session = session.behind
        return sessions

    def select(self, w: World) -> Session:
        """Give the session to try: the latest preempted, else the smallest keys as they are now, else the first."""
        if len(self.preempted) > 0:
            return self.preempted[len(self.preempted) - 1]
        line = self.line
        best = line.head
        assert best is not None
        if len(self.queue_keys) == 0 or line.count == 1:
            return best
        if self.keys_are_fixed:
            return self._first_ranked(w)
        best_keys = self._keys_of(w, best)
        session = best.behind
        while session is not None:
            keys = self._keys_of(w, session)
            if precedes(keys, best_keys):
                best = session
                best_keys = keys
            session = session.behind
        return best

    def _first_ranked(self, w: World) -> Session:
        """Rank those who joined since the last choice; give the first of all."""
        session = self.first_unranked
        while session is not None:
            session.keys = self._keys_of(w, session)
            session.rank_number = self.joined_count
            self.joined_count += 1
            self.line_ranks.push(session)
            session = session.behind
        self.first_unranked = None
        first = self.line_ranks.first()
        assert isinstance(first, Session)
        return first

    def _keys_of(self, w: World, session: Session) -> list[float]:
        w.enter(session)
        w.waited = w.now - session.joined_at
        return evaluate_keys(w, self.queue_keys)

    def admit_one(self, w: World) -> Session | None:
        """Try the selected session, and only it: admit it when all its pools have room, else None.

        Units and reserve are evaluated now. On success the session is in the hold's body and nothing of it has run.
        """
        session = self.select(w)
        w.enter(session)
        statement = session.waiting_for
        assert statement is not None
        pools = session.waiting_pools
        assert pools is not None
        claims = statement.claims
        place: i64 = 0
        for claim in claims:
            pool = pools[place]
            wanted = amount(w, claim.units, "hold's units")
            claim.granted = pool.whole_blocks_up(wanted)
            need = claim.granted
            if claim.reserve is not None:
                need = pool.whole_blocks_up(claim.needed(w, wanted))
            if not pool.used.value + need <= pool.cap + SLACK:
                self._remember_refusal(w, statement, pools, place)
                return None
            place += 1
        reuse = -1.0
        if statement.reuse is not None:
            reuse = amount(w, statement.reuse, "reuse")
        self.leave(w, session)
        spare = session.spare_hold
        if spare is not None and spare.statement is statement:
            hold = spare
            session.spare_hold = None
            hold.moved = False
            hold.outer = session.hold
        else:
            hold = ActiveHold(statement, [], session.hold)
        allocations = hold.allocations
        is_new = len(allocations) == 0
        most = 0.0
        place = 0
        for claim in claims:
            pool = pools[place]
            consumed = 0.0
            if statement.has_cache:
                consumed = pool.consume(w, session, reuse)
                if consumed > most:
                    most = consumed
            granted = claim.granted
            pool.make_room(w, granted)
            if is_new:
                allocation = Allocation(session, pool, granted, consumed)
                allocations.append(allocation)
            else:
                allocation = allocations[place]
                allocation.begin_again(pool, granted, consumed)
            pool.take(w, allocation)
            pool.admissions += 1
            place += 1
        w.enter(session)
        if w.is_warm:
            self.wait_sum += w.now - session.joined_at
            self.wait_count += 1
        w.attributes[CACHED] = most
        w.touch(session)
        session.hold = hold
        session.admission = w.admission_count
        w.admission_count += 1
        session.waiting_for = None
        session.waiting_pools = None
        session.next_statement = statement.following
        session.status = READY  # until here it was waiting, as an eviction that made it room could read
        w.moved_at = w.now
        return session

    # -------------------------------------------------------------------------------------------- allocations

    def take(self, w: World, allocation: Allocation) -> None:
        """Count a new allocation in; there is room."""
        self.used.add(allocation.amount, w.now)
        self.holders.add(1.0, w.now)
        last = self.last_allocation
        allocation.before = last
        if last is None:
            self.first_allocation = allocation
        else:
            last.after = allocation
        self.last_allocation = allocation

    def give_back(self, w: World, allocation: Allocation, hold: ActiveHold) -> None:
        """Release an allocation; keep of it what its hold's `cache` clause says, read when the units are back.

        Keeping more than nothing replaces the session's own entry; keeping nothing leaves one that is there alone.
        """
        session = allocation.session
        allocation.released = True
        before = allocation.before
        after = allocation.after
        if before is None:
            self.first_allocation = after
        else:
            before.after = after
        if after is None:
            self.last_allocation = before
        else:
            after.before = before
        allocation.before = None
        allocation.after = None
        self.used.add(-allocation.amount, w.now)
        self.holders.add(-1.0, w.now)
        if self.first_allocation is None:
            self.used.value = 0.0  # no residue of fractional units
        w.moved_at = w.now
        keep_limit = hold.statement.keep_limit(w)
        if keep_limit <= 0.0:
            return
        computed = allocation.position + allocation.withdrawn if hold.moved else allocation.amount
        kept = self.whole_blocks_down(min(keep_limit, computed))
        if kept > 0.0:
            own = session.current_entry(self.index)
            if own is not None:
                self.unlink(w, own)
            entry = CacheEntry(session, kept, w.now, w.release_count)
            w.release_count += 1
            self.append_entry(w, entry)
            w.own(session, self.index, entry)
            if self.keys_read_attributes:
                session.released_attributes = session.attributes[:]
            if kept > allocation.amount:
                self.make_room(w, 0.0)  # a hold smaller than the prefix it took keeps more than it gives back

    # ------------------------------------------------------------------------------------------- prefix cache

    def append_entry(self, w: World, entry: CacheEntry) -> None:
        """Link an entry behind all others and count it."""
        last = self.last_entry
        entry.before = last
        if last is None:
            self.first_entry = entry
        else:
            last.after = entry
        self.last_entry = entry
        if self.first_unranked_entry is None:
            self.first_unranked_entry = entry
        self.cached.add(entry.amount, w.now)

    def unlink(self, w: World, entry: CacheEntry) -> None:
        """Take an entry out of the cache altogether."""
        before = entry.before
        after = entry.after
        if entry.place >= 0:
            self.entry_ranks.remove(entry)
        elif self.first_unranked_entry is entry:
            self.first_unranked_entry = after
        if before is None:
            self.first_entry = after
        else:
            before.after = after
        if after is None:
            self.last_entry = before
        else:
            after.before = before
        entry.before = None
        entry.after = None
        self.cached.add(-entry.amount, w.now)
        if self.first_entry is None:
            self.cached.value = 0.0
        entries = entry.session.entries
        if entries is not None and entries[self.index] is entry:
            entries[self.index] = None

    def consume(self, w: World, session: Session, reuse: float) -> float:
        """Take the session's own prefix: give what is consumed, at most `reuse` (-1: all) in whole blocks.

        The rest stays as a dead entry with its release time and number, so in its place in the list.
        """
        entry = session.current_entry(self.index)
        if entry is None:
            return 0.0
        consumed = entry.amount
        if reuse >= 0.0:
            consumed = min(consumed, self.whole_blocks_down(reuse))
        if consumed >= entry.amount:
            self.unlink(w, entry)
            return consumed
        entries = session.entries
        assert entries is not None
        entries[self.index] = None
        entry.amount -= consumed
        self.make_stale(entry)
        self.cached.add(-consumed, w.now)
        if self.keys_read_attributes:
            # a remainder is a thing of its own: its keys read what the session was when it split
            remainder = Session(session.serial, 1, session.next_statement)
            remainder.attributes = session.attributes[:]
            remainder.released_attributes = remainder.attributes
            remainder.status = ENDED
            entry.session = remainder
        return consumed

    def make_room(self, w: World, units: float) -> None:
        """Evict until `units` more fit beside the allocations and the cache (they fit beside the allocations alone)."""
        while self.first_entry is not None and self.used.value + self.cached.value + units > self.cap + SLACK:
            if self.evicts_in_order and self.first_entry.amount > self.block:
                self._evict_blocks(w, self.used.value + self.cached.value + units - self.cap - SLACK)
            else:
                self.evict_piece(w)

    def _evict_blocks(self, w: World, excess: float) -> None:
        """Remove as many tail blocks of the entry first in the order as an excess takes, all but its last block.

        The same as one after another: blocks are whole numbers, so the sums are exact, and nothing reads them between.
        """
        entry = self.first_entry
        assert entry is not None
        piece = min(round_up(excess / self.block), round_up(entry.amount / self.block) - 1.0) * self.block
        entry.amount -= piece
        self.cached.add(-piece, w.now)
        self.evicted_units += piece

    def evict_piece(self, w: World) -> None:
        """Remove one tail block, or a whole entry of a pool without blocks, of the entry first in the order."""
        entry = self._first_to_evict(w)
        piece = entry.amount
        is_dead = entry.session.current_entry(self.index) is not entry
        if self.block > 0.0 and piece > self.block:
            piece = self.block
            entry.amount -= piece
            self.make_stale(entry)
            self.cached.add(-piece, w.now)
        else:
            self.unlink(w, entry)
            self.evicted_entries += 1
        self.evicted_units += piece
        if self.spill is not None:
            self._spill(w, self.spill, entry, piece, is_dead)

    def _first_to_evict(self, w: World) -> CacheEntry:
        first = self.first_entry
        assert first is not None
        if len(self.evict_keys) == 0:
            return first
        inside = w.session
        if self.evict_keys_stay:
            self._rank_entries(w)
            w.enter_or_leave(inside)
            least = self.entry_ranks.first()
            assert isinstance(least, CacheEntry)
            return least
        best = first
        best_keys = self._eviction_keys(w, first)
        entry = first.after
        while entry is not None:
            keys = self._eviction_keys(w, entry)
            if precedes(keys, best_keys):
                best = entry
                best_keys = keys
            entry = entry.after
        w.enter_or_leave(inside)
        return best

    def make_stale(self, entry: CacheEntry) -> None:
        """Take note that what the keys of an entry read may have changed."""
        if entry.place >= 0 and not entry.is_stale:
            entry.is_stale = True
            self.stale_entries.append(entry)

    def _rank_entries(self, w: World) -> None:
        """Put the entries in order whose keys are not those they have now."""
        if w.running is not None:
            w.touch(w.running)  # it may have set an attribute since it last let go of the world
        for entry in self.stale_entries:
            entry.is_stale = False
            if entry.place >= 0:
                entry.keys = self._eviction_keys(w, entry)
                self.entry_ranks.put_in_order(entry)
        self.stale_entries.clear()
        unranked = self.first_unranked_entry
        while unranked is not None:
            unranked.keys = self._eviction_keys(w, unranked)
            unranked.rank_number = unranked.number
            self.entry_ranks.push(unranked)
            unranked = unranked.after
        self.first_unranked_entry = None

    def _enter_entry(self, w: World, entry: CacheEntry, size: float, is_live: bool) -> None:
        """Set the moment of an eviction key: the owner's attributes now while it lives, else as it last released.

        A dead entry is nobody's prefix, so nobody waits for it.
        """
        session = entry.session
        w.session = session
        w.attributes = session.attributes
        if session.status == ENDED and session.released_attributes is not None:
            w.attributes = session.released_attributes
        w.size = size
        w.last = entry.released_at
        w.age = w.now - entry.released_at
        w.waiting = 1.0 if is_live and session.status == WAITING else 0.0

    def _eviction_keys(self, w: World, entry: CacheEntry) -> list[float]:
        self._enter_entry(w, entry, entry.amount, entry.session.current_entry(self.index) is entry)
        purpose = w.purpose
        w.purpose = EVICTION
        keys = evaluate_keys(w, self.evict_keys)
        w.purpose = purpose
        return keys

    def _spill(self, w: World, spill: Spill, entry: CacheEntry, piece: float, is_dead: bool) -> None:
        """Write a removed piece to the tier: the data are there at once, only the link's time is spent.

        The owner's entry there grows by the piece; a piece of a dead entry is dead there too.
        DECISION (notes §4.9): the tier never exceeds its cap; a piece that does not fit beside its allocations is
        dropped.
        """
        inside = w.session
        purpose = w.purpose
        self._enter_entry(w, entry, piece, not is_dead)
        w.purpose = EVICTION
        work = -1.0
        if spill.when.evaluate(w) != 0.0:
            work = amount(w, spill.work, "spill's work")
        w.purpose = purpose
        w.enter_or_leave(inside)
        if work < 0.0:
            return
        tier = spill.tier
        session = entry.session
        own = None if is_dead else session.current_entry(tier.index)
        held = piece if own is None else piece + own.amount
        if tier.used.value + held > tier.cap + SLACK:
            return
        if own is not None:
            tier.unlink(w, own)
        tier.make_room(w, held)
        written = CacheEntry(session, held, w.now, w.release_count)
        w.release_count += 1
        tier.append_entry(w, written)
        if not is_dead:
            w.own(session, tier.index, written)
        self.spills += 1
        if work > 0.0:
            w.start_unowned_job(spill.link, work)

    # ------------------------------------------------------------------------------------------------- growth

    def grow(self, w: World, allocation: Allocation, target: float, job: Job | None) -> int:
        """Enlarge an allocation to `target` (rounded up), preempting as the pool says.

        Returns GREW, STALLED (the session, or its job, waits as a grower) or PREEMPTED_ITSELF.
        """
        target = self.whole_blocks_up(target)
        if target <= allocation.amount:
            return GREW
        session = allocation.session
        while True:
            more = target - allocation.amount
            if self.used.value + more <= self.cap + SLACK:
                self.make_room(w, more)
                self.used.add(more, w.now)
                allocation.amount = target
                w.moved_at = w.now
                return GREW
            if self.preempt_rule == PREEMPT_NONE:
                break
            victim = choose_victim(w, self)
            if victim is None:
                break
            is_self = victim.session is session
            w.preempt(victim)
            if is_self:
                return PREEMPTED_ITSELF
        session.growing = allocation
        session.growth_target = target
        self.growers.append(session)
        w.grower_count += 1
        if job is None:
            session.status = GROWING
        else:
            job.is_stalled = True
        return STALLED

    def serve_growers(self, w: World) -> bool:
        """Let the growers that fit grow, in the order they stalled, the head blocking the rest."""
        any_grew = False
        while self.growers.head is not None:
            session = self.growers.head
            allocation = session.growing
            assert allocation is not None
            more = session.growth_target - allocation.amount
            if self.used.value + more > self.cap + SLACK:
                break
            self.growers.pop_first()
            w.grower_count -= 1
            self.make_room(w, more)
            self.used.add(more, w.now)
            allocation.amount = session.growth_target
            session.growing = None
            w.moved_at = w.now
            any_grew = True
            if session.status == GROWING:
                w.make_ready(session)
            else:
                job = session.job
                assert job is not None
                job.is_stalled = False
        return any_grew

    def stop_growing(self, w: World, session: Session) -> None:
        """Take a session out of the growers."""
        self.growers.remove(session)
        w.grower_count -= 1
        session.growing = None
        if session.job is not None:
            session.job.is_stalled = False

    def forget_warmup(self, now: float) -> None:
        """Restart the time averages: the warm-up ends."""
        self.used.restart(now)
        self.cached.restart(now)
        self.queue.restart(now)
        self.holders.restart(now)


def check_load(allocation: Allocation, tokens: float, site: int) -> None:
    """Refuse a load that the allocation does not cover."""
    if tokens > 0.0 and allocation.position + tokens > allocation.amount + SLACK:
        raise RunError(
            "load-beyond-allocation",
            f"a load of {shown(tokens)} from position {shown(allocation.position)} goes beyond the allocation of "
            f"{shown(allocation.amount)} on pool `{allocation.pool.name}`",
            site,
        )
