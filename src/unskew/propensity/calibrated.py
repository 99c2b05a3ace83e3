"""Calibrated propensities: a monotone map that makes any propensity agree with what was seen.

    P_ui = g(inner_ui)          g: isotonic regression of O on inner, or Platt's logistic curve (two parameters)

g is learnt on pairs, seen and unseen, that the inner model was not fitted on (cross-fitting over pairs, or over users
where the inner model has no parameters of users); the inner model itself is then fitted to the whole training log.
Isotonic regression, over bins of at least 20 seen pairs so that no step is 0, assumes nothing but monotonicity and
needs many pairs. Platt's curve is σ(a + b·logit inner), for relative propensities σ(a + b·log inner), and needs few; of
a training log that is a random part of a whole with the share t it is t·σ(a + b·logit(inner/t)), so that P/t, that of
the whole log, is a probability.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, replace
from typing import Self

import numpy as np
from scipy.special import expit, logit

from unskew.core.bounds import FOLDS
from unskew.core.errors import InputError, require
from unskew.core.parts import Made, Words, option, part_of
from unskew.log import Feedback, Ids, Log
from unskew.log.expected import a_log
from unskew.propensity.base import NO_INPUTS, FitInputs, Floats, Level, Propensity, Scored, row_weights
from unskew.propensity.crossfit import crossfitted, refuse_users, unseen_pairs
from unskew.propensity.two_way import Link, log_loss

INNER = Made(part_of("unskew.propensity"), "a propensity", "popularity")
METHODS = ("isotonic", "platt")
MOST = 1_000_000  # unseen pairs; where there are more, a sample stands for them
BIN = 20  # seen pairs that a step of the isotonic curve rests on, at least
EDGE = 1e-12
RIDGE = 1e-10
STEPS = 100  # of Newton's method; a handful is the rule


@dataclass(frozen=True)
class Calibrated(Propensity):
    """Another propensity, its level set right on held-out pairs.

    Args:
        inner: an estimated propensity that needs no value.
    """

    inner: Propensity = option(MISSING, INNER, "what is calibrated", unnamed=True)
    method: str = option("isotonic", Words(METHODS), "the curve")
    folds: int = option(5, FOLDS, "by which its points are fitted", changed=True)
    over: str = option("pairs", Words(("pairs", "users")), "what folds are made of", changed=True)
    curve: _Steps | _Platt | None = field(default=None, compare=False, repr=False)
    absolute: bool = field(default=False, compare=False, repr=False)

    name = "calibrated"
    learnt = "curve"
    estimated = True
    models_presence = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method == "isotonic":
            require("calibrated(…, method=isotonic)", "learn", "sklearn")
        if self.over == "users":
            refuse_users(self.inner)
        if not self.inner.estimated:
            raise InputError(
                f"'calibrated': '{self.inner}' is not fitted to a log, so there is nothing to calibrate.",
                code="not-fitted",
            )
        if self.inner.reads:
            raise InputError(
                f"'calibrated': '{self.inner}' takes the propensity from a pair's value, and unseen pairs have none. "
                "Calibrate logistic or popularity.",
                code="not-supported",
            )

    @property
    def assumption(self) -> str:
        """That of the inner propensity."""
        return self.inner.assumption

    @property
    def level(self) -> Level:
        """Absolute once fitted to a log of all seen pairs; relative for implicit logs, and before the fit."""
        return Level.ABSOLUTE if self.absolute else Level.RELATIVE

    def fit(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """Fit the inner model, and the curve on cross-fitted propensities of seen and unseen pairs."""
        if not len(a_log(log)):
            raise InputError(
                f"{log.account.source}: calibration needs training rows, and there are none.", code="empty-log"
            )
        inner = self.inner.copy().fit(log, inputs=inputs, weights=weights)
        unseen, settled = unseen_pairs(log, MOST), inner.tuned(log, inputs=inputs, weights=weights)
        seen_p, unseen_p = crossfitted(settled, log, unseen.pairs, self.folds, inputs, weights, self.over)
        p = np.concatenate([seen_p, unseen_p])
        label = np.repeat([1.0, 0.0], [len(seen_p), len(unseen_p)])
        mass = np.concatenate([row_weights(log, weights), row_weights(unseen.pairs, weights) / unseen.rate])
        known = np.isfinite(p) & (mass > 0.0)
        how = _isotonic if self.method == "isotonic" else _platt
        share = 1.0 if log.share is None else log.share
        curve = how(p[known], label[known], mass[known], inner.level, share)
        return self.remember(inner=inner, curve=curve, absolute=log.feedback is not Feedback.IMPLICIT)

    def tuned(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """The same with the inner options as they were, or would be, chosen."""
        return replace(self, inner=self.inner.tuned(log, inputs=inputs, weights=weights))

    def supported_only(self) -> Self | None:
        """As the inner one."""
        inner = self.inner.supported_only()
        return None if inner is None else replace(self, inner=inner)

    @property
    def knows_users(self) -> bool:
        """As the inner one."""
        return self.inner.knows_users

    @property
    def smooth(self) -> bool:
        """Steps of an isotonic curve jump when weights move."""
        return self.method == "platt" and self.inner.smooth

    def of(self, log: Log) -> Scored:
        """The inner propensity of every row, along the curve."""
        scored = self.inner.of(log)
        return replace(scored, rows=self._calibrate(scored.rows), capped=0)

    def of_items(self, items: Ids) -> Floats | None:
        """P per item where the inner propensity has one."""
        found = self.inner.of_items(items)
        return None if found is None else self._calibrate(found)

    def _calibrate(self, p: Floats) -> Floats:
        if self.curve is None:
            raise InputError(
                "calibrated propensities are fitted on a training log: give train=….", code="no-training-log"
            )
        return np.where(np.isnan(p), np.nan, self.curve.at(p))


@dataclass(frozen=True, eq=False)
class _Steps:
    """Isotonic: straight lines between the middles of bins."""

    x: Floats
    y: Floats

    def at(self, p: Floats) -> Floats:
        return np.interp(p, self.x, self.y)


@dataclass(frozen=True, eq=False)
class _Platt:
    """share · σ(a + b·t), t the logit of absolute propensities (over the share) and the logarithm of relative ones."""

    a: float
    b: float
    level: Level
    share: float

    def at(self, p: Floats) -> Floats:
        return np.asarray(self.share * np.maximum(expit(self.a + self.b * _scale(p, self.level, self.share)), EDGE))


def _scale(p: Floats, level: Level, share: float) -> Floats:
    if level is Level.ABSOLUTE:
        return np.asarray(logit(np.clip(p / share, EDGE, 1.0 - EDGE)))
    return np.asarray(np.log(np.clip(p, EDGE, 1.0 - EDGE)))


def _isotonic(p: Floats, label: Floats, mass: Floats, level: Level, share: float) -> _Steps:
    from sklearn.isotonic import IsotonicRegression

    place = np.searchsorted(_edges(p[label > 0.0]), p, side="right")
    size = np.bincount(place, weights=mass)
    middle, rate = (np.bincount(place, weights=mass * column) / size for column in (p, label))
    return _Steps(middle, np.asarray(IsotonicRegression().fit_transform(middle, rate, sample_weight=size)))


def _edges(seen: Floats) -> Floats:
    """Where bins begin, the first one excepted: each holds at least BIN seen pairs, so that none has P = 0."""
    values, counts = np.unique(seen, return_counts=True)
    below = np.cumsum(counts) - counts
    edges, enough = [], BIN
    while (j := int(np.searchsorted(below, enough))) < len(values) and len(seen) - below[j] >= BIN:
        edges.append(values[j])
        enough = int(below[j]) + BIN
    return np.array(edges)


def _platt(p: Floats, label: Floats, mass: Floats, level: Level, share: float = 1.0) -> _Platt:
    """Maximum likelihood by Newton's method; a penalty of 1e-10 keeps a curve that separates finite."""
    if label.min() == label.max():
        return _Platt(1.0 / EDGE if label.max() else -1.0 / EDGE, 0.0, level, share)
    t, link = _scale(p, level, share), Link(share=share)
    centre, unit = float(np.average(t, weights=mass)), float(np.ptp(t)) or 1.0
    design = np.column_stack([np.ones(len(t)), (t - centre) / unit])
    theta = np.array([link.start(float(np.average(label, weights=mass))), 0.0])

    def loss(theta: Floats) -> float:
        return log_loss(link.logit(design @ theta), label, mass) + 0.5 * RIDGE * float(theta @ theta)

    for _ in range(STEPS):
        chance, turn = expit(link.logit(design @ theta)), link.slope(design @ theta)
        slope = design.T @ (mass * (chance - label) * turn) + RIDGE * theta
        bend = design.T @ ((mass * chance * (1.0 - chance) * turn**2)[:, None] * design) + RIDGE * np.eye(2)
        step, length, now = np.linalg.solve(bend, slope), 1.0, loss(theta)
        while loss(theta - length * step) > now * (1.0 + 1e-12) and length > 1e-6:
            length /= 2.0
        theta = theta - length * step
        if np.abs(step).max() < 1e-7 * max(1.0, float(np.abs(theta).max())):
            break
    b = float(theta[1]) / unit
    return _Platt(float(theta[0]) - b * centre, b, level, share)
