"""Where gs beats IPS and naive, and where it does not: worlds of clicks whose popularity is exposure, taste, or both.

The worlds are those of ``carraro20/click_worlds.py``. Propensities are known, or a power of popularity: γ = 1, right
where popularity is exposure, and γ = 2, the paper's. Few strata are like naive, many like IPS. Ratios are taken inside
users, as in the paper, and *pooled*, one ratio over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.core import Progress
from unskew_papers.carraro20.click_worlds import KINDS, ClickWorld, Size, log_of
from unskew_papers.gs23.setting import IPS, NAIVE, OURS, Setting
from unskew_papers.record import Record
from unskew_papers.recovery import Draw, Question, Source
from unskew_papers.recovery.draws import Place
from unskew_papers.repeated import averaged

USERS, STRENGTH = 1_000, 1.0
METRIC, POOLED = "recall@10", "pooled"
MODELS = (
    "most_popular", "random", "item_knn(neighbours=5)", "item_knn(neighbours=50)", "user_knn(neighbours=20)",
    "svd(dim=5)", "svd(dim=20)", "wmf(dim=10)", "wmf(dim=50)", "bpr(dim=10)", "bpr(dim=50)", "pmf(dim=10)",
)  # fmt: skip
ESTIMATORS = (NAIVE, OURS.gs(2), OURS.gs(5), OURS.gs(20), IPS)
PROPENSITIES = {
    "known": "known",
    "popularity, γ = 1": "popularity(gamma=1)",
    "popularity, γ = 2": "popularity(gamma=2)",
}
MEASURES = {"tau": "Kendall's τ", "rmse": "relative error", "regret": "regret", "coverage": "interval holds the truth"}


@dataclass(frozen=True, eq=False)
class ClickWorlds(Source):
    """Worlds of one kind, one per seed."""

    size: Size

    @property
    def mark(self) -> str:
        """The kind and size."""
        return f"click worlds 1 {self.size}"

    @property
    def words(self) -> str:
        """Likewise."""
        return f"worlds of clicks of {self.size.users:,} users, popularity is {self.size.kind}"

    def places(self, seeds: Sequence[int]) -> list[Place]:
        """One per seed."""
        return [Place(seed) for seed in seeds]

    def draw(self, place: Place) -> Draw:
        """The truth is all that is liked and not in training."""
        world = ClickWorld.draw(self.size, place.seed)
        left = world.liked.copy()
        left[world.train.user, world.train.item] = False
        return Draw(place, world.train, world.test, log_of(left), complete=True)


def worlds(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Every estimator with every propensity in every kind of world."""
    questions = [
        *(Question(name, ESTIMATORS, text, verdicts=False) for name, text in PROPENSITIES.items()),
        *(
            Question(f"{name}, {POOLED}", (NAIVE, IPS), text, target=(POOLED,), verdicts=False)
            for name, text in PROPENSITIES.items()
        ),
    ]
    records = []
    for kind in KINDS:
        source = ClickWorlds(Size(kind, STRENGTH, USERS // 4 if quick else USERS))
        result = setting.study(source, MODELS, questions, runs, metrics=[METRIC], progress=progress)
        for question in questions:
            for estimator in question.estimators or ():
                rows = [r for r in result.draw_scores if (r.question, r.estimator) == (question.name, estimator)]
                for measure, told in MEASURES.items():
                    values = np.array([getattr(row, measure) for row in rows])
                    records.append(averaged(f"worlds/popularity is {kind}, {told}", question.name, estimator, values))
    return records
