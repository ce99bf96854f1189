"""What a program may well mean and probably does not: notes, which change neither its run nor the exit code.

    set contxt = prompt + out;         nothing reads `contxt`, and what is read is `context`
    session { loop { … } }             the workload has a `turn` block, and no `turn;` ever runs it

A note is worth its line only when it is nearly always right. An attribute that nothing reads is common, so it is named
only when another, which is read, is one or two edits away; short names, and names that differ in a number alone, are
near to one another on purpose. What a library sets is not the program's.

Reference: language §2 (attributes), §3 (workload).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from serq.diagnostics import Diagnostic, Label, Place, Severity, Span
from serq.diagnostics.suggest import distance
from serq.ir import model as ir
from serq.ir.walk import parts, statements

SHORT, LONG = 4, 6
"""Names with fewer letters than `SHORT` are never compared; from `LONG` letters on two edits are near, below it one."""


def find_remarks(program: ir.Program, place_of: Callable[[str], Place]) -> list[Diagnostic]:
    """Give the notes about a program that links.

    Parameters
    ----------
    place_of : gives the place an IR path stands for
    """
    return [*_misspelt(program, place_of), *_turn_never_taken(program, place_of)]


def _misspelt(program: ir.Program, place_of: Callable[[str], Place]) -> Iterator[Diagnostic]:
    """Find attributes that are set and never read, beside one that is read and called nearly the same."""
    first: dict[str, str] = {}
    for statement, path in statements(program):
        if isinstance(statement, ir.Set | ir.Choose):
            first.setdefault(statement.name, path)
    read = set(_names(program))
    home = place_of("$.run")
    for name, path in first.items():
        place = place_of(path)
        is_library = isinstance(place, Span) and isinstance(home, Span) and place.source is not home.source
        near = [] if name in read or is_library else [other for other in first if other in read and _near(name, other)]
        if near:
            other = min(near, key=lambda known: (distance(name, known, 2), known))
            yield Diagnostic(
                "perhaps-misspelt",
                f"`{name}` is set and never read; perhaps it was meant to be `{other}`",
                Label(place, "nothing reads it"),
                secondary=(Label(place_of(first[other]), f"`{other}` is set here, and read"),),
                severity=Severity.NOTE,
            )


def _names(program: ir.Program) -> Iterator[str]:
    """Give every name that an expression of the program reads; those it hides are not read by that."""
    workload = program.workload
    for part, _ in parts((program.pools, program.stages, program.session, workload.init, workload.turn), "$"):
        if isinstance(part, str):
            yield part


def _near(name: str, other: str) -> bool:
    """Whether one name is probably the other, misspelt."""
    if min(len(name), len(other)) < SHORT or _letters(name) == _letters(other):
        return False
    limit = 2 if min(len(name), len(other)) >= LONG else 1
    return distance(name, other, limit) <= limit


def _letters(name: str) -> str:
    return "".join(character for character in name if not character.isdigit())


def _turn_never_taken(program: ir.Program, place_of: Callable[[str], Place]) -> Iterator[Diagnostic]:
    """Find a workload whose turns no session takes."""
    workload = program.workload
    if not workload.turn and workload.trace is None:
        return
    if any(isinstance(statement, ir.Turn) for statement, _ in statements(program)):
        return
    what, path = ("trace", "$.workload.trace") if workload.trace is not None else ("`turn` block", "$.workload.turn[0]")
    yield Diagnostic(
        "turn-never-taken",
        f"the workload has a {what}, and the session never says `turn;`",
        Label(place_of(path), "no row is ever loaded" if workload.trace is not None else "never runs"),
        secondary=(Label(place_of("$.session[0]"), "the session begins here"),) if program.session else (),
        helps=("begin the session with `turn;`: it loads the attributes of the next turn",),
        severity=Severity.NOTE,
    )
