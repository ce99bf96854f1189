"""A `set` that reads live state and is then used in a hold's header.

The header is read when the session is admitted and the `set` is not, so the value that reaches the header is the one
from before the session queued. `at admission` is the clause for it.

    set hit = min(cachedin(kv), hitmax);
    hold kv (hit + chunk) { … }                              the cache may have changed since

Found: a `set x = e` where e reads live state, and later in the same body, or in a branch or loop within it, before x is
set again, a hold whose units, reserve, reuse or cache reads x. A hold's body is not looked into from outside.

Reference: language §3, Lints; notes §11.
"""

from __future__ import annotations

from collections.abc import Callable

from serq.diagnostics import Findings, Label, Place, error
from serq.ir import model as ir
from serq.ir.vocabulary import OBSERVABLES
from serq.ir.walk import bodies, parts


def find_stale_header_reads(program: ir.Program, findings: Findings, place_of: Callable[[str], Place]) -> None:
    """Report every header that reads an attribute set from live state."""
    for body, path in bodies(program):
        for i, statement in enumerate(body):
            if isinstance(statement, ir.Set):
                read = _live_read(statement.value, f"{path}[{i}].value")
                if read is not None:
                    _follow(statement.name, read, body, path, i + 1, findings, place_of)


def _live_read(expression: ir.Expression, path: str) -> tuple[ir.Call, str] | None:
    """Give the first read of live state in an expression."""
    for part, here in parts(expression, path):
        if isinstance(part, ir.Call) and part.function in OBSERVABLES:
            return part, here
    return None


def _follow(
    name: str,
    read: tuple[ir.Call, str],
    body: tuple[ir.Statement, ...],
    path: str,
    start: int,
    findings: Findings,
    place_of: Callable[[str], Place],
) -> None:
    """Look for a header that reads `name`, from a place in a body on; stop where it is set again.

    A branch or loop is looked into; that one of its bodies sets the name again ends the search there alone, since the
    other way round the value may still be the old one.
    """
    pending = [(body, path, start)]
    while pending:
        inner, inner_path, first = pending.pop()
        for i in range(first, len(inner)):
            statement, here = inner[i], f"{inner_path}[{i}]"
            if isinstance(statement, ir.Set | ir.Choose) and statement.name == name:
                break
            match statement:
                case ir.Hold():
                    _check_header(name, read, statement, here, findings, place_of)
                case ir.Branch():
                    pending += [(statement.then, f"{here}.then", 0), (statement.otherwise, f"{here}.otherwise", 0)]
                case ir.Loop():
                    pending.append((statement.body, f"{here}.body", 0))


def _check_header(
    name: str,
    read: tuple[ir.Call, str],
    hold: ir.Hold,
    path: str,
    findings: Findings,
    place_of: Callable[[str], Place],
) -> None:
    header: list[tuple[object, str]] = []
    for i, claim in enumerate(hold.pools):
        header += [(claim.units, f"{path}.pools[{i}].units"), (claim.reserve, f"{path}.pools[{i}].reserve")]
    header += [(hold.reuse, f"{path}.reuse"), (hold.cache, f"{path}.cache")]
    for expression, start in header:
        for part, here in parts(expression, start):
            if part == name and isinstance(part, str):
                _report(name, read, hold, here, start, findings, place_of)
                return


def _report(
    name: str,
    read: tuple[ir.Call, str],
    hold: ir.Hold,
    here: str,
    start: str,
    findings: Findings,
    place_of: Callable[[str], Place],
) -> None:
    call, read_path = read
    first = hold.pools[0].pool
    pool = first if isinstance(first, str) else first.name
    argument = call.args[0] if call.args else ""
    member = argument if isinstance(argument, str) else f"{getattr(argument, 'name', '…')}[…]"
    in_cache = start.endswith(".cache")
    when = "when the hold ends" if in_cache else "at admission"
    findings.add(
        error(
            "stale-header-read",
            f"`{name}` is read {when} in the hold on `{pool}`, but reads "
            f"`{call.function}({member})` where it is set, before the session queued",
            place_of(here),
            "evaluated when the hold ends" if in_cache else "evaluated when the session is admitted",
            secondary=(Label(place_of(read_path), "reads the state here, when the session gets here"),),
            notes=("what it reads may change while the session waits",),
            helps=(f"bind it where it is read: `at admission ({name} = …)`",),
        )
    )
