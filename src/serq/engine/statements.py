"""Statements as a flat program: each knows the one that follows, does its work in no time and says whether the session
goes on.

Input: the world and the session that reached the statement. Output: the session's next statement, and True to go on or
False
when it waits (for room, for a stage) or is gone.
Invariant: a statement that makes its session wait has set the statement it goes on with.
Reference: language §3; the body of a hold lies between its `HoldStatement` and its `EndHoldStatement`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from librt.vecs import append
from mypy_extensions import i64

from serq.engine.expressions import Expression, PoolReference, StageReference, amount, not_an_amount
from serq.engine.orders import evaluate_keys, precedes
from serq.engine.pool import GREW, PREEMPTED_ITSELF, SLACK, Pool, check_load
from serq.engine.results import ObserveResult, RunError, shown
from serq.engine.session import COMPUTED, TURN_NO, ActiveHold, LeaseExpiry, Session
from serq.engine.sharing import SharedStage

if TYPE_CHECKING:
    from serq.engine.world import World

LARGEST: Final = 1.7976931348623157e308  # the greatest finite float
ROWS_HELD_MAX: Final = 4096  # of an observe, before its sink takes them


class Statement:
    """One statement; `following` comes next in the text's order, `site` leads back to the text."""

    def __init__(self, site: int) -> None:
        self.site = site
        self.following: Statement = self

    def step(self, w: World, s: Session) -> bool:
        """Do it."""
        raise NotImplementedError


class TurnStatement(Statement):
    """The next turn begins."""

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.following
        w.begin_turn(s)
        return True


class EndStatement(Statement):
    """The session leaves."""

    def step(self, w: World, s: Session) -> bool:
        w.end_session(s)
        return False


class SetStatement(Statement):
    """An attribute takes a value."""

    def __init__(self, site: int, slot: int, value: Expression) -> None:
        super().__init__(site)
        self.slot: i64 = slot
        self.value: Final = value

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.following
        w.attributes[self.slot] = self.value.evaluate(w)
        return True


class MarkStatement(Statement):
    """An attribute takes the time: `set x = now`."""

    def __init__(self, site: int, slot: int) -> None:
        super().__init__(site)
        self.slot: i64 = slot

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.following
        w.attributes[self.slot] = w.now
        return True


class ObserveStatement(Statement):
    """A sample is taken, once the warm-up is over."""

    def __init__(self, site: int, result: ObserveResult, value: Expression) -> None:
        super().__init__(site)
        self.result: Final = result
        self.value: Final = value

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.following
        value = self.value.evaluate(w)
        if w.is_warm:
            result = self.result
            result.values = append(result.values, value)
            if w.records_samples:
                result.record(w.now, s.serial, i64(s.attributes[TURN_NO]))
                if w.sink is not None and len(result.times) >= ROWS_HELD_MAX:
                    w.sink.take(result)
                    result.forget_rows()
        return True


class Claim:
    """One pool of a hold."""

    def __init__(self, pool: PoolReference, units: Expression, reserve: Expression | None) -> None:
        self.pool: Final = pool
        self.units: Final = units
        self.reserve: Final = reserve
        self.granted = 0.0  # [units] to the hold being admitted, in whole blocks
        # for the pool's memory of refusals
        self.is_sure = False  # neither draws nor fails when the `conditions` are 0 or more
        self.conditions: list[Expression] = []
        self.at_least: Expression | None = None  # what it needs at every try

    def needed(self, w: World, units: float) -> float:
        """Give what must fit for `units` to be admitted: they, or the reserve when that is larger."""
        if self.reserve is None:
            return units
        reserve = amount(w, self.reserve, "reserve")
        return reserve if reserve > units else units


class HoldStatement(Statement):
    """Join the waiting line of the first pool; the body runs once the hold is admitted."""

    def __init__(self, site: int, claims: list[Claim], reuse: Expression | None, cache: Expression | None) -> None:
        super().__init__(site)
        self.claims: Final = claims
        self.reuse: Final = reuse
        self.cache: Final = cache
        self.has_cache = cache is not None
        self.leased = -1
        self.lease_seconds: Expression | None = None
        self.fixed_pools: Final = fixed_pools(claims)
        self.place_asked: i64 = 0  # of the claim whose allocation was last looked for; mostly it is again

    def step(self, w: World, s: Session) -> bool:
        self.join(w, s, False)
        return False

    def join(self, w: World, s: Session, ahead: bool) -> None:
        """Test that it can ever fit, then join; a request that never can is rejected and its session ends."""
        fixed = self.fixed_pools
        pools = self._pools_now(w) if fixed is None else fixed
        waits_for_ever = False
        place: i64 = 0
        for claim in self.claims:
            pool = pools[place]
            place += 1
            wanted = claim.needed(w, amount(w, claim.units, "hold's units"))
            if pool.whole_blocks_up(wanted) > pool.cap + SLACK:
                if not pool.unfit_waits:
                    w.reject(s, pool, wanted, self.site)
                    return
                if not waits_for_ever:
                    w.note_unfit(s, pool, wanted, self.site)
                waits_for_ever = True
        s.waiting_for = self
        s.waiting_pools = pools
        pools[0].join(w, s, ahead)

    def _pools_now(self, w: World) -> list[Pool]:
        pools: list[Pool] = []
        for claim in self.claims:
            pool = claim.pool.resolve(w)
            for other in pools:
                if other is pool:
                    raise RunError(
                        "pool-held-twice", f"this hold names pool `{pool.name}` twice for one member", self.site
                    )
            pools.append(pool)
        return pools

    def keep_limit(self, w: World) -> float:
        """Evaluate the `cache` clause at a release; -1 for a hold that is memory alone."""
        if self.cache is None:
            return -1.0
        return amount(w, self.cache, "cache")

    def release_all(self, w: World, hold: ActiveHold) -> None:
        """Release every pool of the hold in the order listed."""
        for allocation in hold.allocations:
            if not allocation.released:
                allocation.pool.give_back(w, allocation, hold)


