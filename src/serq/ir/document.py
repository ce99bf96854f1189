"""A program as its JSON document: what `serq ir` prints, and what the digest in every JSON report is of.

Input: a program. Output: text. A run needs it, so it loads no library; `codec.py` reads the text again, with msgspec.

Invariants: equal programs are one document, whether a default was written in the text or not; the text is the one that
msgspec writes of the same values, to the last byte (`tests/unit/ir/test_document.py`).
"""

from __future__ import annotations

from typing import Any

from serq.ir import model as ir
from serq.json_text import json_text
from serq.records import MISSING, fields


def encode_program(program: ir.Program) -> str:
    """Write a program as JSON, indented, fields in the order of the model and defaults left out."""
    return json_text(_values(program), _number) + "\n"


def _values(part: Any) -> Any:
    """Give a part of a program as what JSON has; a field that equals its default is left out."""
    if isinstance(part, ir.IRNode):
        found: dict[str, Any] = {} if part.TAG is None else dict([part.TAG])
        for made in fields(part):
            value = getattr(part, made.name)
            if made.default is not MISSING and value == made.default:
                continue
            if made.default_factory is not MISSING and value == made.default_factory():
                continue
            found[made.name] = _values(value)
        return found
    if isinstance(part, tuple):
        return [_values(item) for item in part]
    if isinstance(part, dict):
        return {name: _values(value) for name, value in part.items()}
    return part


def _number(value: float) -> str:
    """Write a float as msgspec does: with an exponent from 1e16 on and below 1e-5, and nothing before its digits."""
    text = repr(value)
    if "e" not in text:
        return text
    digits, _, exponent = text.partition("e")
    if exponent == "-05":
        sign = "-" if value < 0 else ""
        return f"{sign}0.0000{digits.removeprefix('-').replace('.', '')}"
    return f"{digits}e{int(exponent)}"
