"""Questions: what a study asks of every draw, each one call of ``unskew.evaluate``; and the truth beside it.

An answer holds, per metric, estimator and target (a cell), the value of every model with its interval, and where
verdicts are wanted what is said of every pair of models: at the level of a result (all pairs together, every check that
may withhold a verdict) and the bare difference in standard errors, z, which most papers look at.

The truth of a draw is the plain average over pairs that were seen at random (or over all), outside training, with the
standard error of every model and z of every pair; without errors, where it is complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from unskew import InputError
from unskew import estimators as known
from unskew import metrics as all_metrics
from unskew.core import plain, shown
from unskew.estimators import Target
from unskew.evaluation import Request, estimate, evaluate, parsed_metrics, parsed_targets
from unskew.log import Recommendations
from unskew.result import Estimate, Verdict
from unskew_papers.arrays import Floats
from unskew_papers.recovery.draws import Draw, as_likes

OPTIONS = (
    "candidates", "drop_seen", "in_sample", "interval", "level", "refit", "repeats", "replicates", "sample",
    "sample_size", "seed", "share",
)  # fmt: skip
WORDS = {"ahead": 1, "better": 1, "behind": -1, "worse": -1, "depends": 2}  # others decide nothing: 0
Lists = Mapping[str, Recommendations]
Unit = dict[str, Any]


class Asked(Protocol):
    """What the runner needs of a question; it is sent to processes."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def target(self) -> tuple[str, ...] | None:
        """Its own targets, where they differ from those of the study."""

    @property
    def metrics(self) -> tuple[str, ...] | None:
        """Its own metrics, where they differ from those of the study."""

    def key(self) -> dict[str, Any]:
        """What its answer depends on besides the draw and the lists, as JSON values."""

    def ask(self, draw: Draw, lists: Lists, metrics: Sequence[str], targets: Sequence[str]) -> Unit:
        """The answer on one draw: JSON values and arrays."""


@dataclass(frozen=True)
class Question:
    """One way to estimate.

    Args:
        name: what it is called.
        estimators: canonical strings; by default those of ``evaluate``.
        target, metrics: its own, where they differ from those of the study.
        propensity, outcome: canonical strings, fitted on the training log of every draw.
        likes: show it relevant pairs only, as a log of clicks would, though there are ratings.
        verdicts: ask for verdicts, too; without them many estimators and models cost little.
        random: give it the truth's pairs to fit propensities on (``mcar`` of ``evaluate``).
        options: further options of ``evaluate`` (those of ``OPTIONS``).
    """

    name: str
    estimators: tuple[str, ...] | None = None
    propensity: str | None = None
    outcome: str | None = None
    target: tuple[str, ...] | None = None
    likes: bool = False
    verdicts: bool = True
    random: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("likes", "verdicts", "random"):
            if not isinstance(value := getattr(self, name), bool):
                raise InputError(f"{name} must be True or False, not {shown(value)}.", code="wrong-type", option=name)
        for name in ("propensity", "outcome"):
            if not isinstance(value := getattr(self, name), str | None):
                raise InputError(
                    f"{name} must be a canonical string, not {shown(value)}.", code="wrong-type", option=name
                )
        if not isinstance(self.options, Mapping):
            raise InputError(
                f"options must map names of options to values, not {shown(self.options)}.",
                code="wrong-type",
                option="options",
            )
        if strange := [name for name in self.options if name not in OPTIONS]:
            raise InputError(
                f"options: {shown(strange[0])} is none of those of a question: {', '.join(OPTIONS)}.",
                code="unknown-argument",
            )
        asked = self._request()
        if self.estimators is not None:
            object.__setattr__(self, "estimators", tuple(map(str, asked.estimators)))
        if self.target is not None:
            object.__setattr__(self, "target", tuple(checked_targets(self.target)))
        if self.metrics is not None:
            object.__setattr__(self, "metrics", tuple(checked_metrics(self.metrics)[0]))

    def _request(self) -> Request:
        """The question as ``evaluate`` will be asked it; whatever is wrong with it is said now."""
        there: Any = object()  # the rows of a draw
        return Request.of(
            there,
            {"lists": there},
            metrics=("recall@10",) if self.metrics is None else self.metrics,
            estimators=self.estimators,
            target=self.target,
            propensity=self.propensity,
            outcome=self.outcome,
            train=there,
            mcar=there if self.random else None,
            **self.options,
        )

    def key(self) -> dict[str, Any]:
        """What its answer depends on besides the draw and the lists; the name does not matter."""
        return {
            "estimators": None if self.estimators is None else list(self.estimators),
            "propensity": self.propensity,
            "outcome": self.outcome,
            "target": None if self.target is None else list(self.target),
            "likes": self.likes,
            "verdicts": self.verdicts,
            "random": self.random,
            "options": dict(self.options),
            "metrics": None if self.metrics is None else list(self.metrics),
        }

    def ask(self, draw: Draw, lists: Lists, metrics: Sequence[str], targets: Sequence[str]) -> Unit:
        """The answer on one draw."""
        train, test = draw.train, draw.test
        if self.likes and test.value is not None:
            train, test = as_likes(train, draw.relevant), as_likes(test, draw.relevant)
        call: dict[str, Any] = {
            "metrics": list(self.metrics or metrics),
            "estimators": None if self.estimators is None else list(self.estimators),
            "target": list(self.target or targets),
            "propensity": self.propensity,
            "outcome": self.outcome,
            "train": train,
            "mcar": draw.truth if self.random else None,
            "threads": 1,
            "refused": "skip",
            **draw.of(test),
            **self.options,
        }
        if self.verdicts:
            result = evaluate(test, lists, **call)
            return _unit(list(lists), result.estimates, result.verdicts_) | {"missing": result.inputs["refused"]}
        found = estimate(test, lists, **call)
        return _unit(list(lists), found.rows, ()) | {"missing": [vars(refusal) for refusal in found.refused]}


