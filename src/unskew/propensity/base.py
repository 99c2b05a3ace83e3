"""Propensities: how likely each interaction was to be seen.

Each states its level, ``absolute`` (a probability) or ``relative`` (right up to one constant), and what it refers to:
the whole ``log``, its ``train`` or its ``test`` part. Relative propensities serve self-normalised estimators only.

A random hold-out puts each interaction into the test part with probability s, so a pair with propensity P in the whole
log is in the test part with probability P·s. A candidate outside training has not been put there, which leaves

    P(in test | not in training) = P·s / (1 − P·s_train),

where s_train is the share of the training part, 1 − s if the two parts are the whole. Relative propensities are never
scaled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.bounds import LARGEST, SMALLEST
from unskew.core.errors import InputError
from unskew.core.parts import Part
from unskew.core.text import plain
from unskew.log import Features, Feedback, Ids, Log
from unskew.log.expected import a_log, coded_pairs
from unskew.log.ids import Codes
from unskew.log.relevance import row_gains

Floats = npt.NDArray[np.float64]
IdColumn = Sequence[Any] | pl.Series | npt.NDArray[Any]


class Level(StrEnum):
    """Whether the level of a propensity means something."""

    ABSOLUTE = "absolute"
    RELATIVE = "relative"


class Scope(StrEnum):
    """Which rows a propensity speaks of: P(a pair is in the whole log, or in one part of it)."""

    LOG = "log"
    TRAIN = "train"
    TEST = "test"


@dataclass(frozen=True, eq=False)
class FitInputs:
    """What a propensity may be fitted on beside the training log.

    Args:
        mcar: a log whose pairs were seen at random, so that its values are those of all pairs.
        user_features, item_features: covariates.
        mcar_weights: how often each user of ``mcar`` counts (bootstrap); everybody once by default.
        train: the training log, for outcome models that describe held-out pairs by it.
    """

    mcar: Log | None = None
    user_features: Features | None = None
    item_features: Features | None = None
    mcar_weights: Floats | None = None
    train: Log | None = None


NO_INPUTS = FitInputs()


@dataclass(frozen=True, eq=False)
class TrainingFiles:
    """A training log that exceeds memory.

    Args:
        train: a file (.parquet, .csv, .tsv), a folder of them, or a pattern such as ``train/*.parquet``.
        mcar: pairs that were seen at random: a log, or files like ``train``.
        columns: our column names → theirs, in all files.
        above: count only rows whose value is above this (0 for conversions); by default all rows.
    """

    train: str | PathLike[str]
    mcar: str | PathLike[str] | Log | None = None
    columns: Mapping[str, str] | None = None
    above: float | None = None


@dataclass(frozen=True, eq=False)
class Scored:
    """Propensities of the rows of a log; NaN marks rows that are to be dropped.

    Args:
        rows: P of every row.
        floored: rows whose propensity is a guess because the item has no training support.
        capped: rows whose propensity was above 1 and was set to 1.
    """

    rows: Floats
    floored: int = 0
    capped: int = 0


class Propensity(Part, ABC):
    """A model of P(seen)."""

    estimated: ClassVar[bool] = False
    known: ClassVar[bool] = False  # written down when pairs were shown, not assumed or fitted: a log may test them
    reads: ClassVar[tuple[str, ...]] = ()  # columns of a pair's own row that P depends on; unseen pairs have none
    models_presence: ClassVar[bool] = False  # a model of which pairs the training log holds: clicks, if that is all
    ignores_activity: ClassVar[bool] = False  # P is that of the item, however active the user
    by_parts: ClassVar[bool] = False  # fitted and asked about users part by part, never needing the log as a whole
    learnt: ClassVar[str] = ""  # the field that a fit fills; empty where nothing is learnt

    @property
    @abstractmethod
    def level(self) -> Level:
        """Whether its level means something."""

    @property
    def assumption(self) -> str:
        """What must hold for it to be right, in words that go on after "if"."""
        return "the fitted propensities are right"

    def lacks(self, log: Log) -> str:
        """The first column that it reads and a log does not have; empty where all are there."""
        return next((c for c in self.reads if getattr(log, c, None) is None and c not in log.columns), "")

    def refers(self, log: Log) -> Scope:
        """Which rows it speaks of, asked for the rows of this test log."""
        return Scope.TRAIN

    def fit(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """Learn from a training log, in place; known and uniform propensities have nothing to learn.

        Args:
            log: all seen rows of training; positives are those with a gain (else a value) above 0. Where its
                ``share`` is known, it is a random part of a whole log. Its vocabularies are the population and the
                catalogue: users and items without rows count as unseen.
            inputs: what else there is.
            weights: how often each user of ``log`` counts (bootstrap); everybody once by default.
        """
        return self

    @property
    def fitted(self) -> bool:
        """Whether there is nothing left to learn."""
        return not self.learnt or getattr(self, self.learnt) is not None

    def tuned(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """The same with options that held-out pairs choose set to numbers, so that many fits need one choice only."""
        return self

    def from_files(self, files: TrainingFiles) -> Self:
        """A fitted one from counts of files that exceed memory (``counted.py``), where counts are all it needs."""
        raise InputError(
            f"counted: '{self}' needs more of a training log than counts. Use popularity or naive_bayes, or give a "
            "training log that fits into memory.",
            code="not-supported",
            option="counted",
        )

    def counted_over(self, users: Ids, items: Ids) -> Self:
        """The same for a population and a catalogue that were not known when it was counted from files."""
        return self

    def supported_only(self) -> Self | None:
        """The same that leaves out items without training support; ``None`` where there is no such option."""
        return None

    def doubts(self, log: Log) -> list[str]:
        """What a reader should know before trusting P of the rows of this log; ``RefusedError`` if it tells nothing."""
        return self.doubts_of(self.doubted(log))

    def doubted(self, log: Log) -> Floats | None:
        """What these doubts rest on, where sums over the rows of a log are enough for them."""
        return None

    def doubts_of(self, sums: Floats | None) -> list[str]:
        """The doubts about a log of which these are the sums."""
        return []

    def tally(self, log: Log, weights: Floats | None = None) -> Any:
        """What a fit needs of a training log where that is sums over its users, which ``merge``; else ``None``."""
        return None

    def fit_tally(self, tally: Any, *, inputs: FitInputs = NO_INPUTS) -> Self:
        """Learn from the sums over all users, in place."""
        raise NotImplementedError

    @property
    def knows_users(self) -> bool:
        """Whether users have parameters of their own, of which other users tell nothing."""
        return False

    @property
    def follows_rows(self) -> bool:
        """Whether a log of half the rows would halve P: probabilities do, absolute or not; bare ratios do not."""
        return self.models_presence or self.level is Level.ABSOLUTE

    @property
    def refits(self) -> bool:
        """Whether it can be fitted anew, to other weights of users."""
        return self.estimated

    @property
    def smooth(self) -> bool:
        """Whether P moves smoothly with the weights of users, so that refitting tells its error."""
        return True

    def share_of(self, log: Log) -> float | None:
        """The share of the whole log that this test part is, as far as the propensity or the split knows."""
        return log.share

    @abstractmethod
    def of(self, log: Log) -> Scored:
        """P of every row of a log."""

    def of_items(self, items: Ids) -> Floats | None:
        """P per item where it is the same for every user and value, else ``None``."""
        return None

    def predict(self, users: IdColumn, items: IdColumn) -> Floats:
        """P of the pairs (users[j], items[j]), which need not have been seen; no users × items matrix is built."""
        (people, user), (things, item) = coded_pairs(users, items)
        order = np.lexsort((item, user))
        found = np.empty(len(order))
        found[order] = self.of(pairs_log(people, things, user[order], item[order])).rows
        return found


def checked(model: Propensity, log: Log) -> Scored:
    """What a propensity, perhaps a caller's own, says of the rows of a log, if that can be weighed by."""
    try:
        scored = model.of(log)
    except TypeError as problem:
        if not (lacking := model.lacks(log)):
            raise
        raise InputError(
            f"{log.account.source}: propensity '{plain(model)}' needs a column '{lacking}', and there is none. Add it, "
            "or use another propensity.",
            code="missing-column",
            column=lacking,
        ) from problem
    rows = scored.rows if isinstance(scored, Scored) else None
    if not isinstance(rows, np.ndarray) or rows.dtype.kind != "f" or rows.shape != (len(log),):
        raise InputError(
            f"'{plain(model)}': of(log) must give Scored with a number for each of {len(log):,} rows.",
            code="wrong-shape",
        )
    most = 1.0 if model.level is Level.ABSOLUTE else LARGEST
    wrong = ~((rows >= SMALLEST) & (rows <= most) | np.isnan(rows))
    if wrong.any():
        first = int(np.argmax(wrong))
        who, what = log.users.values[int(log.user[first])], log.items.values[int(log.item[first])]
        raise InputError(
            f"'{plain(model)}' gives user '{plain(who)}' and item '{plain(what)}' a propensity of {rows[first]:g}; it "
            f"must lie between {SMALLEST:g} and {most:g} ({np.count_nonzero(wrong):,} of {len(log):,} rows do not).\n"
            "One over a smaller number would drown all other rows: use another propensity, or other options of it.",
            code="out-of-range",
            user=who,
            item=what,
        )
    return replace(scored, rows=rows.astype(np.float64, copy=False))


def pairs_log(users: Ids, items: Ids, user: Codes, item: Codes) -> Log:
    """Pairs, sorted by user and item, in the shape of a log: what ``of`` is asked about."""
    indptr = np.concatenate([[0], np.cumsum(np.bincount(user, minlength=len(users)))]).astype(np.int64)
    return Log(users, items, indptr, item, feedback=Feedback.IMPLICIT)


def positive_rows(log: Log) -> npt.NDArray[np.bool_]:
    """Rows with a gain; ratings that no threshold has divided are refused."""
    if a_log(log).gain is None and log.value is None:
        return np.ones(len(log), dtype=np.bool_)
    return row_gains(log) > 0.0


def row_weights(log: Log, weights: Floats | None) -> Floats:
    """The weight of every row: that of its user."""
    return np.ones(len(log)) if weights is None else weights[log.user]


def part_propensity(whole: Floats, share: float, *, unseen: bool, train: float | None = None) -> Floats:
    """The test part's propensity, given the whole log's and the test share.

    Args:
        unseen: only pairs outside training are candidates.
        train: the share of the training part; by default the rest.
    """
    part = whole * share
    train = 1.0 - share if train is None else train
    return np.asarray(part / (1.0 - whole * train) if unseen else part, dtype=np.float64)
