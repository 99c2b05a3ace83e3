"""Popularity propensities (gs23 §5): what is clicked much was shown much.

    P_i ∝ n_i^a,   a = (γ+1)/2          n_i counted on training positives

γ = −1 is uniform. Relative: only ratios mean something. It assumes that popularity comes from exposure; under uniform
exposure it over-corrects. It knows nothing of how active a user is, so pooled estimates weigh users by activity.

``gamma=estimate`` learns γ where the data say it (``exponent.py``): where seen zeros are logged (conversions, ratings),
exposures e_i are counted directly; with a log seen at random, its positives m_i follow relevance, and exposure is n_i
over it. Positives alone do not say whether an item is clicked much because it is shown much or
because it is liked much, and γ is not identified.

``level=absolute`` calibrates the level where seen zeros are logged: P_i = |O| n_i^a / (U Σ n_i^a), capped at 1, so
that as many pairs are expected as were seen; U counts all users of the population, with training rows or without.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from unskew.core.bounds import Number
from unskew.core.errors import InputError
from unskew.core.parts import Made, Words, option
from unskew.kernels.arrays import present
from unskew.kernels.hashing import pair_uniform
from unskew.log import Feedback, Ids, Log
from unskew.log.order import counts_of
from unskew.propensity.base import (
    NO_INPUTS,
    FitInputs,
    Floats,
    Level,
    Propensity,
    Scored,
    TrainingFiles,
    positive_rows,
    row_weights,
)
from unskew.propensity.counting import count_items
from unskew.propensity.exponent import Exponent, Half, from_exposures, from_random

ESTIMATE = "estimate"
GAMMA = Number(
    low=-10.0,
    high=10.0,
    words=(ESTIMATE,),
    why="Counts to a higher power leave nothing but the most popular item. γ = 1 says that exposure explains all of "
    "popularity.",
)
LEVELS = Made(
    lambda level: Level(Words(tuple(map(str, Level))).of(level, "'popularity': level")), "relative or absolute"
)
DIGITS = 2  # of an estimated γ: what is printed is what is used


@dataclass(frozen=True, repr=False)
class Popularity(Propensity):
    """A power of the training count.

    Args:
        gamma: the exponent's parameter; 1 (default) says that exposure explains all of popularity, −1 that it explains
            none; 2, the papers' choice, that popular items are liked less than rare ones; ``estimate`` learns it from
            seen zeros or from a log seen at random.
        unsupported: items that training never showed: ``floor`` counts them as seen once, ``drop`` drops their rows.
        level: ``relative``, or ``absolute`` with conversions and ratings.
    """

    gamma: float | str = option(1.0, GAMMA, "how much of popularity exposure explains: 1 all, −1 nothing")
    unsupported: str = option("floor", Words(("floor", "drop")), "items that training never showed", changed=True)
    level: Level = option(Level.RELATIVE, LEVELS, "whether P is a probability", changed=True)
    items: Ids | None = field(default=None, compare=False)
    counts: Floats | None = field(default=None, compare=False)
    slope: Exponent | None = field(default=None, compare=False)
    per_user: float | None = field(default=None, compare=False)  # |O| / U

    name = "popularity"
    learnt = "counts"
    estimated = True
    by_parts = True
    ignores_activity = True

    @classmethod
    def from_counts(cls, items: Ids, counts: Floats, gamma: float | str = 1.0, unsupported: str = "floor") -> Self:
        """From training positives counted elsewhere, such as by ``count_items`` in a file that exceeds memory."""
        if len(items) != len(counts) or not (np.asarray(counts) >= 0.0).all() or not np.any(counts):
            raise InputError(
                "popularity: there must be one count per item, none negative, and not all of them 0.", code="bad-counts"
            )
        if isinstance(gamma, str):
            raise InputError(
                "popularity: counts of positives alone do not say γ. Give a number: gamma=1, if "
                "exposure explains all of popularity.",
                code="exponent-unknown",
            )
        return cls(gamma, unsupported=unsupported, items=items, counts=np.asarray(counts, dtype=np.float64))

    @property
    def assumption(self) -> str:
        """How much of popularity comes from exposure: n^a, a = (γ + 1)/2."""
        if isinstance(self.gamma, str) and self.slope is None:
            return "popularity follows exposure by the estimated power"
        share = (self.gamma_ + 1.0) / 2.0
        if share > 1.0:
            return "those who see both like popular items less than rare ones (γ above 1)"
        if share < 0.0:
            return "rare items are shown more than popular ones (γ below −1)"
        if share == 0.0:
            return "every pair was equally likely to be seen"
        return f"exposure explains {'all' if share == 1.0 else f'{share:.0%}'} of popularity"

    def fit(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """Count the training positives of every item; learn γ and the level where asked."""
        return self.fit_tally(self.tally(log, weights), inputs=inputs)

    def tally(self, log: Log, weights: Floats | None = None) -> TrainingPositives:
        """The training positives of every item, and in two halves of the users where γ is to be learnt."""
        return TrainingPositives.of(log, weights, halves=self.gamma == ESTIMATE)

    def fit_tally(self, tally: TrainingPositives, *, inputs: FitInputs = NO_INPUTS) -> Self:
        """From the positives of all users."""
        if not tally.positives.any():
            raise InputError(
                "popularity propensities need training positives, and the training log has none.", code="no-positives"
            )
        if self.level is Level.ABSOLUTE and not tally.shows_zeros:
            raise InputError(
                "popularity(level=absolute) needs a training log of all that was seen, zeros included "
                "(feedback='conversions' or ratings): positives alone do not say how much was seen.\n"
                "Use the relative form, popularity(gamma=1) (if exposure explains all of popularity), with snips under "
                "target pooled, or known propensities.",
                code="positives-only",
            )
        return self.remember(
            items=tally.items,
            counts=tally.positives,
            per_user=tally.rows / tally.users,
            slope=_slope(tally, inputs) if self.gamma == ESTIMATE else None,
        )

    def from_files(self, files: TrainingFiles) -> Self:
        """From the rows of every item, those above a value only where it is given."""
        if files.mcar is not None or self.level is Level.ABSOLUTE:
            raise InputError(
                f"counted: positives of items are all that is counted for '{self}', and a random sample (mcar) or an "
                "absolute level need more. Use popularity(gamma=1), if exposure explains all of popularity, or give "
                "the training log with train=….",
                code="not-supported",
                option="counted",
            )
        needed = ("item",) if files.above is None else ("item", "value")
        used = {ours: theirs for ours, theirs in (files.columns or {}).items() if ours in needed}
        items, counts = count_items(files.train, columns=used, above=files.above)
        return self.from_counts(items, counts, self.gamma, self.unsupported)

    def supported_only(self) -> Self:
        """With unsupported=drop."""
        return replace(self, unsupported="drop")

    @property
    def gamma_(self) -> float:
        """γ as it is used, told or estimated."""
        if self.slope is not None:
            return round(2.0 * self.slope.value - 1.0, DIGITS)
        if isinstance(self.gamma, str):
            raise InputError("popularity(gamma=estimate) has not been fitted yet: call .fit(train).", code="not-fitted")
        return float(self.gamma)

    @property
    def gamma_se(self) -> float | None:
        """The standard error of an estimated γ."""
        return None if self.slope is None else 2.0 * self.slope.se

    def of(self, log: Log) -> Scored:
        """The propensity of every row's item."""
        counts = self._counts(log.items)
        power = self._power(counts)

        def rows_of(which: npt.NDArray[np.bool_]) -> int:
            return int(np.count_nonzero(which[log.item])) if which.any() else 0

        return Scored(np.minimum(power, 1.0)[log.item], floored=rows_of(counts == 0), capped=rows_of(power > 1.0))

    def of_items(self, items: Ids) -> Floats:
        """The propensity of every item (NaN where it is to be dropped)."""
        return np.minimum(self._power(self._counts(items)), 1.0)

    def _counts(self, items: Ids) -> Floats:
        if self.items is None or self.counts is None:
            raise InputError(
                "popularity propensities are counted on a training log, never on the test log whose clicks they are to "
                "debias (that would weigh each click by itself). Give train=…, or call .fit(train).",
                code="no-training-log",
            )
        place = items.into(self.items)
        return np.where(place >= 0, self.counts[np.maximum(place, 0)], 0.0)

    def _power(self, counts: Floats) -> Floats:
        """n^a over its largest value, so that P is at most 1; absolute: over its sum, times |O| / U."""
        assert self.counts is not None
        exponent = (self.gamma_ + 1.0) / 2.0
        unit = self.counts.max(initial=1.0) if exponent > 0.0 else 1.0
        least = np.nan if self.unsupported == "drop" else 1.0

        def power(counts: Floats) -> Floats:
            used = np.where(counts > 0.0, counts, 1.0)
            return np.asarray(np.where(counts > 0.0, 1.0, least) * (used / unit) ** exponent, dtype=np.float64)

        if self.level is Level.RELATIVE:
            return power(counts)
        assert self.per_user is not None
        shown = self.counts if exponent <= 0.0 else self.counts[self.counts > 0.0]  # 0^a = 0: no share for the unseen
        return np.asarray(power(counts) * (self.per_user / np.nansum(power(shown))))

    def shown(self) -> dict[str, Any]:
        """γ as it is used, then its level."""
        told = super().shown() | {"gamma": self.gamma if self.slope is None else self.gamma_}
        return {name: told[name] for name in ("gamma", "level", "unsupported") if name in told}

    def __repr__(self) -> str:
        if self.slope is None:
            return f"<{self}>"
        return f"<{self}, gamma = {self.gamma_:g} ± {self.gamma_se:.2g} from {self.slope.items:,} items>"


