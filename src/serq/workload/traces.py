"""Read a recorded trace: sessions, each a list of turns.

Input: a CSV file `session,turn,new,out,think[,forced]`. Output: for each session its rows (new, out, think, forced).

Blank lines and lines that begin with `#` or `session` are skipped. A line whose first cell is `session` is a header;
one that puts the columns of a trace in other places is an error, since cells are read by their places. A new session
starts where the id differs from the row before, so an id may come back later as another session; the turn column is
for people. A cell is a decimal number, finite and not negative; spaces around it do not count. A byte order mark and
CRLF line ends are accepted.

Invariants: a trace that is returned has at least one session and no session without turns; every bad cell is
reported with its line and column (up to the limit of findings), not only the first.

Reference: language notes §7, Workload, traces, draws.
"""

from __future__ import annotations

import math

from serq.diagnostics import Diagnostic, DiagnosticLimit, Findings, Place, ProgramError, SourceFile, Span, error

COLUMNS = ("session", "turn", "new", "out", "think", "forced")
HEADER = COLUMNS[0]
NUMBERS_FROM = 2
"""The first column that has to be a number; session and turn are text."""

TraceRow = tuple[float, float, float, float]
Trace = tuple[tuple[TraceRow, ...], ...]


def read_trace(path: str, named_at: Place | None = None) -> Trace:
    """Read a trace file.

    Parameters
    ----------
    path : the file
    named_at : where the program names it, for a file that cannot be read

    Returns
    -------
    Sessions in the order of the file, each with its rows (new [tokens], out [tokens], think [t], forced [1]).

    Raises
    ------
    ProgramError
        When the file cannot be read, is not UTF-8, has a bad cell or row, or holds no turn.
    """
    try:
        with open(path, "rb") as file:
            content = file.read()
    except (OSError, ValueError) as problem:  # ValueError: a null character in the path
        raise ProgramError([_unreadable(path, _reason(problem), named_at)]) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        reason = f"byte {problem.start} is not UTF-8"
        raise ProgramError([_unreadable(path, reason, named_at)]) from None
    return parse_trace(text, path)


def parse_trace(text: str, name: str) -> Trace:
    """Read a trace from its text; `name` is what messages call it. Raises `ProgramError` as `read_trace` does."""
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    sessions: list[tuple[TraceRow, ...]] = []
    turns: list[TraceRow] = []
    current: str | None = None
    faults = _Faults(text, name)
    offset = 0
    for line in text.split("\n"):
        start = offset
        offset += len(line) + 1
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "session")):
            if stripped.startswith("session"):
                faults.header(start, line.split(","))
            continue
        cells = line.rstrip("\r").split(",")
        if not len(COLUMNS) - 1 <= len(cells) <= len(COLUMNS):
            faults.columns(start, line.rstrip("\r"), len(cells))
            continue
        numbers = _numbers(cells)
        if numbers is None:
            faults.cells(start, cells)
            continue
        session = cells[0].strip()
        if session != current and turns:
            sessions.append(tuple(turns))
            turns = []
        current = session
        turns.append(numbers)
    if turns:
        sessions.append(tuple(turns))
    faults.stop_if_any()
    if not sessions:
        raise ProgramError([faults.empty()])
    return tuple(sessions)


def _numbers(cells: list[str]) -> TraceRow | None:
    """Give the numbers of a row, or None when one of them is no number a trace may hold."""
    try:
        new, out, think = float(cells[2]), float(cells[3]), float(cells[4])
        forced = float(cells[5]) if len(cells) > 5 else 0.0
    except ValueError:
        return None
    plain = not any("_" in cell for cell in cells[NUMBERS_FROM:])
    # a comparison with NaN is false, and so is one with an infinity on its far side
    if plain and 0 <= new < math.inf and 0 <= out < math.inf and 0 <= think < math.inf and 0 <= forced < math.inf:
        return (new, out, think, forced)
    return None


