"""The five recommenders of carraro20 §5.4, their settings chosen by Recall@10 on random ratings.

PosPop, AvgRating    no settings
UB_KNN, IB_KNN       neighbours 10, 20, …, 100
MF                   factors 20, 40, …, 200 × λ .001, .006, .01, .06, .1, .6

The paper trains on ratings; its UB_KNN, IB_KNN and MF are those of RankSys, which takes them as they are:

    neighbours    cosines of ratings, and votes times ratings                        item_knn, user_knn(values=ratings)
    MF            Σ c (r − x·y)² + 2λ (Σ|x|² + Σ|y|²), c = 1 + α r, r = 0 unseen     wmf(values=ratings)

α is not stated; 1 is that of RankSys' own example. λ counts twice there: its factorisation by Pilászy, Zibriczky &
Tikk adds λ to YᵀY, and once more to the divisor of every step. ``ONES`` and ``LIKED`` are other readings: every pair
that was rated, or liked (above 3), counts as 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from unskew import models
from unskew.log import Feedback, Log, Recommendations
from unskew_papers.carraro20.printed import RECOMMENDERS

RELEVANT, METRIC, LENGTH = ">3", "recall@10", 10
RATINGS, ONES, LIKED = "ratings", "pairs as ones", "likes as ones"  # what is learnt from
PLAIN = {"PosPop": f"most_popular(relevant={RELEVANT})", "AvgRating": "average_rating"}
SEARCHED = {"UB_KNN": ("neighbours",), "IB_KNN": ("neighbours",), "MF": ("dim", "penalty")}
NEIGHBOURS = tuple(range(10, 101, 10))
FACTORS, PENALTIES = tuple(range(20, 201, 20)), (0.001, 0.006, 0.01, 0.06, 0.1, 0.6)
TWICE = 2.0  # how often λ counts in RankSys


@dataclass(frozen=True)
class Choice:
    """How it is done where the paper leaves it open, and how much of it.

    Args:
        learns: what neighbours and factors learn from.
        alpha: of MF.
        times: how often the λ of MF counts.
        names: which recommenders.
        neighbours, factors, penalties: which settings are tried.
    """

    learns: str = RATINGS
    alpha: float = 1.0
    times: float = TWICE
    names: tuple[str, ...] = RECOMMENDERS
    neighbours: tuple[int, ...] = NEIGHBOURS
    factors: tuple[int, ...] = FACTORS
    penalties: tuple[float, ...] = PENALTIES

    def grid(self, name: str) -> dict[str, dict[str, Any]]:
        """The settings of a recommender that are tried."""
        values = ["ratings" if self.learns == RATINGS else "ones"]
        if name == "MF":
            penalties = [self.times * penalty for penalty in self.penalties]
            return {"wmf": {"dim": self.factors, "penalty": penalties, "alpha": [self.alpha], "values": values}}
        kind = "user_knn" if name == "UB_KNN" else "item_knn"
        return {kind: {"neighbours": self.neighbours, "values": values}}

    def told(self) -> dict[str, Any]:
        """As plain values."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


def recommend(train: Log, validation: Log, choice: Choice) -> tuple[dict[str, Recommendations], dict[str, float]]:
    """The lists of the recommenders, without what was rated in training, and the settings that were chosen."""
    learnt = replace(train, value=None, feedback=Feedback.IMPLICIT) if choice.learns == ONES else train
    lists: dict[str, Recommendations] = {}
    chosen: dict[str, float] = {}
    for name in choice.names:
        if name in PLAIN:
            model = models.make(PLAIN[name]).fit(train)
        else:
            grid = choice.grid(name)
            model = models.search(learnt, validation, grid, metric=METRIC, relevant=RELEVANT, threads=1).model
            chosen |= {f"{name}: {option}": float(getattr(model, option)) for option in SEARCHED[name]}
        lists[name] = model.recommend(train.users, LENGTH, seen=train)
    return lists, chosen
