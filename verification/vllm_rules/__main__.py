"""``python -m verification.vllm_rules [FOLDER …] [--record]``: which rules of docs/vllm.md to read again for a release.

A folder holds the package ``vllm``: an environment's site-packages, or an unpacked wheel.  Without one, the installed
vLLM is looked for.  Exit 0: every rule's source is that of the newest recorded release (or, for a recorded release, its
own); 1: some rules need to be read again; 2: the folder or the page is not as it needs to be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from verification.vllm_rules.sources import (
    Rule,
    SourceError,
    Table,
    hashes_of,
    read_release,
    read_rules,
    read_table,
    release_of,
    to_read_again,
    version_key,
    write_table,
)

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "vllm.md"
TABLE = HERE / "hashes.json"


def main(arguments: Sequence[str] | None = None, page: Path = PAGE, table_file: Path = TABLE) -> int:
    """Do what the command line asks for; the page and the table are the project's unless a test says otherwise."""
    parser = argparse.ArgumentParser(
        prog="python -m verification.vllm_rules",
        description="Which rules of docs/vllm.md to read again for a release of vLLM.",
    )
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="holds the package vllm")
    parser.add_argument("--record", action="store_true", help="record the hashes of these releases as read")
    options = parser.parse_args(arguments)
    try:
        rules = read_rules(page)
        table = read_table(table_file)
        clean = True
        releases = {release_of(folder): folder for folder in options.folders or [installed()]}
        if options.record:
            table |= {release: hashes_of(folder, rules) for release, folder in releases.items()}
            write_table(table_file, table)
        for release, folder in releases.items():
            clean &= report(folder, release, rules, table)
    except SourceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0 if clean else 1


def installed() -> Path:
    """Find the installed vLLM without importing it."""
    found = find_spec("vllm")
    if found is None or not found.submodule_search_locations:
        raise SourceError("no vLLM is installed here; name a folder that holds the package `vllm`")
    return Path(found.submodule_search_locations[0]).parent


def report(folder: Path, release: str, rules: Sequence[Rule], table: Table) -> bool:
    """Print what a release says differently; tell whether it says nothing differently."""
    if not table:
        raise SourceError("no release is recorded yet; `--record` records one")
    against = release if release in table else max(table, key=version_key)
    again = to_read_again(rules, read_release(folder, rules, table), against)
    what = "as recorded" if against == release else f"against {against}"
    print(f"vLLM {release} ({what}): {len(rules)} rules, {len(again)} to read again")
    for name, changed in again.items():
        print(f"  {name}")
        for reading in changed:
            if reading.digest is None:
                state = "gone"
            elif reading.equal:
                state = f"as in {', '.join(reading.equal)}"
            else:
                state = f"new: {reading.digest}"
            print(f"    {reading.citation}  {state}")
    return not again


if __name__ == "__main__":
    sys.exit(main())
