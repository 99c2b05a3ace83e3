"""Numbers that several runs give together, each also without every one of the runs (``repeated.py``).

off(s, m)        100 · (mean over runs of V_s,m / mean over runs of T_m − 1)        V on a test set, T the truth
mean |off|(s)    its absolute value, averaged over recommenders m
τ                Kendall's: (pairs of recommenders in the same order − pairs in the opposite one) / all pairs
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unskew_papers.arrays import Floats
from unskew_papers.repeated import Repeated


def over_runs(number: Callable[..., float], *arrays: Floats) -> Repeated:
    """``number`` of arrays whose first axis is runs, of all of them and without each."""
    runs = len(arrays[0])
    left = [number(*(np.delete(array, run, axis=0) for array in arrays)) for run in range(runs)] if runs > 1 else []
    return Repeated(float(number(*arrays)), np.array(left, dtype=np.float64))


def off(values: Floats, truth: Floats) -> Floats:
    """In percent, from [run, model] each."""
    return np.asarray(100.0 * (values.mean(axis=0) / truth.mean(axis=0) - 1.0))


def mean_off(values: Floats, truth: Floats) -> float:
    """The mean of the absolute percentages."""
    return float(np.abs(off(values, truth)).mean())


def tau(values: Floats, truth: Floats) -> float:
    """Of means over runs."""
    return agreement(values.mean(axis=0), truth.mean(axis=0))


def agreement(one: Floats, other: Floats) -> float:
    """Kendall's τ of two rows of values; a tie counts as neither."""
    a, b = np.triu_indices(len(one), 1)
    return float(np.mean(np.sign(one[a] - one[b]) * np.sign(other[a] - other[b])))