class _Faults:
    """What is wrong with one trace; positions are worked out only when something is."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.findings = Findings()
        self.source: SourceFile | None = None

    def header(self, start: int, cells: list[str]) -> None:
        """Report a header whose columns are in other places than those they are read from.

        A name that is no column of a trace may stand in any of the five places; a sixth column is `forced`.
        """
        if cells[0].strip() != HEADER:
            return
        offset = start
        for place, cell in enumerate(cells):
            name = cell.strip()
            column = name.lower()
            belongs = COLUMNS.index(column) if column in COLUMNS else place
            begin = offset + len(cell) - len(cell.lstrip())
            offset += len(cell) + 1
            if belongs == place and (place != len(COLUMNS) - 1 or column == COLUMNS[-1]):
                continue
            shown = f"`{name}`" if name else "nothing"
            message = f"the header names {shown} where a trace has "
            message += f"`{COLUMNS[place]}`" if place < len(COLUMNS) else "no column"
            self._add(
                error(
                    "trace-header",
                    message,
                    self._span(begin, begin + max(len(name), 1)),
                    f"`{column}` is column {belongs + 1}" if belongs != place else "would be read as `forced`",
                    notes=("the cells of a row are read by their places, whatever a header says",),
                    helps=(
                        f"reorder the columns to `{','.join(COLUMNS[:-1])}` and, optionally, `{COLUMNS[-1]}`",
                        "a header that is meant for people alone begins with `#`",
                    ),
                )
            )
            return

    def columns(self, start: int, line: str, count: int) -> None:
        """Report a row with too few or too many cells; when no comma parts them, the rows after it are all like it."""
        other = next((mark for mark in (";", "\t") if line.count(mark) >= len(COLUMNS) - 2 and "," not in line), "")
        columns = f"the columns are `{','.join(COLUMNS[:-1])}` and, optionally, `{COLUMNS[-1]}`"
        commas = f"commas part the cells, where this row has {'tabs' if other == chr(9) else f'`{other}`'}"
        self._add(
            error(
                "trace-columns",
                f"a trace row needs 5 or 6 cells, this one has {count}",
                self._span(start, start + len(line)),
                f"{count} cell{'s' if count != 1 else ''}",
                helps=(commas, columns) if other else (columns,),
            )
        )
        if other:
            self.findings.stop_if_any()

    def cells(self, start: int, cells: list[str]) -> None:
        """Report the cells of a row that are no numbers."""
        offset = start
        for column, cell in enumerate(cells):
            complaint = _complaint(cell) if column >= NUMBERS_FROM else ""
            if complaint:
                content = cell.strip()
                begin = offset + (len(cell) - len(cell.lstrip()) if content else 0)
                shown = f"`{content}`" if content else "an empty cell"
                self._add(
                    error(
                        "trace-cell",
                        f"`{COLUMNS[column]}` is {shown}, {complaint}",
                        self._span(begin, begin + max(len(content), 1)),
                        f"the column `{COLUMNS[column]}`",
                    )
                )
            offset += len(cell) + 1

    def empty(self) -> Diagnostic:
        """Report a trace without a turn."""
        return error(
            "trace-empty",
            "the trace holds no turn",
            self._span(0, 0),
            notes=("blank lines and lines that begin with `#` or `session` are skipped",),
        )

    def stop_if_any(self) -> None:
        """Raise what was found."""
        self.findings.stop_if_any()

    def _add(self, diagnostic: Diagnostic) -> None:
        try:
            self.findings.add(diagnostic)
        except DiagnosticLimit:
            self.findings.stop_if_any()

    def _span(self, start: int, end: int) -> Span:
        if self.source is None:
            self.source = SourceFile(self.name, self.text)
        return Span(self.source, start, min(end, len(self.text)))


def _complaint(cell: str) -> str:
    """Say why a cell is no number a trace may hold; "" when it is one."""
    try:
        value = float(cell) if "_" not in cell else None
    except ValueError:
        value = None
    if value is None:
        return "and a number is needed"
    if not math.isfinite(value):
        return "which is not finite"
    if value < 0:
        return "which is negative"
    return ""


def _reason(problem: OSError | ValueError) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()


def _unreadable(path: str, reason: str, named_at: Place | None) -> Diagnostic:
    return error("trace-not-readable", f"the trace `{path}` cannot be read: {reason}", named_at, "named here")
