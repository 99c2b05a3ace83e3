"""Calibrated propensities: a monotone map that makes any propensity agree with what was seen.

    P_ui = g(inner_ui)          g: isotonic regression of O on inner, or Platt's logistic curve (two parameters)

g is learnt on pairs, seen and unseen, that the inner model was not fitted on (cross-fitting over pairs); the inner
model itself is then fitted to the whole training log. Isotonic regression, over bins of at least 20 seen pairs so that
no step is 0, assumes nothing but monotonicity and needs many pairs. Platt's curve is σ(a + b·logit inner), for relative
propensities σ(a + b·log inner), and needs few.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy.special import expit, logit

from unskew.errors import InputError, MissingExtraError
from unskew.log import Feedback, Ids, Log
from unskew.propensity.base import NOTHING, Floats, Level, Part, Propensity, Scored, Side, row_weights
from unskew.propensity.crossfit import crossfitted, unseen_pairs
from unskew.spec import show

METHODS = ("isotonic", "platt")
MOST = 1_000_000  # unseen pairs; where there are more, a sample stands for them
BIN = 20  # seen pairs that a step of the isotonic curve rests on, at least
EDGE = 1e-12


@dataclass(frozen=True)
class Calibrated(Propensity):
    """Another propensity, its level set right on held-out pairs.

    Args:
        inner: an estimated propensity that needs no value.
        method: ``isotonic`` or ``platt``.
        folds: of the cross-fitting.
    """

    inner: Propensity
    method: str = "isotonic"
    folds: int = 5
    curve: _Steps | _Platt | None = field(default=None, compare=False, repr=False)
    absolute: bool = field(default=False, compare=False, repr=False)

    name = "calibrated"
    estimated = True

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InputError(f"'calibrated': method must be isotonic or platt, not '{self.method}'.")
        if self.folds < 2:
            raise InputError(f"'calibrated': folds must be at least 2, not {self.folds}.")
        if not self.inner.estimated:
            raise InputError(f"'calibrated': '{self.inner}' is not fitted to a log, so there is nothing to calibrate.")
        if self.inner.only_seen:
            raise InputError(
                f"'calibrated': '{self.inner}' takes the propensity from a pair's value, and unseen pairs have none. "
                "Calibrate logistic or popularity."
            )

    @property
    def level(self) -> Level:
        """Absolute once fitted to a log of all seen pairs; relative for implicit logs, and before the fit."""
        return Level.ABSOLUTE if self.absolute else Level.RELATIVE

    def refers(self, log: Log) -> Part:
        """The training log, in which pairs were or were not seen."""
        return Part.TRAIN

    def fit(self, train: Log, side: Side = NOTHING, weights: Floats | None = None) -> Self:
        """Fit the inner model, and the curve on cross-fitted propensities of seen and unseen pairs."""
        if not len(train):
            raise InputError(f"{train.account.source}: calibration needs training rows, and there are none.")
        inner = self.inner.fit(train, side, weights)
        unseen = unseen_pairs(train, MOST)
        seen_p, unseen_p = crossfitted(self.inner, train, unseen.pairs, self.folds, side, weights)
        p = np.concatenate([seen_p, unseen_p])
        label = np.repeat([1.0, 0.0], [len(seen_p), len(unseen_p)])
        mass = np.concatenate([row_weights(train, weights), row_weights(unseen.pairs, weights) / unseen.rate])
        known = np.isfinite(p) & (mass > 0.0)
        how = _isotonic if self.method == "isotonic" else _platt
        curve = how(p[known], label[known], mass[known], inner.level)
        return replace(self, inner=inner, curve=curve, absolute=train.feedback is not Feedback.IMPLICIT)

    @property
    def fitted(self) -> bool:
        """Whether there is a curve."""
        return self.curve is not None

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
            raise InputError("calibrated propensities are fitted on a training log: give --train (seen=train).")
        return np.where(np.isnan(p), np.nan, self.curve.at(p))

    def __str__(self) -> str:
        folds = "" if self.folds == 5 else f", folds={show(self.folds)}"
        return f"{self.name}({self.inner}, method={self.method}{folds})"


@dataclass(frozen=True, eq=False)
class _Steps:
    """Isotonic: straight lines between the middles of bins."""

    x: Floats
    y: Floats

    def at(self, p: Floats) -> Floats:
        return np.interp(p, self.x, self.y)


@dataclass(frozen=True, eq=False)
class _Platt:
    """σ(a + b·t), t the logit of absolute and the logarithm of relative propensities."""

    a: float
    b: float
    level: Level

    def at(self, p: Floats) -> Floats:
        return np.asarray(np.maximum(expit(self.a + self.b * _scale(p, self.level)), EDGE))


def _scale(p: Floats, level: Level) -> Floats:
    safe = np.clip(p, EDGE, 1.0 - EDGE)
    return np.asarray(logit(safe) if level is Level.ABSOLUTE else np.log(safe))


def _isotonic(p: Floats, label: Floats, mass: Floats, level: Level) -> _Steps:
    try:
        from sklearn.isotonic import IsotonicRegression
    except ImportError:
        raise MissingExtraError("calibrated(…)", "learn") from None
    seen = np.sort(p[label > 0.0])
    edges = np.unique(seen[BIN::BIN][: max(len(seen) // BIN - 1, 0)])  # every bin holds BIN seen pairs: none has P = 0
    place = np.searchsorted(edges, p, side="right")
    size = np.bincount(place, weights=mass)
    middle, rate = (np.bincount(place, weights=mass * column) / size for column in (p, label))
    return _Steps(middle, np.asarray(IsotonicRegression().fit_transform(middle, rate, sample_weight=size)))


def _platt(p: Floats, label: Floats, mass: Floats, level: Level) -> _Platt:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError("calibrated(…)", "learn") from None
    if label.min() == label.max():
        return _Platt(1.0 / EDGE if label.max() else -1.0 / EDGE, 0.0, level)
    model = LogisticRegression(C=1e10, tol=1e-8, max_iter=1000)
    model.fit(_scale(p, level)[:, None], label, sample_weight=mass)
    return _Platt(float(model.intercept_[0]), float(model.coef_[0, 0]), level)
