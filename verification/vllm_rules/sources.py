"""Find what the rules of docs/vllm.md cite in vLLM's sources, and tell what changed from release to release.

Input: the page, whose rules cite functions as ``file.py::Class.function``, or one statement of a function as
``file.py::Class.function[text]`` (the first statement whose first line contains the text; ``[text]#2`` the second); a
folder that holds the package ``vllm`` (an installation's site-packages, or an unpacked wheel); and the recorded table.

Output: a hash of the source of every citation, and for each rule whether the release says what a recorded one said.

The hash is of the source without comments, docstrings and white space, so that it changes when the code does and not
when it is reflowed or explained anew.  Nothing of vLLM is imported or run.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

#: Where the files that the page names lie, under the package `vllm`.
FOLDERS = ("v1/core", "v1/core/sched", "v1", "")

HASH_LENGTH = 12

_RULE = re.compile(r"^### (.+)$")
_FIELD = re.compile(r"^\* (vLLM|Releases|serQ|Shown by): (.*)$")
_CITATION = re.compile(r"`([\w/]+\.py)::([\w.]+)(?:\[([^`]+)\](?:#(\d+))?)?`")


class SourceError(Exception):
    """The page, the table or the sources are not as they need to be; the message says how."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A function of a file, or the `number`-th statement in it whose first line contains `text`."""

    file: str
    function: str
    text: str = ""
    number: int = 1

    def __str__(self) -> str:
        part = f"[{self.text}]" if self.text else ""
        return f"{self.file}::{self.function}{part}" + (f"#{self.number}" if self.number > 1 else "")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the page: its heading, what it cites, the releases it is said to hold for, and what shows it."""

    name: str
    citations: tuple[Citation, ...]
    releases: str
    shown_by: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One citation in one release.

    `digest` is None where the release does not have it; `equal` are the recorded releases that say the same.
    """

    citation: Citation
    digest: str | None
    equal: tuple[str, ...]


# --- the page ------------------------------------------------------------------------------------------------------


def read_rules(page: Path) -> list[Rule]:
    """Read the rules of the page: third-level headings under which a `* vLLM:` line stands."""
    rules: list[Rule] = []
    name = ""
    fields: dict[str, str] = {}
    last = ""

    def close() -> None:
        if "vLLM" in fields:
            cited = [
                Citation(file, function, text, int(number or 1))
                for file, function, text, number in _CITATION.findall(fields["vLLM"])
            ]
            if not cited or {"Releases", "serQ", "Shown by"} - fields.keys():
                raise SourceError(f"the rule `{name}` needs citations, `Releases`, `serQ` and `Shown by`")
            rules.append(Rule(name, tuple(cited), fields["Releases"], fields["Shown by"]))
        fields.clear()

    for line in page.read_text(encoding="utf-8").splitlines():
        heading, field = _RULE.match(line), _FIELD.match(line)
        if line.startswith("#"):
            close()
            name, last = heading[1] if heading else "", ""
        elif field:
            last = field[1]
            fields[last] = field[2]
        elif last and line.startswith("  "):
            fields[last] += " " + line.strip()
        else:
            last = ""
    close()
    return rules


# --- the sources ---------------------------------------------------------------------------------------------------


def release_of(sources: Path) -> str:
    """Tell which release of vLLM lies in a folder, from its metadata or its version file."""
    for info in sorted(sources.glob("vllm*.dist-info")):
        found = re.match(r"vllm(?:_\w+)?-([^-+]+?)(?:\+[^-]+)?\.dist-info", info.name)
        if found:
            return found[1]
    version = sources / "vllm" / "_version.py"
    if version.is_file():
        found = re.search(r"version\s*=\s*'([^'+]+)", version.read_text(encoding="utf-8"))
        if found:
            return found[1]
    raise SourceError(f"{sources} holds no release of vLLM: neither vllm-*.dist-info nor vllm/_version.py")


def digest_of(sources: Path, citation: Citation) -> str | None:
    """Hash what is cited, or give None where the release does not have it."""
    for folder in FOLDERS:
        path = sources / "vllm" / folder / citation.file
        if path.is_file():
            text, tree = _parsed(path)
            node = _find(text, tree, citation)
            return None if node is None else _digest(text, node)
    return None


