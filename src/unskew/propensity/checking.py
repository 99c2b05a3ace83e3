"""Can these propensities be trusted? Checks on pairs that the fit did not see.

The seen pairs are divided into k folds by a hash of (user, item); a model fitted without one fold speaks of a log that
is (k−1)/k as dense, so its absolute propensities are raised by k/(k−1). It is then asked about the fold's seen pairs
(label 1) and about unseen pairs (label 0; all of them in a small world, else a uniform sample that stands for all).

    log-loss, Brier    against the labels, beside those of the constant |O| / (U·I)
    reliability        share seen among pairs with similar P
    balance            Σ P against the number seen, for tenths by the user's activity and by the item's popularity
    overlap, ess       how P is spread over seen pairs; (Σ 1/P)² / Σ 1/P²; the largest weight; what a clip would raise

Relative propensities are first scaled by the one constant that makes them sum to the number seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.log import Log
from unskew.propensity.base import NOTHING, Level, Propensity, Side
from unskew.propensity.crossfit import Unseen, crossfitted, pair_folds, unseen_pairs

Floats = npt.NDArray[np.float64]
CLIPS = (0.001, 0.01, 0.05, 0.1)
OFF = 0.2  # relative miscalibration or imbalance that is worth a word
FEW = 0.1  # share of the interactions that an ess should not fall below


@dataclass(frozen=True)
class Bin:
    """Pairs with similar P: the mean P, the share that was seen, and how many pairs they stand for."""

    predicted: float
    observed: float
    pairs: float


@dataclass(frozen=True)
class Check:
    """What the checks say of one propensity; ``None`` where they cannot be asked (P that needs a value)."""

    propensity: str
    level: str
    log_loss: float | None
    log_loss_constant: float
    brier: float | None
    reliability: tuple[Bin, ...]
    user_balance: tuple[Bin, ...]
    item_balance: tuple[Bin, ...]
    overlap: tuple[tuple[float, int], ...]
    ess: float
    ess_share: float
    max_weight_share: float
    clips: Mapping[str, float]
    findings: tuple[str, ...]


@dataclass(frozen=True)
class Checks:
    """The checks of several propensities on one log."""

    checks: tuple[Check, ...]

    def table(self) -> pl.DataFrame:
        """One row per propensity."""
        keys = ("propensity", "level", "log_loss", "log_loss_constant", "brier", "ess", "ess_share", "max_weight_share")
        rows = [{key: getattr(c, key) for key in keys} | {"findings": "; ".join(c.findings)} for c in self.checks]
        return pl.DataFrame(rows)

    def to_dict(self) -> list[dict[str, Any]]:
        """Everything, ready for JSON."""
        return [asdict(check) for check in self.checks]

    def __getitem__(self, name: str) -> Check:
        return {c.propensity: c for c in self.checks}[name]


def check(
    propensities: Propensity | Mapping[str, Propensity],
    log: Log,
    *,
    side: Side = NOTHING,
    folds: int = 5,
    pairs: int = 500_000,
    seed: int = 0,
) -> Checks:
    """Check propensities on a log of seen pairs, cross-fitted over pairs.

    Args:
        propensities: one, or several by name (unfitted ones are fitted here, fold by fold).
        log: the seen pairs on which they are fitted.
        side: what else they may be fitted on.
        folds: how many folds.
        pairs: at most so many unseen pairs are drawn.
        seed: of the drawn unseen pairs.
    """
    named = {str(propensities): propensities} if isinstance(propensities, Propensity) else propensities
    world = _World(log, unseen_pairs(log, pairs, seed), folds)
    return Checks(tuple(_check(name, model, world, side) for name, model in named.items()))


@dataclass(frozen=True, eq=False)
class _World:
    """The seen pairs, unseen pairs with the number that each stands for, and the number of folds."""

    log: Log
    unseen: Unseen
    folds: int


def _check(name: str, model: Propensity, world: _World, side: Side) -> Check:
    log, free = world.log, world.unseen.pairs
    asked = not model.only_seen
    if not model.estimated and not asked:
        seen_p, free_p = model.of(log).rows, np.empty(0)
    else:
        others = free if asked else free.take(np.zeros(len(free), dtype=np.bool_))
        seen_p, free_p = crossfitted(model, log, others, world.folds, side)
        model = model.fit(log, side)
    if asked and model.level is Level.RELATIVE:
        scale = len(log) / (np.nansum(seen_p) + np.nansum(free_p) / world.unseen.rate)
        seen_p, free_p = np.minimum(seen_p * scale, 1.0), np.minimum(free_p * scale, 1.0)
    return _summary(name, model, world, seen_p, free_p, asked)


def _summary(name: str, model: Propensity, world: _World, seen: Floats, free: Floats, asked: bool) -> Check:
    log, weight = world.log, 1.0 / world.unseen.rate
    kept = np.isfinite(seen)
    p = np.concatenate([seen[kept], free]) if asked else seen[kept]
    label = np.concatenate([np.ones(int(kept.sum())), np.zeros(len(free))])
    mass = np.concatenate([np.ones(int(kept.sum())), np.full(len(free), weight)])
    constant = len(log) / (len(log.users) * len(log.items))
    entropy = -(constant * np.log(constant) + (1.0 - constant) * np.log1p(-constant)) if constant < 1.0 else 0.0
    loss = brier = None
    bins: tuple[Bin, ...] = ()
    balance: dict[str, tuple[Bin, ...]] = {"user": (), "item": ()}
    if asked:
        safe = np.clip(p, 1e-12, 1.0 - 1e-12)
        loss = float(-np.average(label * np.log(safe) + (1.0 - label) * np.log1p(-safe), weights=mass))
        brier = float(np.average((label - p) ** 2, weights=mass))
        bins = _bins(_tenths(p, mass), p, label, mass)
        fold = np.concatenate([pair_folds(log, world.folds)[kept], pair_folds(world.unseen.pairs, world.folds)])
        for side in balance:
            row = np.concatenate([getattr(log, side)[kept], getattr(world.unseen.pairs, side)])
            balance[side] = _bins(_tenths(_elsewhere(world, side)[fold, row], mass), p, label, mass)
    inverse = 1.0 / seen[kept]
    ess = float(inverse.sum() ** 2 / (inverse**2).sum())
    found = Check(
        propensity=name,
        level=model.level,
        log_loss=loss,
        log_loss_constant=float(entropy),
        brier=brier,
        reliability=bins,
        user_balance=balance["user"],
        item_balance=balance["item"],
        overlap=_overlap(seen[kept]),
        ess=ess,
        ess_share=ess / int(kept.sum()),
        max_weight_share=float(inverse.max() / inverse.sum()),
        clips={str(at): float(np.mean(seen[kept] < at)) for at in CLIPS},
        findings=(),
    )
    return _with_findings(found)


def _elsewhere(world: _World, side: str) -> Floats:
    """How often each user (or item) was seen outside each fold, (folds, codes).

    Groups made by all counts would gather whoever was lucky in the fold itself, and look off under right propensities.
    """
    codes, size = getattr(world.log, side), len(getattr(world.log, f"{side}s"))
    fold = pair_folds(world.log, world.folds)
    inside = np.array([np.bincount(codes[fold == f], minlength=size) for f in range(world.folds)])
    return np.asarray(inside.sum(axis=0) - inside, dtype=np.float64)


def _tenths(numbers: Floats, mass: Floats) -> npt.NDArray[np.int64]:
    """Tenths by size, of equal mass as far as ties allow."""
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(mass[order]) / mass.sum()
    edges = numbers[order][np.searchsorted(below, np.arange(1, 10) / 10.0)]
    return np.searchsorted(np.unique(edges), numbers, side="left")


def _bins(group: npt.NDArray[np.int64], p: Floats, label: Floats, mass: Floats) -> tuple[Bin, ...]:
    size = np.bincount(group, weights=mass)
    predicted, observed = np.bincount(group, weights=mass * p), np.bincount(group, weights=mass * label)
    return tuple(
        Bin(float(a / n), float(b / n), float(n)) for a, b, n in zip(predicted, observed, size, strict=True) if n > 0.0
    )


def _overlap(seen: Floats) -> tuple[tuple[float, int], ...]:
    """Seen pairs by powers of two of P: (lower edge, pairs)."""
    place = np.floor(np.log2(seen)).astype(np.int64)
    found, counts = np.unique(place, return_counts=True)
    return tuple((float(2.0**e), int(n)) for e, n in zip(found, counts, strict=True))


def _with_findings(c: Check) -> Check:
    """What is worth a word."""
    words = []
    if c.log_loss is not None and c.log_loss > c.log_loss_constant:
        words.append("predicts held-out pairs worse than one constant for all")
    for bins, what in (
        (c.reliability, "pairs with similar propensities"),
        (c.user_balance, "tenths of the users by activity"),
        (c.item_balance, "tenths of the items by popularity"),
    ):
        gap = max((_gap(b) for b in bins), default=0.0)
        if gap > OFF:
            words.append(f"the number seen among {what} is off by up to {gap:.0%}")
    if c.ess_share < FEW:
        words.append(f"the weights leave an effective {c.ess_share:.1%} of the interactions")
    return Check(**{**vars(c), "findings": tuple(words)})


def _gap(b: Bin) -> float:
    """Relative gap of predicted and observed, beyond three standard errors of the observed."""
    error = 3.0 * np.sqrt(max(b.predicted * (1.0 - b.predicted), 0.0) / b.pairs)
    beyond = abs(b.observed - b.predicted) - error
    return float(beyond / max(b.predicted, b.observed)) if beyond > 0.0 else 0.0
