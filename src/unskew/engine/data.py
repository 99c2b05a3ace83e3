"""What an engine works on: the held-out rows of whole users, and every model's lists over the same vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from unskew.engine.census import Census, CensusPairs
from unskew.engine.draw_marks import DrawMarks
from unskew.engine.listed_pairs import ListedPairs
from unskew.estimators import Batch
from unskew.inference.prediction_range import NO_PREDICTIONS, PredictionRange
from unskew.kernels import sums
from unskew.kernels.arrays import Bools, Floats, Hashes, Ints32, Ints64, present
from unskew.kernels.hits import rate_hits, sort_hits
from unskew.kernels.ranks import find_listed
from unskew.log import Recommendations
from unskew.log.order import regroup


class Listed(NamedTuple):
    """Held-out rows that a model lists, user by user, the best rank first: where users begin, the rows, their ranks."""

    starts: Ints64
    row: Ints64
    place: Ints64

    @classmethod
    def room(cls, users: int, rows: int) -> Listed:
        """For as many as there may be."""
        return cls(*(np.empty(n + 1, dtype=np.int64) for n in (users, rows, rows)))


@dataclass(frozen=True, eq=False)
class Hits:
    """The rows of some users whose items a model lists, user by user, the best rank first (``kernels/hits.py``)."""

    starts: Ints64
    row: Ints64
    place: Ints64
    precision: Floats

    @classmethod
    def of(cls, listed: Listed, batch: Batch, depth: int) -> Hits:
        """Those above a depth."""
        starts, row, place = listed.starts.copy(), *(each[: listed.starts[-1]].copy() for each in listed[1:])
        precision = np.empty(len(row))
        rate_hits(starts, row, place, batch.value, depth, precision)
        return cls(starts, row, place, precision)

    @property
    def arrays(self) -> tuple[Ints64, Ints64, Ints64, Floats]:
        """As kernels take them."""
        return self.starts, self.row, self.place, self.precision


class GuessedCosts(NamedTuple):
    """What an outcome model says the pairs of some users cost: of every row, and of all candidates of a user."""

    rows: Floats
    totals: Floats


@dataclass(frozen=True, eq=False)
class Ranked:
    """What one model says of the held-out rows of some users.

    Args:
        rank: where it lists the row's item (0 = not listed).
        predicted: what it predicts for the row, where it predicts.
        guessed: by metric, what an outcome model says that these predictions cost, where it is asked.
        list_indptr, list_rank: the users' lists themselves, where they are asked for.
        list_candidates: which listed entries are candidates; the others cannot be hits.
        list_q: what the outcome model says of each listed pair (0 where it is no candidate).
        list_inside: which entries are items of the catalogue, where some are not: totals hold no others.
        list_range: how far the outcome model's predictions reach.
        list_census: the listed pairs as a census model sees them, where there is one.
    """

    rank: Ints32
    predicted: Floats | None = None
    guessed: Mapping[str, GuessedCosts] = field(default_factory=dict)
    list_indptr: Ints64 = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    list_rank: Ints32 = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    list_candidates: Bools | None = None
    list_q: Floats | None = None
    list_inside: Bools | None = None
    list_range: PredictionRange = NO_PREDICTIONS
    list_census: CensusPairs | None = None
    _listed: list[Listed] = field(init=False, default_factory=list, repr=False)
    _hits: dict[int, Hits] = field(init=False, default_factory=dict, repr=False)

    @classmethod
    def in_lists(cls, held: EvaluationData, lists: Recommendations, low: int, high: int) -> Ranked:
        """The ranks of some users' rows."""
        rows = int(held.indptr[high] - held.indptr[low])
        rank, listed = np.empty(rows, dtype=np.int32), Listed.room(high - low, rows)
        find_listed(held.indptr, held.item, lists.indptr, lists.item, lists.rank, low, high, rank, *listed)
        found = cls(rank)
        found._listed.append(listed)
        return found

    def beside(self, **more: Any) -> Ranked:
        """The same ranks, with what else is known."""
        found = replace(self, **more)
        found._listed.extend(self._listed)
        return found

    def hits(self, batch: Batch, depth: int) -> Hits:
        """The rows with a rank from 1 to ``depth`` − 1; all estimators sum over the same ones."""
        if depth not in self._hits:
            self._hits[depth] = Hits.of(self._in_order(batch), batch, depth)
        return self._hits[depth]

    def _in_order(self, batch: Batch) -> Listed:
        """The listed rows, as they were found in the lists; of ranks that came otherwise they are sorted."""
        if not self._listed:
            self._listed.append(Listed.room(batch.users, len(self.rank)))
            sort_hits(batch.indptr, self.rank, *self._listed[0])
        return self._listed[0]


