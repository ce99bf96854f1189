"""serQ against vLLM's own scheduler: `python -m verification.vllm COMMAND`.

recorded   every recorded answer and replay; needs no vLLM
setup      make the environment with vLLM's sources: every release from 0.30.0 on that pip finds
live       the recorded scenarios, the replays and a sample of random scenarios on a live release, or on all of them
fuzz       scenarios at random on a live release; what differs is shrunk and kept for the test suite
record     a scenario, with what live releases give for it, for the test suite
diverge    the first step at which a scenario's two sides differ, and the statement that decided
speed      the time of the 3 321-request replay on either side

The environment is the folder that SERQ_ORACLE names, or .oracle at the top of the repository. Exit 0: no difference.
Exit 1: a difference, or what was asked for cannot be done.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from serq import ProgramError
from verification.vllm import checks, recordings
from verification.vllm import scenario as scenarios
from verification.vllm.answer import Answer
from verification.vllm.diverge import find, render
from verification.vllm.environment import EnvironmentProblem, default_environment, set_up
from verification.vllm.fuzz import fuzz
from verification.vllm.live import DriverProblem, LiveScheduler
from verification.vllm.releases import rules_of
from verification.vllm.replay import REPLAYS
from verification.vllm.scenario import Scenario

FUZZ_SAMPLE = 100
NEWEST = "newest"
ALL = "all"


def say(text: str) -> None:
    """Tell the person who runs the command."""
    print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; give its exit code."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except (EnvironmentProblem, DriverProblem, ProgramError, msgspec.MsgspecError, OSError, LookupError) as problem:
        print(f"verification.vllm: {problem}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m verification.vllm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    commands.add_parser("recorded", help="every recorded answer and replay").set_defaults(command=_recorded)

    setup = commands.add_parser("setup", help="make the environment")
    setup.add_argument("--release", action="append", default=[], help="only this one (repeatable)")
    setup.set_defaults(command=_setup)

    live = commands.add_parser("live", help="everything on a live release")
    live.add_argument("--release", default=ALL, help="a release, `newest`, or `all` (default)")
    live.add_argument("--fuzz", type=int, default=FUZZ_SAMPLE, help=f"random scenarios (default {FUZZ_SAMPLE})")
    live.set_defaults(command=_live)

    random = commands.add_parser("fuzz", help="scenarios at random")
    random.add_argument("--n", type=int, default=2000, help="how many (default 2000)")
    random.add_argument("--seed", type=int, help="of the first (default: from the clock)")
    random.add_argument("--release", default=NEWEST, help="a release, `newest` (default), or `all`")
    random.set_defaults(command=_fuzz)

    record = commands.add_parser("record", help="keep a scenario and its answers")
    record.add_argument("scenario", help="a file with one scenario, or the name of a recorded one")
    record.add_argument("--name", required=True, help="under which it is kept")
    record.add_argument("--note", default="", help="what it shows")
    record.add_argument("--release", default=ALL, help="a release, `newest`, or `all` (default)")
    record.set_defaults(command=_record)

    diverge = commands.add_parser("diverge", help="the first difference")
    diverge.add_argument("scenario", help="a file with one scenario, or the name of a recorded one")
    diverge.add_argument("--against", default="recorded", help="`recorded` (default) or `live`")
    diverge.add_argument("--release", help="the release (default: the first that is recorded, or the newest)")
    diverge.add_argument("--program", type=Path, help="a program in place of the harness's own")
    diverge.set_defaults(command=_diverge)

    speed = commands.add_parser("speed", help="the time of a replay on either side")
    speed.add_argument("--release", default=NEWEST, help="a release or `newest` (default)")
    speed.add_argument("--rounds", type=int, default=5, help="of which the medians are given (default 5)")
    names = [replay.name for replay in REPLAYS]
    speed.add_argument("--replay", choices=names, default="base_3.5", help="(default base_3.5)")
    speed.set_defaults(command=_speed)
    return parser


def _releases(wanted: str) -> list[str]:
    """Give the releases a word names."""
    there = default_environment().releases()
    if wanted not in (ALL, NEWEST):
        return [wanted]
    if not there:
        raise EnvironmentProblem(f"no release in {default_environment().folder}: `make oracle-setup` unpacks them")
    return there if wanted == ALL else there[-1:]


def _recorded(options: argparse.Namespace) -> int:
    scenarios_checked = checks.check_recorded(r for path in recordings.files() for r in recordings.read(path))
    say(f"scenarios: {scenarios_checked.text()}")
    replays = checks.check_recorded_replays("0.30.0")
    say(f"replays of 0.30.0: {replays.text()}")
    return int(bool(scenarios_checked.failures or replays.failures))


def _setup(options: argparse.Namespace) -> int:
    environment = default_environment()
    wanted = set_up(environment, options.release, say)
    say(f"{environment.folder}: vLLM {', '.join(wanted)}")
    return 0


def _live(options: argparse.Namespace) -> int:
    failed = False
    for release in _releases(options.release):
        with LiveScheduler(default_environment(), release) as live:
            of_serq, of_recording = checks.check_live(live)
            say(f"vLLM {release}, recorded scenarios: {of_serq.text()}")
            say(f"vLLM {release}, against its own recording: {of_recording.text()}")
            replays = checks.check_live_replays(live)
            say(f"vLLM {release}, replays: {replays.text()}")
            tally = fuzz(live, options.fuzz, _seed_of_the_clock(), say)
            say(f"vLLM {release}, random scenarios: {tally.text()}")
        failed |= bool(of_serq.failures or of_recording.failures or replays.failures or tally.found)
    return int(failed)


def _fuzz(options: argparse.Namespace) -> int:
    seed = _seed_of_the_clock() if options.seed is None else options.seed
    failed = False
    for release in _releases(options.release):
        say(f"vLLM {release}, seeds {seed} to {seed + options.n - 1}")
        with LiveScheduler(default_environment(), release) as live:
            tally = fuzz(live, options.n, seed, say)
        say(tally.text())
        failed |= bool(tally.found)
    return int(failed)


def _seed_of_the_clock() -> int:
    return int(time.time()) * 10_000


def _record(options: argparse.Namespace) -> int:
    scenario = _scenario(options.scenario)
    if options.note:
        scenario = replace(scenario, note=options.note)
    given = []
    for release in _releases(options.release):
        with LiveScheduler(default_environment(), release) as live:
            given.append((release, live.answer(scenario)))
    recordings.FOUND.mkdir(exist_ok=True)
    path = recordings.FOUND / f"{options.name}.json"
    path.write_bytes(recordings.document(options.name, scenario, given))
    say(f"{path}: {', '.join(release for release, _ in given)}")
    return 0


def _scenario(name: str) -> Scenario:
    """Give the scenario of a recording's name, or of a file."""
    known = _recordings_of(name)
    return known[0].scenario if known else scenarios.decode(Path(name).read_bytes())