def truth_of(draw: Draw, lists: Lists, metrics: Sequence[str], targets: Sequence[str], candidates: str) -> Unit:
    """What the models are really worth, by metric and target.

    Args:
        candidates: ``unseen`` leaves out random pairs that stand in the training log, ``all`` keeps them, as misses.
    """
    call: dict[str, Any] = {
        "metrics": list(metrics),
        "estimators": ["naive"],
        "target": list(targets),
        "train": draw.train,
        "candidates": candidates,
        "threads": 1,
        **draw.of(draw.truth),
    }
    found = estimate(draw.truth, lists, **call)
    unit = _unit(list(lists), found.rows, ())
    pairs = np.array(list(combinations(range(len(lists)), 2))).T
    z = []
    for values, covariance in zip(found.values, found.covariances, strict=True):
        difference = values[pairs[0]] - values[pairs[1]]
        variance = np.diag(covariance)
        error = np.sqrt(np.maximum(variance[pairs[0]] + variance[pairs[1]] - 2.0 * covariance[pairs[0], pairs[1]], 0.0))
        if draw.complete:
            error = np.zeros_like(error)
        with np.errstate(divide="ignore", invalid="ignore"):
            z.append(np.where(difference == 0.0, 0.0, difference / error))
    return unit | {"z": np.array(z)} | ({"se": np.zeros_like(unit["se"])} if draw.complete else {})


def checked_metrics(metrics: Sequence[str]) -> tuple[list[str], int]:
    """Canonical strings of metrics of lists, and how long lists must be."""
    made, depths = parsed_metrics(metrics), []
    for metric in made:
        if not isinstance(metric, all_metrics.RankingMetric) or metric.k is None:
            raise InputError(
                f"'{plain(metric)}': a study ranks lists, by metrics with a cut-off such as 'recall@10'.",
                code="not-supported",
            )
        depths.append(metric.k)
    return [str(metric) for metric in made], max(depths)


def checked_targets(targets: str | Sequence[str]) -> list[str]:
    """Canonical strings."""
    found = [str(target) for target in parsed_targets(targets)]
    if not found:
        raise InputError("target: give at least one, such as 'pooled'.", code="missing-argument", argument="target")
    return found


def _unit(models: list[str], estimates: Sequence[Estimate], verdicts: Sequence[Verdict]) -> Unit:
    """Rows by cell: [cell, model] and [cell, pair of models]."""
    cells = list(dict.fromkeys((e.metric, e.estimator, str(e.target)) for e in estimates))
    of_model = {name: n for n, name in enumerate(models)}
    place = {cell: n for n, cell in enumerate(cells)}
    numbers = {name: np.full((len(cells), len(models)), np.nan) for name in ("value", "low", "high", "se")}
    for e in estimates:
        at = place[e.metric, e.estimator, str(e.target)], of_model[e.model]
        for name, values in numbers.items():
            values[at] = getattr(e, name)
    unit: Unit = {"cells": [list(cell) for cell in cells], **numbers}
    if verdicts:
        word, z = _said(verdicts, place, of_model)
        spread = [_in_scenarios(estimator, target) for _, estimator, target in cells]
        z[spread] = np.nan  # one number says nothing of several scenarios
        unit |= {"word": word, "z": z}
    return unit


def _in_scenarios(estimator: str, target: str) -> bool:
    return known.make(estimator).scenarios(Target.make(target)) is not None


def _said(
    verdicts: Sequence[Verdict], place: Mapping[tuple[str, str, str], int], models: Mapping[str, int]
) -> tuple[np.ndarray, Floats]:
    """What is said of every pair, and z."""
    count = len(models)
    at = {pair: n for n, pair in enumerate(combinations(range(count), 2))}
    word, z = np.zeros((len(place), len(at)), dtype=np.int8), np.full((len(place), len(at)), np.nan)
    for v in verdicts:
        cell = place[v.metric, v.estimator, str(v.target)], at[models[v.a], models[v.b]]
        word[cell] = WORDS.get(v.verdict, 0)
        z[cell] = z_of(v)
    return word, z


def z_of(verdict: Verdict) -> float:
    """The difference in standard errors; 0 where there is no error."""
    return verdict.difference / verdict.se if verdict.se > 0.0 else 0.0
