"""Flows against a small simulation of their own: rates by `serq.theory`, advanced from change to change."""

from __future__ import annotations

from math import inf, isclose, nextafter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.theory import bottleneck_rates, maxmin_rates
from unit.engine.running import samples, seen, simulate

STAGES = ("a", "b", "c", "d")

FLOWS = st.lists(
    st.tuples(
        st.integers(0, 6),  # starts at
        st.integers(1, 9),  # work
        st.sets(st.integers(0, 3), min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=6,
)
CAPACITIES = st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0]), min_size=4, max_size=4)


def finishes(flows: list[tuple[int, int, set[int]]], capacities: list[float], is_maxmin: bool) -> list[float]:
    """When each flow ends, by the rates of the theory."""
    rates_of = maxmin_rates if is_maxmin else bottleneck_rates
    left = [float(work) for _, work, _ in flows]
    done = [0.0] * len(flows)
    now = 0.0
    while any(work > 0.0 for work in left):
        present = [f for f, (start, _, _) in enumerate(flows) if left[f] > 0.0 and start <= now]
        rates = dict(zip(present, rates_of(capacities, [sorted(flows[f][2]) for f in present]), strict=True))
        arrival = min((float(start) for start, _, _ in flows if start > now), default=inf)
        step = min([left[f] / rates[f] for f in present] + [arrival - now])
        for f in present:
            left[f] -= rates[f] * step
            if left[f] <= 1e-12 * flows[f][1]:
                left[f], done[f] = 0.0, now + step
        now = arrival if arrival - now <= step else now + step
    return done


def program(flows: list[tuple[int, int, set[int]]], capacities: list[float], policy: str) -> str:
    lines = [f"stage {name} : ps({capacity});" for name, capacity in zip(STAGES, capacities, strict=True)]
    lines += ["stage z : delay;", f"share {policy};", f"workload {{ arrive batch({len(flows) + 1}); }}", "session {"]
    for number, (start, work, stages) in enumerate(flows):
        names = ", ".join(STAGES[stage] for stage in sorted(stages))
        lines.append(f"branch (serial == {number}) {{ run z ({start}); run {names} ({work}); observe a = now; }}")
    # every stage is one of a flow, so a run over one alone is a flow too
    lines.append(f"branch (serial == {len(flows)}) {{ run z (9999); run a, b, c, d (1); }}")
    return "\n".join(lines) + "}\nrun { horizon 900; }"


@settings(max_examples=60)
@given(FLOWS, CAPACITIES, st.booleans())
def test_flows_end_when_the_rates_say(
    flows: list[tuple[int, int, set[int]]], capacities: list[float], is_maxmin: bool
) -> None:
    finished = simulate(program(flows, capacities, "maxmin" if is_maxmin else "bottleneck"))
    found = {session: value for _, session, value in samples(finished, "a")}
    expected = finishes(flows, capacities, is_maxmin)
    assert len(found) == len(flows)
    for number, time in enumerate(expected):
        assert isclose(found[number], time, rel_tol=1e-9), (number, found[number], time)
    # a stage carried the work of its flows: utilisation is carried work over capacity and time
    for place, name in enumerate(STAGES):
        carried = sum(work for _, work, stages in flows if place in stages)
        assert isclose(finished.report.stage(name).utilization, carried / capacities[place] / 900.0, rel_tol=1e-9)
        assert finished.report.stage(name).completed == sum(place in stages for _, _, stages in flows)


@pytest.mark.parametrize(("policy", "third"), [("maxmin", 2 / 3), ("bottleneck", 1.0)])
def test_the_example_of_the_notes(policy: str, third: float) -> None:
    """A of capacity 1 carries f1 and f2, B of capacity 2 carries f1 and f3; unit work."""
    text = f"""
    stage A : ps(1); stage B : ps(2); share {policy};
    workload {{ arrive batch(3); }}
    session {{
      branch (serial == 0) {{ run A, B (1); }} else {{ branch (serial == 1) {{ run A (1); }} else {{ run B (1); }} }}
      observe a = now;
    }}
    """
    ends = {session: value for _, session, value in seen(text)}
    assert isclose(ends[2], third, rel_tol=1e-12)
    # with maxmin f1 and f2 share A all along; with bottleneck too
    assert isclose(ends[0], 2.0, rel_tol=1e-12) and isclose(ends[1], 2.0, rel_tol=1e-12)
    assert ends[2] < nextafter(ends[0], 0.0)