def fixed_pools(claims: list[Claim]) -> list[Pool] | None:
    """Give the pools of a hold when they are the same every time, or None: a member may be meant, or one twice."""
    pools: list[Pool] = []
    for claim in claims:
        if claim.pool.index is not None or claim.pool.first in pools:
            return None
        pools.append(claim.pool.first)
    return pools


class EndHoldStatement(Statement):
    """The end of a hold's scope: release its pools but the leased one, then let others in."""

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.following
        hold = s.hold
        assert hold is not None
        s.hold = hold.outer
        statement = hold.statement
        for i in range(len(hold.allocations)):
            allocation = hold.allocations[i]
            if allocation.released:
                continue
            if i == statement.leased and statement.lease_seconds is not None:
                seconds = amount(w, statement.lease_seconds, "lease's time")
                allocation.in_scope = False
                lease = LeaseExpiry(s, hold, allocation)
                if s.leases is None:
                    s.leases = []
                s.leases.append(lease)
                if seconds <= LARGEST:
                    w.calendar.schedule(lease, w.now + seconds)
            else:
                allocation.pool.give_back(w, allocation, hold)
        s.attributes[COMPUTED] = 0.0
        if s.preemptions is not None:
            s.forget_preemptions(hold)
        if statement.leased < 0:
            hold.outer = None
            s.spare_hold = hold
        if w.serve_pools():
            w.enter(s)
        return True


class GrowStatement(Statement):
    """The innermost hold on a pool grows, or waits for room."""

    def __init__(self, site: int, pool: PoolReference, units: Expression) -> None:
        super().__init__(site)
        self.pool: Final = pool
        self.units: Final = units

    def step(self, w: World, s: Session) -> bool:
        pool = self.pool.resolve(w)
        allocation = s.hold_on(pool)
        if allocation is None:
            raise RunError("outside-hold", f"`grow` outside a hold of pool `{pool.name}`", self.site)
        more = amount(w, self.units, "growth")
        s.next_statement = self.following
        s.waits_at = self.site
        outcome = pool.grow(w, allocation, allocation.amount + more, None)
        if outcome == PREEMPTED_ITSELF:
            return False
        w.enter(s)
        return outcome == GREW


class DropStatement(Statement):
    """The own cached prefix is discarded; nobody is let in by it."""

    def __init__(self, site: int, pool: PoolReference) -> None:
        super().__init__(site)
        self.pool: Final = pool

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.following
        pool = self.pool.resolve(w)
        entry = s.current_entry(pool.index)
        if entry is not None:
            pool.unlink(w, entry)
        return True


class ReleaseStatement(Statement):
    """Give the innermost enclosing hold's allocation back now, else end the oldest lease, else nothing."""

    def __init__(self, site: int, pool: PoolReference) -> None:
        super().__init__(site)
        self.pool: Final = pool

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.following
        pool = self.pool.resolve(w)
        hold = s.holding(pool)
        allocation = None if hold is None else hold.on(pool)
        if hold is not None and allocation is not None:
            pool.give_back(w, allocation, hold)
        elif s.leases is not None:
            for lease in s.leases:
                if lease.allocation.pool is pool:
                    w.end_lease(lease)
                    break
        if w.serve_pools():
            w.enter(s)
        return True


class LoadStatement(Statement):
    """Tokens arrived from outside: the enclosing hold's position advances, within its allocation."""

    def __init__(self, site: int, pool: PoolReference, tokens: Expression) -> None:
        super().__init__(site)
        self.pool: Final = pool
        self.tokens: Final = tokens

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.following
        pool = self.pool.resolve(w)
        hold = s.holding(pool)
        allocation = None if hold is None else hold.on(pool)
        if hold is None or allocation is None:
            raise RunError("outside-hold", f"`load` outside a hold of pool `{pool.name}`", self.site)
        tokens = amount(w, self.tokens, "load")
        check_load(allocation, tokens, self.site)
        allocation.position += tokens
        hold.moved = True
        return True


