"""Values and errors over folds against loops over users: plain evaluations of each fold, put together by hand."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import pytest

import unskew as us
from tests.cross_validation import logs
from unskew import split

Contributions = list[dict[tuple[Any, ...], list[tuple[Any, float, float]]]]  # by fold and cell: user, a, b


def contributions(log: us.Log, how: str, **options: Any) -> Contributions:
    """What every user brings to every cell in every fold, by ``evaluate(per_user=True)`` on the fold's own logs."""
    found: Contributions = []
    for each in split.make_splits(log, how):
        lists = logs.fitted(logs.MODELS, logs.compact(each.train))
        result = us.evaluate(each.test, lists, train=each.train, per_user=True, **options)
        cells: dict[tuple[Any, ...], list[tuple[Any, float, float]]] = defaultdict(list)
        for row in result.per_user().iter_rows(named=True):
            cell = row["model"], row["metric"], row["estimator"], row["target"]
            cells[cell].append((row["user"], row["numerator"], row["divisor"]))
        found.append(cells)
    return found


def error(shares: dict[Any, float], active: set[Any]) -> float:
    """m/(m−1) Σ e², the root of it."""
    return math.sqrt(len(active) / (len(active) - 1) * sum(e * e for e in shares.values()))


def counting(folds: Contributions, cell: tuple[str, ...]) -> set[Any]:
    """Users with anything but zeros for any model."""
    return {u for fold in folds for name in logs.MODELS for u, a, b in fold[(name, *cell)] if a or b}


def pooled(folds: Contributions, key: tuple[str, ...]) -> tuple[float, dict[Any, float]]:
    above: defaultdict[Any, float] = defaultdict(float)
    below: defaultdict[Any, float] = defaultdict(float)
    for fold in folds:
        for user, a, b in fold[key]:
            above[user] += a
            below[user] += b
    total = sum(below.values())
    value = sum(above.values()) / total
    return value, {user: (above[user] - value * below[user]) / total for user in above}


def macro(folds: Contributions, key: tuple[str, ...]) -> tuple[float, dict[Any, float]]:
    value = 0.0
    shares: defaultdict[Any, float] = defaultdict(float)
    for fold in folds:
        total = sum(b for _, _, b in fold[key])
        own = sum(a for _, a, _ in fold[key]) / total
        value += own / len(folds)
        for user, a, b in fold[key]:
            shares[user] += (a - own * b) / total / len(folds)
    return value, shares


CASES = [
    (logs.WEEKS, {"estimators": ["naive"], "target": ["pooled", "per_user"], "metrics": ["recall@5", "ndcg@5"]}),
    (logs.WEEKS, {"propensity": "popularity(gamma=1)", "estimators": ["snips"], "target": ["pooled", "per_user"]}),
    ("k_fold(folds=3)", {"propensity": "popularity(gamma=1)", "metrics": ["dcg@5"]}),
    ("sliding_window(width=1w, folds=5, min_users=5, history=14d)", {"estimators": ["naive"]}),
]


@pytest.mark.parametrize(("how", "options"), CASES)
def test_values_and_errors_are_those_of_users_over_all_folds(how: str, options: dict[str, Any]) -> None:
    """Both ways of putting folds together, for every model, and for the differences of models."""
    log = logs.log()
    if options.get("target") == ["pooled", "per_user"] and "ndcg@5" in options.get("metrics", ()):
        options = options | {"refused": "skip"}
    found = us.cross_validate(log, logs.MODELS, split=how, **options)
    folds = contributions(log, how, **options)
    assert len(folds) == len(found.folds_) > 2
    for way, result in ((pooled, found.pooled), (macro, found.macro)):
        for e in result.estimates:
            cell = e.metric, e.estimator, str(e.target)
            value, shares = way(folds, (e.model, *cell))
            active = counting(folds, cell)
            assert e.value == pytest.approx(value, rel=1e-9)
            assert e.se == pytest.approx(error(shares, active), rel=1e-7)
            assert e.users == len(active)
        for v in result.verdicts_:
            cell = v.metric, v.estimator, str(v.target)
            (one, mine), (other, theirs) = (way(folds, (name, *cell)) for name in (v.a, v.b))
            gaps = {user: mine[user] - theirs[user] for user in mine}
            assert v.difference == pytest.approx(one - other, rel=1e-7, abs=1e-12)
            assert v.se == pytest.approx(error(gaps, counting(folds, cell)), rel=1e-6)


def test_folds_keep_their_own_values() -> None:
    """``folds()`` has every fold's value, and the average over folds is the mean of them."""
    log = logs.log()
    found = us.cross_validate(log, logs.MODELS, split=logs.WEEKS, estimators=["naive"])
    folds = contributions(log, logs.WEEKS, estimators=["naive"])
    values = found.folds()
    assert values["fold"].n_unique() == len(folds)
    for place, fold in enumerate(found.folds_):
        for v in (v for v in found.values_ if v.fold == fold.fold):
            rows = folds[place][(v.model, v.metric, v.estimator, v.target)]
            assert v.value == pytest.approx(sum(a for _, a, _ in rows) / sum(b for _, _, b in rows), rel=1e-12)
    for e in found.macro.estimates:
        own = [v.value for v in found.values_ if v.model == e.model]
        assert e.value == pytest.approx(sum(own) / len(own), rel=1e-12)
    for row in found.rows():
        best = [max(v.value for v in found.values_ if v.fold == fold.fold) for fold in found.folds_]
        own = [v.value for v in found.values_ if v.model == row.model]
        assert row.folds_won == sum(a == b for a, b in zip(best, own, strict=True))
        assert row.folds == len(folds)
