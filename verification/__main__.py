"""Run the verification: `python -m verification --seeds 20 --jobs 2`."""

import argparse
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from verification.cases import all_cases, claims
from verification.compare import Result, command_runner, run_cases
from verification.page import verdict, write_evidence
from verification.published import NOTES, page_text, replica_lines, replica_ratios, run_settings, settings
from verification.published import verdict as published_verdict

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases, write the page, and return 1 when a required comparison failed."""
    parser = argparse.ArgumentParser(prog="python -m verification", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="replications on either side (default 20)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (default 2)")
    parser.add_argument("--only", action="append", default=[], help="cases whose name starts so (repeatable)")
    parser.add_argument("--out", type=Path, default=ROOT / "verification" / "evidence", help="folder of the page")
    parser.add_argument("--tool", help="command that runs programs (default: this Python's `-m serq`)")
    options = parser.parse_args(arguments)
    tool = shlex.split(options.tool) if options.tool else [sys.executable, "-m", "serq"]
    if options.seeds < 2:
        parser.error("an interval needs two seeds at least")
    wanted = tuple(options.only)
    cases = [case for case in all_cases() if not wanted or case.name.startswith(wanted)]
    with_published = not wanted or "published".startswith(wanted)
    if not cases and not with_published:
        parser.error("no case has such a name")
    for case in cases:
        if not (ROOT / case.program).exists():
            parser.error(f"{case.program} is not there")

    seeds = range(1, options.seeds + 1)
    results: list[Result] = []
    for case in cases:
        started_at = time.perf_counter()
        [result] = run_cases([case], seeds, command_runner(ROOT, tool), ROOT, options.jobs)
        results.append(result)
        print(f"{case.name:24} {time.perf_counter() - started_at:6.1f} s  {verdict(result)}", flush=True)
    provenance = [
        version_line(tool),
        "`"
        + " ".join([f"python -m verification --seeds {options.seeds}", *(f"--only {n}" for n in options.only)])
        + "`",
        f"seeds 1–{options.seeds}",
    ]
    if with_published:
        write_published(results, seeds, tool, options.jobs, options.out, provenance)
    promises = claims(results)
    if cases:
        sides = "on either side; the two sides use different random generators"
        write_evidence(results, options.out, [*provenance[:-1], f"{provenance[-1]} {sides}"], promises)
    for text, holds in promises:
        print(f"{text}: {'holds' if holds else 'does not hold'}")
    agree = all(result.agrees for result in results if result.case.required)
    return 0 if agree and all(holds for _, holds in promises) else 1


def write_published(
    results: Sequence[Result],
    seeds: Sequence[int],
    tool: Sequence[str],
    jobs: int,
    out: Path,
    provenance: Sequence[str],
) -> None:
    """Run what has published figures, and write `published.md`; a figure outside is reported, it fails nothing."""
    lines = run_settings(settings(), seeds, command_runner(ROOT, tool), ROOT, jobs)
    lines += replica_lines(results)
    for line in lines:
        print(f"{line.setting:34} {line.published.figure:16} {published_verdict(line)}", flush=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "published.md").write_text(page_text(lines, replica_ratios(results), provenance, NOTES), encoding="utf-8")


def version_line(tool: Sequence[str]) -> str:
    """Return what the tool says about itself."""
    done = subprocess.run([*tool, "--version"], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip().splitlines()[0]


if __name__ == "__main__":
    sys.exit(main())