@dataclass(frozen=True, eq=False, kw_only=True)
class EvaluationData(Batch):
    """Rows of the population's users, items ascending inside a user, with everything that estimators may look at.

    Args:
        hashes: of the users' ids, for the bootstrap.
        lists: per model, lists coded over the same users and items.
        predicted: per model, its prediction of each row; ``None`` where it predicts nothing.
        guessed: per model and metric, what an outcome model says that its predictions cost, where it is asked.
        relative: whether the propensities are relative.
        listed: what is known of listed pairs; ``None`` where no estimator looks at whole lists.
        shown: tells which listed pairs the log could ever have shown; ``None`` where all of them.
        all_pairs: a census model of all of them, where an estimator asks for one.
        with_answers: the same users and lists with the rows of the log and the answers, where there are any.
        draws: samples of the rows over which users' columns are averaged; for the naive estimator alone.
    """

    hashes: Hashes
    item: Ints32
    lists: tuple[Recommendations, ...]
    relative: bool = True
    predicted: tuple[Floats | None, ...] = ()
    guessed: tuple[Mapping[str, GuessedCosts], ...] = ()
    listed: ListedPairs | None = None
    shown: ListedPairs | None = None
    all_pairs: Census | None = None
    with_answers: EvaluationData | None = None
    draws: DrawMarks | None = None

    @cached_property
    def clicks(self) -> Ints64:
        """How many seen relevant items each user has."""
        if (self.value > 0.0).all():
            return np.diff(self.indptr)
        return user_sums(self, (self.value > 0.0).astype(np.float64)).astype(np.int64)

    @property
    def click_counts(self) -> Ints64:
        """How many users have 1, 2, 3–5, 6+ of them."""
        counts = np.bincount(np.minimum(self.clicks, 6), minlength=7)
        return np.array([counts[1], counts[2], counts[3:6].sum(), counts[6]], dtype=np.int64)

    def batch(self, low: int, high: int) -> Batch:
        """Users ``low`` … ``high − 1`` as estimators see them."""
        rows = slice(self.indptr[low], self.indptr[high])
        return Batch(
            indptr=self.indptr[low : high + 1] - self.indptr[low],
            value=self.value[rows],
            propensity=None if self.propensity is None else self.propensity[rows],
            labels={name: codes[rows] for name, codes in self.labels.items()},
            relevant=None if self.relevant is None else self.relevant[low:high],
            candidates=None if self.candidates is None else self.candidates[low:high],
            rating=None if self.rating is None else self.rating[rows],
            q=None if self.q is None else self.q[rows],
            q_total=None if self.q_total is None else self.q_total[low:high],
            counted=None if self.counted is None else self.counted[rows],
            census=None if self.all_pairs is None else self.all_pairs.block(self.indptr, self.item, low, high),
            joined=None if self.with_answers is None else self.with_answers.block(low, high),
        )

    def block(self, low: int, high: int) -> JoinedBlock:
        """The same with what models say of the rows."""
        return JoinedBlock(self.batch(low, high), self.ranked(low, high))

    def ranked(self, low: int, high: int) -> list[Ranked]:
        """Per model, the rank of every held-out item of these users, and its prediction."""
        found = []
        rows = slice(self.indptr[low], self.indptr[high])
        for j, lists in enumerate(self.lists):
            ranked, predicted = Ranked.in_lists(self, lists, low, high), self.predicted[j] if self.predicted else None
            if predicted is not None:
                ranked = ranked.beside(predicted=predicted[rows])
            if self.guessed:
                of = {name: GuessedCosts(q[rows], total[low:high]) for name, (q, total) in self.guessed[j].items()}
                ranked = ranked.beside(guessed=of)
            found.append(ranked if self.listed is None else self._with_list(ranked, lists, low, high))
        return found

    def of_rows(self, rows: Ints64 | Bools, indptr: Ints64) -> Self:
        """Some of the rows; ``indptr`` says whose they are."""
        predicted = tuple(None if numbers is None else numbers[rows] for numbers in self.predicted)
        guessed = tuple({name: q._replace(rows=q.rows[rows]) for name, q in each.items()} for each in self.guessed)
        draws = None if self.draws is None else self.draws.of_rows(rows)
        more: dict[str, Any] = {"predicted": predicted, "guessed": guessed, "draws": draws}
        return replace(super().of_rows(rows, indptr), item=self.item[rows], **more)

    def of_users(self, users: Ints32) -> Self:
        """Some of the users, with their rows and lists."""
        indptr, rows = regroup(self.indptr, users)

        def cut(numbers: Floats | None) -> Floats | None:
            return None if numbers is None else numbers[users]

        part = self if rows is None else self.of_rows(rows, indptr)
        return replace(
            part,
            indptr=indptr,
            hashes=self.hashes[users],
            lists=tuple(lists.of_users(users) for lists in self.lists),
            relevant=cut(self.relevant),
            candidates=cut(self.candidates),
            q_total=cut(self.q_total),
            guessed=tuple(
                {name: q._replace(totals=q.totals[users]) for name, q in each.items()} for each in part.guessed
            ),
            listed=None if self.listed is None else self.listed.of_users(users),
            shown=None if self.shown is None else self.shown.of_users(users),
            all_pairs=None if self.all_pairs is None else self.all_pairs.of_users(users),
            with_answers=None if self.with_answers is None else self.with_answers.of_users(users),
            draws=None if part.draws is None else part.draws.of_users(users),
        )

    def _with_list(self, ranked: Ranked, lists: Recommendations, low: int, high: int) -> Ranked:
        listed = present(self.listed)
        candidates = listed.candidates(lists, low, high)
        first, last = lists.indptr[low], lists.indptr[high]
        q, reach = listed.predictions(lists, low, high, candidates)
        return ranked.beside(
            list_indptr=lists.indptr[low : high + 1] - first,
            list_rank=lists.rank[first:last],
            list_candidates=candidates,
            list_q=q,
            list_range=reach,
            list_inside=listed.inside(lists, low, high),
            list_census=self._list_census(lists, low, high),
        )

    def _list_census(self, lists: Recommendations, low: int, high: int) -> CensusPairs | None:
        if self.all_pairs is None:
            return None
        user = np.repeat(np.arange(low, high, dtype=np.int32), np.diff(lists.indptr[low : high + 1]))
        return self.all_pairs.pairs(user, lists.item[lists.indptr[low] : lists.indptr[high]])


@dataclass(frozen=True, eq=False)
class JoinedBlock:
    """Some users with the rows of the log and the answers, and what each model says of these rows."""

    batch: Batch
    ranked: list[Ranked]


def empty_columns(users: int, width: int) -> Floats:
    """Room for numbers of users, (users, columns), every column in one piece: kernels walk along columns."""
    return np.empty((width, users)).T


def user_sums(batch: Batch, numbers: Floats) -> Floats:
    """Σ of a number per row, for each user of the batch."""
    out = np.empty(batch.users)
    sums.per_user(batch.indptr, numbers, out)
    return out
