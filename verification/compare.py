"""Hold a program against its second implementation, seed by seed.

Input: cases (a program with settings, a model with parameters, the figures they share). Output: for each figure the two
samples over seeds, a Mann–Whitney p-value, intervals of the means, and a verdict.

A verdict has up to three parts, each with a reason to exist:

* the means differ by no more than chance explains (Welch), and the samples by no more (Mann–Whitney), each with a false
  alarm of 1e-4, so that a page of many comparisons is quiet when the programs agree;
* or, where a bound is promised (`within`), the ratio of the means keeps to it;
* where a closed form is known (`expected`), the program's mean is compatible with it, or keeps to `within` of it.
"""

import json
import math
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import stats

from serq.theory import agrees, difference_half_width, mean_half_width

FALSE_ALARM = 1e-4
"""Of a test that two equal sides differ. A page holds about sixty, so one page in 170 has a false alarm. Tests that run
on every change use the smaller one of `serq.theory`, at which twenty seeds would see little here.
"""

Report = Mapping[str, Any]
Settings = Mapping[str, float]
Runner = Callable[[Path, Settings, int, Sequence[str]], Report]
"""(program, its `--set`s, seed, further options of `run`) to a JSON report."""

Model = Callable[[int], dict[str, float]]


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity that both sides report.

    Attributes
    ----------
    name : its name in the model's figures
    path : where the report has it: "observes.response.mean", or a list entry by its name, "stages.server.throughput"
    unit : for the page
    expected : a closed form's value, or None
    within : largest relative difference allowed beside chance, or None
    """

    name: str
    path: str
    unit: str = ""
    expected: float | None = None
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One program at one setting, beside one model.

    Attributes
    ----------
    name : a slug, unique; names the plot
    group : heading on the page
    title : what is compared
    program : path below the project's root
    sets : `--set`s
    options : further options of `run`
    model : seed to figures
    figures : what is compared
    required : whether a difference is a failure; False where the two must differ, and `note` says why
    """

    name: str
    group: str
    title: str
    program: str
    sets: Settings
    options: tuple[str, ...]
    model: Model
    figures: tuple[Figure, ...]
    required: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of one case, over seeds.

    Attributes
    ----------
    model, program : (seeds,) the figure on either side
    p_value : Mann–Whitney U, two-sided
    chance : how far equal means may lie apart (false alarm 1e-4)
    difference : relative difference of the means, program over model − 1
    failures : what does not hold, in words; empty when the sides agree
    """

    figure: Figure
    model: tuple[float, ...]
    program: tuple[float, ...]
    p_value: float
    chance: float
    difference: float
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one case."""

    case: Case
    comparisons: tuple[Comparison, ...]

    @property
    def agrees(self) -> bool:
        return all(not comparison.failures for comparison in self.comparisons)


def command_runner(root: Path, tool: Sequence[str]) -> Runner:
    """Return the runner that calls a command line, as a user would.

    Parameters
    ----------
    root : where the command is started
    tool : the words before `run`

    Raises
    ------
    RuntimeError
        From the runner, when the command fails; with its error output.
    """
    return _CommandRunner(root, tuple(tool))


