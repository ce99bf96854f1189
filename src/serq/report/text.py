"""The report as text for people: aligned columns, no colour.

Input: `Report`. Output: text. Six significant digits; the exact figures are in the JSON form and the dump.

Invariants: the text depends on the report alone; a count that is 0 in every row of a table has no column (see
`OPTIONAL_COLUMNS`), every other column is always there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from serq.report.model import PoolReport, Report, StageReport
from serq.report.numbers import MISSING, short

Row = list[str]


def report_text(report: Report) -> str:
    """Give the text, with a line feed at its end."""
    measured = report.end - report.warmup
    parts = [
        f"{report.provenance.command}\n" if report.provenance.command else "",
        _facts(
            [
                (
                    "time",
                    [
                        ("warmup", short(report.warmup)),
                        ("end", short(report.end)),
                        ("horizon", short(report.horizon)),
                        ("measured", short(measured)),
                    ],
                ),
                (
                    "sessions",
                    [
                        ("arrivals", str(report.arrivals)),
                        ("ended", str(report.ended)),
                        ("turns", str(report.turns)),
                        ("mean live", short(report.mean_live)),
                    ],
                ),
                ("run", [("seed", str(report.seed)), ("events", str(report.events))]),
            ]
        ),
        _observes(report),
        _gauges(report),
        _members("stage", report.stages, STAGE_COLUMNS),
        _members("pool", report.pools, POOL_COLUMNS),
        "".join(f"note: {note.message}\n" for note in report.notes),
    ]
    return "\n".join(part for part in parts if part)


def _facts(lines: list[tuple[str, list[tuple[str, str]]]]) -> str:
    width = max(len(head) for head, _ in lines)
    return "".join(
        f"{head:<{width}}  {'   '.join(f'{name} {value}' for name, value in facts)}\n" for head, facts in lines
    )


def _observes(report: Report) -> str:
    rows = [
        [observe.name, str(observe.count), *(short(x) for x in (observe.mean, observe.ci, observe.cv2, observe.p99))]
        for observe in report.observes.values()
    ]
    return _table(["observe", "count", "mean", "± 95 %", "cv²", "p99"], rows)


def _gauges(report: Report) -> str:
    rows = [
        [gauge.name, *(short(x) for x in (gauge.mean, gauge.ci, gauge.min, gauge.max))]
        for gauge in report.gauges.values()
    ]
    return _table(["gauge", "mean", "± 95 %", "min", "max"], rows)


STAGE_COLUMNS: tuple[tuple[str, Callable[[StageReport], float]], ...] = (
    ("number", lambda stage: stage.mean_number),
    ("utilization", lambda stage: stage.utilization),
    ("completed", lambda stage: stage.completed),
    ("throughput", lambda stage: stage.throughput),
    ("wait", lambda stage: stage.mean_wait),
    ("service", lambda stage: stage.mean_service),
    ("iterations", lambda stage: stage.iterations),
)

POOL_COLUMNS: tuple[tuple[str, Callable[[PoolReport], float]], ...] = (
    ("used", lambda pool: pool.mean_used),
    ("cached", lambda pool: pool.mean_cached),
    ("queue", lambda pool: pool.mean_queue),
    ("holders", lambda pool: pool.mean_holders),
    ("wait", lambda pool: pool.mean_wait),
    ("admissions", lambda pool: pool.admissions),
    ("evicted", lambda pool: pool.evicted_entries),
    ("evicted units", lambda pool: pool.evicted_units),
    ("preempted", lambda pool: pool.preemptions),
    ("spills", lambda pool: pool.spills),
    ("rejected", lambda pool: pool.rejected),
    ("stuck", lambda pool: pool.stuck),
)

OPTIONAL_COLUMNS = frozenset({"iterations", "evicted", "evicted units", "preempted", "spills", "rejected", "stuck"})
"""Left out when no row has anything to say in them."""


def _members(
    title: str,
    members: Sequence[StageReport] | Sequence[PoolReport],
    columns: Iterable[tuple[str, Callable[..., float]]],
) -> str:
    shown = [
        (head, read)
        for head, read in columns
        if head not in OPTIONAL_COLUMNS or any(read(member) for member in members)
    ]
    rows = [[_name(member), *(_cell(read(member)) for _, read in shown)] for member in members]
    return _table([title, *(head for head, _ in shown)], rows)


def _name(member: StageReport | PoolReport) -> str:
    return member.name if member.index is None else f"{member.name}[{member.index}]"


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else short(value)


def _table(head: Row, rows: list[Row]) -> str:
    """Draw a table: the first column to the left, numbers to the right; "" without rows."""
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = []
    for row in [head, *rows]:
        first, *others = (cell or MISSING for cell in row)
        cells = [f"{first:<{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)
