"""Results into a page of evidence: `index.md`, one PNG a case, and every number in `figures.csv`."""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator
from PIL import Image

from verification.compare import FALSE_ALARM, Comparison, Result, interval

MODEL_COLOUR, PROGRAM_COLOUR, THEORY_COLOUR = "#b5562b", "#2b6cb5", "#444444"


def write_evidence(
    results: Sequence[Result], folder: Path, provenance: Sequence[str], claims: Sequence[tuple[str, bool]]
) -> None:
    """Write the page, the plots and the table of numbers; what was there under these names is replaced.

    Parameters
    ----------
    provenance : lines that say what was run: versions, seeds, command
    claims : what was promised across cases, and whether it holds
    """
    folder.mkdir(parents=True, exist_ok=True)
    for result in results:
        plot_case(result, folder / f"{result.case.name}.png")
    write_numbers(results, folder / "figures.csv")
    (folder / "index.md").write_text(page_text(results, provenance, claims), encoding="utf-8")


def page_text(results: Sequence[Result], provenance: Sequence[str], claims: Sequence[tuple[str, bool]]) -> str:
    """Return the page in Markdown."""
    failed = [result for result in results if result.case.required and not result.agrees]
    lines = [
        "# Programs beside their second implementations",
        "",
        "Each program was run with the command line at a number of seeds, and a model of the same deployment, written",
        "by hand from its description (`verification/models`), at as many. A row compares one figure: means over",
        "seeds with 95 % Student intervals, what chance allows between two equal means (Welch, false alarm",
        f"{FALSE_ALARM:g}), and the Mann–Whitney p-value: one in twenty falls below 0.05 when the sides agree.",
        "",
        *[f"* {line}" for line in provenance],
        f"* {len(results)} comparisons, {len(failed)} failed"
        + (": " + ", ".join(f"`{result.case.name}`" for result in failed) if failed else ""),
        *[f"* {text}: {'holds' if holds else '**does not hold**'}" for text, holds in claims],
        "",
    ]
    group = ""
    for result in results:
        case = result.case
        if case.group != group:
            group = case.group
            lines += [f"## {group}", ""]
        settings = " ".join([*(f"--set {name}={value:g}" for name, value in case.sets.items()), *case.options])
        lines += [
            f"### {case.title}",
            "",
            f"`{case.program}`" + (f" with `{settings}`" if settings else "") + f". {verdict(result)}",
            "",
        ]
        if case.note:
            lines += [case.note, ""]
        lines += [
            "| figure | model | program | difference | chance | p | closed form |",
            "|---|---|---|---|---|---|---|",
            *[row(comparison) for comparison in result.comparisons],
            "",
            f"![{case.title}]({case.name}.png)",
            "",
        ]
    return "\n".join(lines)


def verdict(result: Result) -> str:
    """Say in words whether a case agrees."""
    if result.agrees:
        return "**Agrees.**"
    reasons = "; ".join(
        f"{comparison.figure.name}: {reason}" for comparison in result.comparisons for reason in comparison.failures
    )
    return f"**Differs{'' if result.case.required else ', as expected'}**: {reasons}."


def row(comparison: Comparison) -> str:
    """Return one line of the table."""
    figure = comparison.figure
    model_mean = sum(comparison.model) / len(comparison.model)
    allowed = comparison.chance / model_mean if model_mean else math.nan
    expected = f"{figure.expected:.4g}" if figure.expected is not None else "–"
    cells = [
        f"{figure.name} {figure.unit}".strip(),
        mean_text(comparison.model),
        mean_text(comparison.program),
        f"{comparison.difference:+.2%}",
        f"±{allowed:.2%}",
        f"{comparison.p_value:.2g}",
        expected,
    ]
    return "| " + " | ".join(cells) + " |"


def mean_text(figures: Sequence[float]) -> str:
    """Return a mean with its interval, to the digits the interval supports."""
    mean = sum(figures) / len(figures)
    half = interval(figures)
    digits = 4 if half == 0.0 else min(max(1 - math.floor(math.log10(half)), 0), 8)
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def write_numbers(results: Sequence[Result], path: Path) -> None:
    """Write every figure of every seed: case, figure, side, replication, value."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "figure", "side", "replication", "value"])
        for result in results:
            for comparison in result.comparisons:
                for side, figures in (("model", comparison.model), ("program", comparison.program)):
                    for replication, value in enumerate(figures, 1):
                        writer.writerow([result.case.name, comparison.figure.name, side, replication, f"{value:.10g}"])


def plot_case(result: Result, path: Path) -> None:
    """Draw, for each figure, the two distributions over seeds and the two intervals of the mean."""
    count = len(result.comparisons)
    canvas, axes = plt.subplots(count, 2, figsize=(8.0, 2.2 * count), squeeze=False, layout="constrained")
    for comparison, (left, right) in zip(result.comparisons, axes, strict=True):
        sides = (("model", comparison.model, MODEL_COLOUR), ("program", comparison.program, PROGRAM_COLOUR))
        for height, (label, figures, colour) in enumerate(sides):
            left.ecdf(figures, color=colour, label=label)
            mean = sum(figures) / len(figures)
            right.errorbar(mean, height, xerr=interval(figures), fmt="o", color=colour, capsize=4)
        if comparison.figure.expected is not None:
            for axis in (left, right):
                axis.axvline(comparison.figure.expected, color=THEORY_COLOUR, linestyle=":", label="closed form")
        label = f"{comparison.figure.name} {comparison.figure.unit}".strip()
        left.set(xlabel=label, ylabel="share of seeds")
        right.set(xlabel=f"mean {label}, 95 %", yticks=[0, 1], ylim=(-0.6, 1.6))
        right.xaxis.set_major_locator(MaxNLocator(5))
        right.set_yticklabels(["model", "program"])
        left.legend(fontsize="small", frameon=False)
    canvas.suptitle(result.case.title, fontsize="medium")
    drawn = io.BytesIO()
    # without the writer's version the same numbers give the same bytes; with a palette a third of them
    canvas.savefig(drawn, format="png", dpi=80, metadata={"Software": None})
    plt.close(canvas)
    Image.open(drawn).convert("RGB").quantize(48).save(path, format="PNG", optimize=True)
