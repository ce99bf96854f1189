"""Random serving programs: engines under load, with what a deployment has around them.

Input: a `random.Random`.  Output: the text of a program that links.  They are larger than those of `programs.py` where
it matters to an engine's iterations: tens of residents, contexts of many blocks, caches that turn over, two engines
beside each other, clocks whose events fall together, and now and then a fraction where whole numbers are the rule.
"""

from __future__ import annotations

from random import Random


def write_serving_program(random: Random) -> str:
    return _Serving(random).text()


class _Serving:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.engines = 2 if self.chance(0.3) else 1
        self.at = "[e]" if self.engines > 1 else ""
        self.reuses = self.chance(0.6)
        self.has_fractions = self.chance(0.15)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def text(self) -> str:
        parts = [
            f"let bs = {self.one_of('1', '2', '4', '16')};",
            *self.pools(),
            *self.stages(),
            *self.gauges(),
            self.workload(),
            f"session {{ {self.session()} }}",
            f"run {{ horizon {self.one_of('20', '60', '120')}; warmup {self.one_of('0', '10')}; "
            f"seed {self.random.randrange(1000)}; }}",
        ]
        return "\n".join(parts) + "\n"

    @property
    def size(self) -> str:
        return f"[{self.engines}]" if self.engines > 1 else ""

    def pools(self) -> list[str]:
        slots = self.one_of("1", "3", "8", "8", "40")
        order = self.one_of("", "", "", "queue by (prompt);", "queue by (-waited);", "queue by (x, -prompt);")
        via = self.one_of("admit via engine;", "admit via engine;", "admit via engine;", "")
        reqs = f"pool reqs{self.size} {{ cap {slots}; {order} {via} }}"
        block = self.one_of("block bs;", "block bs;", "block bs;", "")
        evict = self.one_of(
            *("evict lru;",) * 6,
            "",
            "evict by (size);",
            "evict by (-last);",
            "evict by (waiting, x);",
            f"evict by (used({'reqs[0]' if self.engines > 1 else 'kv'}) > 60 ? size : -size);",
        )
        preempt = self.one_of(
            "preempt lifo;", "preempt lifo;", "preempt lifo;", "preempt none;", "preempt by (prompt);"
        )
        cap = self.one_of("120", "400", "1600", "8000", "inf")
        spill = "spill tier via link (size) when (size > 1);" if self.chance(0.15) else ""
        found = [reqs, f"pool kv{self.size} {{ cap {cap}; {block} {evict} {preempt} {spill} }}"]
        if spill:
            found.append("pool tier { cap 500; block bs; }")
        if self.chance(0.3):
            found.append(f"pool door {{ cap {self.one_of('2', '6')}; }}")
        return found

    def stages(self) -> list[str]:
        cost = self.one_of(
            "1",
            "0.5",
            "0.25 + 0.125 * decoders",
            "0.01 + 0.001 * decoders + 0.0003 * kv_decode + 0.002 * prefilled + 0.00001 * attention",
            "0.02 + 0.0007 * tokens + 0.00013 * (kv_decode + kv_prefill)",
            "0.03 * residents + 0.1",
            "0.05 * (1 + ~uniform(0, 1))",
        )
        budget = self.one_of(
            "8", "8", "24", "24", "64", "64", "64", "256", "256", "max(4, 48 - decoders)", "32.5", "8 + kv_decode / 100"
        )
        chunk = self.one_of("", "", "", "chunk 6;", "chunk 16;", "chunk (residents > 1 ? 5 : 0);", "chunk 2.5;")
        serve = self.one_of(
            *("",) * 8,
            "serve decode first;",
            "serve by (decoding);",
            "serve by (-decoding, admission);",
            "serve by (remaining);",
            "serve exclusive prefill;",
        )
        found = [
            f"stage engine{self.size} : step {{ budget {budget}; cost {cost}; {chunk} {serve} memory kv; }}",
            "stage tool : delay;",
            f"stage link : {self.one_of('ps(2)', 'fifo(1)', 'delay')};",
        ]
        self.random.shuffle(found)
        return found

    def gauges(self) -> list[str]:
        which = "[0]" if self.engines > 1 else ""
        choices = (
            f"gauge g1 = used(kv{which});",
            f"gauge g2 = free(kv{which}) + holders(reqs{which});",
            f"gauge g3 = busy(engine{which}) + queued(reqs{which});",
            f"gauge g5 = queue(engine{which}) * holders(kv{which});",
        )
        return [g for g in choices if self.chance(0.2)]

    def workload(self) -> str:
        arrive = self.one_of(
            "closed(3)", "closed(9)", "closed(30)", "batch(25)", "poisson(0.7)", "poisson(3)", "poisson(3)"
        )
        return f"workload {{ arrive {arrive}; init {{ set K = 0; set e = 0; set x = 0; }} }}"

    def number(self, mean: int) -> str:
        if self.has_fractions and self.chance(0.3):
            return f"~exp({mean}) + 0.25"
        if self.chance(0.3):
            return f"{mean}"
        return f"1 + floor({self.one_of('~exp', '~exp')}({mean}))"

    def session(self) -> str:
        prompt, output = self.random.choice((3, 20, 60)), self.random.choice((2, 8, 30, 80))
        body = [f"set prompt = {self.one_of('K + ', '') if self.reuses else ''}{self.number(prompt)};"]
        body.append(f"set o = {self.number(output)}; set x = floor(~uniform(0, 4)); set t0 = now;")
        if self.engines > 1:
            body.append(
                self.one_of(
                    "set e = serial - 2 * floor(serial / 2);",
                    "choose e in 2 by (work(engine[e]), queued(reqs[e]));",
                    "choose e in 2 by (used(kv[e]) + budget_left(engine[e]));",
                )
            )
        body.append(self.hold())
        body.append("observe response = now - t0;")
        if self.chance(0.1):
            body.append(f"hold kv{self.at} (0.125 * x + 0.002) {{ run tool (1); }}")
        if self.chance(0.6):
            body.append(f"run tool ({self.one_of('1', '2', '~exp(3)', 'x')});")
        if self.chance(0.2):
            body.append(f"run link ({self.one_of('0.5', '1', 'x')});")
        body.append("set K = prompt + o > 500 ? 0 : prompt + o;")
        return f"loop {{ {' '.join(body)} branch ({self.one_of('0', 'K == 0', 'x == 0')}) {{ end; }} }}"

    def hold(self) -> str:
        a = self.at
        grows = self.chance(0.8)
        growing = f" growing kv{a}" if grows else ""
        cache = self.one_of("cache (prompt + o - 1)", "cache (prompt)", "cache (0)", "cache (prompt / 3)")
        if not self.reuses:
            cache = self.one_of("", "cache (0)")
        if grows and self.chance(0.75):
            first = self.one_of("", "", "min(7, ")
            budget = f"{first}budget_left(engine{a}){')' if first else ''}"
            reserve = self.one_of("reserve (known)", "reserve (known)", "", "reserve (known + o)")
            claim = f"min(known, hit + {budget}) ) {reserve}"
        else:
            claim = "known + o )"
        reuse = self.one_of("", "reuse (max(0, known - 1))") if cache else ""
        hit = f"min(cachedin(kv{a}), known - 1)" if cache else "0"
        known = f"known = computed < prompt ? prompt : computed + 1, hit = {hit}"
        inner = [
            f"set c = {'cached' if cache else '0'};",
            f"run engine{a} prefill (max(0, known - c)){growing};",
            "observe ttft = now - t0;",
            f"branch (o - 1 - (known - prompt) > 0) {{ run engine{a} decode (o - 1 - (known - prompt)){growing}; }}",
        ]
        if self.chance(0.15):
            inner.insert(3, f"run tool ({self.one_of('1', '0.5')});")
        if self.chance(0.1):
            inner.append(f"grow kv{a} (3);")
        if self.chance(0.1):
            inner.append(f"release kv{a};")
        return f"hold reqs{a} (1), kv{a} ({claim} {reuse} at admission ({known}) {{ {' '.join(inner)} }} {cache};"
