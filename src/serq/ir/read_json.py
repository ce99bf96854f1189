"""The JSON form of the IR, read; `write_json.py` writes it.

Input: any text or bytes whatever. Output: a valid `Program`, or `ProgramError` at the JSON path that is at fault.
msgspec does it; only those who give JSON load this module.
Invariants: decode(encode(p)) == p; what is written needs no other reader than one that knows `ir.schema.json`.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from serq.diagnostics import Diagnostic, Path, ProgramError, error
from serq.ir import model as ir
from serq.ir.shapes import PROGRAM, as_records
from serq.ir.validate import MAX_DEPTH, validate, version_message

SCHEMA_ID = "ir.schema.json"

_AT = re.compile(r"(?P<message>.*?)(?: - at `(?P<path>[^`]*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<expected>.*)`, got `(?P<given>.*)`")
_MISSING = re.compile(r"Object missing required field `(?P<field>.*)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*)`")
_VALUE = re.compile(r"Invalid value (?P<value>.*)")


def decode_program(content: str | bytes, document: str = "<ir>") -> ir.Program:
    """Read a program from JSON and validate it.

    Parameters
    ----------
    document : what messages call it

    Raises
    ------
    ProgramError : for whatever is not a program of this version
    """
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
    except UnicodeDecodeError as problem:
        raise ProgramError([_not_json(f"byte {problem.start} is not UTF-8", document)]) from None
    value = _json(text, document)
    if not isinstance(value, dict):
        raise ProgramError([error("ir-shape", "a program is a JSON object", Path("$", document))])
    version = value.get("version")
    if version != ir.IR_VERSION or isinstance(version, bool):
        message = (
            version_message(version) if "version" in value else "this JSON object has no `version`, so it is no IR"
        )
        raise ProgramError([error("ir-version", message, Path("$.version", document))])
    try:
        program = as_records(msgspec.convert(value, PROGRAM))
    except (msgspec.ValidationError, RecursionError) as problem:
        raise ProgramError([_misfit(problem, document)]) from None
    validate(program, document)
    return program


def schema() -> dict[str, Any]:
    """Give the JSON Schema of the IR (draft 2020-12)."""
    components = _in_order(msgspec.json.schema(PROGRAM))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": f"serQ IR, version {ir.IR_VERSION}",
        **components,
    }


def _in_order(part: Any) -> Any:
    """Sort the alternatives of a schema, whose order says nothing and differs from one process to the next."""
    if isinstance(part, list | tuple):
        return [_in_order(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    ordered = {key: _in_order(inner) for key, inner in part.items()}
    for key in ("anyOf", "enum"):
        if key in ordered:
            ordered[key] = sorted(ordered[key], key=json.dumps)
    return ordered


class _Repeated(dict[str, Any]):
    """An object that names a field twice."""

    repeated: str = ""


class _NotANumber(ValueError):
    """A literal such as NaN, which JSON does not have."""


def _json(text: str, document: str) -> Any:
    """Read JSON strictly: no NaN, no repeated keys, no nesting beyond what a program may have."""
    repeated: list[_Repeated] = []

    def from_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        marked = _Repeated(plain)
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                marked.repeated = key
            seen.add(key)
        repeated.append(marked)
        return marked

    def refuse_constant(literal: str) -> Any:
        raise _NotANumber(f'`{literal}` is not JSON; infinity is the name "inf"')

    try:
        value = json.loads(text, object_pairs_hook=from_pairs, parse_constant=refuse_constant, parse_int=float)
    except _NotANumber as problem:
        raise ProgramError([_not_json(str(problem), document)]) from None
    except json.JSONDecodeError as problem:
        reason = f"line {problem.lineno}, column {problem.colno}: {problem.msg[:1].lower()}{problem.msg[1:]}"
        raise ProgramError([_not_json(reason, document)]) from None
    except (RecursionError, ValueError):
        message = f"the JSON is nested deeper than any program may be ({MAX_DEPTH} forms)"
        raise ProgramError([error("nesting-too-deep", message, Path("$", document))]) from None
    if "\\ud" in text.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            reason = "a string has half of a surrogate pair, which is no character"
            raise ProgramError([_not_json(reason, document)]) from None
    faults = [_repetition(value, document)] if repeated else _infinite(value, document)
    if faults:
        raise ProgramError(faults)
    return _whole_version(value)


def _whole_version(value: Any) -> Any:
    """Read the version as the integer it is (all other numbers of the IR are floats)."""
    if isinstance(value, dict) and isinstance(value.get("version"), float) and value["version"].is_integer():
        value["version"] = int(value["version"])
    return value


def _walk(value: Any) -> Any:
    """Give every part of a JSON value with its path, in document order."""
    pending = [(value, "$")]
    while pending:
        part, path = pending.pop()
        yield part, path
        if isinstance(part, dict):
            pending += [(inner, f"{path}.{key}") for key, inner in part.items()][::-1]
        elif isinstance(part, list):
            pending += [(inner, f"{path}[{i}]") for i, inner in enumerate(part)][::-1]


def _repetition(value: Any, document: str) -> Diagnostic:
    for part, path in _walk(value):
        if isinstance(part, _Repeated):
            message = f"the field `{part.repeated}` is given twice in one object"
            return error("ir-shape", message, Path(path, document))
    # the object itself was given twice, and the second did not repeat anything
    return error("ir-shape", "a field is given twice in one object", Path("$", document))


def _infinite(value: Any, document: str) -> list[Diagnostic]:
    for part, path in _walk(value):
        if isinstance(part, float) and (part - part) != 0.0:
            message = 'this number is too large to represent; infinity is the name "inf"'
            return [error("ir-shape", message, Path(path, document))]
    return []


def _not_json(reason: str, document: str) -> Diagnostic:
    return error("ir-not-json", f"`{document}` is not JSON: {reason}", Path("$", document))


def _misfit(problem: Exception, document: str) -> Diagnostic:
    """Word what the decoder found, with the path in the form the rest of the IR uses."""
    if isinstance(problem, RecursionError):
        return error("nesting-too-deep", f"the program is nested more than {MAX_DEPTH} forms deep", Path("$", document))
    match = _AT.fullmatch(str(problem))
    assert match is not None
    message, path = match["message"], match["path"] or "$"
    return error("ir-shape", _worded(message), Path(path, document))


def _worded(message: str) -> str:
    if found := _EXPECTED.fullmatch(message):
        return f"this needs {_kinds(found['expected'])}, and is {_kind(found['given'])}"
    if found := _MISSING.fullmatch(message):
        return f"this object needs the field `{found['field']}`"
    if found := _UNKNOWN.fullmatch(message):
        return f"the IR has no field `{found['field']}` here"
    if found := _VALUE.fullmatch(message):
        return f"the IR has no {found['value'].replace(chr(39), '`')} here"
    return message[:1].lower() + message[1:]


_KINDS = {
    "float": "a number",
    "int": "a number",
    "str": "a name",
    "object": "an object",
    "array": "a list",
    "bool": "true or false",
    "null": "nothing",
}


def _kind(word: str) -> str:
    return _KINDS.get(word, word)


def _kinds(words: str) -> str:
    if words == "float | str | object":
        return "an expression: a number, a name, or an object with a `kind`"
    kinds = [_kind(word) for word in words.split(" | ")]
    return kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} or {kinds[-1]}"


if __name__ == "__main__":
    import os

    with open(os.path.join(os.path.dirname(__file__), SCHEMA_ID), "w", encoding="utf-8") as file:
        file.write(json.dumps(schema(), indent=2) + "\n")
