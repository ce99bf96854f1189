"""The recorded scenarios in the words of the shipped library: the form a reader would choose for each.

Input: a `Case`. Output: the text of a program that says the same scenario with `serq/vllm.sq`, and what of the recorded
answer such a program shows.

The library does not observe, so a run shows less than the example programs do: of several admissions the last one's
prefix, and no admission's time. Steps, preemptions, and the times of each request's first and last token are all there.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace

from oracle.scenarios import FCFS_PROGRAM, PRIORITY_PROGRAM, Case, Run, differences

_PROGRAM = """\
use "serq/vllm.sq";
let sessions = 1; let budget = 1; let seqs = 1; let bs = 1; let blocks = 1;
let chunk_cap = 0; let c = 1; let d = 0; let e = 0; let a = 0; let b = 0; let c0 = 0;

pool reqs {{ cap seqs; {line} admit via engine; }}
pool kv {{ cap blocks * bs; block bs; evict lru; {unfit} {preempt}; }}
stage engine : step {{
  budget budget;
  chunk {chunk};
  cost c + d * decoders + e * kv_decode + a * prefilled + b * attention;
  memory kv;
}}
stage front : delay;
stage tool : delay;

workload {{ arrive batch(sessions); trace "scenario.csv" ordered; hidden out; init {{ set repeated = 0; }} }}

session {{
  turn;
  loop {{
    branch (out > 0) {{
      set sent = now;
      set prompt = new;
      set priority = think;
      branch (c0 > 0) {{ run front (c0); }}
      {request};
      observe first = first_token;
      observe found = begin;
      observe sent = sent;
      observe done = now;
      set repeated = prompt + {shared};
    }}
    branch (more) {{
      branch (think > 0) {{ run tool (think); }}
      turn;
    }} else {{ end; }}
  }}
}}

run {{ horizon 1e6; seed 1; }}
"""

_RANK = "serial < 10 ? serial : floor(serial / 10), serial < 10 ? -1 : serial - 10 * floor(serial / 10)"


def has_form(case: Case) -> bool:
    """Tell whether a program of the library can say the scenario: the serving order must be vLLM's own."""
    return case.unsupported is None and case.settings.get("order", 0) == 0


def settings_of(case: Case) -> dict[str, float]:
    """Give the settings that the program has names for."""
    in_the_text = ("caching", "lone_free", "shares_output", "order")
    return {name: value for name, value in case.settings.items() if name not in in_the_text}


def request_of(case: Case) -> str:
    """Choose the library's form: the shortest that says the scenario."""
    caching, cap = case.settings["caching"], case.settings["chunk_cap"]
    rows = list(csv.DictReader(case.trace.splitlines()))
    in_part = any(int(row["forced"]) for row in rows) or not case.settings.get("shares_output", 1)
    engine = "reqs, kv, engine, prompt, out"
    if caching and in_part:
        return f"vllm_request_of({engine}, {'chunk_cap' if cap else 'inf'}, forced ? 0 : repeated, 1)"
    if cap:
        return (
            f"vllm_request_capped({engine}, chunk_cap)" if caching else f"vllm_request_of({engine}, chunk_cap, inf, 0)"
        )
    return f"vllm_request({engine})" if caching else f"vllm_request_uncached({engine})"


def text_of(case: Case) -> str:
    """Write the program of a scenario."""
    by_priority = case.program == PRIORITY_PROGRAM
    assert by_priority or case.program == FCFS_PROGRAM
    chunk = "0"
    if case.settings["chunk_cap"]:
        chunk = "vllm_chunk(reqs, chunk_cap)" if case.settings["lone_free"] else "vllm_chunk_0_30(chunk_cap)"
    preempt = "preempt lifo"
    if by_priority:
        preempt = "preempt by (priority, sent)" + (" then continue" if case.serves_on else "")
    return _PROGRAM.format(
        line=f"queue by (priority, sent, {_RANK});" if by_priority else "",
        unfit="unfit wait;" if case.stuck else "",
        preempt=preempt,
        chunk=chunk,
        request=request_of(case),
        shared="out" if case.settings.get("shares_output", 1) else "0",
    )


def visible_differences(case: Case, run: Run) -> Sequence[str]:
    """Give the differences from the recorded answer in what the library shows."""
    requests = tuple(
        replace(
            request,
            found=request.found[-1:] if request.found and request.done is not None else None,
            admitted=None,
            preemptions=None,
            first=request.first if request.done is not None else None,
        )
        for request in case.requests
    )
    return differences(replace(case, requests=requests), run)
