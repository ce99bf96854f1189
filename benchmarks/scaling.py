"""How the cost grows: time per event against what there is much of, ours beside the reference.

    python benchmarks/scaling.py               the tables
    python benchmarks/scaling.py --update      and into docs/performance.md, with the figure beside it
    python benchmarks/scaling.py --only ps

The time per event is a slope: two runs of different length, the difference of their times over that of their events, so
that neither the start of a program nor the arrival of its first sessions counts.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contenders import HERE, OURS, REFERENCE, ROOT, Contender
from page import PAGE, write_section

PROGRAMS = HERE / "programs"
FIGURE = PAGE.parent / "performance" / "scaling.svg"


@dataclass(frozen=True, slots=True)
class Series:
    """A program, the sizes it is run at, and for a size the two horizons between which the slope is taken.

    Where each event is expensive to the reference its second horizon is nearer, or it is not run at all.
    """

    name: str
    path: Path
    what: str
    sizes: tuple[int, ...]
    horizons: Callable[[int], tuple[float, float]]
    size_is_horizon: bool = False
    reference_span: Callable[[int], float] | None = None
    reference_max: int = 10**9

    def pairs(self, size: int, horizon: float) -> tuple[str, ...]:
        """Give the settings of one run."""
        size_pair = () if self.size_is_horizon else (f"n={size}",)
        return (*size_pair, f"horizon={horizon:g}", "warmup=0")


SERIES = (
    Series(
        "events",
        PROGRAMS / "mg1.sq",
        "events of one server at load 0.8",
        (100_000, 1_000_000, 10_000_000),
        lambda n: (0.1 * n / 1.6, n / 1.6),
        size_is_horizon=True,
    ),
    Series("jobs", PROGRAMS / "scale_ps.sq", "jobs that share a processor", (10, 1_000, 100_000), lambda n: (2e3, 5e4)),
    Series("line", PROGRAMS / "scale_fifo.sq", "jobs in line at a server", (10, 1_000, 100_000), lambda n: (2e3, 1e5)),
    Series(
        "residents",
        PROGRAMS / "scale_residents.sq",
        "residents of an engine (a unit is one iteration)",
        (8, 64, 512),
        lambda n: (20.0, 200.0),
    ),
    Series(
        "waiting",
        PROGRAMS / "scale_waiting.sq",
        "sessions that wait for a place by a key of theirs",
        (10, 1_000, 100_000),
        lambda n: (5.0, 1e4),
        reference_span=lambda n: 1e4 if n <= 1_000 else 45.0,
    ),
    Series(
        "entries",
        PROGRAMS / "scale_entries.sq",
        "cached prefixes, one evicted by a key of theirs for each that comes",
        (10, 1_000, 10_000, 1_000_000),
        lambda n: (2.0 * n, 2.0 * n + max(1e4, 0.2 * n)),
        reference_span=lambda n: 1e4 if n <= 1_000 else 50.0,
        reference_max=10_000,
    ),
)


def slope(contender: Contender, series: Series, size: int, repeats: int) -> float:
    """Give the time per event [ns], the median of the repeats."""
    first, second = series.horizons(size)
    if contender is REFERENCE:
        if size > series.reference_max:
            return math.nan
        if series.reference_span is not None:
            second = first + series.reference_span(size)
    found = []
    for _ in range(repeats):
        short = contender.measure(series.path, series.pairs(size, first))
        long = contender.measure(series.path, series.pairs(size, second))
        events = long["events"] - short["events"]
        found.append(1e9 * (min(long["seconds"]) - min(short["seconds"])) / events)
    return statistics.median(found)


def measured(series: Series, repeats: int) -> list[tuple[int, float, float]]:
    """Give for each size our time and the reference's."""
    rows = []
    for size in series.sizes:
        rows.append((size, slope(OURS, series, size, repeats), slope(REFERENCE, series, size, repeats)))
        print(series.name, *(f"{value:.0f}" for value in rows[-1]), flush=True)
    return rows


def sessions_table(horizons: tuple[float, ...]) -> str:
    """Run ever more agents through one vLLM engine: time per event and the memory of the process."""
    lines = ["| sessions | events | time per event | memory |", "| --- | --- | --- | --- |"]
    for horizon in horizons:
        found = OURS.measure(ROOT / "examples/multi-turn/vllm.sq", (f"horizon={horizon:g}",))
        per_event = 1e9 * min(found["seconds"]) / found["events"]
        sessions = f"{0.3 * horizon:,.0f}".replace(",", " ")
        events = f"{found['events']:,}".replace(",", " ")
        lines.append(f"| {sessions} | {events} | {per_event:.0f} ns | {found['megabytes']:.0f} MB |")
    return "\n".join(lines)


def table(found: dict[str, list[tuple[int, float, float]]]) -> str:
    """Write the slopes as Markdown."""
    lines = ["| what there is much of | how much | serq | pyserq | ratio |", "| --- | --- | --- | --- | --- |"]
    for series in SERIES:
        for size, ours, theirs in found.get(series.name, []):
            much = f"{size:,}".replace(",", " ")
            ratio = "–" if math.isnan(theirs) else f"{theirs / ours:.1f}"
            lines.append(f"| {series.what} | {much} | {_time(ours)} | {_time(theirs)} | {ratio} |")
    return "\n".join(lines)


def _time(nanoseconds: float) -> str:
    if math.isnan(nanoseconds):
        return "–"
    return f"{nanoseconds:.0f} ns" if nanoseconds < 10_000 else f"{nanoseconds / 1000:.0f} µs"


def draw(found: dict[str, list[tuple[int, float, float]]]) -> None:
    """Draw the slopes, a panel each, on two logarithmic axes."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "serq", "svg.fonttype": "none"})
    from matplotlib import pyplot

    panels, axes = pyplot.subplots(2, 3, figsize=(9.0, 5.0), sharey=False)
    for series, panel in zip(SERIES, axes.flat, strict=True):
        rows = found.get(series.name, [])
        sizes = [size for size, _, _ in rows]
        panel.loglog(sizes, [ours for _, ours, _ in rows], "o-", color="#1f5fa8", label="serq")
        panel.loglog(sizes, [theirs for _, _, theirs in rows], "s--", color="#b5542b", label="pyserq 0.1.1")
        panel.set_xlabel(series.name, fontsize=9)
        panel.tick_params(labelsize=8)
        panel.minorticks_off()
        panel.grid(True, which="major", alpha=0.3)
    axes[0][0].set_ylabel("time per event [ns]", fontsize=9)
    axes[1][0].set_ylabel("time per event [ns]", fontsize=9)
    axes[0][0].legend(fontsize=8, frameon=False)
    panels.tight_layout()
    FIGURE.parent.mkdir(exist_ok=True)
    panels.savefig(FIGURE, metadata={"Date": None})
    text = FIGURE.read_text(encoding="utf-8")
    FIGURE.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")


def main() -> None:
    """Measure, print, and write where asked to."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", metavar="NAME", action="append", help="one series; may be given again")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--update", action="store_true", help="write tables and figure into docs")
    arguments = options.parse_args()
    found = {
        s.name: measured(s, arguments.repeats) for s in SERIES if arguments.only is None or s.name in arguments.only
    }
    text = table(found)
    sessions = sessions_table((3e3, 3e4, 3e5)) if arguments.only is None else ""
    print(text, sessions, sep="\n\n")
    if arguments.update:
        write_section("scaling", text)
        write_section("sessions", sessions)
        draw(found)


if __name__ == "__main__":
    main()
