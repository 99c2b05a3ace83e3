"""Every estimator of saito20 on full matrices: a matrix of contributions x_ui, read at the places that lists name.

    naive  x = z·y          ips  x = z·y/p          dr  x = q + z (y − q)/p          truth  x = E[y]
    plain      mean over users of Σ x_ui c(rank)           (Eqs. 1–4)
    pooled     Σ_u Σ x_ui c(rank) / Σ_u Σ_i x_ui

The paper prints the plain form; what its code computes is in ``coded.py``. ``evaluate`` gives the same numbers, as a
test shows; here 32 lists of a thousand users share one matrix, which is quicker where all pairs are at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from unskew_papers.arrays import Codes, Floats

TARGETS = ("plain", "pooled")
Flags = npt.NDArray[np.bool_]
Kind = TypeVar("Kind", bound=np.generic)


def metrics_of(cuts: Sequence[int]) -> list[str]:
    """Names of the metrics, in the order of ``measure``."""
    return [f"{name}@{k}" for name in ("recall", "dcg") for k in cuts]


def naive(z: Flags, y: Floats) -> Floats:
    """What was seen, as it is (Eq. 2)."""
    return np.where(z, y, 0.0)


def ips(z: Flags, y: Floats, p: Floats) -> Floats:
    """What was seen, over its propensity (Eq. 3)."""
    return np.where(z, y / p, 0.0)


def dr(z: Flags, y: Floats, p: Floats, q: Floats) -> Floats:
    """The guess, corrected where something was seen (Eq. 4)."""
    return np.asarray(q + np.where(z, (y - q) / p, 0.0))


def at(x: npt.NDArray[Kind], lists: Codes) -> npt.NDArray[Kind]:
    """x of every listed pair: [model, user, rank]."""
    return np.asarray(x[np.arange(len(x))[None, :, None], lists])


def worths(cuts: Sequence[int], length: int) -> Floats:
    """What ranks are worth: [metric, rank]."""
    rank = np.arange(1, length + 1)
    within = np.array([rank <= k for k in cuts], dtype=np.float64)
    return np.vstack([within, within / np.log2(rank + 1.0)])


def measure(x: Floats, lists: Codes, cuts: Sequence[int]) -> Floats:
    """The value of every list, [target, metric, model], from x[user, item] and lists[model, user, rank]."""
    plain = np.einsum("mur,cr->cm", at(x, lists), worths(cuts, lists.shape[2])) / len(x)
    mean = x.sum(axis=1).mean()
    return np.stack([plain, plain / (mean if mean > 0.0 else np.nan)])


def relative_rmse(estimate: Floats, truth: Floats) -> Floats:
    """√(mean over models of ((R̂ − R)/R)²); models stand last."""
    return np.asarray(np.sqrt(np.square((estimate - truth) / truth).mean(axis=-1)))
