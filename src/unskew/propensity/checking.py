"""Can these propensities be trusted? Checks on pairs that the fit did not see.

The seen pairs are divided into k folds by a hash of (user, item); a model fitted without one fold speaks of a log that
is (k−1)/k as dense, so its absolute propensities are raised by k/(k−1). It is then asked about the fold's seen pairs
(label 1) and about unseen pairs (label 0; all of them in a small world, else a uniform sample that stands for all).

    log-loss, Brier    against the labels, beside those of the constant |O| / (U·I)
    reliability        share seen among pairs with similar P
    balance            Σ P against the number seen, for tenths by the user's activity and by the item's popularity
    overlap            how P is spread over seen and over unseen pairs
    weights            (Σ 1/P)² / Σ 1/P² over seen pairs; the largest weights; what a clip would raise
    implied pairs      Σ 1/P over seen pairs against U·I, where P is absolute and all that was seen is logged

Relative propensities are first scaled by the one constant that makes them sum to the number seen. What is not fitted
(``uniform``) is asked as it is. ``known`` propensities of a whole log, of which this one is a random part, are
multiplied by the part's share. Where pairs have no propensity (``unsupported=drop``), the constant is that of the
others. What only a seen pair has (``known``, ``naive_bayes``) has no log-loss and no reliability; where all that was
seen is logged, its balance is that of Σ 1/P over a tenth's seen pairs, which should be the number of the tenth's pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from unskew.core.bounds import FOLDS, SEED, Whole, shown, word
from unskew.core.errors import InputError, UnskewError
from unskew.core.notice import Notice
from unskew.kernels.arrays import Floats, Ints64
from unskew.log import Feedback, Log
from unskew.log.expected import a_log
from unskew.propensity.base import NO_INPUTS, FitInputs, Level, Propensity, Scope, checked
from unskew.propensity.checks import Bin, Check, Checks, Overlap, Unfit
from unskew.propensity.crossfit import Unseen, crossfitted, pair_folds, unseen_pairs

Stage = Callable[[str, int, int], None]
PAIRS = Whole(1000, 100_000_000, "They are held in memory.")
ONLY_SEEN = "it takes P from a pair's {}, which unseen pairs lack, so log-loss and reliability cannot be asked"
CLIPS = (0.001, 0.01, 0.05, 0.1)
OFF = 0.2  # relative miscalibration or imbalance that is worth a word
FEW = 0.1  # share of the interactions that an ess should not fall below
EVEN = 0.5  # of the variance that chance gives to counts: below it, numbers of rows were fixed
SMALLEST = -40  # the lowest bin of the overlap, as a power of two, holds everything below it too


def by_name(propensities: Any) -> dict[str, Propensity]:
    """One propensity, several, or several under names of their own, each an object or a canonical string."""
    from unskew.propensity import make

    if isinstance(propensities, Mapping):
        return {str(name): make(given) for name, given in propensities.items()}
    if not isinstance(propensities, Iterable | Propensity):
        raise InputError(
            f"propensities must be canonical strings or objects, not {shown(propensities)}.", code="wrong-type"
        )
    several: Iterable[Any] = [propensities] if isinstance(propensities, str | Propensity) else propensities
    found: dict[str, tuple[Any, Propensity]] = {}
    for given in several:
        model = make(given)
        first, _ = found.setdefault(str(model), (given, model))
        if first is not given and not (isinstance(first, str) and isinstance(given, str)):
            raise InputError(
                f"two propensities are called '{model}'. Give them names: propensities={{'one': …, 'other': …}}.",
                code="repeated-name",
                propensity=str(model),
            )
    return {name: model for name, (_, model) in found.items()}


def check(
    propensities: str | Propensity | Iterable[str | Propensity] | Mapping[str, str | Propensity],
    log: Log,
    *,
    inputs: FitInputs = NO_INPUTS,
    folds: int = 5,
    pairs: int = 500_000,
    seed: int = 0,
    refused: Literal["error", "skip"] = "error",
    progress: Stage | None = None,
) -> Checks:
    """Check propensities on a log of seen pairs, cross-fitted over pairs.

    Args:
        propensities: one, several, or several by name; objects or canonical strings. They are fitted here, fold by
            fold, whether they were fitted before or not.
        log, inputs: the seen pairs on which they are fitted, and what else they may be fitted on.
        pairs: at most so many unseen pairs are drawn.
        refused: a propensity that cannot be had from this log is an ``error``, or ``skip`` lists it with the reason;
            where none is left, it is an error all the same.
        progress: called with (stage, done, total).
    """
    named = by_name(propensities)
    word(refused, ("error", "skip"), "refused")
    if not isinstance(inputs, FitInputs):
        raise InputError(
            f"inputs must be FitInputs(mcar=…, user_features=…, item_features=…), not {shown(inputs)}.",
            code="wrong-type",
        )
    if not named:
        raise InputError(
            "there is no propensity to check: give at least one, such as 'popularity(gamma=1)'.",
            code="missing-argument",
        )
    folds, pairs = int(FOLDS.of(folds, "folds")), int(PAIRS.of(pairs, "the number of unseen pairs"))
    seed = int(SEED.of(seed, "seed"))
    if not len(a_log(log)):
        raise InputError(
            f"{log.account.source}: the log has no rows, so no propensity can be checked.", code="empty-log"
        )
    world = _World(log, unseen_pairs(log, pairs, seed), folds)
    found, lost = [], []
    for done, (name, model) in enumerate(named.items()):
        if progress is not None:
            progress(f"checking {name}", done, len(named))
        try:
            found.append(_check(name, model, world, inputs))
        except UnskewError as error:
            if refused == "error":
                raise
            lost.append(Unfit(name, error.notice))
    if not found:
        if len(lost) == 1:
            one = lost[0]
            raise InputError(f"{one.propensity}: {one.reason}", code=one.reason.code, **one.reason.fields)
        raise InputError(
            "no propensity can be checked:\n" + "\n".join(f"{u.propensity}: {u.reason}" for u in lost),
            code="no-propensity",
        )
    return Checks(tuple(found), tuple(lost), positives=log.feedback is Feedback.IMPLICIT)


class _World(NamedTuple):
    """The seen pairs, unseen pairs with the number that each stands for, and the number of folds."""

    log: Log
    unseen: Unseen
    folds: int


def _check(name: str, model: Propensity, world: _World, inputs: FitInputs) -> Check:
    log, free = world.log, world.unseen.pairs
    asked = not model.reads
    others = free if asked else log.take(np.zeros(len(log), dtype=np.bool_))
    if model.estimated:
        model = model.tuned(log, inputs=inputs)
        seen_p, free_p = crossfitted(model, log, others, world.folds, inputs)
        model = model.copy().fit(log, inputs=inputs)
    else:
        share = part_share(model, log)
        seen_p = checked(model, log).rows * share
        free_p = checked(model, others).rows * share if asked else np.empty(0)
    if asked and model.level is Level.RELATIVE:
        known = int(np.isfinite(seen_p).sum())
        scale = known / (np.nansum(seen_p) + np.nansum(free_p) / world.unseen.rate)
        seen_p, free_p = np.minimum(seen_p * scale, 1.0), np.minimum(free_p * scale, 1.0)
    if not np.isfinite(seen_p).any():
        raise InputError(
            f"{log.account.source}: no seen pair has a propensity under {model}.",
            code="no-propensity",
            propensity=model,
        )
    return _summary(name, model, world, seen_p, free_p, asked)


def part_share(model: Propensity, log: Log) -> float:
    """What turns P of a whole log into P of this random part of it; 1 where P speaks of the log at hand."""
    share = model.share_of(log)
    return share if share is not None and model.refers(log) is Scope.LOG else 1.0


def _summary(name: str, model: Propensity, world: _World, seen: Floats, free: Floats, asked: bool) -> Check:
    log, weight = world.log, 1.0 / world.unseen.rate
    pairs = len(log.users) * len(log.items)
    kept = np.isfinite(seen)
    there = float(kept.sum() + weight * np.isfinite(free).sum()) if asked else float(pairs)
    constant = int(kept.sum()) / there
    entropy = -(constant * np.log(constant) + (1.0 - constant) * np.log1p(-constant)) if constant < 1.0 else 0.0
    inverse = 1.0 / seen[kept]
    ess = float(inverse.sum() ** 2 / (inverse**2).sum())
    lighter = len(inverse) - -(-len(inverse) // 100)
    complete = log.feedback in (Feedback.CONVERSIONS, Feedback.RATINGS)
    found = Check(
        propensity=name,
        fitted=str(model),
        level=str(model.level),
        rows=int(kept.sum()),
        dropped=int((~kept).sum()),
        certain=int((seen[kept] >= 1.0).sum()),
        log_loss_constant=float(entropy),
        brier_constant=constant * (1.0 - constant),
        overlap=_overlap(seen[kept], free[np.isfinite(free)] if asked else None, weight),
        ess=ess,
        ess_share=ess / int(kept.sum()),
        max_weight_share=float(inverse.max() / inverse.sum()),
        top_weight_share=float(np.partition(inverse, lighter)[lighter:].sum() / inverse.sum()),
        clips={str(at): float(np.mean(seen[kept] < at)) for at in CLIPS},
        implied_pairs=float(inverse.sum()) if complete and model.level is Level.ABSOLUTE else None,
        pairs=pairs,
        unasked=() if asked else (Notice(ONLY_SEEN.format(" and ".join(model.reads)), code="only-seen-pairs"),),
    )
    if asked:
        found = replace(found, **_on_pairs(world, seen, free, weight))
    elif found.implied_pairs is not None:
        found = replace(found, **_implied_balance(world, seen, found.unasked))
    spread = float(np.sqrt(np.sum((1.0 - seen[kept]) / seen[kept] ** 2)))
    # P is the same for every user up to a factor that nobody claims to know
    if asked and model.level is Level.RELATIVE and model.of_items(log.items) is not None:
        found = replace(found, notes=tuple(_per_user(found)))
    return replace(found, findings=tuple(_findings(found, spread, there)))


def _on_pairs(world: _World, seen: Floats, free: Floats, weight: float) -> dict[str, Any]:
    """What is asked of seen and unseen pairs alike; pairs without a propensity are left out."""
    log, unseen = world.log, world.unseen.pairs
    here, there = np.isfinite(seen), np.isfinite(free)
    p = np.concatenate([seen[here], free[there]])
    label = np.repeat([1.0, 0.0], [int(here.sum()), int(there.sum())])
    mass = np.where(label > 0.0, 1.0, weight)
    happened = np.where(label > 0.0, p, 1.0 - p)  # the probability of what happened
    fold = np.concatenate([pair_folds(log, world.folds)[here], pair_folds(unseen, world.folds)[there]])
    balance, unasked = {}, []
    for side in ("user", "item"):
        if _even(log, side):
            unasked.append(_fixed(side))
            continue
        row = np.concatenate([getattr(log, side)[here], getattr(unseen, side)[there]])
        balance[f"{side}_balance"] = _bins(_tenths(_elsewhere(world, side)[fold, row], mass), p, label, mass)
    return {
        "log_loss": float(-np.average(np.log(np.maximum(happened, 1e-12)), weights=mass)),
        "brier": float(np.average((label - p) ** 2, weights=mass)),
        "reliability": _bins(_tenths(p, mass), p, label, mass),
        "unasked": tuple(unasked),
        **balance,
    }


def _implied_balance(world: _World, seen: Floats, unasked: tuple[Notice, ...]) -> dict[str, Any]:
    """For tenths of users and of items, how many pairs Σ 1/P over their seen pairs implies, and how many there are."""
    log, folds = world.log, world.folds
    fold, here = pair_folds(log, folds), np.isfinite(seen)
    inverse, noise = 1.0 / seen[here], (1.0 - seen[here]) / seen[here] ** 2
    found: dict[str, Any] = {}
    words = list(unasked)
    for side, other in (("user", log.items), ("item", log.users)):
        if _even(log, side):
            words.append(_fixed(side))
            continue
        counts = _elsewhere(world, side)
        groups = _tenths(counts.ravel(), np.ones(counts.size)).reshape(counts.shape)
        pairs = np.bincount(groups.ravel()) * len(other) / folds
        mine = groups[fold[here], getattr(log, side)[here]]
        rows, implied, variance = (
            np.bincount(mine, weights=w, minlength=len(pairs)) for w in (np.ones(len(mine)), inverse, noise)
        )
        if not rows.all():
            words.append(
                Notice(
                    f"{int((rows == 0.0).sum())} of {len(rows)} tenths of the {side}s ({pairs[rows == 0.0].sum():,.0f} "
                    "pairs) have no seen pair, so their balance cannot be checked",
                    code="empty-tenths",
                )
            )
        found[f"{side}_balance"] = tuple(
            Bin(float(n / total), float(n / size), float(size), float(n / total * np.sqrt(v) / total))
            for n, total, v, size in zip(rows, implied, variance, pairs, strict=True)
            if n > 0.0
        )
    return found | {"unasked": tuple(words)}


def _fixed(side: str) -> Notice:
    return Notice(
        f"{side}s have more equal numbers of rows than chance would give, as if these had been fixed: what is seen "
        f"more in one fold is seen less elsewhere, and balance over {side}s cannot be asked",
        code="even-counts",
        side=side,
    )


def _even(log: Log, side: str) -> bool:
    """Whether counts differ far less than independent draws would: a fixed number of rows for each."""
    counts = np.bincount(getattr(log, side), minlength=len(getattr(log, f"{side}s")))
    density = len(log) / (len(log.users) * len(log.items))
    return bool(counts.var() < EVEN * counts.mean() * (1.0 - density))


def _elsewhere(world: _World, side: str) -> Floats:
    """How often each user (or item) was seen outside each fold, (folds, codes).

    Groups made by all counts would gather whoever was lucky in the fold itself, and look off under right propensities.
    """
    codes, size = getattr(world.log, side), len(getattr(world.log, f"{side}s"))
    fold = pair_folds(world.log, world.folds)
    inside = np.array([np.bincount(codes[fold == f], minlength=size) for f in range(world.folds)])
    return np.asarray(inside.sum(axis=0) - inside, dtype=np.float64)


def _tenths(numbers: Floats, mass: Floats) -> Ints64:
    """Tenths by size, of equal mass as far as ties allow."""
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(mass[order]) / mass.sum()
    edges = numbers[order][np.searchsorted(below, np.arange(1, 10) / 10.0)]
    return np.searchsorted(np.unique(edges), numbers, side="left")


def _bins(group: Ints64, p: Floats, label: Floats, mass: Floats) -> tuple[Bin, ...]:
    size = np.bincount(group, weights=mass)
    predicted, observed = np.bincount(group, weights=mass * p), np.bincount(group, weights=mass * label)
    return tuple(
        Bin(float(a / n), float(b / n), float(n), float(np.sqrt(max(a / n * (1.0 - a / n), 0.0) / n)))
        for a, b, n in zip(predicted, observed, size, strict=True)
        if n > 0.0
    )


def _overlap(seen: Floats, free: Floats | None, weight: float) -> tuple[Overlap, ...]:
    """Pairs by powers of two of P; P = 1 belongs to the highest bin. Bins between the ends may be empty."""

    def place(p: Floats) -> Ints64:
        return np.clip(np.floor(np.log2(p)), SMALLEST, -1).astype(np.int64)

    here, there = place(seen), None if free is None else place(free)
    ends = np.concatenate([here, here if there is None else there])
    return tuple(
        Overlap(
            low=float(2.0**e),
            high=float(2.0 ** (e + 1)),
            seen=int(np.count_nonzero(here == e)),
            unseen=None if there is None else float(weight * np.count_nonzero(there == e)),
        )
        for e in range(int(ends.min()), int(ends.max()) + 1)
    )


USERS = "tenths of the users by activity"


def _per_user(c: Check) -> list[Notice]:
    """Users whose number is off where P knows of items only: a factor per user, which many estimates do without."""
    gap = max((_gap(b) for b in c.user_balance), default=0.0)
    if gap <= OFF:
        return []
    return [
        Notice(
            f"the number seen among {USERS} is off by up to {100 * gap:.0f} %, because P knows of items only. That "
            "does not matter to per-user snips and gs, in which a factor per user cancels; pooled estimates weigh "
            "users by activity",
            code="user-factor",
        )
    ]


def _findings(c: Check, spread: float, pairs: float) -> list[Notice]:
    """What is worth a word.

    Args:
        spread: the standard error of the implied number of pairs.
        pairs: that have a propensity.
    """
    words: list[Notice] = []
    if c.log_loss is not None and c.log_loss > c.log_loss_constant:
        words.append(Notice("predicts held-out pairs worse than one constant for all", code="worse-than-constant"))
    for bins, what, code in (
        (c.reliability, "pairs with similar propensities", "unreliable"),
        (() if c.notes else c.user_balance, USERS, "users-unbalanced"),
        (c.item_balance, "tenths of the items by popularity", "items-unbalanced"),
    ):
        gap = max((_gap(b) for b in bins), default=0.0)
        if gap > OFF:
            words.append(Notice(f"the number seen among {what} is off by up to {100 * gap:.0f} %", code=code))
    if c.ess_share < FEW:
        words.append(
            Notice(f"the weights leave an effective {100 * c.ess_share:.1f} % of the interactions", code="small-ess")
        )
    if c.implied_pairs is not None and abs(c.implied_pairs - pairs) - 3.0 * spread > OFF * pairs:
        which = "that have a propensity" if c.dropped else "(users × items)"
        words.append(
            Notice(
                f"the weights sum to {c.implied_pairs:,.0f} pairs, and there are {pairs:,.0f} {which}",
                code="implied-pairs",
            )
        )
    if c.dropped:
        words.append(
            Notice(
                f"{c.dropped:,} seen pairs have no propensity and are left out; one constant for the others has a "
                f"log-loss of {c.log_loss_constant:.4g}",
                code="no-propensity",
            )
        )
    return words


def _gap(b: Bin) -> float:
    """Relative gap of predicted and observed, beyond three standard errors."""
    beyond = abs(b.observed - b.predicted) - 3.0 * b.error
    return float(beyond / max(b.predicted, b.observed)) if beyond > 0.0 else 0.0