class RunStatement(Statement):
    """A job at one stage, of its own time."""

    def __init__(self, site: int, stage: StageReference, work: Expression) -> None:
        super().__init__(site)
        self.stage: Final = stage
        self.work: Final = work

    def step(self, w: World, s: Session) -> bool:
        reference = self.stage
        stage = reference.first if reference.index is None else reference.resolve(w)
        work = self.work.evaluate(w)
        if not work >= 0.0:
            raise not_an_amount(self.work, work, "work")
        s.next_statement = self.following
        if work == 0.0:
            w.make_ready(s)  # at once, but behind the sessions that were ready before
        else:
            stage.start(w, w.new_job(s, stage, work))
        return False


class TokensStatement(Statement):
    """A job of prefill or decode tokens at a step stage, growing a hold or not."""

    def __init__(
        self, site: int, stage: StageReference, work: Expression, is_decode: bool, growing: PoolReference | None
    ) -> None:
        super().__init__(site)
        self.stage: Final = stage
        self.work: Final = work
        self.is_decode = is_decode
        self.growing: Final = growing

    def step(self, w: World, s: Session) -> bool:
        stage = self.stage.resolve(w)
        work = amount(w, self.work, "work")
        s.next_statement = self.following
        growing = self.growing
        if growing is None:
            if work == 0.0:
                w.make_ready(s)
                return False
            job = w.new_job(s, stage, work)
        else:
            pool = growing.resolve(w)
            hold = s.holding(pool)
            if hold is None:
                raise RunError("outside-hold", f"a run `growing {pool.name}` outside a hold of that pool", self.site)
            if work == 0.0:
                w.make_ready(s)
                return False
            job = w.new_job(s, stage, work)
            job.growing = hold.on(pool)
            job.growing_hold = hold
            s.waits_at = self.site
        job.begin_tokens(self.is_decode)
        stage.start(w, job)
        return False


class FlowStatement(Statement):
    """One job that holds several stages from its start to its end."""

    def __init__(self, site: int, stages: list[StageReference], work: Expression) -> None:
        super().__init__(site)
        self.stages: Final = stages
        self.work: Final = work

    def step(self, w: World, s: Session) -> bool:
        held: list[SharedStage] = []
        for reference in self.stages:
            stage = reference.resolve(w)
            assert isinstance(stage, SharedStage)
            held.append(stage)
        work = amount(w, self.work, "work")
        s.next_statement = self.following
        if work == 0.0:
            w.make_ready(s)
            return False
        job = w.new_job(s, held[0], work)
        w.sharing.start(w, job, held)
        return False


class BranchStatement(Statement):
    """Go on with the next statement when the guard is 1, at `otherwise` when it is 0."""

    def __init__(self, site: int, guard: Expression) -> None:
        super().__init__(site)
        self.guard: Final = guard
        self.otherwise: Statement = self

    def step(self, w: World, s: Session) -> bool:
        guard = self.guard.evaluate(w)
        if guard == 1.0:
            s.next_statement = self.following
        elif guard == 0.0:
            s.next_statement = self.otherwise
        else:
            raise RunError(
                "guard-not-boolean",
                f"the `branch` guard is {shown(guard)}; a guard is 0 or 1",
                self.guard.site,
                "to draw with a probability, write `branch with (p)`",
            )
        return True


class JumpStatement(Statement):
    """The end of a loop's body, or of a branch's first block."""

    def __init__(self, site: int) -> None:
        super().__init__(site)
        self.target: Statement = self

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.target
        return True


class ChooseStatement(Statement):
    """The attribute becomes the candidate with the smallest keys, in order, then the smallest index."""

    def __init__(self, site: int, slot: int, bound: Expression, keys: list[Expression]) -> None:
        super().__init__(site)
        self.slot: i64 = slot
        self.bound: Final = bound
        self.keys: Final = keys

    def step(self, w: World, s: Session) -> bool:
        s.next_statement = self.following
        bound = amount(w, self.bound, "number of candidates")
        if not 1.0 <= bound <= 1e6 or bound != float(int(bound)):
            raise RunError(
                "choose-bound",
                f"`choose` over {shown(bound)} candidates; it needs a whole number from 1 to 1000000",
                self.bound.site,
            )
        attributes = w.attributes
        slot = self.slot
        attributes[slot] = 0.0
        best_keys = evaluate_keys(w, self.keys)
        best = 0
        for candidate in range(1, int(bound)):
            attributes[slot] = float(candidate)
            keys = evaluate_keys(w, self.keys)
            if precedes(keys, best_keys):
                best = candidate
                best_keys = keys
        attributes[slot] = float(best)
        return True
