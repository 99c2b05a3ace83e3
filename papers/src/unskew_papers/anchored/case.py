"""A log, models and a completely known truth: what a plan is made from, and what its answers come from.

Matrices of users × items: what training and the held-out log hold, what is true, and where each model lists an item.
Users may be chosen anew (some of them, or one of them several times), for studies of users as a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from unskew import plan
from unskew.design import Plan, decide, draw, round_stream
from unskew.log import Feedback, Ids, Log, Recommendations
from unskew.outcome import EDGE, Census
from unskew.propensity import FitInputs, folds_of
from unskew_papers.anchored.known import FOLDS, KnownPairs, LogRows
from unskew_papers.arrays import Bools, Floats, Ints64, starts_of

LENGTH, METRIC = 10, "recall@10"
NOBODY = -1  # of a matrix of ratings: this pair was not rated


@dataclass(frozen=True, eq=False)
class Case:
    """Matrices of users × items.

    Args:
        models: their names.
        train, held: what was rated there, as codes; ``NOBODY`` elsewhere.
        truth: what would be answered; ``NOBODY`` where nobody knows. Known pairs outside training are the candidates.
        liked: which codes count as relevant.
        rank: of every pair in each model's list, (users, items, models); 0 where it is not among the first ten.
    """

    models: tuple[str, ...]
    train: Ints64
    held: Ints64
    truth: Ints64
    liked: Bools
    rank: Ints64

    def of(self, who: Ints64) -> Case:
        """The same with other users: these rows, each as often as it is named."""
        parts = (self.train, self.held, self.truth, self.rank)
        train, held, truth, rank = (each[who] for each in parts)
        return replace(self, train=train, held=held, truth=truth, rank=rank)

    @cached_property
    def ids(self) -> tuple[Ids, Ids]:
        """Users and items, by number."""
        users, items = self.train.shape
        return Ids(pl.Series("id", np.arange(users))), Ids(pl.Series("id", np.arange(items)))

    @cached_property
    def candidates(self) -> Bools:
        """Known pairs outside training."""
        return np.asarray((self.truth != NOBODY) & (self.train == NOBODY))

    @cached_property
    def lists(self) -> Mapping[str, Recommendations]:
        """By model."""
        found = {}
        for m, name in enumerate(self.models):
            user, item = np.nonzero(self.rank[:, :, m])
            rank = self.rank[user, item, m].astype(np.int32)
            order = np.lexsort((rank, user))
            start = starts_of(np.bincount(user, minlength=len(self.rank)))
            found[name] = Recommendations(*self.ids, start, item[order].astype(np.int32), rank[order])
        return found

    def log(self, rated: Ints64) -> Log:
        """What a matrix holds, as a log with zeros."""
        user, item = np.nonzero(rated != NOBODY)
        value = self.liked[rated[user, item]].astype(np.float64)
        start = starts_of(np.bincount(user, minlength=len(rated)))
        return Log(
            *self.ids, start, item.astype(np.int32), value=value, gain=value, feedback=Feedback.CONVERSIONS
        )  # fmt: skip

    @cached_property
    def known_log(self) -> Log:
        """The held-out rows whose pairs are candidates."""
        return self.log(np.where(self.candidates, self.held, NOBODY))

    @cached_property
    def census(self) -> Census:
        """The model of relevance that the held-out log gives, answers unseen."""
        return Census().fit(self.log(self.held), inputs=FitInputs(train=self.log(self.train)))

    @cached_property
    def known(self) -> KnownPairs:
        """All of it by candidate pair."""
        user, item = np.nonzero(self.candidates)
        codes = user.astype(np.int32), item.astype(np.int32)
        kind, q = self.truth[user, item], np.clip(self.census.bind(*self.ids)(*codes), EDGE, 1.0 - EDGE)
        fold, _ = folds_of(*self.ids, *codes, FOLDS)
        who, what = np.nonzero(self.held != NOBODY)
        rows = LogRows(who, self.held[who, what], self.liked[self.held[who, what]], self._worth(who, what))
        return KnownPairs(
            users=len(self.train),
            user=user,
            item=item,
            kind=kind,
            y=self.liked[kind].astype(np.float64),
            worth=self._worth(user, item),
            logged=self.held[user, item] != NOBODY,
            score=np.log(q / (1.0 - q)),
            fold=fold,
            log=rows,
        )

    def _worth(self, user: Ints64, item: Ints64) -> Floats:
        return (self.rank[user, item] > 0).astype(np.float64)

    def plan(self, **options: Any) -> Plan:
        """``us.plan`` of these lists, told the true difference of every two models as what to detect.

        Pairs that are no candidates here count as seen before.
        """
        outside = np.where(self.candidates, NOBODY, 0)
        made = plan(
            self.lists,
            log=self.known_log,
            seen=self.log(outside),
            metric=METRIC,
            outcome=self.census,
            detect=0.01,
            threads=1,
            **options,
        )
        return with_leads(made, self.known.lead)

    @cached_property
    def usual_plan(self) -> Plan:
        """With users as a sample, a quarter of the rows for values, and 1.96."""
        return self.plan(simultaneous=False)

    def drawn(self, made: Plan, rows: float, seed: int) -> tuple[Ints64, Floats]:
        """One draw by a plan: places among the known pairs, and their probabilities."""
        design = made.parts.looked.design
        found = draw(design, design.scale(rows), round_stream(seed, 1))
        return self._places[found.user, found.item], found.propensity

    @cached_property
    def _places(self) -> Ints64:
        """Where a pair stands among the candidates."""
        places = np.full(self.train.shape, -1, dtype=np.int64)
        places[self.candidates] = np.arange(np.count_nonzero(self.candidates))
        return places


def with_leads(made: Plan, lead: Floats) -> Plan:
    """The plan with another T to detect for every pair of models."""
    sizes = np.zeros_like(made.parts.detect)
    first, second = np.triu_indices(len(sizes), 1)
    sizes[first, second] = sizes[second, first] = np.abs(lead)
    return decide(replace(made, parts=replace(made.parts, detect=sizes)))


def ranks_of(lists: Mapping[str, Recommendations], users: Ids, items: Ids) -> Ints64:
    """Where each model lists every pair, if among the first ten."""
    out = np.zeros((len(users), len(items), len(lists)), dtype=np.int64)
    for m, each in enumerate(lists.values()):
        own = each.recode(users, items)
        user = np.repeat(np.arange(len(users)), np.diff(own.indptr))
        short = own.rank <= LENGTH
        out[user[short], own.item[short], m] = own.rank[short]
    return out
