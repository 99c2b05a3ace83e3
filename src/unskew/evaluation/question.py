"""What is asked: metrics, estimators, targets and propensity, parsed once from their canonical strings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from unskew import estimators, metrics, outcome, propensity
from unskew.bounds import Number, Whole, shown, word
from unskew.engine.data import EvaluationData
from unskew.errors import InputError
from unskew.estimators import Estimator, Need, Target
from unskew.log import Feedback
from unskew.log.log import Invalid
from unskew.metrics import Metric, RankingMetric, RatingMetric, Shape
from unskew.outcome import Outcome
from unskew.propensity import Propensity

T = TypeVar("T")
DEEPEST = 1_000_000  # ranks beyond this are no ranks
LEVEL = Number(low=0.5, high=0.9999, why="What errs more often says little; what errs less often, no log can tell.")
SEEDS = Whole(0, 2**64 - 1)
REPLICATES = Whole(0, 100_000, "More make no interval better.")
FEWEST = 50
RESERVED = ("user", "item", "value", "time", "propensity", "relevant", "rank", "score", "prediction")
MOST_PARTS = 1000
LENGTH = 100  # how long models' own lists are where no metric has a cut-off


@dataclass(frozen=True, eq=False)
class Question:
    """The parsed options of one evaluation.

    ``targets`` is empty where the feedback decides; ``chosen`` tells asked-for estimators from the usual ones.
    """

    metrics: tuple[Metric, ...]
    estimators: tuple[Estimator, ...]
    targets: tuple[Target, ...]
    propensity: Propensity | None
    outcome: Outcome | None
    chosen: bool
    relevant: str | None
    by: str | None
    level: float
    interval: str
    replicates: int
    seed: int

    @classmethod
    def of(
        cls,
        asked_metrics: Sequence[str | Metric],
        asked_estimators: Sequence[str | Estimator] | None,
        asked_propensity: str | Propensity | None,
        asked_outcome: str | Outcome | None,
        target: str | Sequence[str] | None,
        *,
        columns: Mapping[str, str] | None = None,
        invalid: Invalid = "error",
        **rest: Any,
    ) -> Question:
        """Parse the parts; by default naive, and with propensities snips; with an outcome model naive, ips and dr.

        ``columns`` and ``invalid`` say how a file that is named in a canonical string is read.
        """
        if isinstance(asked_metrics, str | RankingMetric | RatingMetric):
            asked_metrics = [asked_metrics]
        if isinstance(asked_estimators, str | Estimator):
            asked_estimators = [asked_estimators]
        given = None if asked_propensity is None else propensity.make(asked_propensity)
        parsed = _once(metrics.make(m) for m in _several("metrics", asked_metrics))
        usual = _usual(given is not None, asked_outcome is not None)
        named = [] if asked_estimators is None else _several("estimators", asked_estimators)
        targets = [] if target is None else [target] if isinstance(target, str) else _several("target", target)
        question = cls(
            metrics=parsed,
            estimators=_once(estimators.make(e) for e in named or usual),
            targets=_once(Target.make(t) for t in targets),
            propensity=given,
            outcome=None if asked_outcome is None else outcome.make(asked_outcome, columns=columns, invalid=invalid),
            chosen=asked_estimators is not None,
            **rest,
        )
        question._check()
        return question

    def with_column(self) -> Question:
        """The question where the test log has propensities of its own, and nothing else was asked for."""
        if self.propensity is not None or (self.chosen and not self._weighs):
            return self
        usual = _once(estimators.make(e) for e in _usual(True, self.outcome is not None))
        return replace(self, propensity=propensity.Known(), estimators=self.estimators if self.chosen else usual)

    @property
    def _weighs(self) -> bool:
        """Whether any estimator needs propensities."""
        return any(Need.PROPENSITY in e.needs(target) for e in self.estimators for target in e.valid)

    def _check(self) -> None:
        if not self.metrics:
            raise InputError("there is nothing to estimate: give at least one metric (--metric recall@10).")
        word(self.interval, ("normal", "bootstrap"), "interval")
        LEVEL.of(self.level, "level")
        SEEDS.of(self.seed, "seed")
        REPLICATES.of(self.replicates, "the number of replicates")
        if self.interval == "bootstrap" and self.replicates < FEWEST:
            raise InputError(f"a bootstrap needs at least {FEWEST} replicates, not {self.replicates}.")
        for option, text in (("by", self.by), ("relevant", self.relevant)):
            if text is not None and not isinstance(text, str):
                raise InputError(f"{option} must be a text, not {shown(text)}.")
        if self.by in RESERVED:
            raise InputError(
                f"--by {self.by}: '{self.by}' is a column with a meaning of its own, and makes no segments. Give a "
                "column of groups under another name; popularity(strata=3) works with any training log."
            )

    def check_folds(self, crossfit: bool) -> None:
        """Fitting in sample means nothing where no outcome model is fitted."""
        if crossfit:
            return
        if self.outcome is None:
            raise InputError(
                "--in-sample (crossfit=False) says how an outcome model is fitted: give --outcome as well."
            )
        if self.outcome.fitted:
            raise InputError(
                f"--in-sample (crossfit=False) says how an outcome model is fitted, and '{self.outcome}' is not fitted "
                "here: leave it out."
            )

    def targets_for(self, feedback: Feedback) -> dict[Metric, tuple[Target, ...]]:
        """For each metric the asked targets, else the usual one.

        Errors of predictions are averages over pairs. For ranks it depends on the feedback; a threshold makes items
        relevant or not, so pooled. What exists inside each user only (ndcg, map) is averaged over users.
        """
        usual = Target.POOLED if self.relevant is not None else Target.default(feedback)

        def target(metric: Metric) -> Target:
            if not isinstance(metric, RankingMetric):
                return Target.PER_PAIR
            inside = metric.shape is not Shape.ADDITIVE and usual is Target.POOLED
            return Target.PER_USER if inside else usual

        return {m: self.targets or (target(m),) for m in self.metrics}

    def estimators_for(self, feedback: Feedback) -> tuple[Estimator, ...]:
        """The asked estimators; of the usual ones those that exist for any of the targets."""
        targets = {target for each in self.targets_for(feedback).values() for target in each}
        return self.estimators if self.chosen else tuple(e for e in self.estimators if targets & e.valid)

    @property
    def without_level(self) -> tuple[Estimator, ...]:
        """Estimators of sums for propensities whose level is not known."""
        names = ("snips(over=list)", *([] if self.outcome is None else ["sndr"]))
        return tuple(estimators.make(name) for name in names)

    @property
    def ranks(self) -> bool:
        """Whether any metric asks for ranks."""
        return any(isinstance(m, RankingMetric) for m in self.metrics)

    @property
    def rates(self) -> bool:
        """Whether any metric asks for predictions."""
        return any(isinstance(m, RatingMetric) for m in self.metrics)

    @property
    def drawn(self) -> int:
        """How many bootstrap replicates are drawn."""
        return self.replicates if self.interval == "bootstrap" else 0

    @property
    def length(self) -> int:
        """How long a model's own lists must be."""
        return max((m.k or LENGTH for m in self.metrics if isinstance(m, RankingMetric)), default=1)

    def strata_columns(self, *, training: bool = False) -> list[str]:
        """The columns by which strata are made; of the training log only those whose shares are measured there."""
        found = []
        for estimator in self.estimators:
            inner: Any = estimator.innermost
            measured = not training or getattr(inner, "shares", None) == "train"
            if measured and getattr(inner, "strata", None) and inner.strata.column:
                found.append(inner.strata.column)
        return list(dict.fromkeys(found))

    @property
    def trains_shares(self) -> bool:
        """Whether shares of strata are measured on the training rows."""
        return any(getattr(e, "shares", None) == "train" for e in self.estimators)

    @property
    def segment_column(self) -> list[str]:
        """The column that makes segments, if it is one that must be read along."""
        return [] if self.by is None or "(" in self.by or self.by in ("popularity", "policy") else [self.by]

    def depth(self, held: EvaluationData) -> int:
        """The deepest rank that can be worth something."""
        ranking = [m for m in self.metrics if isinstance(m, RankingMetric)]
        depth = max((m.k for m in ranking if m.k is not None), default=1)
        if any(m.k is None for m in ranking):
            depth = max(depth, *(lists.depth for lists in held.lists))
        if any(m.k is None and m.shape is Shape.IDEAL for m in ranking):
            depth = max(depth, int(np.diff(held.indptr).max(initial=1)))
        if depth > DEEPEST:
            raise InputError(
                f"a list or metric goes down to rank {depth:,}; ranks up to {DEEPEST:,} can be worth something. Use @k."
            )
        return depth

    def settings(self, feedback: Feedback, candidates: str, fitted: Propensity | None) -> dict[str, Any]:
        """The question as plain values, for the result."""
        return {
            "metrics": [str(m) for m in self.metrics],
            "estimators": [str(e) for e in self.estimators],
            "targets": list(dict.fromkeys(str(t) for each in self.targets_for(feedback).values() for t in each)),
            "propensity": None if fitted is None else str(fitted),
            "outcome": None if self.outcome is None else str(self.outcome),
            "feedback": str(feedback),
            "relevant": self.relevant,
            "candidates": candidates,
            "level": self.level,
            "interval": self.interval,
            "replicates": self.drawn,
            "seed": self.seed,
            "by": self.by,
        }


def _usual(propensities: bool, outcome_model: bool) -> list[str]:
    """The estimators that people mean who name none."""
    if not propensities:
        return ["naive"]
    return ["naive", "ips", "dr"] if outcome_model else ["naive", "snips"]


def _several(what: str, given: Any) -> list[Any]:
    """The parts of a list; what is none is an error."""
    if isinstance(given, Mapping | set | frozenset) or not isinstance(given, Iterable):
        raise InputError(f"{what} must be a list of canonical strings, not {shown(given)}.")
    found = list(islice(given, MOST_PARTS + 1))
    if len(found) > MOST_PARTS:
        raise InputError(f"{what}: more than {MOST_PARTS:,} are asked for. Evaluate them in several calls.")
    return found


def _once(parts: Iterable[T]) -> tuple[T, ...]:
    """Each part once; two different parts with one canonical text would be indistinguishable in every table."""
    found: dict[str, T] = {}
    for part in parts:
        if found.setdefault(str(part), part) != part:
            raise InputError(f"two different parts are both called '{part}': evaluate them in two calls.")
    return tuple(found.values())
