"""Statements linked: slots, members and expressions at their moments, and what a scope allows.

Input: a body of the IR. Output: linked statements, and the observes in the order first written.
Invariants: `grow`, `load` and a growing run stand in a hold of their pool, `release` in one or after a lease of it, as
far as the text decides; `cached` is read where a hold can have consumed something.

Reference: language §2 and §3 (Pools, Branching, Stages); notes §4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from serq.ir import model as ir
from serq.ir.evaluate import NotConstant, Terms, evaluate, number
from serq.ir.walk import parts, statements
from serq.link import linked as li
from serq.link.constants import Range
from serq.link.context import Context, described, named
from serq.link.expressions import link_expression, link_reference
from serq.link.modes import check_run
from serq.link.moments import ADMIT, SESSION, Moment
from serq.records import dataclass, names
from serq.records import field as attribute

BOUND = Range("a whole number, at least 1", 1.0, 1e6, whole=True)
TESTS = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})


@dataclass(slots=True)
class Scope:
    """The holds around a statement, outermost first."""

    holds: tuple[tuple[ir.Hold, str], ...] = ()

    def within(self, hold: ir.Hold, path: str) -> Scope:
        """Give the scope of a hold's body."""
        return Scope((*self.holds, (hold, path)))


@dataclass(slots=True)
class Statements:
    """Links bodies.

    Attributes
    ----------
    observes : name → (whether all its expressions are tests), in the order first written
    """

    context: Context
    observes: dict[str, bool] = attribute(default_factory=dict)
    leases: list[ir.Reference] = attribute(default_factory=list)

    def __post_init__(self) -> None:
        for statement, _ in statements(self.context.program):
            if isinstance(statement, ir.Hold) and statement.lease is not None:
                self.leases.append(statement.lease.pool)

    def body(self, items: tuple[ir.Statement, ...], path: str, scope: Scope) -> tuple[li.LinkedStatement, ...]:
        """Link a body; a statement with a finding is left out."""
        result = []
        for i, item in enumerate(items):
            statement = self.statement(item, f"{path}[{i}]", scope)
            if statement is not None:
                result.append(statement)
        return tuple(result)

    def statement(self, item: ir.Statement, path: str, scope: Scope) -> li.LinkedStatement | None:
        """Link a statement; None after a finding that leaves nothing of it."""
        site = self.context.site(path)
        self.check_cached(item, path, scope)
        match item:
            case ir.Turn():
                return li.LinkedTurn(site)
            case ir.End():
                return li.LinkedEnd(site)
            case ir.Set():
                return li.LinkedSet(site, self.context.slots[item.name], self.expression(item.value, f"{path}.value"))
            case ir.Observe():
                is_test = _is_test(item.value) and self.observes.get(item.name, True)
                self.observes[item.name] = is_test
                number_of = list(self.observes).index(item.name)
                return li.LinkedObserve(site, number_of, self.expression(item.value, f"{path}.value"))
            case ir.Hold():
                return self.hold(item, path, scope)
            case ir.Grow():
                pool = self.held(item.pool, "grow", f"{path}.pool", scope)
                amount = self.expression(item.amount, f"{path}.amount")
                return None if pool is None else li.LinkedGrow(site, pool, amount)
            case ir.Drop():
                dropped = self.pool(item.pool, f"{path}.pool")
                return None if dropped is None else li.LinkedDrop(site, dropped)
            case ir.Release():
                released = self.held(item.pool, "release", f"{path}.pool", scope)
                return None if released is None else li.LinkedRelease(site, released)
            case ir.Load():
                pool = self.held(item.pool, "load", f"{path}.pool", scope)
                tokens = self.expression(item.tokens, f"{path}.tokens")
                return None if pool is None else li.LinkedLoad(site, pool, tokens)
            case ir.Run():
                return self.run(item, path, scope)
            case ir.Branch():
                guard = self.expression(item.guard, f"{path}.guard")
                then = self.body(item.then, f"{path}.then", scope)
                return li.LinkedBranch(site, guard, then, self.body(item.otherwise, f"{path}.otherwise", scope))
            case ir.Loop():
                return li.LinkedLoop(site, self.body(item.body, f"{path}.body", scope))
            case ir.Choose():
                return self.choose(item, path)
        assert_never(item)

    def expression(self, value: ir.Expression, path: str, moment: Moment = SESSION) -> li.LinkedExpression:
        """Link an expression of a session statement, or of another moment."""
        return link_expression(self.context, value, path, moment)

    def pool(self, reference: ir.Reference, path: str) -> li.LinkedReference | None:
        """Link a pool that a statement names."""
        return link_reference(self.context, reference, "pool", path, SESSION)

    # ------------------------------------------------------------------------------------------------- holds

    def hold(self, hold: ir.Hold, path: str, scope: Scope) -> li.LinkedStatement | None:
        """Link a hold: its header at admission, its body, and what stays after it."""
        claims = []
        for i, claim in enumerate(hold.pools):
            here = f"{path}.pools[{i}]"
            pool = self.pool(claim.pool, f"{here}.pool")
            units = self.expression(claim.units, f"{here}.units", ADMIT)
            reserve = None if claim.reserve is None else self.expression(claim.reserve, f"{here}.reserve", ADMIT)
            if pool is not None:
                claims.append(li.LinkedClaim(pool, units, reserve))
        self.check_claims(hold, path)
        reuse = None
        if hold.reuse is not None:
            reuse = self.expression(hold.reuse, f"{path}.reuse", ADMIT)
            if hold.cache is None:
                self.context.error(
                    "reuse-without-cache",
                    f"the hold on `{described(hold.pools[0].pool)}` has no `cache` clause, so it consumes no cached "
                    "prefix and `reuse` bounds nothing",
                    f"{path}.reuse",
                    "bounds nothing",
                    helps=("write `cache (…)` after the body; `cache (0)` consumes the prefix and keeps nothing",),
                )
        body = self.body(hold.body, f"{path}.body", scope.within(hold, path))
        cache = None if hold.cache is None else self.expression(hold.cache, f"{path}.cache")
        leased, seconds = -1, None
        if hold.lease is not None:
            leased, seconds = self.lease(hold, hold.lease, path)
        if len(claims) < len(hold.pools):
            return None
        return li.LinkedHold(self.context.site(path), tuple(claims), reuse, body, cache, leased, seconds)

    def check_claims(self, hold: ir.Hold, path: str) -> None:
        """Report a pool that is surely claimed twice by one hold."""
        for i, claim in enumerate(hold.pools):
            for j, earlier in enumerate(hold.pools[:i]):
                if self.same(claim.pool, earlier.pool) is True:
                    self.context.error(
                        "claim-twice",
                        f"the hold claims `{described(claim.pool)}` twice",
                        f"{path}.pools[{i}].pool",
                        "claimed again",
                        also=((f"{path}.pools[{j}].pool", "claimed here"),),
                        helps=("claim the sum of the units once",),
                    )

    def lease(self, hold: ir.Hold, lease: ir.Lease, path: str) -> tuple[int, li.LinkedExpression]:
        """Find the leased pool among the hold's, which writes it the same way, index included."""
        self.pool(lease.pool, f"{path}.lease.pool")
        seconds = self.expression(lease.seconds, f"{path}.lease.seconds")
        for i, claim in enumerate(hold.pools):
            if claim.pool == lease.pool or self.same(claim.pool, lease.pool) is True:
                return i, seconds
        if named(lease.pool) in self.context.pools:
            taken = ", ".join(f"`{described(claim.pool)}`" for claim in hold.pools)
            self.context.error(
                "lease-not-held",
                f"the hold leases `{described(lease.pool)}`, which it does not take",
                f"{path}.lease.pool",
                "not taken by this hold",
                notes=(f"the hold takes {taken}",),
                helps=("write the pool as the hold does, index included",),
            )
        return 0, seconds

    def held(self, reference: ir.Reference, verb: str, path: str, scope: Scope) -> li.LinkedReference | None:
        """Link the pool of a statement that acts on an enclosing hold (or, for `release`, on a lease)."""
        pool = self.pool(reference, path)
        if pool is None:
            return None
        around = [claim.pool for hold, _ in scope.holds for claim in hold.pools]
        if verb == "release":
            around += self.leases
        if all(self.same(reference, other) is False for other in around):
            name = described(reference)
            what = "a growing run" if verb == "growing" else f"`{verb} {name}`"
            acts = (
                "ends an enclosing hold's allocation, or a lease of it"
                if verb == "release"
                else "acts on an enclosing hold"
            )
            others = [other for other in around if named(other) == named(reference)]
            self.context.error(
                "outside-hold",
                f"{what} stands outside a hold of `{name}`: it {acts}",
                path,
                f"no hold of `{name}` is around",
                helps=(f"the hold around is on `{described(others[0])}`; write the pool as it does",)
                if others
                else (f"put it in `hold {name} (…) {{ … }}`",),
            )
        return pool

    def same(self, left: ir.Reference, right: ir.Reference) -> bool | None:
        """Tell whether two references name one pool; None when only the run decides."""
        if named(left) != named(right):
            return False
        family = self.context.pools.get(named(left))
        if left == right and (isinstance(left, str) or isinstance(left.index, float | int)):
            return True
        if family is None or family.count == 1:
            return True
        indices = [_constant_index(reference) for reference in (left, right)]
        if None in indices:
            return None
        return indices[0] == indices[1]

    def check_cached(self, item: ir.Statement, path: str, scope: Scope) -> None:
        """Report a read of `cached` in the body of a hold that consumes nothing."""
        if not scope.holds or scope.holds[-1][0].cache is not None:
            return
        outer = scope.holds[-1]
        for place in _reads_of(item, "cached", path):
            self.context.error(
                "cached-without-cache",
                f"`cached` is read in a hold on `{described(outer[0].pools[0].pool)}` that has no `cache` clause: it "
                "consumes no prefix, so `cached` is 0 there",
                place,
                "always 0",
                also=((f"{outer[1]}.pools[0].pool", "this hold"),),
                helps=("write `cache (…)` after the body; `cache (0)` consumes the prefix and keeps nothing",),
            )

    # ------------------------------------------------------------------------------------------ runs and choices

    def run(self, run: ir.Run, path: str, scope: Scope) -> li.LinkedStatement | None:
        """Link a run and check it against its stages."""
        stages = []
        for i, reference in enumerate(run.stages):
            stage = link_reference(self.context, reference, "stage", f"{path}.stages[{i}]", SESSION)
            if stage is not None:
                stages.append(stage)
        work = self.expression(run.work, f"{path}.work")
        growing = None
        if run.growing is not None:
            growing = self.held(run.growing, "growing", f"{path}.growing", scope)
        if all(named(reference) in self.context.stages for reference in run.stages):
            check_run(self.context, run, path)
        if len(stages) < len(run.stages):
            return None
        return li.LinkedRun(self.context.site(path), tuple(stages), run.mode or "", work, growing)

    def choose(self, choose: ir.Choose, path: str) -> li.LinkedStatement:
        """Link a choice; its bound may be known only when it is made."""
        bound = self.expression(choose.bound, f"{path}.bound")
        if bound.op == "const" and not BOUND.holds(bound.number):
            self.context.error(
                "constant-range",
                f"`choose {choose.name} in {number(bound.number)}`: the number of choices needs to be {BOUND.words}",
                f"{path}.bound",
                f"is {number(bound.number)}",
            )
        keys = []
        for i, key in enumerate(choose.keys):
            keys.append(self.expression(key, f"{path}.keys[{i}]"))
        return li.LinkedChoose(self.context.site(path), self.context.slots[choose.name], bound, tuple(keys))


def _is_test(expression: ir.Expression) -> bool:
    """Tell whether an expression's outermost operator is a comparison, `&&`, `||` or `!`."""
    match expression:
        case ir.Binary():
            return expression.op in TESTS
        case ir.Unary():
            return expression.op == "!"
    return False


def _constant_index(reference: ir.Reference) -> float | None:
    """Give a reference's index when it is a constant; a lone pool is its own member 0."""
    if isinstance(reference, str):
        return 0.0
    try:
        return evaluate(reference.index, "", Terms())
    except NotConstant:
        return None


def _reads_of(item: ir.Statement, name: str, path: str) -> Iterator[str]:
    """Give the paths where a statement reads a name, but not those in its bodies and in a hold's `cache` and lease."""
    skipped = {"body", "then", "otherwise"} if isinstance(item, ir.Hold | ir.Branch | ir.Loop) else set()
    if isinstance(item, ir.Hold):
        skipped |= {"cache", "lease"} if item.cache is not None else {"lease"}
    for field in names(item):
        if field in skipped or field in ("name", "mode"):
            continue
        for part, here in parts(getattr(item, field), f"{path}.{field}"):
            if isinstance(part, str) and part == name:
                yield here
