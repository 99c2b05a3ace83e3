"""Users without a training row: what fitted models list for them is nobody's own, and the result says so."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import said
from tests.said import only
from unskew.core.notice import codes
from unskew.models import ItemKNN, MostPopular

NEW = "users-without-training"


def logs(new: int) -> tuple[us.Log, us.Log]:
    """40 users with three training rows and two others each; ``new`` users with test rows only."""
    rng = np.random.default_rng(0)
    rows = [(user, int(item)) for user in range(40) for item in rng.permutation(15)[:5]]
    train = [row for place, row in enumerate(rows) if place % 5 < 3]
    test = [row for place, row in enumerate(rows) if place % 5 >= 3]
    test += [(100 + user, int(item)) for user in range(new) for item in rng.permutation(15)[:2]]
    made = (us.Log.from_frame(pl.DataFrame(each, schema=["user", "item"], orient="row")) for each in (train, test))
    return next(made), next(made)


def warned(models: Any, train: us.Log, test: us.Log, **options: Any) -> list[str]:
    result = us.evaluate(test, models, train=train, metrics=["recall@5"], estimators=["naive"], **options)
    return said(result, NEW)


def test_new_users_of_fitted_models_are_told_everywhere(tmp_path: Path) -> None:
    """In the terminal, in the summary, on the page and in JSON, with their number and share."""
    train, test = logs(10)
    models = {"popular": MostPopular().fit(train), "knn": ItemKNN().fit(train)}
    result = us.evaluate(test, models, train=train, metrics=["recall@5"], estimators=["naive"])
    (text,) = said(result, NEW)
    assert "10 of 50 " in text and "(20%" in text and "knn" in text
    result.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for shown in (str(result), str(result.summary()), json.dumps(result.to_dict()), page):
        assert text[:60] in " ".join(html.unescape(shown).replace("\u00a0", " ").replace(" %", "%").split())


def test_the_verdict_itself_says_so() -> None:
    """Whoever reads nothing but the verdict, or the answer of a requirement, is told."""
    train, test = logs(10)
    models = {"popular": MostPopular().fit(train), "knn": ItemKNN().fit(train)}
    result = us.evaluate(test, models, train=train, metrics=["recall@5"])
    for verdict in result.verdicts_:
        assert "20%" in only("new-users", [verdict.trust]) and "knn" in verdict.trust
    (found,) = result.require("knn better than popular on recall@5")
    assert found.answer == "undecided" and "20%" in found.reason and "knn" in found.reason
    train, test = logs(0)
    models = {"popular": MostPopular().fit(train), "knn": ItemKNN().fit(train)}
    result = us.evaluate(test, models, train=train, metrics=["recall@5"])
    assert not any("new-users" in codes([verdict.trust]) for verdict in result.verdicts_)


def test_the_others_can_be_judged_alone() -> None:
    """The remedy does what it says: the same scores as without the new users."""
    train, test = logs(10)
    models = {"knn": ItemKNN().fit(train)}
    users = pl.DataFrame({"user": train.users.values})
    assert not warned(models, train, test, users=users, invalid="drop")


@pytest.mark.parametrize("new", [0, 2])
def test_few_new_users_go_unmentioned(new: int) -> None:
    """Up to 5 % of the users."""
    train, test = logs(new)
    assert not warned({"knn": ItemKNN().fit(train)}, train, test)


def test_models_that_know_nobody_are_no_less_right() -> None:
    """Popularity serves everybody alike, and lists from elsewhere are what was shown."""
    train, test = logs(10)
    assert not warned({"popular": MostPopular().fit(train)}, train, test)
    lists = ItemKNN().fit(train).recommend(test.users, 5, seen=train)
    assert not warned({"knn": lists}, train, test)
    assert not warned({"knn": lists.to_frame()}, train, test)
