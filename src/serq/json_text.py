"""JSON values into indented text, as `json.dumps(…, indent=2, ensure_ascii=False)` writes them.

Every `serq run --json` writes two documents, its report and the IR whose digest is in it. `json` would take 1 ms to
load for that, msgspec 12 ms.

Input: dictionaries with names for keys, lists, tuples, texts, numbers, None. Output: text without a final line feed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_WORDS = {None: "null", True: "true", False: "false"}
_ESCAPES = {code: f"\\u{code:04x}" for code in range(32)} | {
    ord(character): f"\\{letter}" for character, letter in zip('"\\\b\f\n\r\t', '"\\bfnrt')
}


def json_text(value: Any, number: Callable[[float], str] = repr) -> str:
    """Write a value.

    Parameters
    ----------
    number : writes a float that is finite

    Raises
    ------
    ValueError
        For a float that is not finite.
    """
    return _written(value, "\n", number)


def _written(value: Any, line: str, number: Callable[[float], str]) -> str:
    """Write a part; `line` begins a line as far in as the part itself."""
    if isinstance(value, float):
        if value - value != 0.0:
            raise ValueError(f"{value} is not JSON")
        return number(value)
    if isinstance(value, str):
        return _quoted(value)
    if value is None or value is True or value is False:
        return _WORDS[value]
    if isinstance(value, int):
        return repr(value)
    inner = f"{line}  "
    if isinstance(value, dict):
        parts = [f"{inner}{_quoted(name)}: {_written(part, inner, number)}" for name, part in value.items()]
        return f"{{{','.join(parts)}{line}}}" if parts else "{}"
    if isinstance(value, list | tuple):
        parts = [f"{inner}{_written(part, inner, number)}" for part in value]
        return f"[{','.join(parts)}{line}]" if parts else "[]"
    raise TypeError(f"{type(value).__name__} is not JSON")


def _quoted(text: str) -> str:
    return f'"{text if text.isalnum() else text.translate(_ESCAPES)}"'  # most texts are names
