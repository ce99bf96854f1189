"""The figures the reference project published for its programs, beside what the programs of this project give.

A published figure is one number: of one run (its seed 1), or a mean over runs. Its random numbers are not ours, so it
is held against an interval over our seeds: the Student interval of our mean, and that interval widened by the published
figure's own chance and by its rounding. `python -m verification` writes the table to `evidence/published.md`.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from verification.compare import Result, Runner, Settings, interval, read_figure

ONE_RUN, TWENTY_RUNS = 1, 20


@dataclass(frozen=True, slots=True)
class Published:
    """One figure as it was published.

    Attributes
    ----------
    figure : what is measured
    path : where the report has it, "observes.ttft.mean"
    value : what was published
    step : the unit of its last digit
    scale : what a report's number is multiplied with to have the published unit
    unit : that unit
    runs : how many runs the published figure is the mean of
    """

    figure: str
    path: str
    value: float
    step: float
    scale: float = 1.0
    unit: str = ""
    runs: int = TWENTY_RUNS


@dataclass(frozen=True, slots=True)
class Setting:
    """One program at one setting with the figures published for it.

    Attributes
    ----------
    program : path below the project's root
    """

    name: str
    program: str
    sets: Settings
    figures: tuple[Published, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One published figure beside ours.

    Attributes
    ----------
    values : (seeds,) ours, in the published unit
    half : half width of the 95 % interval of our mean
    allowed : how far chance (95 %) and rounding let the published figure be from our mean
    """

    setting: str
    published: Published
    values: tuple[float, ...]
    half: float
    allowed: float

    @property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)

    @property
    def gap(self) -> float:
        return self.mean - self.published.value


@dataclass(frozen=True, slots=True)
class Ratio:
    """A published ratio of the program to its fluid model.

    Attributes
    ----------
    value, half : ours, and half width of its 95 % interval
    """

    figure: str
    published: str
    value: float
    half: float


def settings() -> list[Setting]:
    """Return the settings in the order of the page."""
    return [*engine_settings(), *disaggregated_settings(), *unlimited_settings()]


def engine_settings() -> list[Setting]:
    """One vLLM engine under four workloads; published: one run each, hit share to 0.01 and times to 1 ms."""
    rows: tuple[tuple[str, str, dict[str, float], tuple[float, float, float]], ...] = (
        ("vllm: agents", "vllm", {}, (0.89, 18, 65)),
        ("vllm: single turns", "vllm_single_turn", {}, (0.00, 43, 94)),
        ("vllm: chat", "vllm_chat", {}, (0.78, 5, 66)),
        ("vllm: subagents, q = 0", "vllm_subagents", {"q": 0}, (0.88, 14, 57)),
        ("vllm: subagents, q = 0.3", "vllm_subagents", {}, (0.70, 45, 100)),
    )
    return [
        Setting(
            name,
            f"examples/multi-turn/{program}.sq",
            sets,
            (
                Published("prefix hit share", "observes.hit.mean", hit, 0.01, runs=ONE_RUN),
                milliseconds("ttft", ttft, ONE_RUN),
                milliseconds("response", response, ONE_RUN),
            ),
        )
        for name, program, sets, (hit, ttft, response) in rows
    ]


LLMD = "examples/pd-disaggregation/llmd_nixl_pull.sq"


def disaggregated_settings() -> list[Setting]:
    """llm-d with a NIXL pull at the nine published settings: means over seeds 1–20 of 10 000 s each."""
    rows: tuple[tuple[str, dict[str, float], float, float | None, float | None], ...] = (
        ("always remote", {"thr": 1}, 29.5, None, None),
        ("thr 512", {"thr": 512}, 28.7, 59, 13),
        ("thr 2048", {"thr": 2048}, 29.0, 22, None),
        ("never remote", {"thr": 1e9}, 29.4, None, None),
        ("decoders of 32k", {"blocksD": 2000}, 49.1, None, 33),
        ("decoders of 17.6k", {"blocksD": 1100}, 54.7, None, 37),
        ("1.2/s", {"lam": 1.2}, 47.8, 72, 25),
        ("1.2/s, decoders of 32k", {"lam": 1.2, "blocksD": 2000}, 70.7, 93, 42),
        ("1.2/s, decoders of 17.6k", {"lam": 1.2, "blocksD": 1100}, 78.4, 96, 49),
    )
    return [
        Setting(
            f"llm-d: {name}",
            LLMD,
            sets,
            (
                milliseconds("ttft", ttft, TWENTY_RUNS, 0.1),
                *([Published("remote", "observes.remote.mean", remote, 1, 100.0, "%")] if remote is not None else []),
                *([milliseconds("lease", lease, TWENTY_RUNS)] if lease is not None else []),
            ),
        )
        for name, sets, ttft, remote, lease in rows
    ]


