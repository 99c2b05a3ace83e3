"""Numbers from repeated runs, and claims about two of them that come from the same runs.

What counts is how sure the margin m of a claim is, by which it holds (m ≥ 0) or fails: with the same worlds and draws
behind both numbers they rise and fall together, and m varies far less than either. By the jackknife over runs

    se(m) = √( (n − 1)/n · Σ_i (m₋ᵢ − m̄)² ),      m₋ᵢ from both numbers without run i, m̄ their mean

For means and a rule that compares them this is the paired standard error of the difference, sd(d_i)/√n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from unskew_papers.arrays import Floats
from unskew_papers.record import Record, Rule, judged


@dataclass(frozen=True, eq=False)
class Repeated:
    """A number.

    Args:
        value: from all runs.
        without: what it would be without each of them; empty where there is but one run.
    """

    value: float
    without: Floats

    @classmethod
    def mean(cls, values: npt.ArrayLike) -> Self:
        """The mean of one number per run."""
        each = np.asarray(values, dtype=np.float64)
        without = (each.sum() - each) / (len(each) - 1) if len(each) > 1 else np.empty(0)
        return cls(float(each.mean()), without)

    @property
    def runs(self) -> int:
        """From how many runs it is."""
        return max(1, len(self.without))

    @property
    def se(self) -> float:
        """Its standard error; NaN with one run."""
        return jackknife(self.without)


def jackknife(without: Floats) -> float:
    """The standard error of a number, from what it would be without each run; NaN with fewer than two."""
    runs = len(without)
    return float(np.sqrt((runs - 1) / runs * np.square(without - without.mean()).sum())) if runs > 1 else math.nan


def shown(experiment: str, row: str, column: str, ours: Repeated) -> Record:
    """A number that nothing is claimed of."""
    return judged(experiment, row, column, ours.value, se=ours.se, runs=ours.runs)


def averaged(experiment: str, row: str, column: str, values: Floats, **how: Any) -> Record:
    """The mean of one number per run, with its standard error where there are two; ``how`` it is judged."""
    se = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return judged(experiment, row, column, float(values.mean()), se=se, runs=len(values), **how)


def claim(experiment: str, row: str, column: str, ours: Repeated, rule: Rule, name: str, reference: Repeated) -> Record:
    """A claim about ``ours`` and another number, called ``name``, from the same runs."""
    margins = [rule.margin(*both, 0.0) for both in zip(ours.without, reference.without, strict=True)]
    se, than = jackknife(np.array(margins)), (name, reference.value)
    return judged(experiment, row, column, ours.value, runs=ours.runs, rule=rule, reference=than, paired_se=se)
