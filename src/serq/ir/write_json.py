"""A program as its JSON document: what `serq ir` prints, and what the digest in every JSON report is of.

Input: a program. Output: text. A run needs it, so it loads no library; `read_json.py` reads it again, with msgspec.

Invariants: equal programs are one document, whether a default was written in the text or not; the text is the one that
msgspec writes of the same values, to the last byte (`tests/unit/ir/test_write_json.py`).
"""

from __future__ import annotations

from typing import Any

from serq.ir import model as ir
from serq.json_text import json_text
from serq.records import MISSING, fields


def encode_program(program: ir.Program) -> str:
    """Write a program as JSON, indented, fields in the order of the model and defaults left out."""
    return json_text(program, _number, _members) + "\n"


def _members(node: ir.IRNode) -> dict[str, Any]:
    """Give the members of a node's JSON object; one that equals its default is left out."""
    found: dict[str, Any] = {} if node.TAG is None else dict([node.TAG])
    for field in fields(node):
        value = getattr(node, field.name)
        if field.default is not MISSING and value == field.default:
            continue
        if field.default_factory is not MISSING and value == field.default_factory():
            continue
        found[field.name] = value
    return found


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
