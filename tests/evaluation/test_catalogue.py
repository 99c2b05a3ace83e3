"""Items that nobody happened to see: what a catalogue made of logs lacks, and what naming it changes."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import said
from tests.said import refuses
from unskew.core.errors import InputError

ITEMS = ("a", "b", "c")
LISTS = pl.DataFrame({"user": [0, 0, 1, 1, 2, 2], "item": ["a", "b", "b", "c", "c", "a"], "rank": [1, 2, 1, 2, 1, 2]})
P = np.array([[1.0, 1.0, 0.6], [1.0, 0.2, 0.7], [0.4, 1.0, 0.1]])
Y = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
Q = np.array([[0.9, 0.2, 0.4], [0.7, 0.5, 0.1], [0.3, 0.6, 0.8]])


def table(pairs: np.ndarray[Any, Any], **columns: np.ndarray[Any, Any]) -> pl.DataFrame:
    user, item = np.nonzero(pairs)
    there = {name: values[user, item] for name, values in columns.items()}
    return pl.DataFrame({"user": user, "item": [ITEMS[i] for i in item], **there})


GUESSES = table(np.ones((3, 3)), prediction=Q)


def value(result: us.Result, estimator: str) -> float:
    return next(e.value for e in result.estimates if e.estimator == estimator)


def worth(x: np.ndarray[Any, Any]) -> float:
    """cg@2: half of Σ over each user's list, averaged over users."""
    return sum(float(x[user, ITEMS.index(item)]) for user, item, _ in LISTS.iter_rows()) / 2 / 3


def run(z: np.ndarray[Any, Any], estimators: list[str], **options: Any) -> us.Result:
    asked: dict[str, Any] = {"outcome": us.outcome.Given(GUESSES), "target": "per_user_sum", **options}
    return us.evaluate(
        table(z, value=Y, propensity=P), {"m": LISTS}, metrics=["cg@2"], estimators=estimators, propensity="known",
        feedback="conversions", users=pl.DataFrame({"user": [0, 1, 2]}), **asked,
    )  # fmt: skip


@pytest.mark.parametrize("named", [False, True])
def test_estimates_are_unbiased_though_items_may_go_unseen(named: bool) -> None:
    """Over all masks of five pairs (item a is always seen by two users), some of which show not all items."""
    free = [pair for pair in itertools.product(range(3), range(3)) if P[pair] < 1.0]
    options = {"items": pl.DataFrame({"item": ITEMS})} if named else {}
    names = ["ips", "dr", "direct", *(["snips"] if named else [])]
    sums, lacking = dict.fromkeys(names, 0.0), 0.0
    for seen in itertools.product((False, True), repeat=len(free)):
        z, chance = P == 1.0, 1.0
        for (u, i), there in zip(free, seen, strict=True):
            z[u, i] = there
            chance *= P[u, i] if there else 1.0 - P[u, i]
        result = run(z, names, **options)
        lacking += chance * (not z.any(axis=0).all())
        for name in names:
            sums[name] += chance * value(result, name)
        x = np.where(z, Y / P, 0.0)
        assert value(result, "ips") == pytest.approx(worth(x))
        assert value(result, "dr") == pytest.approx(worth(Q + np.where(z, (Y - Q) / P, 0.0)))
        assert value(result, "direct") == pytest.approx(worth(Q))
        if named:
            assert value(result, "snips") == pytest.approx(worth(x) * 9.0 / np.where(z, 1.0 / P, 0.0).sum())
        assert bool(said(result, "listed-beyond-catalogue")) is (not named and not z.any(axis=0).all())
    assert lacking > 0.1  # such masks are not rare
    assert sums["ips"] == pytest.approx(worth(Y)) and sums["dr"] == pytest.approx(worth(Y))


def test_a_named_catalogue_is_all_there_is() -> None:
    """Listed items outside it are no candidates; items of the logs belong to it whether named or not."""
    z = np.zeros((3, 3), dtype=bool)
    z[:, 0] = True
    result = run(z, ["dr", "direct"], items=pl.DataFrame({"item": ["b"]}))
    q = np.where([True, True, False], Q, 0.0)
    assert value(result, "direct") == pytest.approx(worth(q))
    assert value(result, "dr") == pytest.approx(worth(q + np.where(z, (Y - Q) / P, 0.0)))
    (outside,) = said(result, "listed-beyond-catalogue")
    assert "2 of 6 " in outside
    assert result.inputs["items"]["catalogue"] == 2 and result.inputs["items"]["only_in_logs"] == 1
    (lacking,) = said(result, "items-not-named")
    assert lacking.startswith("1 of the 2 ")
    assert not said(run(z, ["dr"], items=pl.DataFrame({"item": ITEMS})), "items-not-named")


def test_guesses_of_listed_pairs_are_enough() -> None:
    """A held-out pair that no list holds corrects nothing; totals over all pairs do ask for it."""
    z = np.ones((3, 3), dtype=bool)
    listed = GUESSES.join(LISTS.select("user", "item"), on=["user", "item"], how="semi")
    assert len(listed) == 6
    few, all_ = (run(z, ["dr", "direct"], outcome=us.outcome.Given(q)) for q in (listed, GUESSES))
    for name in ("dr", "direct"):
        assert value(few, name) == pytest.approx(value(all_, name))
    assert few.inputs["outcome"]["unasked"] == 3 and all_.inputs["outcome"]["unasked"] == 0
    assert few.inputs["outcome"]["unknown"] == 0
    with pytest.raises(InputError, match=" 3 of 9 "):
        run(z, ["dr"], outcome=us.outcome.Given(listed), target="per_user_sum(normalised=pooled)")
    with refuses("missing-prediction"):
        run(z, ["dr"], outcome=us.outcome.Given(listed[1:]))


def test_relevant_items_of_a_population_are_counted_not_summed() -> None:
    """Graded outcomes of 3 on one item are one relevant item."""
    test = pl.DataFrame({"user": [0, 0, 1], "item": ["a", "b", "a"], "value": [3.0, 0.0, 1.0], "propensity": [0.5] * 3})
    asked: dict[str, Any] = {
        "metrics": ["cg@2"], "estimators": ["ips"], "propensity": "known", "feedback": "conversions",
    }  # fmt: skip
    users = pl.DataFrame({"user": [0, 1], "relevant": [1, 1]})
    lists = LISTS.filter(pl.col("user") < 2)
    assert value(us.evaluate(test, {"m": lists}, users=users, **asked), "ips") == pytest.approx(1.5)
    with pytest.raises(InputError, match="2 relevant"):
        us.evaluate(test.with_columns(value=pl.lit(1.0)), {"m": lists}, users=users, **asked)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ({"item": ["a", "a"]}, "repeated-id"),
        ({"thing": ["a"]}, "missing-column"),
        ({"item": ["a", None]}, "missing-value"),
    ],
)
def test_catalogues_that_are_none(tmp_path: Path, rows: dict[str, list[str]], code: str) -> None:
    path = tmp_path / "items.csv"
    pl.DataFrame(rows).write_csv(path)
    with refuses(code) as error:
        run(np.ones((3, 3), dtype=bool), ["dr"], items=path)
    assert "items.csv" in str(error.value)
