"""What differs between the releases of vLLM, as far as a scenario can see it.

Input: a release. Output: its rules; two releases with the same rules give the same answers. A release that nobody has
looked at yet has the rules of the newest one that was: running it shows whether that is right.
"""

from __future__ import annotations

from typing import NamedTuple

from verification.vllm.environment import version_of


class Rules(NamedTuple):
    """The rules that have changed since 0.30.0.

    Attributes
    ----------
    caps_lone_request : the long-prefill cap also cuts a request that is alone in the system
    serves_behind_own_victim : under the priority policy, a request that preempted itself does not end the step's
        serving: the running requests behind it are still served
    """

    caps_lone_request: bool
    serves_behind_own_victim: bool


def rules_of(release: str) -> Rules:
    """Give a release's rules."""
    version = version_of(release)
    return Rules(caps_lone_request=version < (0, 31), serves_behind_own_victim=version >= (0, 33))
