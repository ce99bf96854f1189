"""Records behave as the standard library's frozen, slotted dataclasses do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field

import pytest

from serq import records
from serq.diagnostics import SourceFile, Span
from serq.syntax import nodes


def pair(decorator: object, **options: bool) -> type:
    """The same class, decorated."""

    @decorator(slots=True, **options)  # type: ignore[operator]
    class Base:
        """A base."""

        span: int = field(compare=False, repr=False)

    @decorator(slots=True, **options)  # type: ignore[operator]
    class Made(Base):
        """A record."""

        a: int
        b: list[int] = field(default_factory=list)
        c: str = "c"
        d: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "d", self.a + 1)

    return Made


@pytest.mark.parametrize("options", [{"frozen": True}, {"frozen": False}, {"frozen": True, "eq": False}])
def test_a_record_is_what_the_standard_decorator_makes(options: dict[str, bool]) -> None:
    """Construction, defaults, comparison, hash, text, matching, fields, replace."""
    for made in (pair(records.dataclass, **options), pair(dataclasses.dataclass, **options)):
        one, two = made(1, 2), made(span=9, a=2)
        assert (one.span, one.a, one.b, one.c, one.d) == (1, 2, [], "c", 3)
        assert one.b is not two.b
        assert (one == two) is options.get("eq", True) and one != "one"
        assert repr(one).endswith("Made(a=2, b=[], c='c', d=3)")
        assert made.__match_args__ == ("span", "a", "b", "c")
        assert [f.name for f in dataclasses.fields(made)] == ["span", "a", "b", "c", "d"]
        assert dataclasses.is_dataclass(one) and dataclasses.replace(one, a=5).d == 6
        assert not hasattr(one, "__dict__")
        with pytest.raises(TypeError):
            made()
        with pytest.raises(TypeError):
            made(1, 2, [], "c", 4)
        if options["frozen"]:
            with pytest.raises(FrozenInstanceError):
                one.a = 3
            with pytest.raises(FrozenInstanceError):
                del one.a
        else:
            one.a = 3
            assert one.a == 3
            with pytest.raises(TypeError):
                hash(one)


def test_trees_are_hashed_copied_and_pickled() -> None:
    """A node's span takes no part in equality; a copy has it."""
    source = SourceFile("a.sq", "x + 1")
    tree = nodes.Binary(
        Span(source, 0, 5), "+", nodes.Name(Span(source, 0, 1), "x"), nodes.Number(Span(source, 4, 5), 1.0)
    )
    moved = dataclasses.replace(tree, span=Span(source, 1, 2))
    assert tree == moved and hash(tree) == hash(moved) and tree.span != moved.span
    assert copy.deepcopy(tree) == tree
    assert pickle.loads(pickle.dumps(tree)).span.start == 0
    match tree:
        case nodes.Binary(_, operator, nodes.Name(name=name), nodes.Number(value=value)):
            assert (operator, name, value) == ("+", "x", 1.0)
        case _:
            pytest.fail("a node matches by position and by name")


def test_what_is_not_supported_is_refused() -> None:
    """An option of the standard decorator that is missing here is an error, not a difference."""
    with pytest.raises(TypeError):
        records.dataclass(slots=True, order=True)
    with pytest.raises(TypeError):
        records.dataclass(slots=False)