def unlimited_settings() -> list[Setting]:
    """One setting of the above as the description states it, without the program's limit on a context."""
    figures = (
        milliseconds("ttft", 28.7, TWENTY_RUNS, 0.1),
        Published("remote", "observes.remote.mean", 59, 1, 100.0, "%"),
    )
    return [Setting("llm-d: thr 512, no context limit", LLMD, {"limit": math.inf}, figures)]


def milliseconds(figure: str, value: float, runs: int, step: float = 1.0) -> Published:
    """Return a mean time of an observe of this name, published in milliseconds."""
    return Published(figure, f"observes.{figure}.mean", value, step, 1000.0, "ms", runs)


def run_settings(chosen: Sequence[Setting], seeds: Sequence[int], runner: Runner, root: Path, jobs: int) -> list[Line]:
    """Run every setting at every seed.

    Parameters
    ----------
    seeds : at least two
    jobs : worker processes; the results do not depend on it
    """
    tasks = [(setting, seed, runner, root) for setting in chosen for seed in seeds]
    if jobs == 1:
        outcomes = [_run(*task) for task in tasks]
    else:
        with ProcessPoolExecutor(max_workers=jobs) as pool:
            outcomes = list(pool.map(_run, *zip(*tasks, strict=True)))
    lines = []
    for number, setting in enumerate(chosen):
        of_setting = outcomes[number * len(seeds) : (number + 1) * len(seeds)]
        for published in setting.figures:
            values = [published.scale * outcome[published.path] for outcome in of_setting]
            lines.append(judge(setting.name, published, values))
    return lines


def _run(setting: Setting, seed: int, runner: Runner, root: Path) -> dict[str, float]:
    report = runner(root / setting.program, setting.sets, seed, ())
    return {published.path: read_figure(report, published.path) for published in setting.figures}


REPLICA_FIGURES: tuple[tuple[str, str, str, bool, float, float, str], ...] = (
    ("replica: no memory limit", "replica-unlimited", "ttft", False, 0.253, 0.001, "s"),
    ("replica: no memory limit", "replica-unlimited", "response", False, 0.336, 0.001, "s"),
    ("replica: no memory limit, the fluid", "replica-unlimited", "ttft", True, 0.250, 0.001, "s"),
    ("replica: no memory limit, the fluid", "replica-unlimited", "response", True, 0.333, 0.001, "s"),
    ("replica: 24 live", "replica-live24", "hit", False, 0.80, 0.01, ""),
    ("replica: 24 live, the fluid", "replica-live24", "hit", True, 0.86, 0.01, ""),
)
"""Name here, case of the comparison, figure, whether the fluid's, published value, its last digit, unit."""


def replica_lines(results: Sequence[Result]) -> list[Line]:
    """Return what was published for the replica and its fluid beside the runs of the comparison, where they were made.

    The runs behind the published means are not said; twenty are assumed.
    """
    comparisons = {
        (result.case.name, comparison.figure.name): comparison
        for result in results
        for comparison in result.comparisons
    }
    return [
        judge(
            name,
            Published(figure, f"observes.{figure}.mean", value, step, unit=unit),
            comparisons[case, figure].model if fluid else comparisons[case, figure].program,
        )
        for name, case, figure, fluid, value, step, unit in REPLICA_FIGURES
        if (case, figure) in comparisons
    ]


