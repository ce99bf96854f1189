"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# every run of the suite holds the state of the engine against its invariants after every event
os.environ.setdefault("SERQ_CHECK", "1")


# how long an example takes says more about the machine than about serQ; where the machine must not matter at all (CI),
# the examples are the same each time
settings.register_profile("serq", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("serq")

# processes that a test starts elsewhere find the same serq
if "PYTHONPATH" in os.environ:
    os.environ["PYTHONPATH"] = os.pathsep.join(
        str(Path(part).resolve()) for part in os.environ["PYTHONPATH"].split(os.pathsep) if part
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="record expected outputs anew")


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the repository."""
    return ROOT


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a text with a recorded one, or records it under `--update-golden`."""
    return Golden(bool(request.config.getoption("--update-golden")))


class Golden:
    """Recorded texts. A golden never stands alone: the test that uses one says besides why the text is right."""

    def __init__(self, update: bool) -> None:
        self.update = update

    def check(self, path: Path, text: str) -> None:
        """Hold a text against the recorded one."""
        if self.update:
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is not recorded; `make golden` does it"
        assert text == path.read_text(encoding="utf-8")
