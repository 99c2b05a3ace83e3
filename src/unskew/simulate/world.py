"""A world whose truth is known: what every user likes, and how likely each pair was to be seen.

Users meet a catalogue through a shop window that shows some items far more than others (``population.py`` holds the
laws). What is seen *and* relevant becomes the log; each seen pair is held out with probability ``test_share``, else it
is training. A recommender may list whatever is not in a user's training rows, so that the truth is its worth on *all
relevant items outside training*, seen or not: ``full_log()``. The test log holds the seen ones among them. Given
training, a pair with propensity P is in the test log with probability

    P·s / (1 − P·(1 − s))

and that, the propensity of the test log itself, is what its column ``propensity`` says.

By default the world misleads: items shown much fill the log, so that by naive recall@10 item-kNN and the most popular
items beat a challenger that knows users' tastes, while by the truth the challenger beats both.

Which γ suits popularity(γ), P_i ∝ n_i^((γ+1)/2)? Training counts are n_i ∝ P_i · (share of users who find i relevant).
Were relevance independent of exposure, n_i ∝ P_i and γ = 1 would be right; here what is shown much is also liked a
little more (``agreement``), so counts exaggerate exposure and the right γ is below 1 (about 0.7 by default).

The true worth of given lists (``true_value``), when every relevant pair is known:

    per_user       mean over users with n_u > 0 of (1/n_u) Σ over relevant items of y λ(Z_ui)
    pooled         Σ_u Σ y λ(Z_ui) / Σ_u n_u
    per_user_sum   mean over all users of Σ y λ(Z_ui); normalised=pooled is pooled, normalised=per_user is per_user with
                   0 for users who have nothing relevant

y is 1 for every relevant item, or its grade, and n_u is their sum. Only additive metrics are sums of λ; for the others
the truth is their naive value on the full log.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.bounds import COUNTLESS, POSITIVE, SHARE, Number, Whole, check, word
from unskew.core.errors import InputError, RefusedError
from unskew.core.memory import require
from unskew.core.parts import Flag
from unskew.estimators.target import Target
from unskew.kernels.hashing import pair_uniform
from unskew.kernels.ranks import find_ranks
from unskew.log import Account, Feedback, Ids, Log, Recommendations
from unskew.log.ids import stream_of
from unskew.log.order import starts_of
from unskew.metrics import RankingMetric, Shape, ranking
from unskew.propensity import part_propensity
from unskew.simulate.challenger import Challenger
from unskew.simulate.population import Catalogue, Pairs, PairStatus, Population, draw

MOST_PAIRS = 100_000_000_000
SEED_OF_WORLDS = Whole(0, 2**31 - 1)
GRADES = 5  # a graded outcome is worth 1 … GRADES


def relevant_for(items: int) -> float:
    """How many items are relevant to a user of a shop of this size: 80 in a large one, a sixth of a small one."""
    return min(80.0, items / 6.25)


@dataclass(frozen=True)
class World:
    """Users drawn from a population, with all that they like and the little of it that was seen.

    Args:
        seed: which users are drawn. Another seed gives other people (with other ids) who meet the same catalogue.
        relevant: items that are relevant to a user, on average; it varies between users and can be 0.
        impressions: items shown to a user, on average, repetitions included.
        skew: exponent of the power law of exposure; 0 shows every item equally.
        agreement: correlation of an item's appeal with its place in the order of exposure.
        test_share: probability that a seen pair is held out.
        feedback: ``implicit`` logs seen relevant pairs, ``conversions`` all seen pairs with values 0 and 1.
        graded: with conversions, a relevant pair is worth 1, 2, 3, 4 or 5 instead of 1, each as likely as the others,
            seen or not (a hash of the pair).
    """

    users: int = 2000
    items: int = 500
    seed: int = 0
    relevant: float = 80.0
    impressions: float = 400.0
    skew: float = 0.9
    agreement: float = 0.4
    test_share: float = 0.5
    feedback: Feedback = Feedback.IMPLICIT
    catalogue: int = 0
    graded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "graded", Flag().of(self.graded, "'world': graded"))
        word(self.feedback, ("implicit", "conversions"), "'world': feedback")
        object.__setattr__(self, "feedback", Feedback(self.feedback))  # a text is the same choice
        check(
            self,
            "world",
            users=Whole(1, 100_000_000, COUNTLESS),
            items=Whole(2, 10_000_000, COUNTLESS),
            seed=SEED_OF_WORLDS,
            catalogue=SEED_OF_WORLDS,
            relevant=POSITIVE,
            impressions=POSITIVE,
            skew=Number(low=0.0, high=10.0, why="A steeper law shows one item only."),
            agreement=Number(low=-1.0, high=1.0),
            test_share=SHARE,
        )
        rules = {
            f"users × items must be at most {MOST_PAIRS:,}, since every pair is drawn": self.users * self.items
            <= MOST_PAIRS,
            "relevant must be below the number of items": self.relevant < self.items,
            "graded outcomes need feedback conversions": not self.graded or self.feedback is Feedback.CONVERSIONS,
        }
        if broken := [rule for rule, kept in rules.items() if not kept]:
            raise InputError(f"this world cannot be simulated: {broken[0]} ({self}).", code="bad-value")

    def draw(self, seed: int) -> World:
        """Other users from the same population, in front of the same catalogue."""
        return replace(self, seed=seed)

    @cached_property
    def population(self) -> Population:
        """The users drawn, and the catalogue."""
        catalogue = Catalogue.draw(self.items, self.impressions, self.skew, self.agreement, self.catalogue)
        return Population.draw(catalogue, self.users, self.relevant / self.items, self._seeds[0])

    @cached_property
    def pairs(self) -> Pairs:
        """Every relevant pair, seen or not, with its P(seen); with conversions also every seen pair."""
        zeros = self.feedback is Feedback.CONVERSIONS
        kept = int(self.users * min(self.relevant + zeros * self.impressions, self.items))
        require(40 * kept + 100 * self.users + 3000 * self.items, "this world", "Draw fewer users, or fewer items.")
        return draw(self.population, self.test_share, self.feedback is Feedback.CONVERSIONS, self._seeds[1])

    @cached_property
    def train(self) -> Log:
        """The training part of the log."""
        return self._log(self.pairs.part == PairStatus.TRAIN, self.feedback)

    @cached_property
    def test(self) -> Log:
        """The held-out part of the log, with the propensity of being in it given training."""
        rows = self.pairs.part == PairStatus.TEST
        return self._log(
            rows, self.feedback, part_propensity(self.pairs.propensity[rows], self.test_share, unseen=True)
        )

    def full_log(self) -> Log:
        """All relevant pairs outside training, as if everything had been seen: naive evaluation here is the truth."""
        rows = self.pairs.relevant & (self.pairs.part != PairStatus.TRAIN)
        feedback = Feedback.CONVERSIONS if self.graded else Feedback.IMPLICIT
        return self._log(rows, feedback, np.ones(np.count_nonzero(rows)))

    def relevant_counts(self) -> pl.DataFrame:
        """The population: every user, with the number of relevant items outside training (n_u)."""
        full = self.full_log()
        return pl.DataFrame({"user": full.users.values, "relevant": np.diff(full.indptr)})

    def truth(
        self, lists: Recommendations, metric: RankingMetric | str, target: Target | str = Target.PER_USER
    ) -> float:
        """What these lists are really worth under an additive metric."""
        return true_value(lists, self.full_log(), ranking(metric), Target.make(target))

    def challenger(self, noise: float = 1.2) -> Challenger:
        """A recommender that knows the users' preferences up to ``noise``, and nothing of exposure."""
        return Challenger(self.population, *self._ids, noise)

    @cached_property
    def _seeds(self) -> list[np.random.SeedSequence]:
        return np.random.SeedSequence(self.seed).spawn(2)

    @cached_property
    def _ids(self) -> tuple[Ids, Ids]:
        """Users are numbered on from draw to draw: other people have other ids, on which random lists depend."""
        first = self.seed * self.users
        return (
            Ids(pl.Series("id", np.arange(first, first + self.users))),
            Ids(pl.Series("id", np.arange(self.items))),
        )

    def _log(
        self,
        rows: npt.NDArray[np.bool_],
        feedback: Feedback,
        propensity: npt.NDArray[np.float64] | None = None,
    ) -> Log:
        """Some of the pairs as a log; values only where zeros are among them."""
        users, items = self._ids
        valued = feedback is Feedback.CONVERSIONS
        return Log(
            users,
            items,
            starts_of(rows)[self.pairs.indptr],
            self.pairs.item[rows],
            value=self._worth(rows) if valued else None,
            propensity=propensity,
            feedback=feedback,
            account=Account("simulated", int(np.count_nonzero(rows))),
        )

    def _worth(self, rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """What some of the pairs bring: 0 where irrelevant, else 1, or a grade."""
        worth = self.pairs.relevant[rows].astype(np.float64)
        if self.graded:
            users, items = self._ids
            user = np.repeat(np.arange(self.users), np.diff(self.pairs.indptr))[rows]
            draws = pair_uniform(stream_of("grades"), users.hashes[user], items.hashes[self.pairs.item[rows]])
            worth *= 1.0 + np.floor(GRADES * draws)
        return worth


def true_value(lists: Recommendations, full: Log, metric: RankingMetric, target: Target) -> float:
    """The worth of lists on a full log, whose rows are all relevant candidate pairs; NaN if there are none."""
    if metric.shape is not Shape.ADDITIVE:
        raise RefusedError(
            f"'{metric}' is not a sum over relevant items. Its truth is its naive estimate on the full log.",
            code="not-supported",
        )
    lists = lists.recode(full.users, full.items)
    rank = np.zeros(len(full), dtype=np.int32)
    find_ranks(full.indptr, full.item, lists.indptr, lists.item, lists.rank, 0, len(full.users), rank)
    y = np.ones(len(full)) if full.value is None else full.value
    worth = np.bincount(full.user, weights=y * metric.table(lists.depth)[rank], minlength=len(full.users))
    n = np.bincount(full.user, weights=y, minlength=len(full.users))
    if target is Target.PER_USER_SUM:
        return float(worth.mean())
    if target is Target.PER_PAIR:
        raise RefusedError(
            "lists alone have no value per pair: the truth of per_user_sum is the same sum per user.",
            code="not-supported",
        )
    if n.sum() == 0:
        return float("nan")
    if target is Target.SUM_PER_USER:
        return float(np.divide(worth, n, out=np.zeros(len(n)), where=n > 0).mean())
    if target in (Target.POOLED, Target.SUM_POOLED):
        return float(worth.sum() / n.sum())
    return float((worth[n > 0] / n[n > 0]).mean())