def replica_ratios(results: Sequence[Result]) -> list[Ratio]:
    """Return the published ratios of the replica to its fluid at 24 live sessions, where those runs were made."""
    published = {"turns": ("throughput", "about 0.9"), "ttft": ("mean ttft", "about 2")}
    ratios = []
    for result in results:
        if result.case.name != "replica-live24":
            continue
        for comparison in result.comparisons:
            if comparison.figure.name not in published:
                continue
            program, fluid = comparison.program, comparison.model
            top, bottom = math.fsum(program) / len(program), math.fsum(fluid) / len(fluid)
            # independent samples: relative errors add in squares
            relative = math.hypot(interval(program) / top, interval(fluid) / bottom)
            ratios.append(Ratio(*published[comparison.figure.name], top / bottom, top / bottom * relative))
    return ratios


def judge(setting: str, published: Published, values: Sequence[float]) -> Line:
    """Return a published figure beside ours.

    Parameters
    ----------
    values : (seeds,) ours, in the published unit
    """
    half = interval(values)
    # the published mean of `runs` runs has the chance of our mean of n, times √(n/runs)
    allowed = half * math.sqrt(1.0 + len(values) / published.runs) + published.step / 2.0
    return Line(setting, published, tuple(values), half, allowed)


NOTES = (
    "* One engine: the published figures are one run of 1 800 measured seconds each, which are few sessions: about 180",
    "  agents in the run of the subagents' program at q = 0.",
    "* The replica at 24 live sessions: a run of 2 500 s either falls behind or does not, and how many of the",
    "  published runs did is not said. `index.md` holds our program and our fluid against each other.",
    "* llm-d: the published parameters name no limit on an agent's context. The program stops an agent at 16 000",
    "  tokens, which is our choice; the last setting shows what comes without a limit. The limit decides the last 2 %:",
    "  with 15 500 the mean ttft over the same seeds is 29.4, 28.8, 29.2, 29.4, 49.0 and 54.6 ms at the settings of",
    "  0.6/s, where the published figures are within chance of it, and 47.1 ms at 1.2/s, where 47.8 is not.",
)
"""What the page says of figures that do not agree."""


def verdict(line: Line) -> str:
    """Say whether the published figure lies inside our interval."""
    if abs(line.gap) <= max(line.half, 1e-12):
        return "inside"
    relative = f"{line.gap / line.published.value:+.1%}" if line.published.value else f"{line.gap:+.3g}"
    if abs(line.gap) <= line.allowed:
        return f"within chance ({relative})"
    return f"**outside** ({relative})"


def page_text(
    lines: Sequence[Line], ratios: Sequence[Ratio], provenance: Sequence[str], notes: Sequence[str] = ()
) -> str:
    """Return the page in Markdown."""
    outside = [line for line in lines if abs(line.gap) > max(line.half, line.allowed)]
    text = [
        "# Published figures beside ours",
        "",
        "What the reference project published for its programs, and what ours give: the mean over seeds with its 95 %",
        "Student interval. *Inside*: the published figure is in that interval. *Within chance*: it is in the interval",
        "widened by its own chance (it is one run, or a mean of twenty) and by half its last digit. Of figures that",
        "agree one in twenty is outside even then. In brackets: our mean over the published figure, less one.",
        "",
        *[f"* {line}" for line in provenance],
        f"* {len(lines)} figures, {len(outside)} outside",
        "",
        "| program and setting | figure | published | runs | ours | allowed | |",
        "|---|---|---|---|---|---|---|",
        *[row(line) for line in lines],
        "",
    ]
    if ratios:
        text += [
            "The replica at 24 live sessions over its fluid:",
            "",
            "| figure | published | ours |",
            "|---|---|---|",
            *[f"| {ratio.figure} | {ratio.published} | {ratio.value:.2f} ± {ratio.half:.2f} |" for ratio in ratios],
            "",
        ]
    return "\n".join([*text, *notes, ""])


def row(line: Line) -> str:
    """Return one line of the table."""
    published = line.published
    digits = max(0, round(-math.log10(published.step)))
    cells = [
        line.setting,
        f"{published.figure} {f'[{published.unit}]' if published.unit else ''}".strip(),
        f"{published.value:.{digits}f}",
        f"{published.runs}",
        f"{line.mean:.{digits + 1}f} ± {line.half:.{digits + 1}f}",
        f"± {line.allowed:.{digits + 1}f}",
        verdict(line),
    ]
    return "| " + " | ".join(cells) + " |"
