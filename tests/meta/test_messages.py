"""Every bad program's message as a person sees it: recorded, so that a change of wording is read before it lands.

A recorded message is the whole of stderr, beside its program as NAME.txt. Why it is right is held elsewhere: the name
and the voice in `test_diagnostics.py`, the reason on the name's page, whose programs run. Here the text is compared.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Golden
from meta.test_diagnostics import BAD, NOTES, OPTIONS, bad_programs, expected_name
from serq.cli.main import main


@pytest.mark.parametrize("path", bad_programs(), ids=lambda path: path.name)
def test_the_message_is_the_one_that_was_read(
    path: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The caret text, its notes and its helps, as `serq` prints them in the folder of the program."""
    monkeypatch.chdir(BAD)
    name = expected_name(path)
    words = [word.format(file=path.name) for word in OPTIONS.get(name, ["run", "{file}"])]
    assert main(words) == (0 if name in NOTES else 1)
    out, err = capsys.readouterr()
    assert (out == "") == (name not in NOTES)
    golden.check(BAD / f"{path.name.split('.')[0]}.txt", err)


def test_no_message_is_recorded_without_its_program() -> None:
    """A recorded message without a program is never compared."""
    stems = {path.name.split(".")[0] for path in bad_programs()}
    assert sorted(path.name for path in BAD.glob("*.txt") if path.stem not in stems) == []
