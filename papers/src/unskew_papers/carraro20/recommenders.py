"""The five recommenders of carraro20 §5.4, their settings chosen by Recall@10 on random ratings.

PosPop, AvgRating    no settings
UB_KNN, IB_KNN       neighbours 10, 20, …, 100
MF                   factors 20, 40, …, 200 × λ .001, .006, .01, .06, .1, .6

The paper's UB_KNN, IB_KNN and MF are those of RankSys, and what they learn from is not stated. Ours learn from pairs:
all that were rated, high or low, or those that were liked (above 3). Neighbours can also be had from ratings, high ones
counting more (``rated_knn.py``). MF of the paper is the alternating least squares of Pilászy,
Zibriczky & Tikk (2010); ours is that of Hu, Koren & Volinsky (2008), with the same objective. α, how much more a
positive counts than another pair, is not stated.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from unskew import models
from unskew.log import Feedback, Log, Recommendations
from unskew.models import Grid
from unskew_papers.carraro20.printed import RECOMMENDERS
from unskew_papers.carraro20.rated_knn import RatedKNN

RELEVANT, METRIC, LENGTH = ">3", "recall@10", 10
RATED, LIKED, WEIGHTED = "rated", "liked", "ratings as weights"  # what is learnt from
PLAIN = {"PosPop": f"most_popular(relevant={RELEVANT})", "AvgRating": "average_rating"}
SEARCHED = {"UB_KNN": ("neighbours",), "IB_KNN": ("neighbours",), "MF": ("dim", "penalty")}
NEIGHBOURS = tuple(range(10, 101, 10))
FACTORS, PENALTIES = tuple(range(20, 201, 20)), (0.001, 0.006, 0.01, 0.06, 0.1, 0.6)


@dataclass(frozen=True)
class Choice:
    """How it is done where the paper leaves it open, and how much of it.

    Args:
        learns: what neighbours and factors learn from.
        alpha: of MF.
        names: which recommenders.
        neighbours, factors, penalties: which settings are tried.
    """

    learns: str = RATED
    alpha: float = 1.0
    names: tuple[str, ...] = RECOMMENDERS
    neighbours: tuple[int, ...] = NEIGHBOURS
    factors: tuple[int, ...] = FACTORS
    penalties: tuple[float, ...] = PENALTIES

    def grid(self, name: str) -> Grid:
        """The settings of a recommender that are tried."""
        if name == "MF":
            return {"wmf": {"dim": self.factors, "penalty": self.penalties, "alpha": [self.alpha]}}
        by = "user" if name == "UB_KNN" else "item"
        if self.learns == WEIGHTED:
            return [RatedKNN(by, neighbours) for neighbours in self.neighbours]
        return {f"{by}_knn": {"neighbours": self.neighbours}}

    def told(self) -> dict[str, Any]:
        """As plain values."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


def recommend(train: Log, validation: Log, choice: Choice) -> tuple[dict[str, Recommendations], dict[str, float]]:
    """The lists of the recommenders, without what was rated in training, and the settings that were chosen."""
    learnt = replace(train, value=None, feedback=Feedback.IMPLICIT) if choice.learns == RATED else train
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
