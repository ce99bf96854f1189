"""Read a `serq run` that has nothing to explain, without click.

click takes 20 ms to load and to set up, as long as 200 000 events of a small program. A command line whose every option
is written in full, once, with a value of its form is read here; any other (a request for help, a mistake) is left to
click, which reads it anew and knows what to say.

Invariant: a line that is read here means the same to click (`tests/unit/cli/test_quick.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from serq.cli.simulate import Request
from serq.cli.values import SEED_MAX, assignment, seconds

FORMS = ("text", "concise", "json")


def read_run(arguments: Sequence[str]) -> Request | None:
    """Give what a command line asks for, or None when click has to look at it."""
    if not arguments or arguments[0] != "run":
        return None
    files: list[str] = []
    given: dict[str, Any] = {}
    rest = iter(arguments[1:])
    for word in rest:
        if word in FLAGS:
            given[FLAGS[word]] = True
        elif word == "-" or not word.startswith("-"):
            files.append(word)
        else:
            name, equals, value = word.partition("=")
            value = value if equals else next(rest, "")
            if name not in OPTIONS or not value or value.startswith("-"):
                return None
            field, read = OPTIONS[name]
            try:
                read_value = read(value)
            except ValueError:
                return None
            if field in MAPPINGS:
                given.setdefault(field, {})[read_value[0]] = read_value[1]
            elif field in given:
                return None
            else:
                given[field] = read_value
    return Request(files[0], **given) if len(files) == 1 and files[0] else None


def _whole(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text)
        if not least <= number <= SEED_MAX:
            raise ValueError(text)
        return number

    return read


def _form(text: str) -> str:
    if text not in FORMS:
        raise ValueError(text)
    return text


FLAGS = {"--json": "as_json", "--plain": "plain", "--strict": "strict"}
MAPPINGS = ("sets", "definitions")
OPTIONS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--set": ("sets", assignment),
    "--def": ("definitions", assignment),
    "--format": ("form", _form),
    "--seed": ("seed", _whole(0)),
    "--horizon": ("horizon", lambda text: seconds(text, positive=True)),
    "--warmup": ("warmup", lambda text: seconds(text, positive=False)),
    "--arrivals": ("arrivals", _whole(1)),
    "--trace": ("trace", str),
    "--dump": ("dump", str),
}
