"""JSON values into indented text, as `json.dumps(…, indent=2, ensure_ascii=False)` writes them.

Every `serq run --json` writes two documents, its report and the IR whose digest is in it, and loads no library for them
(docs/design/0010).

Input: dictionaries with names for keys, lists, tuples, texts, numbers, None. Output: text without a final line feed.
Invariant: nothing recurses, so what may be nested as deep as a program may be is written at any depth of calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_WORDS = {None: "null", True: "true", False: "false"}
_ESCAPES = {code: f"\\u{code:04x}" for code in range(32)} | {
    ord(character): f"\\{letter}" for character, letter in zip('"\\\b\f\n\r\t', '"\\bfnrt')
}


def json_text(
    value: Any, number: Callable[[float], str] = float.__repr__, members: Callable[[Any], Any] | None = None
) -> str:
    """Write a value.

    Parameters
    ----------
    number : writes a float that is finite
    members : gives what is written in place of a part that JSON has no form of: a dictionary, say, of its members

    Raises
    ------
    ValueError
        For a float that is not finite.
    TypeError
        For a part that has no form, or a key that is no text.
    """
    written: list[str] = []
    # the parts to come, last first: text as it is to stand there, and values with the line they begin
    pending: list[str | tuple[Any, str]] = [(value, "\n")]
    while pending:
        entry = pending.pop()
        if isinstance(entry, str):
            written.append(entry)
            continue
        part, line = entry
        inner = f"{line}  "
        if isinstance(part, dict):
            if not part:
                written.append("{}")
                continue
            pending.append(f"{line}}}")
            for name, member in reversed(part.items()):
                pending += [(member, inner), f",{inner}{_quoted(name)}: "]
            pending[-1] = f"{{{pending[-1][1:]}"
        elif isinstance(part, list | tuple):
            if not part:
                written.append("[]")
                continue
            pending.append(f"{line}]")
            for item in reversed(part):
                pending += [(item, inner), f",{inner}"]
            pending[-1] = f"[{inner}"
        elif isinstance(part, float):
            if part - part != 0.0:
                raise ValueError(f"{part} is not JSON")
            written.append(number(part))
        elif isinstance(part, str):
            written.append(_quoted(part))
        elif part is None or part is True or part is False:
            written.append(_WORDS[part])
        elif isinstance(part, int):
            written.append(int.__repr__(part))
        elif members is not None:
            pending.append((members(part), line))
        else:
            raise TypeError(f"{type(part).__name__} is not JSON")
    return "".join(written)


def _quoted(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a name is text, not {type(text).__name__}")
    return f'"{text if text.isalnum() else text.translate(_ESCAPES)}"'  # most texts are names
