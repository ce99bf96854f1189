"""Random kernel programs that link, as text.

Input: a source of randomness (`random.Random`, or Hypothesis's shrinkable one) and what the programs may use. Output: a
program whose sessions end, with the options and statements of the language mixed at random.

Invariants: every index is in range and every name is used where it may be; amounts are never negative. A run may still
stop with an error of serQ (a `load` beyond its allocation, a preemption that never settles), which is what such
programs deserve; it must never stop with anything else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

NO_INDEX = ""
ATTRIBUTES = ("x", "y")
"""What `init` sets from the serial number; headers and keys may read them."""

NUMBERS = ("0", "1", "1", "2", "2", "3", "4", "5", "0.5", "1.5")
WORK = ("0", "0.5", "1", "1", "2", "3")
TOKENS = ("1", "1", "2", "3", "4", "6")


@dataclass(frozen=True)
class Allowed:
    """What a program may use.

    Attributes
    ----------
    draws : random work, arrivals and branches
    ours : options that only this implementation has (`unfit wait`, `preempt by`, `then`)
    stalls : growing runs on pools of `preempt none`, spills to tiers that fill, engines behind ps stages: places where
        the recorded semantics and other implementations are known to part
    nested : holds on a pool that the session holds or leases already
    statements : about how many statements a program has
    """

    draws: bool = True
    ours: bool = True
    stalls: bool = True
    nested: bool = True
    statements: int = 22


@dataclass
class _Pool:
    name: str
    size: int
    cap: str
    preempt: str
    via: bool
    memory: bool


@dataclass
class _Stage:
    name: str
    kind: str
    size: int


@dataclass
class _Scope:
    """Where a statement stands: the pools its session holds (as written, so with the same index) and how deep."""

    holds: tuple[tuple[_Pool, str], ...] = ()
    with_cache: bool = False
    depth: int = 0
    leased: list[tuple[_Pool, str]] = field(default_factory=list)
    in_loop: bool = False


class Writer:
    """Writes one program."""

    def __init__(self, random: Random, allowed: Allowed) -> None:
        self.random = random
        self.allowed = allowed
        self.pools: list[_Pool] = []
        self.stages: list[_Stage] = []
        self.statements_left = allowed.statements
        self.has_flows = False
        self.wrote_flow = False
        self.has_engine = False
        self.observes = 0
        self.arrivals = ""

    # ------------------------------------------------------------------------------------------------ choices

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, *options: str) -> str:
        return options[self.random.randrange(len(options))]

    # ------------------------------------------------------------------------------------------------ program

    def program(self) -> str:
        """Write the program."""
        self.arrivals = self._arrivals()
        self._plan()
        lines = [self._write_pool(pool) for pool in self.pools]
        lines += [self._write_stage(stage) for stage in self.stages]
        if self.has_flows:
            lines.append(f"share {self.one_of('maxmin', 'bottleneck')};")
        lines.append(self._workload())
        body = "\n".join(self._body(_Scope(), 1))
        # a session of a closed population must not end in the instant in which it came
        wait = ("1", "0.5", "1 + x") if self.arrivals.startswith("closed") else ("0", "1", "x", "serial")
        first = f"run z ({self.one_of(*wait)});"
        if self.has_flows and not self.wrote_flow:
            other = next(stage for stage in self.stages if stage.name == "b")
            first += f" run a, {self._member('b', other.size)} (1);"
        lines.append(f"session {{\n{first}\n{body}\n}}")
        for name in ("g", "h")[: self.random.randrange(3)]:
            lines.append(f"gauge {name} = {self._state_expression(in_gauge=True)};")
        horizon, warmup = self.one_of("12", "20", "20", "30"), self.one_of("0", "0", "0", "2", "3.5")
        lines.append(f"run {{ horizon {horizon}; warmup {warmup}; seed {self.random.randrange(1, 100)}; }}")
        return "\n".join(lines) + "\n"

    def _arrivals(self) -> str:
        kinds = [
            "batch(3)",
            "batch(5)",
            "batch(8)",
            "closed(2)",
            "closed(4)",
            "renewal(1)",
            "renewal(2)",
            "renewal(0.75)",
        ]
        if self.allowed.draws:
            kinds += ["poisson(0.5)", "poisson(2)", "renewal(~exp(1))", "renewal(~uniform(0.5, 1.5))"]
        return self.one_of(*kinds)

    def _plan(self) -> None:
        """Decide on the pools and stages before any text is written."""
        self.has_engine = self.chance(0.7)
        family = 2 if self.chance(0.2) else 1
        caps = ("3", "5", "8", "10", "12")
        kinds = ["kv", "m", "tier"][: self.random.randrange(1, 4)]
        for name in kinds:
            size = family if name != "tier" and self.chance(0.7) else 1
            cap = "inf" if name == "tier" and (not self.allowed.stalls or self.chance(0.3)) else self.one_of(*caps)
            preempt = self.one_of("none", "lifo", "lifo", "lifo")
            if self.allowed.ours and self.chance(0.2):
                preempt = "by"
            self.pools.append(_Pool(name, size, cap, preempt, via=False, memory=False))
        if self.has_engine:
            size = self.pools[0].size
            self.stages.append(_Stage("e", "step", size))
            for pool in self.pools[:2]:
                pool.via = pool.size in (1, size) and self.chance(0.6) and not (pool.size == 1 and size > 1)
            self.pools[0].memory = self.chance(0.7)
        self.stages.append(_Stage("z", "delay", 1))
        if self.chance(0.6):
            self.stages.append(_Stage("f", "fifo", 2 if self.chance(0.3) else 1))
        if self.chance(0.5):
            self.stages.append(_Stage("s", "ps", 2 if self.chance(0.2) else 1))
        if self.chance(0.35):
            self.has_flows = True
            self.stages += [_Stage("a", "shared", 1), _Stage("b", "shared", 2 if self.chance(0.3) else 1)]
        if self.allowed.stalls and self.chance(0.3):
            self.random.shuffle(self.stages)

    def _write_pool(self, pool: _Pool) -> str:
        options = [f"cap {pool.cap};"] if pool.cap != "inf" or self.chance(0.5) else []
        if self.chance(0.4):
            options.append(f"block {self.one_of('1', '2', '2', '3')};")
        if self.chance(0.4):
            keys = [self.one_of("size", "-size", "age", "-age", "last", "waiting", "x", "-serial", "now - last", "y")]
            if self.chance(0.3):
                keys.append(self.one_of("size", "last", "x"))
            options.append(f"evict by ({', '.join(keys)});")
        elif self.chance(0.3):
            options.append("evict lru;")
        if pool.preempt == "by":
            then = self.one_of("", "", " then stop", " then continue")
            options.append(f"preempt by ({self.one_of('x', '-x', 'serial', '-serial', 'y, x')}){then};")
        elif pool.preempt != "none" or self.chance(0.2):
            options.append(f"preempt {pool.preempt};")
        if self.chance(0.4):
            key = self.one_of("x", "-x", "waited", "-waited", "serial", "-serial", "y - waited", "turn_no")
            options.append(f"queue by ({key}{', -serial' if self.chance(0.3) else ''});")
        if pool.via:
            options.append("admit via e;")
        if len(self.pools) == 3 and pool is self.pools[0] and self.chance(0.7):
            when = self.one_of("1", "size > 1", "x > 1", "age > 0")
            options.append(f"spill tier via z ({self.one_of('0', '1', 'size', '0.5 * size')}) when ({when});")
        if self.allowed.ours and self.chance(0.2):
            options.append(f"unfit {self.one_of('wait', 'reject')};")
        size = f"[{pool.size}]" if pool.size > 1 else ""
        return f"pool {pool.name}{size} {{ {' '.join(options)} }}"

    def _write_stage(self, stage: _Stage) -> str:
        size = f"[{stage.size}]" if stage.size > 1 else ""
        if stage.kind == "fifo":
            kind = self.one_of("fifo", "fifo(1)", "fifo(2)")
        elif stage.kind == "ps":
            kind = f"ps({self.one_of('1', '2', 'present', 'min(present, 2)', '1 / present', '0.5 + present')})"
        elif stage.kind == "shared":
            kind = f"ps({self.one_of('1', '2', '0.5', '3')})"
        elif stage.kind == "delay":
            kind = "delay"
        else:
            kind = self._engine()
        return f"stage {stage.name}{size} : {kind};"

    def _engine(self) -> str:
        budget = self.one_of("2", "3", "4", "6", "8", "max(1, 6 - decoders)", "2 + residents", "1.5")
        cost = self.one_of(
            "1",
            "1",
            "0.5",
            "1 + 0.25 * tokens",
            "0.5 + 0.125 * prefilled + 0.25 * decoders",
            "1 + 0.0625 * (kv_decode + kv_prefill)",
            "0.25 * residents + 0.5",
            "1 + 0.125 * attention",
        )
        options = [f"budget {budget};", f"cost {cost};"]
        if self.chance(0.4):
            options.append(f"chunk {self.one_of('0', '1', '2', '3', 'residents > 1 ? 2 : 0', '1.5')};")
        if self.chance(0.5):
            keys = (
                "remaining",
                "-remaining",
                "-admission",
                "decoding",
                "x, -decoding",
                "serial",
                "kv_decode - remaining",
            )
            order = self.one_of("admission", "decode first", "exclusive prefill", "by", "by")
            options.append(f"serve {order};" if order != "by" else f"serve by ({self.one_of(*keys)});")
        if self.pools[0].memory:
            options.append(f"memory {self.pools[0].name};")
        return f"step {{ {' '.join(options)} }}"

    def _workload(self) -> str:
        items = [f"arrive {self.arrivals};"]
        if self.chance(0.2):
            items.append("hidden o;")
        sets = [f"set {name} = {self._varied()};" for name in (*ATTRIBUTES, "o")]
        sets += ["set i = 0;", f"set j = {self.one_of('0', 'serial - 2 * floor(serial / 2)')};"]
        if self.allowed.draws:
            sets.append("set u = ~exp(1);")
        items.append(f"init {{ {' '.join(sets)} }}")
        if self.chance(0.4):
            items.append(f"turn {{ set y = {self._varied()}; }}")
        return f"workload {{ {' '.join(items)} }}"

    def _varied(self) -> str:
        """A number that differs from session to session and from turn to turn without a draw."""
        if self.allowed.draws and self.chance(0.3):
            return self.one_of("floor(~uniform(0, 5))", "~erlang(2, 2)", "~h2(1, 4)", "~bernoulli(0.5)")
        a, b, n = (self.random.randrange(low, 7) for low in (1, 0, 2))
        linear = f"(serial * {a} + turn_no * {b})"
        return f"{linear} - {n} * floor({linear} / {n})"

    # ------------------------------------------------------------------------------------------------ indices

    def _member(self, name: str, size: int) -> str:
        """A pool or stage as a statement names it; in a family, member `j` of the session most often."""
        if size == 1:
            return name
        return f"{name}[{self.one_of('j', 'j', 'j', '0', '1')}]"

    def _constant_member(self, name: str, size: int) -> str:
        return name if size == 1 else f"{name}[{self.one_of('0', '1')}]"

    # -------------------------------------------------------------------------------------------- expressions

    def _number(self) -> str:
        """An amount that reads nothing that is live."""
        form = self.random.randrange(10)
        if form < 5:
            return self.one_of(*NUMBERS)
        if form < 8:
            return self.one_of(*ATTRIBUTES)
        if form < 9:
            return f"{self.one_of(*ATTRIBUTES)} + {self.one_of('0.5', '1', '2')}"
        return f"{self.one_of('min', 'max')}({self.one_of(*ATTRIBUTES)}, {self.one_of('1', '2', '3')})"

    def _state_expression(self, in_gauge: bool = False, in_header: bool = False) -> str:
        """A function of pools and stages."""
        pool = self.pools[self.random.randrange(len(self.pools))]
        stage = self.stages[self.random.randrange(len(self.stages))]
        named = self._constant_member if in_gauge else self._member
        pool_name, stage_name = named(pool.name, pool.size), named(stage.name, stage.size)
        options = [
            f"used({pool_name})",
            f"holders({pool_name})",
            f"queued({pool_name})",
            f"queue({stage_name})",
            f"busy({stage_name})",
        ]
        if pool.cap != "inf":
            options.append(f"free({pool_name})")
        if pool.size == 2:
            options += [f"{of} q in 2 (used({pool.name}[q]))" for of in ("max", "min", "sum")]
        if not in_gauge:
            options += [f"cachedin({pool_name})", f"cachedin({pool_name})", f"work({stage_name})"]
            engine = next((stage for stage in self.stages if stage.kind == "step"), None)
            if engine is not None:
                options += [f"budget_left({self._member('e', engine.size)})"] * (3 if in_header else 1)
            if not in_header and self.chance(0.2):
                fifo = stage_name
                options += [
                    f"price({fifo}, 1, 1)",
                    f"est_lambda({fifo})",
                    f"est_rho({fifo})",
                    f"est_wait({fifo})",
                ]
        return self.one_of(*options)

    def _units(self) -> str:
        form = self.random.randrange(10)
        if form < 6:
            return self._number()
        if form < 8:
            return f"min({self._number()}, {self._state_expression(in_header=True)})"
        if form < 9:
            return f"{self._number()} + min(2, computed)"
        return f"max({self._number()}, min(3, {self._state_expression(in_header=True)}))"

    def _guard(self) -> str:
        left = self._state_expression() if self.chance(0.4) else self.one_of(*ATTRIBUTES, "serial", "turn_no", "now")
        test = f"{left} {self.one_of('<', '<=', '>', '==', '!=', '>=')} {self.one_of('0', '1', '2', '3')}"
        if self.chance(0.15):
            test = f"{test} {self.one_of('&&', '||')} x > 1"
        return f"!({test})" if self.chance(0.1) else test

    def _work(self) -> str:
        if self.allowed.draws and self.chance(0.4):
            return self.one_of("~exp(1)", "~uniform(0, 2)", "~erlang(3, 1)", "~h2(1, 2)", "u", "~det(1)")
        return self.one_of("x", "y", "o") if self.chance(0.2) else self.one_of(*WORK)

    # --------------------------------------------------------------------------------------------- statements

    def _body(self, scope: _Scope, least: int = 0) -> list[str]:
        lines: list[str] = []
        outside = not scope.holds and scope.depth == 0
        count = max(least, self.random.randrange(1, 7 if outside else 5))
        for _ in range(count):
            if self.statements_left <= 0:
                break
            self.statements_left -= 1
            lines += self._statement(scope)
        if outside:
            lines += self._ending(scope)
        return lines

    def _ending(self, scope: _Scope) -> list[str]:
        """End, come back for another turn, or just run out of statements."""
        form = self.random.randrange(4)
        if form == 0 or (scope.leased and not self.allowed.nested):
            return []
        if form == 1:
            return ["end;"]
        inner = _Scope(depth=1, in_loop=True)
        turns = self.one_of("2", "3")
        again = self._body(inner, 1)
        tail = [
            f"run z ({self.one_of('0', '0.5', '1')});",
            "turn;",
            f"branch (turn_no >= {turns}) {{ end; }} else {{ }}",
        ]
        return ["loop {", *again, *tail, "}"]

    def _statement(self, scope: _Scope) -> list[str]:
        form = self.random.randrange(100)
        if form < 14:
            return [self._observe(scope)]
        if form < 20:
            return [f"set {self.one_of(*ATTRIBUTES)} = {self._number()};"]
        if form < 42:
            return [self._run(scope)]
        if form < 66 and scope.depth < 4:
            return self._hold(scope)
        if form < 84 and scope.holds:
            return [self._in_hold(scope)]
        if form < 90 and scope.depth < 4:
            return self._branch(scope)
        if form < 92:
            pool = self.pools[self.random.randrange(len(self.pools))]
            return [f"drop {self._member(pool.name, pool.size)};"]
        if form < 94 and scope.leased:
            _, name = scope.leased[self.random.randrange(len(scope.leased))]
            return [f"release {name};"]
        if form < 95:
            return ["turn;"]
        if form < 96 and scope.depth > 0:
            return ["end;"]
        if form < 98:
            keys = self.one_of("k * x - y", "-k", "k == x", "0")
            stage = next((stage for stage in self.stages if stage.size == 2), None)
            if stage is not None and self.chance(0.7):
                keys = f"{self.one_of('queue', 'busy', 'work')}({stage.name}[k]), {keys}"
                return [f"choose k in 2 by ({keys});"]
            return [f"choose k in {self.one_of('2', '3')} by ({keys});"]
        return [f"set w = {self._state_expression()};", self._sample("w")]

    def _sample(self, value: str) -> str:
        self.observes += 1
        return f"observe v{self.observes % 4} = {value};"

    def _observe(self, scope: _Scope) -> str:
        form = self.random.randrange(6)
        if form == 0:
            return self._sample("now")
        if form == 1:
            return self._sample("computed")
        if form == 2 and scope.with_cache:
            return self._sample("cached")
        if form == 3:
            return self._sample(self._guard())
        return self._sample(self._state_expression())

    def _run(self, scope: _Scope) -> str:
        stage = self.stages[self.random.randrange(len(self.stages))]
        engine = next((stage for stage in self.stages if stage.kind == "step"), None)
        if engine is not None and (scope.holds or self.chance(0.3)) and self.chance(0.6):
            stage = engine
        name = self._member(stage.name, stage.size)
        if stage.kind != "step":
            if stage.kind == "shared" and self.chance(0.6):
                self.wrote_flow = True
                other = next(s for s in self.stages if s.kind == "shared" and s is not stage)
                name = f"{name}, {self._member(other.name, other.size)}"
            return f"run {name} ({self._work()});"
        growing = ""
        if scope.holds and self.chance(0.75):
            pool, written = scope.holds[self.random.randrange(len(scope.holds))]
            fills = pool.preempt != "none" and (not pool.memory or written[2:] == name[1:])
            if self.allowed.stalls or fills:
                growing = f" growing {written}"
        tokens = self.one_of("x", "y", "o + 1") if self.chance(0.3) else self.one_of(*TOKENS)
        return f"run {name} {self.one_of('prefill', 'decode')} ({tokens}){growing};"

    def _hold(self, scope: _Scope) -> list[str]:
        order = list(self.pools)
        self.random.shuffle(order)
        if not self.allowed.nested:
            order = [pool for pool in order if all(pool is not held for held, _ in (*scope.holds, *scope.leased))]
            if not order:
                return [self._run(scope)]
        count = 1 if self.chance(0.7) else self.random.randrange(1, len(order) + 1)
        held = tuple((pool, self._member(pool.name, pool.size)) for pool in order[:count])
        claims = []
        for _, written in held:
            reserve = f" reserve ({self._units()})" if self.chance(0.25) else ""
            claims.append(f"{written} ({self._units()}){reserve}")
        with_cache = self.chance(0.6)
        reuse = f" reuse ({self._number()})" if with_cache and self.chance(0.3) else ""
        inner = _Scope(scope.holds + held, with_cache, scope.depth + 1, scope.leased, scope.in_loop)
        # contention needs holds that last and grow
        body = self._body(inner, 1)
        if self.chance(0.7):
            body.insert(0, self._run(inner))
        if self.chance(0.4):
            body += [f"grow {self._held(inner)} ({self.one_of('1', '2', 'x')});", self._run(inner)]
        cache = f" cache ({self.one_of('inf', '1', '2', '4', 'x', 'y + 2')})" if with_cache else ""
        lease = ""
        if self.chance(0.2) and not (scope.in_loop and not self.allowed.nested):
            pool, written = held[self.random.randrange(count)]
            lease = f" lease {written} ({self.one_of('0', '1', '2.5', 'inf', 'x')})"
            scope.leased.append((pool, written))
        return [f"hold {', '.join(claims)}{reuse} {{", *body, f"}}{cache}{lease};"]

    def _held(self, scope: _Scope) -> str:
        return scope.holds[self.random.randrange(len(scope.holds))][1]

    def _in_hold(self, scope: _Scope) -> str:
        written = self._held(scope)
        form = self.random.randrange(8)
        if form < 5:
            return f"grow {written} ({self.one_of('0', '1', '2', '3', 'x')});"
        if form < 6:
            return f"release {written};"
        return f"load {written} ({self.one_of('0', '1', f'min(1, used({written}))')});"

    def _branch(self, scope: _Scope) -> list[str]:
        inner = _Scope(scope.holds, scope.with_cache, scope.depth + 1, scope.leased, scope.in_loop)
        head = f"branch ({self._guard()})"
        if self.allowed.draws and self.chance(0.4):
            head = f"branch with ({self.one_of('0.5', '0.25', '1')})"
        then = self._body(inner, 1)
        if self.chance(0.5):
            return [f"{head} {{", *then, "}"]
        return [f"{head} {{", *then, "} else {", *self._body(inner), "}"]


def write_program(random: Random, allowed: Allowed | None = None) -> str:
    """Write a random program that links."""
    return Writer(random, allowed or Allowed()).program()
