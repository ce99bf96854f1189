"""The models themselves, where theory or a hand calculation knows the answer."""

import pytest
from verification.models import finite_source, replica, routing, tandem

from serq import theory


def test_finite_source_is_mean_value_analysis() -> None:
    """Ten seeds of four terminals."""
    parameters = finite_source.Parameters(customers=4, horizon=3_000.0, warmup=300.0)
    runs = [finite_source.run(parameters, seed) for seed in range(10)]
    expected = theory.finite_source(4, 4.0, 1.0)
    assert theory.agrees([figures["sojourn"] for figures in runs], expected.response_mean)
    assert theory.agrees([figures["throughput"] for figures in runs], expected.throughput)


def test_tandem_is_its_bottleneck() -> None:
    """Behind a link of 10 a time unit ten jobs a time unit pass."""
    parameters = tandem.Parameters(bandwidth=10.0, horizon=300.0, warmup=30.0)
    runs = [tandem.run(parameters, seed)["throughput"] for seed in range(5)]
    assert theory.agrees(runs, 10.0)


def test_affinity_never_misses() -> None:
    """At home the context is always there."""
    parameters = routing.Parameters(policy=routing.AFFINITY, horizon=500.0, warmup=50.0)
    assert routing.run(parameters, 1)["hit"] == 1.0


def test_unloaded_response_is_the_service() -> None:
    """With 0.01 sessions/s nobody waits: a mean response between a short follow-up's and a first turn's service."""
    parameters = routing.Parameters(policy=routing.SHORTEST, arrival_rate=0.01, horizon=20_000.0, warmup=0.0)
    assert 0.05 < routing.run(parameters, 1)["response"] < 0.4


def test_keeping_a_place_is_faster() -> None:
    """A turn whose KV travels loses its place unless it keeps it; at 2.7 sessions/s that shows."""
    responses = [
        sum(
            routing.run(
                routing.Parameters(policy=4, arrival_rate=2.7, keeps_place=keeps, horizon=1_000.0, warmup=100.0), seed
            )["response"]
            for seed in range(4)
        )
        for keeps in (True, False)
    ]
    assert responses[0] < responses[1]


def test_fluid_rates_by_hand() -> None:
    """Two decoding turns of 50 000 tokens: an iteration takes 4e-4 s, of which they compute 4e-5."""
    device = replica.Replica()
    session = replica.Session(replica.KINDS[0])
    device.decodes = [(1.0, 1, session), (2.0, 2, session)]
    device.decode_context = 100_000.0
    rate, left = device.rates(replica.Parameters())
    assert rate == pytest.approx(2_500.0, rel=1e-12)
    assert left == pytest.approx(0.9, rel=1e-12)


def test_fluid_without_a_memory_limit() -> None:
    """The reference project's fluid has a ttft of 0.250 s and a response of 0.333 s; five runs are within 10 %."""
    runs = [replica.run(replica.Parameters(memory=1e12), seed) for seed in range(5)]
    assert sum(figures["ttft"] for figures in runs) / 5 == pytest.approx(0.250, rel=0.1)
    assert sum(figures["response"] for figures in runs) / 5 == pytest.approx(0.333, rel=0.1)
    assert all(figures["hit"] == 1.0 for figures in runs)


def test_less_room_means_fewer_hits() -> None:
    """A tenth of the memory loses contexts."""
    roomy, tight = (replica.run(replica.Parameters(memory=memory, live=16), 3)["hit"] for memory in (6e5, 2e5))
    assert tight < roomy


@pytest.mark.parametrize("module", [finite_source, tandem, routing, replica])
def test_same_seed_same_figures(module) -> None:  # type: ignore[no-untyped-def]
    """A model draws from its own generator alone."""
    parameters = module.Parameters(horizon=200.0, warmup=20.0)
    assert module.run(parameters, 5) == module.run(parameters, 5)
    assert module.run(parameters, 5) != module.run(parameters, 6)
