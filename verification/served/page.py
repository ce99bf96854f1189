"""The tables of docs/validation.md, made of the figures; the words around them are written by hand.

A table stands between ``<!-- table NAME -->`` and ``<!-- end -->``, and is replaced whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Figures = Mapping[str, Any]

_TABLE = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(page: str, figures: Figures) -> str:
    """Give the page with every table made anew.

    Raises
    ------
    ValueError : a table of the page that is not known, or one that the page does not have
    """
    made = {name: make(figures) for name, make in TABLES.items()}
    named = [name for _, name, _ in _TABLE.findall(page)]
    if sorted(named) != sorted(made):
        raise ValueError(f"the page has the tables {sorted(named)}, and there are {sorted(made)}")
    return _TABLE.sub(lambda found: found[1] + made[found[2]] + found[3], page)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _change(measured: float, model: float) -> str:
    return f"{100 * (model / measured - 1):+.1f} %"


def _a100(figures: Figures) -> str:
    rows = []
    for run in figures["a100"]["served"]["runs"]:
        forced = ", 10 % forced" if run["trace"].startswith("short_m10") else ""
        each = ", ".join(_seconds(value) for value in run["ttft"])
        hits = ", ".join(f"{value:.3f}" for value in run["full_hit"])
        model = run["model"]
        rows.append(
            [
                f"{run['spacing']} s{forced}",
                run["role"],
                each,
                _seconds(model["ttft"]),
                hits,
                f"{model['full_hit']:.3f}",
            ]
        )
    return _table(["spacing", "", "TTFT measured [s]", "model", "full hit measured", "model"], rows)


def _a100_errors(figures: Figures) -> str:
    served, calibration = figures["a100"]["served"], figures["a100"]["calibration"]
    c_it, c0 = (1000 * float(part) for part in calibration["best"].split(","))
    off = calibration["off_the_grid"]
    return _table(
        ["figure", ""],
        [
            ["best of the grid", f"`c_it` {c_it:g} ms, `c0` {c0:g} ms, of {calibration['points']} points"],
            ["mean abs ln(model / measured) of the TTFT, the two fitted runs", f"{calibration['error']:.3f}"],
            ["the same, the held-out runs", f"{served['ttft_log_ratio']['held out']:.3f}"],
            ["largest difference of a full-hit share, held-out runs", f"{served['full_hit_gap_max']:.3f}"],
            ["off the grid, `c_it` 0 and `c0` 60 ms: the two fitted runs", f"{off['error']:.3f}"],
            ["the same point at a spacing of 2.5 s: TTFT (measured 34.6 s)", f"{off['ttft_2.5']:.1f} s"],
        ],
    )


def _before(figures: Figures) -> str:
    rows = []
    for row in figures["a100"]["predicted_before"]:
        what = "pinned" if row["pinned"] else "vLLM's rule"
        when = "" if row["after"] else " (measured before)"
        cells = [f"{row['spacing']} s, {what}{when}"]
        for side in ("predicted", "measured", "now"):
            cells.append(f"{_seconds(row[side]['ttft'])} s, {row[side]['full_hit']:.3f}")
        rows.append(cells)
    return _table(["run", "predicted before", "measured", "this serQ"], rows)


def _pinned(figures: Figures) -> str:
    rows = []
    for row in figures["a100"]["pinned"]:
        model = row["model"]
        rows.append(
            [
                row["release"],
                f"{row['clock']}, {row['spacing']} s",
                "pinned" if row["pinned"] else "as it is",
                f"{_seconds(row['ttft'])} s, {row['full_hit']:.4f}, {row['steps']}",
                f"{_seconds(model['ttft'])} s, {model['full_hit']:.4f}, {model['steps']}",
            ]
        )
    return _table(["vLLM", "clock, spacing", "prefixes", "scheduler: TTFT, full hit, steps", "serQ"], rows)


def _cpu_fit(figures: Figures) -> str:
    cpu = figures["cpu"]
    rows = [
        [name, str(cpu[key]["steps"]), f"{100 * cpu[key]['mape']:.1f} %", f"{100 * cpu[key]['total']:+.1f} %"]
        for name, key in (("fitted", "fitted_steps"), ("of the served run (held out)", "served_steps"))
    ]
    return _table(["steps", "", "mean error of a step", "error of their sum"], rows)


def _cpu(figures: Figures) -> str:
    cpu = figures["cpu"]
    rows = [
        [name, _seconds(row["measured"]), _seconds(row["model"]), _change(row["measured"], row["model"])]
        for name, row in cpu["times"].items()
    ]
    for name, unit in (("end", "s"), ("steps", "1")):
        measured, model = cpu[name]["measured"], cpu[name]["model"]
        shown = (f"{measured:.1f}", f"{model:.1f}") if unit == "s" else (str(measured), str(model))
        rows.append([name, *shown, _change(measured, model)])
    rows.append(["cached tokens", f"{cpu['requests']} requests", f"{cpu['cached_equal']} equal", ""])
    return _table(["[s]", "measured", "model", ""], rows)


def _rtx4090(figures: Figures) -> str:
    rows = []
    for name, row in figures["rtx4090"]["times"].items():
        what, unit = (1000.0, "ms") if name.startswith("tpot") else (1.0, "s")
        rows.append(
            [
                f"{name} [{unit}]",
                f"{what * row['measured']:.1f}",
                f"{what * row['model']:.1f}",
                _change(row["measured"], row["model"]),
                f"{row['peer']:+.1f} %",
            ]
        )
    end = figures["rtx4090"]["end"]
    rows.append(
        ["last token [s]", f"{end['measured']:.1f}", f"{end['model']:.1f}", _change(end["measured"], end["model"]), ""]
    )
    return _table(["", "measured", "model", "", "the publisher's simulator"], rows)


TABLES = {
    "a100": _a100,
    "a100-errors": _a100_errors,
    "predicted-before": _before,
    "pinned": _pinned,
    "cpu-fit": _cpu_fit,
    "cpu": _cpu,
    "rtx4090": _rtx4090,
}
