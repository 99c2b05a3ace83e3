"""Scores: how well the answers of one draw recover its truth.

With θ̂_m and θ_m the estimate and the truth of model m,

    tau, spearman      Kendall's τ-b and Spearman's ρ between θ̂ and θ over models
    rmse               √(mean over models of ((θ̂ − θ)/θ)²), models without any true worth left out
    regret             1 − θ of the model that θ̂ puts first / the largest θ (of several first ones their mean)
    coverage           the share of models whose interval holds θ; ``widened``, the interval widened by 1.96 standard
                       errors of θ (root of squares), which a right interval holds 95 % of the time, if errors are
                       independent
    right, wrong,      shares of truly different pairs of models. Truly different: |z| of the truth beyond 1.96, or any
    depends, undecided difference where the truth is complete. Of equal pairs one in twenty is taken for different by
                       chance, so that a right method is called wrong now and then.
    alone_right,       the same with each pair by itself, |z| beyond 1.96 and no checks: what most papers do
    alone_wrong
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import kendalltau, spearmanr

from unskew_papers.arrays import Floats

CRITICAL = 1.96
MEASURES = (
    "tau", "spearman", "rmse", "regret", "coverage", "widened", "right", "wrong", "depends", "undecided",
    "alone_right", "alone_wrong",
)  # fmt: skip
OUTCOMES = ("right", "wrong", "depends", "undecided")
HIGHER = ("tau", "spearman", "coverage", "widened", "right", "alone_right")  # measures of which more is better

BOUNDS = {"tau": (-1.0, 1.0), "spearman": (-1.0, 1.0), "rmse": (0.0, math.inf)}  # of measures; all others are shares


def scores(
    answer: Mapping[str, Any], cell: int, truth: Mapping[str, Any], true_cell: int, *, lower: bool = False
) -> dict[str, float]:
    """All measures of one cell; NaN where there is nothing to measure them by.

    Args:
        lower: whether low values are good, which matters to who comes first.
    """
    value, true, error = answer["value"][cell], truth["value"][true_cell], truth["se"][true_cell]
    both = np.isfinite(value) & np.isfinite(true)
    found = dict.fromkeys(MEASURES, math.nan)
    if np.count_nonzero(both) < 2:
        return found
    found["tau"] = float(kendalltau(value[both], true[both]).statistic)
    found["spearman"] = _spearman(value[both], true[both])
    some = both & (true > 0.0)
    found["rmse"] = float(np.sqrt(np.square(value[some] / true[some] - 1.0).mean())) if some.any() else math.nan
    found["regret"] = _regret(value[both], true[both], lower)
    low, high = answer["low"][cell], answer["high"][cell]
    if (known := both & np.isfinite(low) & ~np.isnan(high)).any():
        found["coverage"] = float(((low <= true) & (true <= high))[known].mean())
        below, above = widened(value, low, high, np.nan_to_num(error))
        found["widened"] = float(((below <= true) & (true <= above))[known].mean())
    if "word" in answer:
        found |= _verdicts(answer["word"][cell], answer["z"][cell], truth["z"][true_cell])
    return found


def widened(value: Floats, low: Floats, high: Floats, error: Floats) -> tuple[Floats, Floats]:
    """The ends of intervals, widened by 1.96 standard errors of what they are held against (root of squares)."""
    spread = CRITICAL * error
    return value - np.hypot(value - low, spread), value + np.hypot(high - value, spread)


def truly_different(z: Floats) -> Any:
    """Which pairs of models the truth tells apart."""
    return np.abs(z) > CRITICAL


def _regret(value: Floats, true: Floats, lower: bool) -> float:
    """How much of the best worth is lost by the model that is put first."""
    first = value == (value.min() if lower else value.max())
    best = float(true.min() if lower else true.max())
    return float(abs(1.0 - true[first].mean() / best)) if best > 0.0 else math.nan


def _spearman(value: Floats, true: Floats) -> float:
    if np.ptp(value) == 0.0 or np.ptp(true) == 0.0:
        return math.nan
    return float(spearmanr(value, true).statistic)


def _verdicts(word: Any, z: Floats, true: Floats) -> dict[str, float]:
    apart = truly_different(true)
    if not apart.any():
        return {}
    true, z = true[apart], z[apart]
    found = dict(zip(OUTCOMES, _shares(np.asarray(word)[apart], true), strict=True))
    if np.isfinite(z).all():
        right, wrong, *_ = _shares(alone(z), true)
        found |= {"alone_right": right, "alone_wrong": wrong}
    return found


def alone(z: Floats) -> Floats:
    """What is said of each pair by itself: the sign of z beyond 1.96, else 0."""
    return np.where(np.abs(z) > CRITICAL, np.sign(z), 0.0)


def outcomes(word: Any, true: Floats) -> Floats:
    """How many pairs are right, wrong, dependent and undecided.

    Args:
        word: what is said of each pair: 1 or −1, 2 where it depends, 0 where nothing is decided.
        true: z of the truth.
    """
    sign = np.sign(true)
    return np.array([np.count_nonzero(each) for each in (word == sign, word == -sign, word == 2, word == 0)], float)


def _shares(word: Any, true: Floats) -> list[float]:
    return [float(share) for share in outcomes(word, true) / len(true)]
