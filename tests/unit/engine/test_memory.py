"""What a run keeps: a session that has left, its cached prefix evicted, is gone without the garbage collector."""

from __future__ import annotations

import gc

import serq
from serq.engine.assemble import assemble
from serq.engine.session import Session

PROGRAM = """
pool kv { cap 320; block 16; evict lru; }
stage gpu : fifo;
workload { arrive poisson(0.8); }
session { hold kv (32) { run gpu (1); } cache (32); end; }
run { horizon 4000; }
"""


def test_sessions_that_left_are_freed() -> None:
    """Ten prefixes fit; thousands of sessions came, and each left one."""
    program = serq.loads(PROGRAM)
    gc.collect()
    gc.disable()
    try:
        simulation = assemble(
            program.linked, records_samples=False, records_iterations=False, checks=False, plain=False, sink=None
        )
        result = simulation.run()
        alive = sum(isinstance(thing, Session) for thing in gc.get_objects())
    finally:
        gc.enable()
    assert result.arrivals > 3000 and result.pools[0].evicted_entries > 3000
    assert alive < 100
