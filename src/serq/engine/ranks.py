"""Orders by keys that are kept rather than searched: who is first in a line, which prefix is evicted next.

Input: sessions or cache entries with their keys. Output: the one with the smallest keys, in order, then the smallest
number.
Invariants: the order is total, so the shape of the heap never shows in a run; `place` is where an item is in its heap,
-1 outside; whoever changes what keys read puts the item in order anew before the next choice.
Reference: language §3 (Waiting selection, Pools, Ties).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64


class Ranked:
    """Something in an order; `keys` and `number` are set before it is put into a heap."""

    def __init__(self) -> None:
        self.keys: list[float] | None = None
        self.rank_number: i64 = 0
        self.place: i64 = -1


def comes_before(one: Ranked, other: Ranked) -> bool:
    """Tell which of two is first; no two of one heap have the same number."""
    keys = one.keys
    others = other.keys
    assert keys is not None and others is not None
    for i in range(len(keys)):
        a = keys[i]
        b = others[i]
        if a < b:
            return True
        if a > b:
            return False
    return one.rank_number < other.rank_number


class RankHeap:
    """A binary heap whose items know their places, so that any of them can leave."""

    def __init__(self) -> None:
        self.items: Final[list[Ranked]] = []

    def first(self) -> Ranked:
        """Give the first item; there is one."""
        return self.items[0]

    def push(self, item: Ranked) -> None:
        """Let an item come."""
        self.items.append(item)
        self._rise(len(self.items) - 1, item)

    def remove(self, item: Ranked) -> None:
        """Let an item go that is there."""
        place: i64 = item.place
        item.place = -1
        last = self.items.pop()
        if last is not item:
            self._rise(self._sink(place, last), last)

    def put_in_order(self, item: Ranked) -> None:
        """Find the place of an item whose keys have changed."""
        self._rise(self._sink(item.place, item), item)

    def _rise(self, place: i64, item: Ranked) -> None:
        """Put an item where it belongs between a place and the root."""
        items = self.items
        while place > 0:
            above: i64 = (place - 1) >> 1
            over = items[above]
            if not comes_before(item, over):
                break
            items[place] = over
            over.place = place
            place = above
        items[place] = item
        item.place = place

    def _sink(self, place: i64, item: Ranked) -> i64:
        """Move those that come before an item up, from a place on; give the place that is left for it."""
        items = self.items
        size: i64 = len(items)
        while True:
            child: i64 = 2 * place + 1
            if child >= size:
                return place
            if child + 1 < size and comes_before(items[child + 1], items[child]):
                child += 1
            first = items[child]
            if not comes_before(first, item):
                return place
            items[place] = first
            first.place = place
            place = child
