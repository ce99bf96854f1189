"""The parts of docs/performance.md that are measured: each stands between two comments and is replaced whole."""

from __future__ import annotations

from contenders import ROOT

PAGE = ROOT / "docs" / "performance.md"


def write_section(name: str, text: str) -> None:
    """Replace the section `name` of the page."""
    begin, end = f"<!-- {name}: measured -->", f"<!-- {name}: end -->"
    page = PAGE.read_text(encoding="utf-8")
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{PAGE} has no section {name}")
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
