"""Read libraries: `use "file.sq";` becomes the definitions of that file.

Before:  use "serq/vllm.sq";
After:   def vllm_request(…) {…}   …

A library holds definitions and uses of other libraries, and nothing else. A file is read once, however many files use
it. A path is relative to the file that holds it; `serq/NAME.sq`, when no such file is there, is the library of that
name shipped with serQ. A program given as text has no file, so it has only those.

Reference: language §2, Syntax; notes §10.
Establishes: no `use` is left.
Reports: use-not-readable, use-cycle, library-item, and what the parser reports.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from serq.diagnostics import Label, Origin, ProgramError, SourceFile, Span
from serq.expand.report import Report
from serq.syntax.nodes import ExpressionDefinition, Item, Program, StatementDefinition, Use
from serq.syntax.parser import parse

# (the name of the file that holds the `use`, the path written there) -> the file.
# Raises FileNotFoundError, UnicodeDecodeError, another OSError, or NoBaseFile.
Loader = Callable[[str, str], SourceFile]

SHIPPED_PREFIX = "serq/"
# Beside this package; files of a package are found without importlib.resources, which is slow to import.
SHIPPED_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib")


class NoBaseFile(Exception):
    """The program was given as text, so a path in it is relative to nothing."""


def load_beside(base: str, path: str) -> SourceFile:
    """Read a library from disk, relative to the file that uses it."""
    name = os.path.join(os.path.dirname(base), path)  # as the user would name it, from where the program was named
    with open(name, "rb") as file:
        return SourceFile(name, file.read().decode("utf-8"))


def load_nothing(base: str, path: str) -> SourceFile:
    """Refuse to read: the loader of a program given as text."""
    raise NoBaseFile


def load_shipped(path: str) -> SourceFile | None:
    """Read a library that comes with serQ, or give None when there is none of that name."""
    name = path.removeprefix(SHIPPED_PREFIX)
    if not path.startswith(SHIPPED_PREFIX) or "/" in name or not name.endswith(".sq"):
        return None
    file = os.path.join(SHIPPED_FOLDER, name)
    if not os.path.isfile(file):
        return None
    with open(file, encoding="utf-8") as opened:
        return SourceFile(path, opened.read())


def shipped_home(name: str) -> str | None:
    """Give the library that comes with serQ and defines a name, or None."""
    for file in sorted(os.listdir(SHIPPED_FOLDER)):
        source = load_shipped(f"{SHIPPED_PREFIX}{file}")
        if source is not None and any(getattr(item, "name", None) == name for item in parse(source).items):
            return source.name
    return None


def read_libraries(program: Program, report: Report, loader: Loader) -> Program:
    """Put the definitions of the libraries a program uses in place of its `use`s."""
    return Program(program.span, _Reader(report, loader).items_of(program))


class _Reader:
    """The files read so far, and the ones being read."""

    def __init__(self, report: Report, loader: Loader) -> None:
        self.report = report
        self.loader = loader
        self.read: set[str] = set()
        self.open: list[str] = []

    def items_of(self, program: Program) -> tuple[Item, ...]:
        """Give the items of a file, its uses replaced."""
        file = _identity(program.span.source.name)
        self.read.add(file)
        self.open.append(file)
        items: list[Item] = []
        for item in program.items:
            if isinstance(item, Use):
                items.extend(self._library(item))
            else:
                items.append(item)
        self.open.pop()
        return tuple(items)

    def _library(self, use: Use) -> tuple[Item, ...]:
        """Read one library, unless it was read before."""
        source = self._load(use)
        if source is None:
            return ()
        file = _identity(source.name)
        if file in self.open:
            chain = " → ".join(f"`{os.path.basename(name)}`" for name in [*self.open[self.open.index(file) :], file])
            self.report.add(
                "use-cycle",
                f"`{use.path}` uses itself",
                use.span,
                "is being read already",
                notes=(f"the files use one another: {chain}",),
                helps=("put what they share into a third file that both use",),
            )
            return ()
        if file in self.read:
            return ()
        try:
            library = parse(source)
        except ProgramError as failure:
            self.read.add(file)
            self.report.findings.items.extend(failure.diagnostics)
            return ()
        self._check_items(library, use)
        return tuple(i for i in self.items_of(library) if isinstance(i, ExpressionDefinition | StatementDefinition))

    def _load(self, use: Use) -> SourceFile | None:
        """Read the file a `use` names, or report why it cannot be read."""
        place = use.span
        try:
            return self.loader(place.source.name, use.path)
        except UnicodeDecodeError as failure:
            self.report.add(
                "use-not-readable",
                f"`{use.path}` is not a text in UTF-8",
                place,
                f"its byte {failure.start} is none",
                helps=("save it as UTF-8",),
            )
        except (FileNotFoundError, NoBaseFile) as failure:
            shipped = load_shipped(use.path)
            if shipped is not None:
                return shipped
            if isinstance(failure, NoBaseFile):
                self.report.add(
                    "use-not-readable",
                    f"a program given as text has no file that `{use.path}` could be beside",
                    place,
                    "relative to nothing",
                    notes=(f"the libraries that come with serQ are there: {_shipped_names()}",),
                    helps=("save the program in a file and run that",),
                )
            else:
                self.report.add(
                    "use-not-readable",
                    f"there is no file `{use.path}` beside `{os.path.basename(place.source.name)}`",
                    place,
                    "not found",
                    notes=("a path in a `use` is relative to the file that holds it",),
                    helps=(f"the libraries that come with serQ are {_shipped_names()}",)
                    if use.path.startswith(SHIPPED_PREFIX)
                    else (),
                )
        except OSError as failure:
            reason = failure.strerror or type(failure).__name__
            self.report.add("use-not-readable", f"`{use.path}` cannot be read: {reason.lower()}", place, "not readable")
        return None

    def _check_items(self, library: Program, use: Use) -> None:
        """Hold a library to definitions and uses."""
        for item in library.items:
            if not isinstance(item, Use | ExpressionDefinition | StatementDefinition):
                self.report.add(
                    "library-item",
                    f"`{use.path}` is used as a library, and holds more than definitions",
                    _first_line(item.span).through(Origin(f'read by `use "{use.path}"`', use.span)),
                    "only `def` and `use` stand in a library",
                    secondary=(Label(use.span, "used here"),),
                    helps=("move it into the program",),
                )


def _identity(name: str) -> str:
    """Give what makes two names one file."""
    return name if name.startswith(("<", SHIPPED_PREFIX)) else os.path.realpath(name)


def _first_line(span: Span) -> Span:
    """Give the first line of a span: enough to show which item is meant."""
    end = span.source.text.find("\n", span.start)
    return Span(span.source, span.start, span.end if end < 0 else min(end, span.end), span.origin)


def _shipped_names() -> str:
    """List the libraries that come with serQ."""
    names = sorted(file for file in os.listdir(SHIPPED_FOLDER) if file.endswith(".sq"))
    return ", ".join(f"`{SHIPPED_PREFIX}{name}`" for name in names)
