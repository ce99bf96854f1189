"""Run a small program and look at its samples."""

from __future__ import annotations

import serq
from serq.api import Finished


def simulate(text: str, *, seed: int = 1) -> Finished:
    """Run a text with the engine's own checks on, keeping every sample."""
    if "run {" not in text:
        text += "\nrun { horizon 100; }"
    return serq.loads(text).simulate(seed=seed, records_samples=True, checks=True)


def samples(finished: Finished, name: str) -> list[tuple[float, int, float]]:
    """Give (time, session, value) of an observe in the order sampled."""
    for observe in finished.result.observes:
        if observe.name == name:
            return list(zip(observe.times, observe.sessions, observe.values, strict=True))
    raise KeyError(name)


def seen(text: str, name: str = "a") -> list[tuple[float, int, float]]:
    """Run a text and give one observe's samples."""
    return samples(simulate(text), name)


def moments(text: str, name: str = "a") -> list[tuple[float, int]]:
    """The same, without the values: who came by, when."""
    return [(time, session) for time, session, _ in seen(text, name)]
