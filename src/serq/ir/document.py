"""A program as the document that `codec.py` writes, without the library that writes it.

Input: a program. Output: what JSON has of it, values or text. Every JSON report has a digest of that text, and only
whoever reads or prints IR loads msgspec.

Invariants: equal programs are one document, whether a default was written in the text or not; `program_text` gives the
text of `encode_program` to the last byte (`tests/unit/ir/test_document.py`).
"""

from __future__ import annotations

from typing import Any

from serq.ir import model as ir
from serq.json_text import json_text
from serq.records import MISSING, fields


def program_text(program: ir.Program) -> str:
    """Give the JSON of a program, indented, fields in the order of the model and defaults left out."""
    return json_text(document(program), _number) + "\n"


def document(part: Any) -> Any:
    """Give a part of a program as what JSON has; a field that equals its default is left out."""
    if isinstance(part, ir.IRNode):
        found: dict[str, Any] = {} if part.TAG is None else dict([part.TAG])
        for made in fields(part):
            value = getattr(part, made.name)
            if made.default is not MISSING and value == made.default:
                continue
            if made.default_factory is not MISSING and value == made.default_factory():
                continue
            found[made.name] = document(value)
        return found
    if isinstance(part, tuple):
        return [document(item) for item in part]
    if isinstance(part, dict):
        return {name: document(value) for name, value in part.items()}
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
