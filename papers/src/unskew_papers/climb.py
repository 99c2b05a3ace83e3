"""A setting that is tried upwards until the best lies inside what was tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Tried = list[tuple[int, float]]  # numbers, and their scores


def climb(score: Callable[[int], float], steps: Sequence[int], patience: int) -> Tried:
    """The score of one number after the other, until ``patience`` in a row are no better than the best before them."""
    found: Tried = []
    for number in steps:
        found.append((number, score(number)))
        if best(found) not in [number for number, _ in found[-patience:]]:
            break
    return found


def best(tried: Tried) -> int:
    """The number with the best score, the first of equals."""
    return max(tried, key=lambda each: each[1])[0]