@dataclass(frozen=True, slots=True)
class _CommandRunner:
    """A callable that survives pickling, so that worker processes can have it."""

    root: Path
    tool: tuple[str, ...]

    def __call__(self, program: Path, sets: Settings, seed: int, options: Sequence[str]) -> Report:
        command = [*self.tool, "run", str(program), "--json", "--seed", str(seed), *options]
        for name, value in sets.items():
            command += ["--set", f"{name}={value!r}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.root)
        if done.returncode != 0:
            raise RuntimeError(f"`{' '.join(command)}` exited with {done.returncode}:\n{done.stderr}")
        report: Report = json.loads(done.stdout)
        return report


def read_figure(report: Report, path: str) -> float:
    """Return one number of a report.

    Parameters
    ----------
    path : keys joined by dots; in a list, the `name` of an entry, with [index] behind it for a member of a family

    Raises
    ------
    KeyError
        When the report has no such number, or has null there.
    """
    place: Any = report
    for key in path.split("."):
        if isinstance(place, list):
            name, _, member = key.partition("[")
            index = int(member.rstrip("]")) if member else None
            found = [entry for entry in place if entry["name"] == name and (index is None or entry["index"] == index)]
            if not found:
                raise KeyError(f"the report has no {key} in {path}")
            place = found[0]
        else:
            place = place[key]
    if place is None:
        raise KeyError(f"{path} is null")
    return float(place)


def compare_samples(figure: Figure, model: Sequence[float], program: Sequence[float]) -> Comparison:
    """Judge one figure from its values over seeds on both sides.

    Parameters
    ----------
    model, program : (seeds,) at least two a side
    """
    model_mean = math.fsum(model) / len(model)
    program_mean = math.fsum(program) / len(program)
    chance = difference_half_width(model, program, FALSE_ALARM)
    p_value = float(stats.mannwhitneyu(model, program).pvalue)
    gap = program_mean - model_mean
    failures: list[str] = []
    # equal constants, such as a hit rate of 1 under affinity, may differ by the rounding of their sums
    if figure.within is None and abs(gap) > max(chance, 1e-12 * abs(model_mean)):
        failures.append(f"the means differ by {gap:+.3g}, chance explains {chance:.3g}")
    if figure.within is None and p_value < FALSE_ALARM:
        failures.append(f"the samples differ, p = {p_value:.2g}")
    if figure.within is not None and abs(gap) > figure.within * abs(model_mean):
        failures.append(f"the means differ by {gap / model_mean:+.2%}, {figure.within:.0%} is allowed")
    if figure.expected is not None:
        off = program_mean / figure.expected - 1.0
        near = figure.within is not None and abs(off) <= figure.within
        if not (near or agrees(program, figure.expected, FALSE_ALARM)):
            failures.append(f"the closed form is {figure.expected:.5g}, {off:+.2%} away")
    return Comparison(
        figure=figure,
        model=tuple(model),
        program=tuple(program),
        p_value=p_value,
        chance=chance,
        difference=gap / model_mean if model_mean else math.nan,
        failures=tuple(failures),
    )


def interval(figures: Sequence[float], level: float = 0.95) -> float:
    """Return the half width of the Student interval of a mean over seeds."""
    return mean_half_width(figures, 1.0 - level)


def run_cases(cases: Sequence[Case], seeds: Sequence[int], runner: Runner, root: Path, jobs: int) -> list[Result]:
    """Run both sides of every case at every seed and compare them.

    Parameters
    ----------
    seeds : at least two; the two sides use different generators, so equal seeds share nothing
    jobs : worker processes; the results do not depend on it

    Raises
    ------
    RuntimeError
        When a program does not run.
    """
    tasks = [(case, seed, runner, root) for case in cases for seed in seeds]
    if jobs == 1:
        outcomes = [_run_both(*task) for task in tasks]
    else:
        with ProcessPoolExecutor(max_workers=jobs) as pool:
            outcomes = list(pool.map(_run_both, *zip(*tasks, strict=True)))
    results = []
    for number, case in enumerate(cases):
        of_case = outcomes[number * len(seeds) : (number + 1) * len(seeds)]
        comparisons = tuple(
            compare_samples(
                figure,
                [model[figure.name] for model, _ in of_case],
                [program[figure.name] for _, program in of_case],
            )
            for figure in case.figures
        )
        results.append(Result(case, comparisons))
    return results


def _run_both(case: Case, seed: int, runner: Runner, root: Path) -> tuple[dict[str, float], dict[str, float]]:
    report = runner(root / case.program, case.sets, seed, case.options)
    return case.model(seed), {figure.name: read_figure(report, figure.path) for figure in case.figures}
