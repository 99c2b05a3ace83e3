"""A log of seven rows, two models' lists, and how tests ask about them."""

from __future__ import annotations

from typing import Any

import polars as pl

import unskew as us
from unskew.core.notice import codes

TEST = pl.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 3, 4],
        "item": [10, 20, 30, 20, 40, 30, 10],
        "propensity": [0.8, 0.4, 0.2, 0.5, 0.1, 0.25, 0.9],
        "place": ["home", "search", "home", "search", "home", "home", "search"],
    }
)
LISTS = {
    "a": pl.DataFrame({"user": [1, 1, 2, 2, 3], "item": [10, 50, 40, 20, 10], "rank": [1, 2, 1, 2, 1]}),
    "b": pl.DataFrame({"user": [1, 1, 2, 4], "item": [20, 30, 20, 10], "rank": [1, 2, 1, 1]}),
}


def evaluate(test: Any = TEST, models: Any = None, **options: Any) -> us.Result:
    settings: dict[str, Any] = {"metrics": ["recall@2"], "propensity": "known", "estimators": ["naive", "snips"]}
    return us.evaluate(test, LISTS if models is None else models, **(settings | options))


def value(result: us.Result, model: str = "a", estimator: str = "naive", **where: Any) -> float:
    rows = [e for e in result.estimates if e.model == model and e.estimator == estimator]
    rows = [e for e in rows if all(getattr(e, name) == wanted for name, wanted in where.items())]
    assert len(rows) == 1
    return rows[0].value


def numbers(result: us.Result) -> dict[tuple[str, ...], tuple[float, float]]:
    return {(e.model, e.metric, e.estimator, str(e.target)): (e.value, e.se) for e in result.estimates}


def said(result: us.Result, code: str) -> list[str]:
    """The warnings with this code."""
    return [text for text in result.warnings if code in codes([text])]


SEEN = pl.DataFrame({"user": [1, 1, 2, 9], "item": [50, 10, 40, 30]})


def many() -> us.Result:
    """Two gs, several metrics and targets."""
    return evaluate(
        metrics=["recall@1", "recall@2", "dcg@2"],
        estimators=["snips", "gs(strata=2)", "gs(strata=3)", "clipped(snips, at=0.3)"],
        target=["per_user", "pooled"],
    )


def better(a: str, b: str, on: str) -> str:
    """A statement that may be required."""
    return f"{a} better than {b} on {on}"


def kept(a: str, b: str, by: str, on: str) -> str:
    """A statement that may be required."""
    return f"{a} not worse than {b} by {by} on {on}"
