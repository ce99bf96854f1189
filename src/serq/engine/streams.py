"""Random numbers: xoshiro128++ streams, one per purpose and, where it matters, per session and turn.

Input: a seed, a purpose, a session, a turn. Output: uniforms in [0, 1) on 53 bits.
Invariants: every word stays within 32 bits, so compiled and uncompiled runs draw the same numbers; a stream depends on
its four keys alone, so that an added draw in one place never shifts the draws of another (common random numbers).

References: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators" (2021), xoshiro128++;
the mixer is the 32-bit finaliser of MurmurHash3 (A. Appleby), stepped by the golden-ratio increment.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

# Purposes: the first key of a stream after the seed.
ARRIVALS: Final = 1
WORKLOAD: Final = 2
SESSION: Final = 3
EVICTION: Final = 4
TRACE_CHOICE: Final = 5
STAGE: Final = 6

UNIT: Final = 1.1102230246251565e-16  # 2**-53: multiplying by it rounds nothing


def mix32(word: i64) -> i64:
    """Scramble one 32-bit word (a bijection). Products are cut to 32 bits, so it matters not how wide they were."""
    word = word ^ (word >> 16)
    word = (word * 0x85EBCA6B) & 0xFFFFFFFF
    word = word ^ (word >> 13)
    word = (word * 0xC2B2AE35) & 0xFFFFFFFF
    return word ^ (word >> 16)


def absorb(state: i64, word: i64) -> i64:
    """Fold one 32-bit key into a 32-bit state."""
    return mix32((state * 5 + 0x9E3779B9 + (word & 0xFFFFFFFF)) & 0xFFFFFFFF)


def purpose_state(seed: i64, purpose: i64) -> i64:
    """Give the state that all streams of a purpose begin from (seed below 2**63, absorbed as two words)."""
    state: i64 = absorb(0x243F6A88, seed & 0xFFFFFFFF)
    state = absorb(state, (seed >> 32) & 0xFFFFFFFF)
    return absorb(state, purpose)


def turn_state(state: i64, session: i64, turn: i64) -> i64:
    """Give the state of one session's (and turn's) stream from its purpose's."""
    return absorb(absorb(state, session), turn)


class Stream:
    """One stream of uniforms, from a 32-bit state that its keys were absorbed into."""

    def __init__(self, state: i64) -> None:
        self.a: i64 = 0
        self.b: i64 = 0
        self.c: i64 = 0
        self.d: i64 = 0
        self.begin(state)

    def begin(self, state: i64) -> None:
        """Start the stream of a state from its beginning."""
        a: i64 = mix32((state + 0x9E3779B9) & 0xFFFFFFFF)
        b: i64 = mix32((state + 0x3C6EF372) & 0xFFFFFFFF)
        c: i64 = mix32((state + 0xDAA66D2B) & 0xFFFFFFFF)
        d: i64 = mix32((state + 0x78DDE6E4) & 0xFFFFFFFF)
        if (a | b | c | d) == 0:  # the one state xoshiro cannot leave
            a = 1
        self.a = a
        self.b = b
        self.c = c
        self.d = d

    def next32(self) -> i64:
        """Give the next 32 bits."""
        a: i64 = self.a
        b: i64 = self.b
        c: i64 = self.c
        d: i64 = self.d
        total: i64 = (a + d) & 0xFFFFFFFF
        result: i64 = ((((total << 7) & 0xFFFFFFFF) | (total >> 25)) + a) & 0xFFFFFFFF
        shifted: i64 = (b << 9) & 0xFFFFFFFF
        c = c ^ a
        d = d ^ b
        b = b ^ c
        a = a ^ d
        c = c ^ shifted
        d = ((d << 11) & 0xFFFFFFFF) | (d >> 21)
        self.a = a
        self.b = b
        self.c = c
        self.d = d
        return result

    def uniform(self) -> float:
        """Give the next uniform in [0, 1): 27 high bits of one word, 26 of the next."""
        high: i64 = self.next32() >> 5
        low: i64 = self.next32() >> 6
        return float((high << 26) | low) * UNIT
