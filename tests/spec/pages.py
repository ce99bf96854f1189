"""Reads the pages of the language reference: prose, programs, and what each program must do.

Input: the text of a page. Output: its programs, each with its files, its options and its expectations.

A page is Markdown. Its fences mean:

    serq              program text. The `serq` fences of one heading are one program.
    serq more         a variant: what the heading's `serq` fences said so far, and this text. It has its own
                      expectations. A heading with variants may leave its common part without any.
    json              the program as IR
    csv NAME          a file beside the program
    library NAME      likewise, for `use`
    options           `set NAME = EXPR`, `define NAME = EXPR`, `seed = N`, `horizon = T`, `warmup = T`, `arrivals = N`
    observes          `name: values`, in the order sampled, or `name:` and rows `at TIME, session N, turn N: value`
    gauges            `name: values`, each `VALUE from TIME`
    report            `field.path = value`
    notes             `kind: part of the message`, all notes of the report in order
    same              names of observes: their values are those of the variant before
    error             `diagnostic-name: part of its text`, all findings in order
    expand            a part of the kernel text
    ir PATH           the part of the IR at a path
    text              an illustration; nothing is checked

A line of a program that ends in `// error[name]` must be where the finding of that name points. Values are arithmetic:
`2/3`, `1 + exp(-1)`, `inf`, `nan`.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

EXPECTATIONS = ("observes", "gauges", "report", "notes", "same", "error", "expand", "ir")
FILES = ("csv", "library")
KNOWN = ("serq", "json", "options", "text", *FILES, *EXPECTATIONS)
POINTED = re.compile(r"//\s*error\[([a-z0-9-]+)\]\s*$")


@dataclass
class Fence:
    """One fence: its word, what follows the word, its text, and the line it begins on."""

    kind: str
    argument: str
    text: str
    line: int


@dataclass
class Example:
    """One program of a page and what it must do; `before` is the variant before it."""

    heading: str
    line: int
    text: str
    is_json: bool = False
    files: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)
    expectations: list[Fence] = field(default_factory=list)
    before: Example | None = None

    @property
    def pointed(self) -> list[tuple[int, str]]:
        """Lines (from 1) that a finding must point at, with its name."""
        found = ((n, POINTED.search(line)) for n, line in enumerate(self.text.split("\n"), 1))
        return [(n, match.group(1)) for n, match in found if match]

    @property
    def is_refused(self) -> bool:
        """Whether the program must not come to its end."""
        return bool(self.pointed) or any(fence.kind == "error" for fence in self.expectations)


class PageError(Exception):
    """The page itself is at fault."""


def read_page(path: Path) -> list[Example]:
    """Give the examples of a page, in order."""
    examples: list[Example] = []
    for heading, fences in _sections(path):
        examples += _examples(heading, fences, path)
    return examples


def _sections(path: Path) -> list[tuple[str, list[Fence]]]:
    sections: list[tuple[str, list[Fence]]] = [("", [])]
    lines = path.read_text(encoding="utf-8").split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if line.startswith("#"):
            sections.append((line.lstrip("#").strip(), []))
        elif line.startswith("```"):
            begin = position
            while position < len(lines) and lines[position] != "```":
                position += 1
            if position == len(lines):
                raise PageError(f"{path.name}:{begin}: the fence is never closed")
            kind, _, argument = line[3:].strip().partition(" ")
            if kind not in KNOWN:
                raise PageError(f"{path.name}:{begin}: no fence is called {kind!r}")
            sections[-1][1].append(Fence(kind, argument.strip(), "\n".join(lines[begin:position]) + "\n", begin))
            position += 1
    return sections


def _examples(heading: str, fences: list[Fence], path: Path) -> list[Example]:
    """Make the programs of one heading: its common part, and its variants."""
    common = Example(heading, 0, "")
    examples = [common]
    has_variants = any(fence.kind == "serq" and fence.argument == "more" for fence in fences)
    for fence in fences:
        current = examples[-1]
        place = f"{path.name}:{fence.line}"
        if fence.kind in ("serq", "json"):
            if fence.kind == "serq" and fence.argument == "more":
                files, options = dict(common.files), list(common.options)
                before = None if current is common else current
                examples.append(
                    Example(heading, fence.line, common.text + fence.text, False, files, options, before=before)
                )
            elif current is not common:
                raise PageError(f"{place}: a `serq` fence after a `serq more` of the same heading")
            else:
                common.text += fence.text
                common.is_json = fence.kind == "json"
                common.line = common.line or fence.line
        elif fence.kind in FILES:
            current.files[fence.argument] = fence.text
        elif fence.kind == "options":
            current.options += fence.text.strip().split("\n")
        elif fence.kind in EXPECTATIONS:
            if not current.text:
                raise PageError(f"{place}: an expectation before any program")
            current.expectations.append(fence)
    if has_variants and not common.expectations and not common.pointed:
        examples.remove(common)
    kept = [example for example in examples if example.text]
    for example in kept:
        if not example.expectations and not example.pointed:
            raise PageError(f"{path.name}:{example.line}: the program under {heading!r} expects nothing")
    return kept


# ------------------------------------------------------------------------------------------------- expectations


def rows(fence: Fence) -> list[tuple[int, str, str]]:
    """Give the `key: rest` (or `key = rest`) lines of a fence with their line numbers; indented ones have no key."""
    found: list[tuple[int, str, str]] = []
    separator = "=" if fence.kind == "report" else ":"
    for number, line in enumerate(fence.text.split("\n"), fence.line + 1):
        if not line.strip():
            continue
        if line[0] == " ":
            found.append((number, "", line.strip()))
            continue
        key, _, rest = line.partition(separator)
        found.append((number, key.strip(), rest.strip()))
    return found


def numbers(text: str) -> list[float]:
    """Read values with commas between them."""
    return [number(part) for part in _split(text)] if text else []


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


NAMES = {"inf": math.inf, "nan": math.nan}
CALLS = {"exp": math.exp, "ln": math.log, "sqrt": math.sqrt}


def number(text: str) -> float:
    """Evaluate one value of a page: numbers, + - * / **, brackets, exp, ln, sqrt, inf, nan."""
    return _value(ast.parse(text.strip(), mode="eval").body)


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id=name) if name in NAMES:
            return NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left), _value(right)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
                case ast.Pow():
                    return float(a**b)
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in CALLS:
            return CALLS[name](_value(argument))
    raise PageError(f"not a value: {ast.unparse(node)}")


def same(expected: float, actual: float | None) -> bool:
    """Tell whether a figure is the expected one, within 1e-9 of its size; a figure that does not exist is `nan`."""
    if actual is None or math.isnan(actual) or math.isnan(expected):
        return (actual is None or math.isnan(actual)) and math.isnan(expected)
    if math.isinf(actual) or math.isinf(expected):
        return actual == expected
    return abs(actual - expected) <= 1e-9 * max(1.0, abs(expected))
