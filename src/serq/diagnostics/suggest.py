"""Near names: what a misspelt word was probably meant to be.

Input: a word and the names that exist. Output: the closest, for a help line.
"""

from __future__ import annotations

from collections.abc import Iterable

LISTED = 4
"""A message lists at most so many candidates."""


def distance(left: str, right: str, limit: int) -> int:
    """Count the edits (insert, delete, replace, swap two neighbours) between two words, at most `limit` + 1.

    Notes
    -----
    Optimal string alignment: Damerau–Levenshtein without editing a swapped pair again. O(len · len).
    """
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        current = [i]
        for j, b in enumerate(right, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return min(previous[-1], limit + 1)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known name closest to a word when it is close: one edit for every three letters, at least one."""
    limit = max(1, len(word) // 3)
    best: tuple[int, str] | None = None
    for name in known:
        if name == word:
            continue
        edits = 1 if name.lower() == word.lower() else distance(word, name, limit)
        if edits <= limit and edits < max(len(word), len(name)) and (best is None or (edits, name) < best):
            best = (edits, name)
    return None if best is None else best[1]


def did_you_mean(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Give the help that proposes a near name, or none."""
    near = nearest(word, known)
    return (f"did you mean `{near}`?",) if near else ()


def suggestion(word: str, known: Iterable[str], kinds: str) -> tuple[str, ...]:
    """Give the help for an unknown name: the nearest one, else the few there are, else none.

    Parameters
    ----------
    kinds : what the names are, in the plural ("pools")
    """
    names = sorted(set(known))
    near = did_you_mean(word, names)
    if near:
        return near
    if 0 < len(names) <= LISTED:
        listed = ", ".join(f"`{name}`" for name in names)
        return (f"the {kinds} are {listed}",) if len(names) > 1 else (f"the only one of the {kinds} is {listed}",)
    return ()
