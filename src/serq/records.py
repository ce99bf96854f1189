"""`dataclass`, at a tenth of its start-up cost.

The tree, the IR, the linked program and the diagnostics are well over a hundred frozen, slotted classes. The standard
decorator writes and compiles five methods for each when it is imported, 0.3–0.5 ms a class: more time than a small
`serq run` may take altogether; and its module loads `inspect`, 7 ms. The one here loads nothing that is not loaded
anyway, shares the methods that need no text of their own, and writes the `__init__` of a class once it has been called
a few times, 0.03 ms a class.

Input: a class with annotations. Output: the class with slots, as `dataclasses.dataclass(frozen=…, slots=True)` would
give it: the standard library's `fields`, `replace`, `is_dataclass`, `match`, `pickle` and `copy` work on it, and so do
`fields` and `replace` from here, which are quicker. Type checkers see the standard ones.

Invariants: only the options below exist; whatever else the standard decorator knows (`InitVar`, a field of its own) is
a TypeError when the class is made, and what the standard one refuses is refused as there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import KeysView
    from dataclasses import MISSING, dataclass, field, fields, replace

    def names(record: object) -> KeysView[str]:
        """Give the names of the fields of a record or its class, in order."""
else:
    from operator import attrgetter

    MISSING = object()
    CALLS_BOUND = 6
    """Calls of a class before its `__init__` is written: that takes as long as to bind the arguments of ten calls."""

    class Field:
        """What a class says of one attribute, in the words of `dataclasses.Field`."""

        __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "name", "repr", "type")

        def __init__(self, default, default_factory, init, repr, compare):
            self.default, self.default_factory = default, default_factory
            self.init, self.repr, self.compare = init, repr, compare

    def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, compare=True):
        """Say more of an attribute than its annotation does, as `dataclasses.field`."""
        if default is not MISSING and default_factory is not MISSING:
            raise TypeError("a default or a factory of defaults")
        return Field(default, default_factory, init, repr, compare)

    def fields(record):
        """Give the fields of a record or its class, in order."""
        return tuple(record.__record_fields__.values())

    def names(record):
        """Give the names of the fields of a record or its class, in order."""
        return record.__record_fields__.keys()

    def replace(record, /, **changes):
        """Give a record with some attributes changed."""
        for name, said in record.__record_fields__.items():
            if not said.init:
                if name in changes:
                    raise ValueError(f"field {name} is declared with init=False, it cannot be specified with replace()")
            elif name not in changes:
                changes[name] = getattr(record, name)
        return type(record)(**changes)

    def dataclass(*, slots: bool, frozen: bool = False, eq: bool = True, kw_only: bool = False):
        """Make a slotted class of data out of an annotated class.

        Parameters
        ----------
        slots : True; a parameter so that the line reads as the standard one
        frozen : attributes are set once, and the class can be hashed
        eq : instances are equal when their class and their compared fields are; False leaves identity
        kw_only : attributes are given by name, so those with a default may come first
        """
        if not slots:
            raise TypeError("records have slots")

        def decorate(cls: type) -> type:
            return _record(cls, frozen, eq, kw_only)

        return decorate

    def _record(cls: type, frozen: bool, eq: bool, kw_only: bool) -> type:
        known: dict[str, Field] = {}
        for base in reversed(cls.__bases__):
            known |= getattr(base, "__record_fields__", {})
        namespace = dict(cls.__dict__)
        own = []
        for name, annotation in cls.__annotations__.items():
            kind = str(annotation).rpartition(".")[2] if "[" not in str(annotation) else str(annotation)
            if "ClassVar[" in kind or kind == "ClassVar":
                continue
            if "InitVar" in kind:
                raise TypeError(f"`{name}`: a record has no InitVar")
            said = namespace.pop(name, MISSING)
            if not isinstance(said, Field):
                if hasattr(said, "default_factory"):
                    raise TypeError(f"`{name}` is a field of another library")
                said = Field(said, MISSING, True, True, True)
            if said.default is not MISSING and type(said.default).__hash__ is None:
                raise ValueError(f"mutable default {type(said.default)} for field {name} is not allowed")
            said.name, said.type, said.kw_only = name, annotation, kw_only
            if name not in known:
                own.append(name)
            known[name] = said
        _check_order(known)
        namespace.pop("__dict__", None)
        namespace.pop("__weakref__", None)
        namespace["__slots__"] = tuple(own)
        namespace["__qualname__"] = cls.__qualname__
        namespace["__record_fields__"] = known
        namespace["__dataclass_fields__"] = _StandardFields()
        namespace["__match_args__"] = tuple([name for name, said in known.items() if said.init and not said.kw_only])
        namespace.setdefault("__getstate__", _getstate)
        namespace.setdefault("__setstate__", _setstate)
        namespace.setdefault("__repr__", _repr)
        if frozen:
            namespace["__setattr__"], namespace["__delattr__"] = _refuse_to_set, _refuse_to_delete
        if eq:
            key = _key([name for name, said in known.items() if said.compare])
            # Python sets the hash of a class with an `__eq__` of its own to None
            if namespace.get("__hash__") is None:
                namespace["__hash__"] = _hashing(key) if frozen else None
            namespace.setdefault("__eq__", _equality(key))
        namespace["__replace__"] = replace
        record = type(cls)(cls.__name__, cls.__bases__, namespace)
        record.__init__ = _first_init(record)
        return record

    def _check_order(known: dict[str, Field]) -> None:
        """Refuse what no `__init__` can be written of."""
        has_default = False
        for name, said in known.items():
            if not said.init or said.kw_only:
                continue
            if said.default is not MISSING or said.default_factory is not MISSING:
                has_default = True
            elif has_default:
                raise TypeError(f"non-default argument {name!r} follows default argument")

    class _StandardFields:
        """`__dataclass_fields__`, made when the standard library asks for it."""

        __slots__ = ("cache",)

        def __init__(self) -> None:
            self.cache = None

        def __get__(self, record: Any, cls: type) -> dict[str, Any]:
            if self.cache is None:
                self.cache = {name: _standard(said) for name, said in cls.__record_fields__.items()}
            return self.cache

    def _standard(said: Field) -> Any:
        import dataclasses

        options = {"init": said.init, "repr": said.repr, "compare": said.compare}
        for name in ("default", "default_factory"):
            if getattr(said, name) is not MISSING:
                options[name] = getattr(said, name)
        standard = dataclasses.field(**options)
        standard.name, standard.type, standard.kw_only = said.name, said.type, said.kw_only
        standard._field_type = dataclasses._FIELD
        return standard

    def _first_init(cls: type) -> Any:
        """Give an `__init__` for the first calls, which then has one written to take its place."""
        calls = 0

        def __init__(self: Any, /, *arguments: Any, **named: Any) -> None:
            nonlocal calls
            calls += 1
            if calls > CALLS_BOUND or not _bind(self, cls, arguments, named):
                cls.__init__ = _written_init(cls)
                cls.__init__(self, *arguments, **named)

        return __init__

    def _bind(self: Any, cls: type, arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
        """Do what the written `__init__` does; False for arguments it has to refuse."""
        if len(arguments) > len(cls.__match_args__):
            return False
        given = dict(zip(cls.__match_args__, arguments))
        if not given.keys().isdisjoint(named):
            return False
        given |= named
        bound = 0
        for name, said in cls.__record_fields__.items():
            if said.init and name in given:
                value = given[name]
                bound += 1
            elif said.default is not MISSING:
                value = said.default
            elif said.default_factory is not MISSING:
                value = said.default_factory()
            elif said.init:
                return False
            else:
                continue
            object.__setattr__(self, name, value)
        if bound < len(given):
            return False
        if hasattr(cls, "__post_init__"):
            self.__post_init__()
        return True

    def _written_init(cls: type) -> Any:
        """Write the `__init__`; `_bind` has to do the same."""
        scope: dict[str, Any] = {"MISSING": MISSING}
        parameters, by_name, body = ["self"], [], []
        for name, said in cls.__record_fields__.items():
            # a slot's own setter passes by the `__setattr__` that refuses
            scope[f"set_{name}"] = getattr(cls, name).__set__
            value = name
            if said.default_factory is not MISSING:
                scope[f"make_{name}"] = said.default_factory
                value = f"make_{name}() if {name} is MISSING else {name}" if said.init else f"make_{name}()"
            elif said.default is not MISSING:
                scope[f"default_{name}"] = said.default
                value = name if said.init else f"default_{name}"
            elif not said.init:
                continue
            body.append(f" set_{name}(self, {value})")
            if said.init:
                after = "=MISSING" if said.default_factory is not MISSING else ""
                after = f"=default_{name}" if said.default is not MISSING else after
                (by_name if said.kw_only else parameters).append(f"{name}{after}")
        if by_name:
            parameters += ["*", *by_name]
        if hasattr(cls, "__post_init__"):
            body.append(" self.__post_init__()")
        text = f"def __init__({', '.join(parameters)}):\n" + ("\n".join(body) or " pass")
        exec(text, scope)
        scope["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
        return scope["__init__"]

    def _key(compared: list[str]) -> Any:
        """Give what reads the attributes that instances are compared by, as a tuple."""
        if len(compared) > 1:
            return attrgetter(*compared)
        return (lambda record: (getattr(record, compared[0]),)) if compared else lambda record: ()

    def _equality(key: Any) -> Any:
        def __eq__(self: Any, other: Any) -> Any:
            return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    def _hashing(key: Any) -> Any:
        def __hash__(self: Any) -> int:
            return hash(key(self))

        return __hash__

    def _repr(self: Any) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name, said in self.__record_fields__.items() if said.repr]
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _refuse_to_set(self: Any, name: str, value: Any) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self: Any, name: str) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _getstate(self: Any) -> list[Any]:
        return [getattr(self, name) for name in self.__record_fields__]

    def _setstate(self: Any, state: list[Any]) -> None:
        for name, value in zip(self.__record_fields__, state, strict=True):
            object.__setattr__(self, name, value)


__all__ = ["MISSING", "dataclass", "field", "fields", "names", "replace"]
