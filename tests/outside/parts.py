"""A third party's parts, as somebody outside the package would write them: one class each, registered.

``docs/extending.md`` shows these classes; a test checks that page and file agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import typer

from unskew import InputError, estimators, metrics, models, outcome, propensity, read_log, sampling, split
from unskew.cli import Json, QuietAlone, check_outputs, out, written
from unskew.core import Number, Whole, option, write_json
from unskew.core.bounds import SHARE
from unskew.estimators import Batch, Estimator, Need, Standing, Target, Term
from unskew.estimators.base import pairs
from unskew.log import Ids, Log, Recommendations
from unskew.metrics import RankingMetric, RatingMetric, Shape
from unskew.models.base import Model, from_shared_scores
from unskew.outcome import Outcome
from unskew.outcome.base import PairPredictor
from unskew.propensity import NO_INPUTS, FitInputs, Level, Propensity, Scored
from unskew.sampling import Counts, Sampler
from unskew.split import Split, Splitter

Floats = Any


@metrics.register
@dataclass(frozen=True)
class Geometric(RankingMetric):
    """Every rank is worth a fixed share of the one before it."""

    ratio: float = option(0.5, SHARE, "what a rank is worth, of the one before it")

    name = "geometric"
    shape = Shape.ADDITIVE

    def worth(self, rank: Floats) -> Floats:
        """ratio^(rank − 1)."""
        return self.ratio ** (rank - 1.0)


@metrics.register
@dataclass(frozen=True)
class Huber(RatingMetric):
    """Squared near 0, straight beyond."""

    name = "huber"

    def cost(self, value: Floats, prediction: Floats) -> Floats:
        """½e² up to 1, then |e| − ½."""
        off = np.abs(prediction - value)
        return np.where(off < 1.0, 0.5 * off * off, off - 0.5)


@estimators.register
@dataclass(frozen=True)
class Rooted(Estimator):
    """Weigh by one over the square root of the propensity: half-way between naive and snips."""

    name = "rooted"
    valid = frozenset({Target.PER_USER, Target.POOLED})

    def needs(self, target: Target) -> frozenset[Need]:
        """Propensities."""
        return frozenset({Need.PROPENSITY})

    def promise(self, target: Target) -> str:
        """Nothing."""
        return "half-way between naive and snips"

    def standing(self, target: Target) -> Standing:
        """It leaves half of the skew."""
        return Standing.BIASED

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """No sensitivity is declared: it has no tipping points."""
        weight = np.sqrt(batch.inverse)
        return (Term(weight, pairs(weight)),)


@estimators.register
@dataclass(frozen=True)
class Halves(Estimator):
    """The mean of naive and snips: a sum of two terms."""

    name = "halves"
    valid = frozenset({Target.PER_USER, Target.POOLED})

    def needs(self, target: Target) -> frozenset[Need]:
        """Propensities."""
        return frozenset({Need.PROPENSITY})

    def promise(self, target: Target) -> str:
        """Nothing."""
        return "the mean of naive and snips"

    def standing(self, target: Target) -> Standing:
        """It leaves half of the skew."""
        return Standing.BIASED

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """Half of each."""
        one = np.ones_like(batch.inverse)
        return Term(0.5 * one, pairs(one)), Term(0.5 * batch.inverse, pairs(batch.inverse))


@propensity.register
@dataclass(frozen=True)
class ByValue(Propensity):
    """P depends on the value of a pair alone, as somebody knows who asked."""

    low: float = option(0.1, SHARE, "of a value of 0")
    high: float = option(0.5, SHARE, "of any other value")

    name = "by_value"
    reads = ("value",)

    @property
    def level(self) -> Level:
        """A probability."""
        return Level.ABSOLUTE

    def of(self, log: Log) -> Scored:
        """One of the two."""
        value = np.ones(len(log)) if log.value is None else log.value
        return Scored(np.where(value > 0.0, self.high, self.low))


@propensity.register
@dataclass(frozen=True)
class RootCount(Propensity):
    """P is proportional to the root of the training count."""

    items: Ids | None = field(default=None, compare=False, repr=False)
    counts: Floats | None = field(default=None, compare=False, repr=False)

    name = "root_count"
    estimated = True

    @property
    def level(self) -> Level:
        """Ratios only."""
        return Level.RELATIVE

    @property
    def fitted(self) -> bool:
        """Whether counts are there."""
        return self.counts is not None

    def fit(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """Count the rows of every item; users may count several times, or not at all (bootstrap)."""
        rows = None if weights is None else weights[log.user]
        return self.remember(items=log.items, counts=np.bincount(log.item, rows, len(log.items)))

    def of(self, log: Log) -> Scored:
        """The root of the count, at most 1."""
        assert self.items is not None and self.counts is not None
        place = log.items.into(self.items)
        counts = np.where(place >= 0, self.counts[place], 0)
        power = np.sqrt(np.maximum(counts, 1.0))
        return Scored((power / power.max())[log.item])


@outcome.register
@dataclass(frozen=True)
class Constant(Outcome):
    """The same guess for every pair."""

    q: float = option(0.3, SHARE, "the guess")

    name = "constant"
    estimated = False

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        """q everywhere."""
        return lambda user, item: np.full(len(user), self.q)


@models.register
@dataclass(eq=False, repr=False)
class Alphabetical(Model):
    """Lists items by their ids, from some place on."""

    skip: int = option(0, Whole(0, 1000), "how many to leave out")

    name = "alphabetical"

    def fit(self, log: Log) -> Self:
        """Learn the catalogue."""
        self.items_ = log.items
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The first k."""
        scores = -np.arange(len(self.catalogue), dtype=np.float64)
        scores[: self.skip] = -1e9
        return from_shared_scores(scores, self.catalogue, users, k, seen)


@split.register
@dataclass(frozen=True)
class LeaveLast(Splitter):
    """Hold out the latest rows of every user."""

    rows: int = option(1, Whole(1, 1000), "of every user that are held out")

    name = "leave_last"

    def splits(self, log: Log) -> list[Split]:
        """One split; time decides, so that its parts have no share of the whole."""
        if log.time is None:
            raise InputError(f"{log.account.source}: leave_last needs a column 'time', and there is none.")
        order = np.lexsort((log.time, log.user))
        later = log.indptr[log.user[order] + 1] - np.arange(len(order)) - 1  # rows of the same user behind it
        held_out = np.empty(len(order), dtype=np.bool_)
        held_out[order] = later < self.rows
        return [Split(log, held_out, None)]


@sampling.register
@dataclass(frozen=True)
class Damped(Sampler):
    """Weigh a row by a power of its item's training rows."""

    power: float = option(-0.5, Number(low=-2.0, high=2.0), "of the training rows, plus one")

    name = "damped"

    def item_weight(self, counts: Counts) -> Floats:
        """(n_i + 1)^power."""
        return (counts.train + 1.0) ** self.power


def busiest(
    log: Annotated[Path, typer.Argument(help="The log.")],
    json: Json = None,
    quiet: QuietAlone = False,
) -> None:
    """Who has most rows?"""
    check_outputs(log, json=json)
    found = read_log(log)
    rows = np.diff(found.indptr)
    user = str(found.users.values[int(rows.argmax())])
    if not quiet:
        out.print(f"{user}: {rows.max()} rows")
    if json is not None:
        write_json(json, {"user": user, "rows": int(rows.max())})
        written([json], quiet)


busiest.examples = (("The user with most rows", "unskew busiest clicks.csv"),)  # type: ignore[attr-defined]
