"""The golden cases: `[case NAME]`, the surface text, and `[out]` the kernel text or `[error]` what is refused.

`[file PATH]` is a library the program finds beside it. Lines that begin with `#` behind a case's head say what the case
shows. An error line is `NAME LINE:COLUMN`, with `FILE:` before the line when it is in a library.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from serq.diagnostics import ProgramError, SourceFile
from serq.expand import expand
from serq.syntax import nodes, parse
from serq.syntax.printer import print_program

CASES = Path(__file__).parent / "cases"
PROGRAM = "program.sq"


@dataclass
class Case:
    """One case of a file."""

    path: Path
    name: str
    about: str = ""
    text: str = ""
    kind: str = ""
    expected: str = ""
    files: dict[str, str] = field(default_factory=dict)

    def load(self, base: str, path: str) -> SourceFile:
        """Read a library of the case, relative to the file that uses it."""
        name = str(Path(base).parent / path)
        if name not in self.files:
            raise FileNotFoundError(name)
        return SourceFile(name, self.files[name])

    def surface(self) -> nodes.Program:
        return parse(SourceFile(PROGRAM, self.text))

    def kernel(self) -> nodes.Program:
        return expand(self.surface(), loader=self.load)

    def outcome(self) -> tuple[str, str]:
        """Give what the expansion says: `out` and the kernel's text, or `error` and the findings."""
        try:
            return "out", print_program(self.kernel()).strip() + "\n"
        except ProgramError as failure:
            return "error", "".join(sorted({f"{d.name} {_place(d)}\n" for d in failure.diagnostics}, key=_line_key))


def _place(diagnostic) -> str:
    span = diagnostic.primary.place
    line, column = span.source.line_column(span.start)
    file = "" if span.source.name == PROGRAM else f"{span.source.name}:"
    return f"{file}{line}:{column}"


def _line_key(line: str) -> tuple[str, int, int, str]:
    name, place = line.split()
    *file, row, column = place.split(":")
    return "".join(file), int(row), int(column), name


def read_cases() -> list[Case]:
    """Read every case of every file."""
    return [case for path in sorted(CASES.glob("*.test")) for case in read_file(path)]


def read_file(path: Path) -> list[Case]:
    cases: list[Case] = []
    for part in re.split(r"^\[case (?=\w+\]$)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, rest = part.split("]\n", 1)
        sections = re.split(r"^\[(out|error|file [\w./-]+)\]\n", rest, flags=re.MULTILINE)
        lines = sections[0].splitlines(keepends=True)
        about = [line for line in lines if line.startswith("#")]
        case = Case(path, head, "".join(about), "".join(line for line in lines if line not in about).strip() + "\n")
        for kind, text in zip(sections[1::2], sections[2::2], strict=True):
            if kind.startswith("file "):
                case.files[kind.removeprefix("file ")] = text.strip() + "\n"
            else:
                case.kind, case.expected = kind, text.strip() + "\n"
        cases.append(case)
    return cases


def write_file(cases: list[Case]) -> None:
    """Record the cases of one file anew."""
    parts = []
    for case in cases:
        files = "".join(f"[file {name}]\n{text}" for name, text in case.files.items())
        parts.append(f"[case {case.name}]\n{case.about}{case.text}{files}[{case.kind}]\n{case.expected}")
    cases[0].path.write_text("\n".join(parts), encoding="utf-8")