@dataclass(frozen=True, eq=False)
class TrainingPositives:
    """What popularity needs of the training rows of some users; those of other users are added.

    Args:
        items: the catalogue, the same for all users.
        positives: of every item, by the weight of their users.
        rows, users: Σ of the rows' weights, and of the users'.
        negatives: rows that are no positives.
        shows_zeros: whether rows are all that was seen, not only what was liked.
        halves: positives and exposures in two random halves of the users, where they are asked for.
    """

    items: Ids
    positives: Floats
    rows: float
    users: float
    negatives: int
    shows_zeros: bool
    halves: tuple[Half, Half] | None

    @classmethod
    def of(cls, log: Log, weights: Floats | None, *, halves: bool) -> TrainingPositives:
        """Count the rows of a log."""
        positive = positive_rows(log)
        liked = log.item if positive.all() else log.item[positive]
        weight = None if weights is None else row_weights(log, weights)
        return cls(
            items=log.items,
            positives=(
                counts_of(liked, len(log.items))
                if weight is None
                else np.bincount(liked, weight[positive], len(log.items))
            ).astype(np.float64),
            rows=float(len(log)) if weight is None else float(weight.sum()),
            users=len(log.users) if weights is None else float(weights.sum()),
            negatives=len(log) - len(liked),
            shows_zeros=_shows_zeros(log),
            halves=_halves(log, positive, row_weights(log, weights), log.items) if halves else None,
        )

    def merge(self, other: TrainingPositives) -> TrainingPositives:
        """Those of both sets of users."""
        return TrainingPositives(
            self.items,
            self.positives + other.positives,
            self.rows + other.rows,
            self.users + other.users,
            self.negatives + other.negatives,
            self.shows_zeros or other.shows_zeros,
            _both_halves(self.halves, other.halves),
        )


