"""SplitMix64 on Python integers, with which hashes of kernels are compared."""

from __future__ import annotations

WORD = 2**64


def mix(x: int) -> int:
    """Add the odd constant, then the finaliser."""
    return finish((x + 0x9E3779B97F4A7C15) % WORD)


def finish(x: int) -> int:
    """The finaliser alone."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)
