"""A header with an aggregate over thousands of members, which is as deep as it is long once it is written out."""

from __future__ import annotations

import pytest

import serq

PROGRAM = """
stage s[4000] : delay;
pool p {{ cap 9000; }}
workload {{ arrive batch(2); }}
session {{ set x = 1; hold p ({units}) {{ observe held = used(p); run s[0] (1); }} end; }}
run {{ horizon 10; }}
"""


@pytest.mark.parametrize(
    ("units", "each"),
    [
        ("sum j in 4000 (x)", 4000.0),  # the same at every try
        ("min(5, x + sum j in 4000 (queue(s[j])))", 1.0),  # read at every try
    ],
)
def test_a_deep_header_is_read(units: str, each: float) -> None:
    """Both are admitted before either's body runs."""
    finished = serq.loads(PROGRAM.format(units=units)).simulate()
    assert finished.samples("held").values == [2 * each, 2 * each]