def _diverge(options: argparse.Namespace) -> int:
    scenario, release, theirs = _side(options)
    divergence = find(scenario, release, theirs, options.program)
    label = f"{Path(options.scenario).stem} ({release})"
    if divergence is None:
        say(f"{label}: no difference in {len(theirs.requests)} requests and {theirs.steps} steps")
        return 0
    say(render(divergence, label).rstrip())
    return 1


def _side(options: argparse.Namespace) -> tuple[Scenario, str, Answer]:
    """Give the scenario that is meant, the release, and the scheduler's answer."""
    known = _recordings_of(options.scenario)
    if options.against == "live":
        release = _releases(options.release or NEWEST)[0]
        scenario = _scenario(options.scenario)
        with LiveScheduler(default_environment(), release) as live:
            return scenario, release, live.answer(scenario)
    if options.against != "recorded":
        raise LookupError(f"`--against {options.against}`: a scenario is held against `recorded` or `live`")
    if not known:
        cure = "; `--against live` asks the scheduler itself" if Path(options.scenario).exists() else ""
        raise LookupError(
            f"no recorded scenario, and no file with recorded answers, is called `{options.scenario}`{cure}"
        )
    release = options.release or known[0].release
    same_rules = [r for r in known if r.release == release] or [
        r for r in known if rules_of(r.release) == rules_of(release)
    ]
    if not same_rules:
        raise LookupError(f"`{options.scenario}` is not recorded for {release}")
    return same_rules[0].scenario, release, same_rules[0].answer


def _recordings_of(name: str) -> list[recordings.Recording]:
    """Give the recordings of a scenario's name, or of a file that is written like a recording."""
    path = Path(name)
    if path.suffix == ".json" and path.exists():
        return list(recordings.read(path)) if b'"scenarios"' in path.read_bytes() else []
    return [r for file in recordings.files() for r in recordings.read(file) if r.name == name]


def _speed(options: argparse.Namespace) -> int:
    release = _releases(options.release)[0]
    given = next(replay for replay in REPLAYS if replay.name == options.replay)
    with LiveScheduler(default_environment(), release) as live:
        say(f"vLLM {release}, medians of {options.rounds} rounds")
        say(checks.measure_speed(live, given, options.rounds).text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