@lru_cache
def _parsed(path: Path) -> tuple[str, ast.Module]:
    text = path.read_text(encoding="utf-8")
    return text, ast.parse(text, str(path))


def _find(text: str, tree: ast.Module, citation: Citation) -> ast.stmt | None:
    node: ast.AST = tree
    for part in citation.function.split("."):
        named = [child for child in getattr(node, "body", []) if getattr(child, "name", None) == part]
        if not named:
            return None
        node = named[-1]
    if not citation.text:
        assert isinstance(node, ast.stmt)
        return node
    lines = text.splitlines()
    found = [child for child in _statements(node) if citation.text in lines[child.lineno - 1][child.col_offset :]]
    return found[citation.number - 1] if len(found) >= citation.number else None


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Give the statements inside a node in the order of the text."""
    inside = [child for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
    yield from sorted(inside, key=lambda child: (child.lineno, child.col_offset))


def _digest(text: str, node: ast.stmt) -> str:
    assert node.end_lineno is not None
    lines = text.splitlines()
    for docstring in _docstrings(node):
        assert docstring.end_lineno is not None
        for number in range(docstring.lineno, docstring.end_lineno + 1):
            lines[number - 1] = ""
    for comment in _comments(text):
        line, column = comment
        lines[line - 1] = lines[line - 1][:column]
    source = "".join(lines[node.lineno - 1 : node.end_lineno])
    return hashlib.sha256(re.sub(r"\s", "", source).encode()).hexdigest()[:HASH_LENGTH]


def _docstrings(node: ast.AST) -> Iterator[ast.Expr]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and inner.body:
            first = inner.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield first


@lru_cache
def _comments(text: str) -> tuple[tuple[int, int], ...]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return tuple(token.start for token in tokens if token.type == tokenize.COMMENT)


# --- the table -----------------------------------------------------------------------------------------------------

Table = dict[str, dict[str, str | None]]
"""Release → citation → hash, None where the release does not have it."""


def read_table(path: Path) -> Table:
    """Read the recorded hashes; a missing file is an empty table."""
    if not path.is_file():
        return {}
    table: Table = json.loads(path.read_text(encoding="utf-8"))
    return table


def write_table(path: Path, table: Table) -> None:
    """Write the recorded hashes, releases and citations in order."""
    ordered = {release: dict(sorted(table[release].items())) for release in sorted(table, key=version_key)}
    path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def version_key(release: str) -> tuple[int, ...]:
    """Order releases by their numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", release))


def hashes_of(sources: Path, rules: Sequence[Rule]) -> dict[str, str | None]:
    """Hash everything that the rules cite."""
    return {str(citation): digest_of(sources, citation) for rule in rules for citation in rule.citations}


def read_release(sources: Path, rules: Sequence[Rule], table: Mapping[str, Mapping[str, str | None]]) -> list[Reading]:
    """Compare each citation with the recorded releases.

    Raises
    ------
    SourceError : a citation is in no recorded release and not in this one either: the page does not say where it is
    """
    readings: list[Reading] = []
    for citation in dict.fromkeys(citation for rule in rules for citation in rule.citations):
        digest = digest_of(sources, citation)
        recorded = {release: known.get(str(citation)) for release, known in table.items()}
        if digest is None and not any(recorded.values()):
            raise SourceError(f"`{citation}` is in no release: nothing of that name, or no such statement in it")
        equal = tuple(release for release in sorted(table, key=version_key) if recorded[release] == digest)
        readings.append(Reading(citation, digest, equal))
    return readings


def to_read_again(rules: Sequence[Rule], readings: Sequence[Reading], newest: str) -> dict[str, list[Reading]]:
    """Give the rules with a citation that is not what it was in the newest recorded release."""
    by_citation = {reading.citation: reading for reading in readings}
    again: dict[str, list[Reading]] = {}
    for rule in rules:
        changed = [by_citation[citation] for citation in rule.citations if newest not in by_citation[citation].equal]
        if changed:
            again[rule.name] = changed
    return again
