"""What is wrong with a program, as data. Wording happens where it is found, drawing in `render`."""

from __future__ import annotations

from enum import Enum

from serq.diagnostics.source import Span
from serq.records import dataclass, field


class Severity(Enum):
    """How much a finding weighs: errors stop the pipeline, notes never do."""

    ERROR = "error"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Path:
    """A place in an IR document, for programs that have no text: `$.session[3].hold.pools[1]`."""

    text: str
    document: str = "<ir>"


Place = Span | Path


@dataclass(frozen=True, slots=True)
class Label:
    """A place and a few words that point at it."""

    place: Place
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Parameters
    ----------
    name : stable kebab-case slug registered in `serq.diagnostics.registry`
    message : one sentence that stands alone; lower case, no full stop
    primary : the place it is about (None only when there is no text at all, as for a missing file)
    secondary : other places that matter
    notes : facts that explain it
    helps : changes to propose
    """

    name: str
    message: str
    primary: Label | None = None
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    severity: Severity = field(default=Severity.ERROR)


def error(
    name: str,
    message: str,
    place: Place | None,
    label: str = "",
    *,
    secondary: tuple[Label, ...] = (),
    notes: tuple[str, ...] = (),
    helps: tuple[str, ...] = (),
) -> Diagnostic:
    """Build an error with one primary label."""
    primary = None if place is None else Label(place, label)
    return Diagnostic(name, message, primary, secondary, notes, helps)


class ProgramError(Exception):
    """The program, its IR or its trace is at fault: carries every finding of the stage that stopped.

    As text it is the findings, one to a line as `file:line:column: error[name]: message`, each with its helps.

    Attributes
    ----------
    diagnostics : non-empty, in the order found (renderers sort by file and offset)
    """

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__(diagnostics)  # as given, so that the exception crosses to another process
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        from serq.diagnostics.render_concise import render_message  # draws what this module defines

        return render_message(self.diagnostics)


def _same_text(one: Diagnostic, other: Diagnostic) -> bool:
    """Whether two findings are about one stretch of text."""
    if one.primary is None or other.primary is None:
        return False
    left, right = one.primary.place, other.primary.place
    if isinstance(left, Path) or isinstance(right, Path):
        return left == right
    return left.source is right.source and (left.start, left.end) == (right.start, right.end)


def _expansions(diagnostic: Diagnostic) -> int:
    """Count the expansions behind a finding's place."""
    span = (
        None if diagnostic.primary is None or isinstance(diagnostic.primary.place, Path) else diagnostic.primary.place
    )
    count = 0
    while span is not None and span.origin is not None:
        span = span.origin.span
        count += 1
    return count


class DiagnosticLimit(Exception):
    """Raised inside a stage to stop collecting once there are too many findings to be of use."""


@dataclass(slots=True)
class Findings:
    """Collects the findings of one stage; `stop_if_any` ends the stage when there were errors."""

    items: list[Diagnostic] = field(default_factory=list)
    limit: int = 50

    def add(self, diagnostic: Diagnostic) -> None:
        """Record a finding, once.

        The same said of the same text is one mistake, however many expansions brought the text there (an argument that
        a definition reads in several places); the shortest way to it is kept.
        """
        for index, known in enumerate(self.items):
            if known.name == diagnostic.name and known.primary == diagnostic.primary:
                return
            if known.name == diagnostic.name and known.message == diagnostic.message and _same_text(known, diagnostic):
                if _expansions(diagnostic) < _expansions(known):
                    self.items[index] = diagnostic
                return
        self.items.append(diagnostic)
        if len(self.items) >= self.limit:
            raise DiagnosticLimit

    def stop_if_any(self) -> None:
        """Raise `ProgramError` when anything was found."""
        if self.items:
            raise ProgramError(self.items)
