"""The names of all diagnostics, read from their pages in `explain/`.

Input: `explain/NAME.md` (first line `# NAME`, then a one-line summary, then why, a program that fails and the same one
mended). Output: names, summaries, pages.

Invariants: a name is registered by its page and nowhere else; a test holds that every name the code reports has a page
and a bad program, and that every page is reported by something.
"""

from __future__ import annotations

import os

PAGES = os.path.join(os.path.dirname(__file__), "explain")


def names() -> list[str]:
    """Give every registered name, sorted."""
    if not os.path.isdir(PAGES):
        return []
    return sorted(entry[: -len(".md")] for entry in os.listdir(PAGES) if entry.endswith(".md"))


def page(name: str) -> str | None:
    """Give the page of a name, or None when there is no such name."""
    if name not in names():
        return None
    with open(os.path.join(PAGES, f"{name}.md"), encoding="utf-8") as file:
        return file.read()


def summary(name: str) -> str:
    """Give the one-line summary of a name: the second paragraph of its page."""
    paragraphs = [" ".join(part.split()) for part in (page(name) or "").split("\n\n") if part.strip()]
    return paragraphs[1] if len(paragraphs) > 1 else ""


def nearest(name: str, count: int = 4) -> list[str]:
    """Give the registered names closest to a word, the closest first, at most `count` of them."""
    from difflib import get_close_matches

    known = names()
    close = get_close_matches(name, known, n=count, cutoff=0.6)
    return close or [candidate for candidate in known if name and name in candidate][:count]
