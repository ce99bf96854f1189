"""What is read without click means the same to click; what is not is left to it."""

from __future__ import annotations

from typing import Any

import click
import pytest

from serq.cli import run
from serq.cli.commands import serq
from serq.cli.quick import read_run
from serq.cli.simulate import Request

READ = [
    ["run", "a.sq"],
    ["run", "-", "--json"],
    ["run", "--seed", "3", "a.sq", "--strict"],
    ["run", "a.sq", "--set", "lam=0.5", "--set", "lam = 1 / 2", "--set", "n=a=b ? 1 : 2".replace("a=b", "a==b")],
    ["run", "a.sq", "--set=lam=0.5", "--def", "cost=1 + tokens", "--format=json"],
    ["run", "a.sq", "--horizon", "1e3", "--warmup=0", "--arrivals", "5", "--trace", "t.csv", "--dump", "out"],
]

LEFT = [
    [],
    ["check", "a.sq"],
    ["run"],
    ["run", "a.sq", "b.sq"],
    ["run", "--help"],
    ["run", "a.sq", "--jso"],
    ["run", "a.sq", "--json=1"],
    ["run", "a.sq", "--seed"],
    ["run", "a.sq", "--seed", "-1"],
    ["run", "a.sq", "--seed", "1", "--seed", "2"],
    ["run", "a.sq", "--seed", "1.5"],
    ["run", "a.sq", "--horizon", "0"],
    ["run", "a.sq", "--horizon", "inf"],
    ["run", "a.sq", "--warmup", "nan"],
    ["run", "a.sq", "--arrivals", "0"],
    ["run", "a.sq", "--set", "lam"],
    ["run", "a.sq", "--set", "lam=1 +"],
    ["run", "a.sq", "--format", "xml"],
]


def read_by_click(words: list[str], monkeypatch: pytest.MonkeyPatch) -> Request:
    """Give the request that click hands on."""
    found: list[Request] = []

    def keep(request: Request) -> int:
        found.append(request)
        return 0

    monkeypatch.setattr(run, "simulate", keep)
    with serq.make_context("serq", list(words)) as context:
        serq.invoke(context)
    return found[0]


def fields(request: Request) -> dict[str, Any]:
    return {name: getattr(request, name) for name in Request.__match_args__}


@pytest.mark.parametrize("words", READ, ids=" ".join)
def test_a_plain_run_means_the_same_to_click(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every field of the request."""
    request = read_run(words)
    assert request is not None
    assert fields(request) == fields(read_by_click(words, monkeypatch))


@pytest.mark.parametrize("words", [*LEFT, ["run", "--", "a.sq"], ["run", ""]], ids=" ".join)
def test_what_has_to_be_explained_is_left_to_click(words: list[str]) -> None:
    """Help, mistakes, other commands."""
    assert read_run(words) is None


@pytest.mark.parametrize("words", [words for words in LEFT if words[:1] == ["run"]], ids=" ".join)
def test_click_explains_it(words: list[str]) -> None:
    """None of them is a run to click either, but for the option that is given twice, of which it takes the last."""
    if words.count("--seed") == 2:
        return
    with (
        pytest.raises((click.ClickException, click.exceptions.Exit)),
        serq.make_context("serq", list(words)) as context,
    ):
        serq.invoke(context)
