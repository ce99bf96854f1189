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



def _times32(a: i64, b: i64) -> i64:
    """Multiply modulo 2**32 without leaving 63 bits (a and b below 2**32)."""
    return ((a * (b & 0xFFFF)) + (((a * (b >> 16)) & 0xFFFF) << 16)) & 0xFFFFFFFF


def _mix32(word: i64) -> i64:
    """Scramble one 32-bit word (a bijection)."""
    word = word ^ (word >> 16)
    word = _times32(word, 0x85EBCA6B)
    word = word ^ (word >> 13)
    word = _times32(word, 0xC2B2AE35)
    return word ^ (word >> 16)


def _absorb(state: i64, word: i64) -> i64:
    """Fold one 32-bit key into the state."""
    return _mix32((_times32(state, 5) + 0x9E3779B9 + (word & 0xFFFFFFFF)) & 0xFFFFFFFF)


class Stream:
    """One stream of uniforms.

    Parameters
    ----------
    seed, purpose, session, turn : integers >= 0 below 2**63; each 64-bit key is absorbed as two words
    """

    def __init__(self, seed: i64, purpose: i64, session: i64, turn: i64) -> None:
        state: i64 = 0x243F6A88
        state = _absorb(state, seed & 0xFFFFFFFF)
        state = _absorb(state, (seed >> 32) & 0xFFFFFFFF)
        state = _absorb(state, purpose)
        state = _absorb(state, session & 0xFFFFFFFF)
        state = _absorb(state, (session >> 32) & 0xFFFFFFFF)
        state = _absorb(state, turn & 0xFFFFFFFF)
        a: i64 = _mix32((state + 0x9E3779B9) & 0xFFFFFFFF)
        b: i64 = _mix32((state + 0x3C6EF372) & 0xFFFFFFFF)
        c: i64 = _mix32((state + 0xDAA66D2B) & 0xFFFFFFFF)
        d: i64 = _mix32((state + 0x78DDE6E4) & 0xFFFFFFFF)
        if (a | b | c | d) == 0:  # the one state xoshiro cannot leave
            a = 1
        self.a: i64 = a
        self.b: i64 = b
        self.c: i64 = c
        self.d: i64 = d

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
        return (float(high) * 67108864.0 + float(low)) / 9007199254740992.0
