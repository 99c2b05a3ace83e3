"""The variance of every difference as the draw grows, limits included.

At each of some scales t all users' lines are measured (how many rows), and over the kept users Σ v d² / π and Σ q π:
their ratios to Σ v d² and Σ q over these users carry over to everybody. The share u that is spread over all E
candidates alike falls on pairs in which lists differ, too, and where these are many of all candidates it counts: with L
rows from the lists alone its rate is r = u L / ((1 − u) E).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unskew.design.listed import Looked, apart
from unskew.design.power import Curve
from unskew.design.probabilities import Scale
from unskew.kernels.arrays import Floats

POINTS = 30
FIRST = 10.0  # rows of the first point


def curve_of(looked: Looked) -> Curve:
    """The curve from a few rows to all pairs that may be asked about."""
    design, stakes = looked.design, looked.stakes
    lists = replace(design, others=np.zeros_like(design.others))
    everything = len(design.item) + float(design.others[design.candidates.asked].sum())
    worth, q = looked.sample_worth, looked.sample_q
    noise = q * (1.0 - q)
    whole, whole_hits = apart(worth.T @ (noise[:, None] * worth)), _where_apart(worth, q)
    weight = design.weight.astype(np.float64)
    total, least = float(weight.sum()), float(weight.min())
    scales = np.geomspace(min(FIRST / total, 1.0 / least), 1.0 / least, POINTS)
    rows, spreads, positives = np.empty(POINTS), [], []
    for k, t in enumerate(scales):
        rows[k], rate = lists.length(float(t), 0.0)[0], 0.0
        if design.uniform > 0.0:
            rate = min(1.0, design.uniform / (1.0 - design.uniform) * rows[k] / everything)
            rows[k] = design.length(float(t), rate)[0]
        p, _ = looked.sample.probabilities(Scale(float(t), rate, rows[k]))
        spreads.append(_times(apart(worth.T @ ((noise / p)[:, None] * worth)), stakes.variance, whole))
        positives.append(_times(_where_apart(worth, q * p), stakes.hits, whole_hits))
    rising = np.append(True, np.diff(rows) > 1e-9 * rows[-1])  # at the end limits may leave nothing to grow
    return Curve(rows[rising], np.array(spreads)[rising], np.array(positives)[rising])


def _times(found: Floats, everybody: Floats, sample: Floats) -> Floats:
    """What was found among the kept users, for everybody; where these differ nowhere, what all others do on average."""
    usual = float(found.sum() / sample.sum()) if sample.sum() > 0.0 else 1.0
    ratio = np.divide(found, sample, out=np.full_like(found, usual), where=sample > 0.0)
    return everybody * ratio


def _where_apart(worth: Floats, amount: Floats) -> Floats:
    """Σ of an amount over the pairs with d ≠ 0, by [model, model]."""
    models = worth.shape[1]
    out = np.zeros((models, models))
    for a in range(models):
        for b in range(a):
            out[a, b] = out[b, a] = amount[worth[:, a] != worth[:, b]].sum()
    return out
