"""The reader of the pages refuses a page that would check nothing, and reads values as they are written."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from spec.pages import PageError, number, numbers, read_page, same

PROGRAM = "```serq\nrun { horizon 1; }\n```\n"


def page(tmp_path: Path, text: str) -> Path:
    """Write a page."""
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# A\n" + PROGRAM, "expects nothing"),
        ("# A\n```serk\n```\n", "no fence is called 'serk'"),
        ("# A\n```serq\nrun\n", "never closed"),
        ("# A\n```observes\nx: 1\n```\n", "before any program"),
        ("# A\n```serq more\nx\n```\n```error\na: b\n```\n" + PROGRAM, "after a `serq more`"),
    ],
)
def test_pages_that_check_nothing(text: str, message: str, tmp_path: Path) -> None:
    """A page at fault is told where and why."""
    with pytest.raises(PageError, match=message):
        read_page(page(tmp_path, text))


def test_variants(tmp_path: Path) -> None:
    """A variant is the common part and its own text, with the files of the common part; the common part may be none."""
    text = "# A\n```serq\none\n```\n```csv t.csv\n1\n```\n"
    text += "```serq more\ntwo // error[a-b]\n```\n```serq more\nthree\n```\n```same\nx\n```\n"
    first, second = read_page(page(tmp_path, text))
    assert (first.text, second.text) == ("one\ntwo // error[a-b]\n", "one\nthree\n")
    assert first.files == second.files == {"t.csv": "1\n"}
    assert first.pointed == [(2, "a-b")]
    assert first.is_refused
    assert not second.is_refused
    assert second.before is first


def test_values() -> None:
    """Values are arithmetic; what does not exist equals nothing but itself."""
    assert numbers("1, 2/4, (1 + 2) * 3, -inf, sqrt(4)") == [1, 0.5, 9, -math.inf, 2]
    assert same(1 / 3, 0.3333333333)
    assert not same(1 / 3, 0.33333333)
    assert same(math.nan, None)
    assert not same(math.nan, 0.0)
    assert not same(math.inf, 1e300)
    with pytest.raises(PageError):
        number("open('x')")
