"""Random numbers: the published vectors of xoshiro128++, and that streams with different keys are different."""

from __future__ import annotations

import math

from serq.engine.streams import ARRIVALS, SESSION, WORKLOAD, Stream, absorb, mix32, purpose_state, turn_state

# The first ten numbers from the state (1, 2, 3, 4), as the authors' C program and other implementations give them.
VECTOR = (641, 1573767, 3222811527, 3517856514, 836907274, 4247214768, 3867114732, 1355841295, 495546011, 621204420)


def from_one_to_four() -> Stream:
    stream = Stream(0)
    stream.a, stream.b, stream.c, stream.d = 1, 2, 3, 4
    return stream


def test_published_vector() -> None:
    stream = from_one_to_four()
    assert tuple(stream.next32() for _ in VECTOR) == VECTOR


def test_a_uniform_is_53_bits_of_two_words() -> None:
    """27 high bits of one word above 26 of the next, over 2**53."""
    high, low = VECTOR[0] >> 5, VECTOR[1] >> 6
    assert from_one_to_four().uniform() == (high * 2**26 + low) / 2**53


def test_uniforms_lie_in_the_half_open_interval() -> None:
    """Also at the extremes of the words."""
    assert (2**27 - 1) * 2**26 + 2**26 - 1 == 2**53 - 1  # the largest is below 1
    stream = Stream(7)
    assert all(0.0 <= stream.uniform() < 1.0 for _ in range(10_000))


def test_uniforms_fill_their_bins() -> None:
    """Chi-square over 64 bins of 64 000 numbers from 640 streams, 100 of each.

    The statistic has 63 degrees of freedom, mean 63, variance 126; 63 + 6·√126 is passed with a probability below 1e-6.
    Streams side by side (sessions of one seed) are what a run uses, so they are what is tested.
    """
    state = purpose_state(1, SESSION)
    bins = [0] * 64
    for session in range(640):
        stream = Stream(absorb(state, session))
        for _ in range(100):
            bins[int(stream.uniform() * 64)] += 1
    statistic = sum((count - 1000) ** 2 / 1000 for count in bins)
    assert statistic < 63 + 6 * math.sqrt(126)


def test_a_stream_can_begin_again() -> None:
    stream = Stream(99)
    first = [stream.next32() for _ in range(5)]
    stream.begin(99)
    assert [stream.next32() for _ in range(5)] == first


def test_keys_make_different_streams() -> None:
    """Seed, purpose, session and turn each matter; so does their order."""
    states = {
        turn_state(purpose_state(seed, purpose), session, turn)
        for seed in (0, 1, 2, 2**32, 2**32 + 1)
        for purpose in (ARRIVALS, WORKLOAD, SESSION)
        for session in range(20)
        for turn in range(10)
    }
    assert len(states) == 5 * 3 * 20 * 10
    assert turn_state(1, 2, 3) != turn_state(1, 3, 2)


def test_the_mixer_is_a_bijection_on_a_sample() -> None:
    """The finaliser of MurmurHash3: 0 stays 0, nothing collides."""
    assert mix32(0) == 0
    assert len({mix32(word) for word in range(100_000)}) == 100_000


def test_no_stream_starts_where_xoshiro_cannot_leave() -> None:
    """The all-zero state would give zeros for ever."""
    for state in range(1000):
        stream = Stream(state)
        assert any(stream.next32() for _ in range(4))
