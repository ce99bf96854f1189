"""Orders by keys that are kept, against the search through everybody that defines them."""

from __future__ import annotations

import random as generators

from hypothesis import given, settings
from hypothesis import strategies as st

import serq
from serq.engine.assemble import assemble
from serq.engine.ranks import Ranked, RankHeap

STEPS = st.lists(
    st.tuples(st.sampled_from(["push", "push", "remove", "change"]), st.integers(0, 3), st.integers(0, 30)), max_size=80
)


@given(STEPS)
def test_the_first_has_the_smallest_keys_then_the_smallest_number(steps: list[tuple[str, int, int]]) -> None:
    """Whoever comes, goes or changes; few distinct keys, so that numbers decide."""
    heap = RankHeap()
    present: list[Ranked] = []
    for number, (step, key, choice) in enumerate(steps):
        keys = [float(key), float(choice % 2)]
        if step == "push":
            item = Ranked()
            item.keys, item.rank_number = keys, number
            heap.push(item)
            present.append(item)
        elif present and step == "remove":
            item = present.pop(choice % len(present))
            heap.remove(item)
            assert item.place == -1
        elif present:
            item = present[choice % len(present)]
            item.keys = keys
            heap.put_in_order(item)
        assert [heap.items[item.place] is item for item in present] == [True] * len(heap.items)
        if present:
            assert heap.first() is min(present, key=lambda item: (item.keys, item.rank_number))


PROGRAM = """
pool host {{ cap 30; {block} evict by ({host}); }}
pool kv {{ cap 20; {block} evict by ({evict}); queue by ({queue}); {preempt} {spill} }}
pool place {{ cap 3; queue by (-x, y); }}
stage link : fifo; stage z : delay;
workload {{
  arrive poisson(2);
  init {{ set x = floor(~uniform(0, 4)); set y = floor(~uniform(0, 3)); set turns = 1 + floor(~exp(4)); }}
}}
session {{
  set i = 0;
  loop {{
    hold place (1), kv (1 + floor(~exp(4))) reuse (y + 3) {{
      set x = floor(~uniform(0, 4));
      observe found = cached;
      run z (~exp(0.2));
      grow kv (2);
      set y = floor(~uniform(0, 3));
      run z (~exp(0.2));
    }} cache (2 + x + floor(~uniform(0, 5)));
    set x = floor(~uniform(0, 4));
    run z (~exp(1));
    branch (x == 0) {{ drop kv; }}
    set y = floor(~uniform(0, 3));
    set i = i + 1;
    branch (i >= turns) {{ end; }}
  }}
}}
run {{ horizon 150; seed {seed}; }}
"""
KEYS = ("x", "-y, x", "size", "x, -size", "last, y", "x * y, serial", "turn_no + cached", "computed, -last")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_what_is_kept_is_what_a_search_would_find(seed: int) -> None:
    """Attributes of live owners change while their prefixes are cached, owners leave, entries shrink and split."""
    choose = generators.Random(seed)
    text = PROGRAM.format(
        block=choose.choice(["", "block 1;", "block 2;"]),
        host=choose.choice(KEYS),
        evict=choose.choice(KEYS),
        queue=choose.choice(["x", "y, -x", "-serial", "x + y"]),
        preempt=choose.choice(["", "preempt lifo;", "preempt by (x, y);"]),
        spill=choose.choice(["", "spill host via link (0.01 * size) when (x > 0);"]),
        seed=choose.randrange(1000),
    )
    found = []
    for is_kept in (True, False):
        simulation = assemble(serq.loads(text).linked, records_samples=True, checks=True)
        for pool in simulation.world.pools:
            assert pool.keys_are_fixed and (pool.evict_keys_stay or not pool.evict_keys)
            pool.evict_keys_stay = pool.evict_keys_stay and is_kept
            pool.keys_are_fixed = is_kept
        simulation.world.ranks_entries = is_kept
        result = simulation.run()
        observed = result.observes[0]
        rows = [(pool.admissions, pool.evicted_entries, pool.evicted_units, pool.spills) for pool in result.pools]
        found.append((list(observed.times), list(observed.sessions), list(observed.values), rows))
    assert found[0] == found[1]
