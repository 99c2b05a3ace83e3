"""Which setting? Every candidate is fitted on a training log and scored on a validation log; the best one wins.

    found = search(train, validation, {"wmf": {"dim": [20, 40], "penalty": [0.01, 0.1]}}, metric="recall@10")
    found.model                      # the winner, fitted
    found.table                      # all candidates, best first

Candidates are fitted side by side, as many at once as cores and memory allow, and only the best so far is kept. Of
equally good ones the first of the grid wins, so that neither threads nor timing change the choice. The winner's value
is the largest of many, and therefore too good: judge it on rows that the search did not see.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import isfinite, nan
from typing import Any

import polars as pl

from unskew import metrics
from unskew.core.bounds import THREADS, shown
from unskew.core.errors import InputError
from unskew.core.memory import available
from unskew.core.notice import Notice
from unskew.core.spec import Spec
from unskew.core.threads import Threads, usual
from unskew.evaluation.planning import NoHitsError
from unskew.evaluation.run import evaluate, reporter
from unskew.log.expected import a_log
from unskew.log.log import Log
from unskew.metrics import Metric, RankingMetric
from unskew.models.base import Model, training_rows
from unskew.models.family import FAMILY
from unskew.models.mf.search import edges

MOST = 100_000  # candidates
SCORES = ("value", "se", "hits", "users")

Grid = Mapping[str, Mapping[str, Iterable[Any]]] | Iterable[Model | str]
Stage = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Searched:
    """How every candidate did.

    Args:
        table: the canonical string of each candidate, its options, its value with standard error, the pairs that carry
            it and the users that count; best first.
        model: the best one, fitted on the training log.
        lower_is_better: of errors.
    """

    table: pl.DataFrame
    model: Model
    metric: str
    lower_is_better: bool

    @property
    def best(self) -> str:
        """The canonical string of the winner."""
        return str(self.table["model"][0])

    @property
    def cautions(self) -> tuple[Notice, ...]:
        """What one should know before trusting the choice."""
        best, others = self.table.row(0, named=True), self.table[1:]
        if others.is_empty():
            return ()
        many = len(self.table)
        text = f"the winner's {self.metric} is the best of {many}, and therefore too good."
        said = [Notice(text, code="best-of-many", candidates=many)]
        equal = int((others["value"] == best["value"]).sum())
        if equal:
            text = f"{equal} others are exactly as good: the first of the grid was taken."
            said.append(Notice(text, code="tied-candidates", candidates=equal))
        near = int(((others["value"] - best["value"]).abs() <= best["se"]).sum()) if isfinite(best["se"]) else 0
        if near > equal:
            text = f"{near} others lie within one standard error of the winner."
            said.append(Notice(text, code="close-candidates", candidates=near))
        return (*said, *self._edges(best))

    def _edges(self, best: Mapping[str, Any]) -> list[Notice]:
        """Options whose best value is the least or the greatest that was tried for this kind of model."""
        tried = self.table.filter(pl.col("model").str.split("(").list.first() == self.model.name)
        numbers = {
            option: chosen
            for option, chosen in best.items()
            if option not in ("model", *SCORES) and not isinstance(chosen, str) and chosen is not None
        }
        return edges(tried, numbers)


def search(
    train: Log,
    validation: Log,
    grid: Grid,
    metric: str | Metric = "recall@10",
    *,
    relevant: str | None = None,
    estimator: str = "naive",
    propensity: Any = None,
    target: str | None = None,
    threads: int | None = None,
    progress: Stage | None = None,
) -> Searched:
    """Fit every candidate on ``train`` and score it on ``validation``.

    Args:
        train: what models learn from; its items are no candidates for the user.
        validation: rows that no model is fitted on. Pairs that are also in ``train`` are left out.
        grid: models or their canonical strings, or name → option → the values to try, of which all combinations are.
        metric: what is best; errors of predictions (``mae``) are best where they are least.
        relevant: a threshold on the value, ``'>3'``, in both logs.
        estimator, propensity, target: as in ``evaluate``. By default the textbook value: naive, and per_user
            (precision: per_user_sum).
        threads: how many candidates are fitted at once, at most; the table does not depend on it.
        progress: called with (stage, done, total).
    """
    measured, say = metrics.make(metric), reporter(progress)
    candidates, trained, tested = _candidates(grid), a_log(train), a_log(validation)
    asked = {
        "metrics": [measured],
        "estimators": [estimator],
        "propensity": propensity,
        "target": target or _usual_target(measured),
        "train": trained,
        "relevant": None if tested.value is None else relevant,
    }
    sign = 1.0 if measured.lower_is_better else -1.0
    leader = _Leader()

    def work(place: int) -> dict[str, Any]:
        model = candidates[place].copy().fit(training_rows(candidates[place], trained, relevant))
        try:
            estimate = evaluate(tested, {str(model): model}, threads=usual(), **asked).estimates[0]
            scores = {name: getattr(estimate, name) for name in SCORES}
        except NoHitsError as problem:
            scores = {"value": 0.0, "se": nan, "hits": 0, "users": None}
            leader.nothing = problem
        leader.offer(sign * scores["value"], place, model)
        return {"model": str(model), **_plain_options(model), **scores}

    rows = []
    at_once = _at_once(candidates, trained, threads)
    with Threads(at_once, alone=at_once > 1) as pool:
        for row in pool.map(work, range(len(candidates))):
            rows.append(row)
            say("searching", len(rows), len(candidates))
    if leader.nothing is not None and not any(row["value"] for row in rows):
        raise leader.nothing
    assert leader.model is not None
    order = sorted(range(len(rows)), key=lambda place: (sign * rows[place]["value"], place))
    return Searched(_table([rows[place] for place in order]), leader.model, str(measured), measured.lower_is_better)


class _Leader:
    """The best model so far; of equally good ones the first of the grid, whoever comes first."""

    def __init__(self) -> None:
        self._lock, self._key = threading.Lock(), (float("inf"), MOST)
        self.model: Model | None = None
        self.nothing: NoHitsError | None = None

    def offer(self, cost: float, place: int, model: Model) -> None:
        """Keep a model if it is better."""
        if not isfinite(cost):
            raise InputError(
                f"'{model}' has no value on the validation log: it holds nothing that could be judged.", code="no-hits"
            )
        with self._lock:
            if (cost, place) < self._key:
                self._key, self.model = (cost, place), model


def _candidates(grid: Grid) -> list[Model]:
    """The models that a grid names, in its order, each once."""
    if isinstance(grid, str | Model) or not isinstance(grid, Iterable):
        raise InputError(
            "a grid is a list of models, or name → option → values, as in {'item_knn': {'neighbours': [10, 20]}}, not "
            f"{shown(grid)}.",
            code="wrong-type",
            argument="grid",
        )
    found: dict[str, Model] = {}
    for model in _combinations(grid) if isinstance(grid, Mapping) else map(FAMILY.make, grid):
        found.setdefault(str(model), model)
        if len(found) > MOST:
            raise InputError(
                f"a grid of more than {MOST:,} candidates takes longer than anybody waits.",
                code="too-large",
                argument="grid",
            )
    if not found:
        raise InputError("a search needs at least one candidate.", code="missing-argument", argument="grid")
    return list(found.values())


def _combinations(grid: Mapping[str, Mapping[str, Iterable[Any]]]) -> Iterable[Model]:
    for name, options in grid.items():
        kind = FAMILY.class_of(name)
        if not isinstance(options, Mapping) or any(
            isinstance(v, str) or not isinstance(v, Iterable) for v in options.values()
        ):
            raise InputError(
                f"the grid of '{name}' must say of each option which values to try: {{'dim': [20, 40]}}.",
                code="wrong-type",
                argument="grid",
            )
        for values in product(*options.values()):
            yield kind.of_spec(Spec(name, (), dict(zip(options, values, strict=True))))


def _usual_target(metric: Metric) -> str | None:
    """The target under which the naive estimate is the textbook value."""
    if not isinstance(metric, RankingMetric):
        return None
    return "per_user_sum" if metric.divided_by_k else "per_user"


def _at_once(candidates: list[Model], log: Log, threads: int | None) -> int:
    """How many candidates are fitted side by side: no more than half of the free memory holds."""
    if threads is not None:
        THREADS.of(threads, "threads")
    largest = max(model.footprint(log) for model in candidates)
    return max(1, min(threads or usual(), len(candidates), available() // (2 * largest)))


def _plain_options(model: Model) -> dict[str, Any]:
    """The options as numbers and texts."""
    return {name: v if isinstance(v, int | float) else str(v) for name, v in model.shown().items()}


def _table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """One row per candidate; options that a model does not have are missing, and scores come last."""
    options = dict.fromkeys(name for row in rows for name in row if name not in ("model", *SCORES))
    order = ["model", *options, *SCORES]
    columns = {name: [row.get(name) for row in rows] for name in order}
    return pl.DataFrame({name: pl.Series(name, values, strict=False) for name, values in columns.items()})