def _both_halves(a: tuple[Half, Half] | None, b: tuple[Half, Half] | None) -> tuple[Half, Half] | None:
    if a is None or b is None:
        return None
    one, other = (Half(x.positives + y.positives, x.exposures + y.exposures) for x, y in zip(a, b, strict=True))
    return one, other


def _slope(train: TrainingPositives, inputs: FitInputs) -> Exponent:
    """The exponent a, from exposures where zeros are logged, else from a log seen at random."""
    halves = present(train.halves)
    if train.shows_zeros:
        if not train.negatives:
            raise InputError(
                "popularity(gamma=estimate): every training row counts as positive, so that exposures and positives "
                "are the same. Say what is relevant (relevant='>=4'), or give a number: popularity(gamma=1).",
                code="all-relevant",
            )
        return from_exposures(*halves)
    if inputs.mcar is None:
        raise InputError(
            "popularity(gamma=estimate): positives alone do not say whether an item is clicked much because it is "
            "shown much or because it is liked much, so γ is not identified.\n"
            "Choose it by hand, popularity(gamma=1) if exposure explains all of popularity, give a training log with "
            "the seen zeros (feedback='conversions'), or a log whose pairs were seen at random (mcar=…).",
            code="positives-only",
        )
    shown, liked = inputs.mcar, positive_rows(inputs.mcar)
    if _shows_zeros(shown) and liked.all():
        raise InputError(
            "popularity(gamma=estimate): every row of the log seen at random counts as positive, which says nothing of "
            "relevance. Say what is relevant (relevant='>=4'), or give a number: popularity(gamma=1).",
            code="all-relevant",
            option="mcar",
        )
    one, other = (half.positives for half in halves)
    return from_random(one, other, *_halves(shown, liked, row_weights(shown, inputs.mcar_weights), train.items))


def _halves(log: Log, positive: npt.NDArray[np.bool_], weight: Floats, items: Ids) -> tuple[Half, Half]:
    """Positives and exposures of every item in two random halves of the users; without zeros all were shown alike."""
    draws = pair_uniform(0, log.users.hashes, np.zeros(len(log.users), dtype=np.uint64))
    place = log.items.into(items)[log.item]

    def half(users: npt.NDArray[np.bool_]) -> Half:
        rows = users[log.user] & (place >= 0)
        liked = rows & positive
        shown = np.full(len(items), float(users.sum()))
        if _shows_zeros(log):
            shown = np.bincount(place[rows], weight[rows], len(items)).astype(np.float64)
        return Half(np.bincount(place[liked], weight[liked], len(items)).astype(np.float64), shown)

    return half(draws < 0.5), half(draws >= 0.5)


def _shows_zeros(log: Log) -> bool:
    """Whether rows are all that was seen, not only what was liked."""
    return log.feedback is not Feedback.IMPLICIT and log.value is not None
