"""Records behave as the standard library's frozen, slotted dataclasses do."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError
from typing import Any, ClassVar

import pytest

from serq import records
from serq.diagnostics import SourceFile, Span
from serq.syntax import nodes


def pair(library: Any, **options: bool) -> type:
    """The same class, made by a library."""

    @library.dataclass(slots=True, **options)
    class Base:
        """A base."""

        span: int = library.field(compare=False, repr=False)

    @library.dataclass(slots=True, **options)
    class Made(Base):
        """A record."""

        a: int
        b: list[int] = library.field(default_factory=list)
        c: str = "c"
        d: int = library.field(init=False)
        e: list[int] = library.field(init=False, default_factory=list, compare=False, repr=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "d", self.a + 1)

    return Made


REFUSED: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((1,), {}),
    ((1, 2, [], "c", 4), {}),
    ((1, 2), {"a": 2}),
    ((1, 2), {"d": 3}),
    ((1,), {"a": 1, "z": 1}),
    ((), {"self": 1}),
    ((), {"z": 2, "self": 1}),
)


@pytest.mark.parametrize("options", [{"frozen": True}, {"frozen": False}, {"frozen": True, "eq": False}])
def test_a_record_is_what_the_standard_decorator_makes(options: dict[str, bool]) -> None:
    """Construction, defaults, comparison, hash, text, matching, fields, replace; the first time and later."""
    for library in (records, dataclasses):
        made = pair(library, **options)
        for _ in range(20):
            one, two = made(1, 2), made(span=9, a=2)
            assert (one.span, one.a, one.b, one.c, one.d, one.e) == (1, 2, [], "c", 3, [])
            assert one.b is not two.b and one.e is not two.e
            assert (one == two) is options.get("eq", True) and one != "one"
            assert repr(one).endswith("Made(a=2, b=[], c='c', d=3)")
            assert made.__match_args__ == ("span", "a", "b", "c")
            for standard in (library, dataclasses):
                assert [f.name for f in standard.fields(made)] == ["span", "a", "b", "c", "d", "e"]
                assert [f.name for f in standard.fields(one) if f.init] == ["span", "a", "b", "c"]
                assert standard.replace(one, a=5).d == 6 and standard.replace(two, c="x").span == 9
                with pytest.raises((TypeError, ValueError)):  # which of them, the standard library changed in 3.13
                    standard.replace(one, d=5)
                with pytest.raises(TypeError):
                    standard.replace(one, z=5)
            assert dataclasses.is_dataclass(one) and dataclasses.is_dataclass(made)
            assert dataclasses.asdict(one) == {"span": 1, "a": 2, "b": [], "c": "c", "d": 3, "e": []}
            assert not hasattr(one, "__dict__")
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


@pytest.mark.parametrize(("arguments", "named"), REFUSED)
@pytest.mark.parametrize("earlier", [0, 20])
def test_arguments_that_do_not_fit_are_refused(arguments: tuple[Any, ...], named: dict[str, Any], earlier: int) -> None:
    """By the first call as by the hundredth, in the same words."""
    said = []
    for library in (records, dataclasses):
        made = pair(library, frozen=True)
        for _ in range(earlier):
            made(1, 2)
        with pytest.raises(TypeError) as caught:
            made(*arguments, **named)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_attributes_given_by_name_may_have_defaults_first() -> None:
    """As with the standard decorator."""
    for library in (records, dataclasses):

        @library.dataclass(frozen=True, slots=True, kw_only=True)
        class Made:
            """A record."""

            a: int = 1
            b: int

        for _ in range(20):
            assert Made(b=2) == Made(a=1, b=2) and Made.__match_args__ == ()
            with pytest.raises(TypeError):
                Made(1, b=2)
            with pytest.raises(TypeError):
                Made(a=1)
        assert dataclasses.replace(Made(b=2), a=3) == Made(a=3, b=2) == library.replace(Made(b=2), a=3)


def test_the_standard_fields_say_what_the_records_do() -> None:
    """Every attribute of a standard field that a record can decide."""
    ours, theirs = (dataclasses.fields(pair(library, frozen=True)) for library in (records, dataclasses))
    for one, other in zip(ours, theirs, strict=True):
        for name in ("name", "type", "default", "default_factory", "init", "repr", "compare", "kw_only", "hash"):
            assert getattr(one, name) == getattr(other, name), (one.name, name)


def test_records_do_without_the_standard_module() -> None:
    """It loads `inspect`; whoever asks for standard fields, or breaks a frozen record, has it."""
    code = (
        "import sys\nfrom serq.syntax import nodes\nfrom serq.records import fields, replace\n"
        "fields(replace(nodes.Name(None, 'x'), name='y'))\n"
        "assert not {'dataclasses', 'inspect'} & sys.modules.keys()"
    )
    paths = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-S", "-c", code], check=True, env=os.environ | {"PYTHONPATH": paths})


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
    with pytest.raises(TypeError):

        @records.dataclass(slots=True)
        class Mixed:
            """Has a field of the other library."""

            a: int = dataclasses.field(default=1)


def _later_without_default(library: Any) -> None:
    @library.dataclass(frozen=True, slots=True)
    class _Made:
        a: int = 1
        b: int


def _shared_list(library: Any) -> None:
    @library.dataclass(frozen=True, slots=True)
    class _Made:
        a: list[int] = []  # noqa: RUF012


@pytest.mark.parametrize("define", [_later_without_default, _shared_list])
def test_a_class_that_cannot_be_right_is_refused_when_it_is_made(define: Any) -> None:
    """Not at the first call, nor at the seventh; in the words of the standard decorator."""
    said = []
    for library in (records, dataclasses):
        with pytest.raises((TypeError, ValueError)) as caught:
            define(library)
        said.append((caught.type, str(caught.value).split(" is not allowed")[0]))
    assert said[0] == said[1]


def test_what_belongs_to_the_class_is_no_attribute() -> None:
    """With brackets or without; what would be an argument and no attribute does not exist here."""
    for library in (records, dataclasses):

        @library.dataclass(frozen=True, slots=True)
        class Made:
            """A record."""

            shared: ClassVar[int] = 1
            bare: ClassVar = 2
            a: int

        assert Made(3).a == 3 and Made.shared + Made.bare == 3 and Made.__match_args__ == ("a",)
    with pytest.raises(TypeError, match="InitVar"):

        @records.dataclass(frozen=True, slots=True)
        class _Other:
            a: dataclasses.InitVar[int]


def test_a_hash_of_ones_own_stays() -> None:
    for library in (records, dataclasses):

        @library.dataclass(frozen=True, slots=True)
        class Made:
            """A record."""

            a: int

            def __hash__(self) -> int:
                return 7

        @library.dataclass(frozen=True, slots=True)
        class Other:
            """A record."""

            a: int

            def __eq__(self, other: object) -> bool:
                return True

        assert hash(Made(1)) == 7 and Other(1) == Other(2) and hash(Other(1)) == hash(Other(1))


def test_one_attribute_is_compared_as_several_are() -> None:
    """By identity first, as tuples are: a NaN equals itself."""
    nan = float("nan")
    for several in (False, True):

        @records.dataclass(frozen=True, slots=True)
        class Made:
            """A record."""

            a: float
            b: int = records.field(default=0, compare=several)

        assert Made(nan) == Made(nan) and hash(Made(1.0)) == hash(Made(1.0))


def test_a_record_can_be_changed_by_the_newest_copy_module() -> None:
    """`copy.replace`, from Python 3.13 on, asks for this method."""
    one = pair(records, frozen=True)(1, 2)
    assert one.__replace__(a=5) == dataclasses.replace(one, a=5)
