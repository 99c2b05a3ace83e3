"""The recipes: how people evaluate on such a log, each a call of ``unskew.evaluate``.

A recipe sees the held-out part of the skewed log, as likes only or as all ratings with a threshold, and the training
part. Some are given more than a log has: the authors' propensities, or the shares of the stars from random ratings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from unskew import Result, estimators
from unskew.estimators import Target
from unskew.evaluation import evaluate
from unskew_papers.coat_truth.said import HEADLINE, said
from unskew_papers.recovery.draws import Draw, as_likes
from unskew_papers.recovery.questions import Lists, Unit

LIKED = ">=4"
PATH = "exposure_path"
TILTED = str(estimators.make("tilted(odds=4)"))
POOLED, PER_USER, SUM = "pooled", "per_user", "per_user_sum(normalised=pooled)"


@dataclass(frozen=True)
class Recipe:
    """One call, and the rows of it that are looked at: a question of a study (``recovery/questions.py``).

    Args:
        name: of the call.
        rows: what is shown → estimator (or ``HEADLINE``) and target.
        ratings: whether it sees all ratings, not only likes.
        options: of the call.
        random: whether it is given the random ratings.
    """

    name: str
    rows: Mapping[str, tuple[str, str]]
    ratings: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    random: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is the call of somebody who knows of no estimators."""
        return any(estimator == HEADLINE for estimator, _ in self.rows.values())

    def points(self, name: str) -> list[str]:
        """The scenarios of a row, each of which is tested at the unadjusted level; none where it has none."""
        estimator, target = self.rows[name]
        if estimator == HEADLINE:
            return []
        scenarios = estimators.make(estimator).scenarios(Target.make(target))
        return [] if scenarios is None else [str(point.estimator) for point in scenarios.points]

    @property
    def target(self) -> None:
        """The truth is asked for under the study's targets alone."""

    @property
    def metrics(self) -> None:
        """Those of the study."""

    def key(self) -> dict[str, Any]:
        """The rows, the scenarios of them, and the call."""
        return {
            "rows": {name: list(row) for name, row in self.rows.items()},
            "points": [point for name in self.rows for point in self.points(name)],
            "ratings": self.ratings,
            "options": dict(self.options),
            "random": self.random,
        }

    def ask(self, draw: Draw, lists: Lists, metrics: Sequence[str], targets: Sequence[str]) -> Unit:
        """What each row says of every pair of models and of each model, under every metric."""
        result = self._call(draw, lists, list(metrics))
        unit: Unit = {}
        for metric in metrics:
            for name, row in self.rows.items():
                pairs = said(result, metric, row, self.points(name))
                unit |= {f"{metric} | {name} | {what}": values for what, values in asdict(pairs).items()}
        return unit

    def _call(self, draw: Draw, lists: Lists, metrics: list[str]) -> Result:
        train, test = draw.train, draw.test
        if not self.ratings:
            train, test = as_likes(train, LIKED), as_likes(test, LIKED)
        elif self.options.get("propensity") != "known":
            train, test = (replace(log, propensity=None) for log in (train, test))
        told: dict[str, Any] = {"feedback": "ratings", "relevant": LIKED} if self.ratings else {}
        if self.plain:
            return evaluate(test, lists, metrics=metrics, train=train, threads=1, **told)
        named = [estimator for estimator, _ in self.rows.values()]
        asked = list(dict.fromkeys([*named, *(point for name in self.rows for point in self.points(name))]))
        return evaluate(
            test,
            lists,
            metrics=metrics,
            estimators=asked,
            target=list(dict.fromkeys(target for _, target in self.rows.values())),
            train=train,
            mcar=draw.truth if self.random else None,
            threads=1,
            **told,
            **self.options,
        )


def _popularity(gamma: float, *, per_user: bool = False) -> Recipe:
    name, told = f"popularity(gamma={gamma:g})", f"γ = {gamma:g}".replace("-", "−")
    rows = {f"snips, pooled, {told}": ("snips", POOLED)}
    if per_user:
        rows |= {
            f"snips, per user, {told}": ("snips", PER_USER),
            f"gs, {told}": ("gs(strata=5)", PER_USER),
        }
    return Recipe(name, rows, options={"propensity": name})


RECIPES = (
    Recipe("default from ratings", {"default call, all ratings": (HEADLINE, POOLED)}, ratings=True),
    Recipe("default from likes", {"default call, likes only": (HEADLINE, POOLED)}),
    Recipe("naive", {"naive": ("naive", POOLED)}),
    _popularity(-1.0),
    _popularity(0.0),
    _popularity(1.0, per_user=True),
    _popularity(2.0, per_user=True),
    Recipe(
        "known", {"snips, the authors' propensities": ("snips", POOLED)}, ratings=True, options={"propensity": "known"}
    ),
    Recipe(
        "naive_bayes",
        {"snips, naive Bayes": ("snips", POOLED)},
        ratings=True,
        options={"propensity": "naive_bayes"},
        random=True,
    ),
    Recipe(
        "logistic_mf", {"snips, logistic MF": ("snips", POOLED)}, ratings=True, options={"propensity": "logistic_mf"}
    ),
    Recipe(
        "outcome",
        {"dr, logistic MF": ("dr", SUM), "direct, logistic MF": ("direct", SUM)},
        ratings=True,
        options={"propensity": "logistic_mf", "outcome": "logistic_mf"},
    ),
    Recipe("path from likes", {"exposure path, likes only": (PATH, POOLED)}),
    Recipe("path from ratings", {"exposure path, all ratings": (PATH, POOLED)}, ratings=True),
    Recipe("tilted", {"census and tilt": (TILTED, POOLED)}, ratings=True),
)
