"""The study of Coat on a small world: what is counted is what a reader would count, and finished calls are kept."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.said import refuses
from typer.testing import CliRunner

import unskew as us
from unskew import RefusedError
from unskew.cli import app
from unskew.core import Store
from unskew.log import Log
from unskew.log.datasets import Dataset, source_of
from unskew_papers.coat_truth import experiments
from unskew_papers.coat_truth.learned import IMITATORS
from unskew_papers.coat_truth.recipes import LIKED, PATH, POOLED, RECIPES, Recipe
from unskew_papers.coat_truth.said import said
from unskew_papers.coat_truth.setting import IMITATED, LEARNED, METRICS, SETS, SHARE, SIMPLE, OfCoat, Setting, lists_of
from unskew_papers.coat_truth.shares import SIMULTANEOUS, UNADJUSTED, Row, percent
from unskew_papers.record import Verdict
from unskew_papers.recovery import draws

USERS, ITEMS = 120, 70
FEW = {"naive", "path from likes", "default from likes"}
POINTS = [f"exposure_path(at={step / 10:g})" for step in range(11)]


def as_likes(log: Log) -> Log:
    return draws.as_likes(log, LIKED)


def small_coat() -> Dataset:
    """People who choose what they like, and ratings of items drawn at random for them."""
    rng = np.random.default_rng(1)
    taste = rng.normal(size=(USERS, 3)) @ rng.normal(size=(3, ITEMS)) + 1.2 * rng.normal(size=ITEMS)
    stars = np.clip(np.round(3.0 + taste), 1.0, 5.0)
    p = np.clip(0.05 * 1.7 ** (stars - 1.0), 0.0, 0.9)

    def log(mask: Any) -> Log:
        user, item = np.nonzero(mask)
        columns = {"user": user, "item": item, "value": stars[user, item], "propensity": p[user, item]}
        return Log.from_frame(pl.DataFrame(columns), feedback="ratings")

    mcar = log(rng.random(stars.shape) < 0.3)
    return Dataset(source_of("coat").about, mnar=log(rng.random(stars.shape) < p), mcar=mcar)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Setting:
    return Setting(Store(tmp_path_factory.mktemp("store")), small_coat)


@pytest.fixture(scope="module")
def few() -> list[Recipe]:
    return sorted((recipe for recipe in RECIPES if recipe.name in FEW), key=lambda recipe: recipe.name != "naive")


def test_twice_fourteen_models_and_two_that_imitate() -> None:
    """Every list holds all items that were not rated in training, and only those."""
    train = us.split.holdout(small_coat().mnar, SHARE, seed=0).train
    simple, learned, both = (lists_of(train, models) for models in (SIMPLE, LEARNED, IMITATED))
    assert len(simple) == len(learned) == 14
    assert set(both) - set(learned) == set(IMITATORS)
    rated = set(zip(train.user, train.item, strict=True))
    for lists in (*simple.values(), *both.values()):
        pairs = lists.to_frame().select(pl.col("user", "item").cast(pl.String).cast(pl.Int64)).rows()
        users, items = (ids.values.cast(pl.String).cast(pl.Int64).to_list() for ids in (train.users, train.items))
        assert len(pairs) == len(users) * len(items) - len(rated)
        assert not {(users[u], items[i]) for u, i in rated} & set(pairs)


def test_likes_are_pairs_alone() -> None:
    """What a recipe for clicks sees: no stars, no propensities, and no row below four stars."""
    log = small_coat().mnar
    likes = as_likes(log)
    assert likes.value is None and likes.propensity is None
    assert log.value is not None and len(likes) == int((log.value >= 4).sum()) and LIKED == ">=4"


def test_shares_are_what_one_counts_by_hand(setting: Setting, few: list[Recipe]) -> None:
    """Right, wrong, depends and undecided of truly different pairs, from ``evaluate`` itself, pair by pair."""
    (split,) = setting.calls(few, 1)
    data = setting.data
    train, test = us.split.holdout(data.mnar, SHARE, seed=0)
    lists = lists_of(train, SIMPLE)
    random = us.evaluate(
        data.mcar, lists, metrics=[METRICS[0]], estimators=["naive"], target=POOLED, train=train, relevant=LIKED,
        feedback="ratings",
    )  # fmt: skip
    path = us.evaluate(as_likes(test), lists, metrics=[METRICS[0]], estimators=[PATH, *POINTS], train=as_likes(train))
    by_hand = {level: dict.fromkeys(("right", "wrong", "depends", "undecided"), 0) for level in (0, 1)}
    for truth in random.verdicts_:
        if not abs(truth.difference) > 1.96 * truth.se:  # nor where there is no error to compare it with
            continue
        sign = math.copysign(1.0, truth.difference)
        pair = [v for v in path.verdicts_ if (v.a, v.b) == (truth.a, truth.b)]
        (whole,) = [v for v in pair if v.estimator == PATH]
        z = [sign * v.difference / v.se for v in pair if v.estimator != PATH]
        assert len(z) == 11
        word = {"ahead": sign, "behind": -sign}.get(whole.verdict, 0.0)
        told = "right" if word > 0 else "wrong" if word < 0 else whole.verdict
        by_hand[0][told] += 1
        beyond = [abs(each) > 1.96 for each in z]
        told = "right" if min(z) > 1.96 else "wrong" if max(z) < -1.96 else "depends" if any(beyond) else "undecided"
        by_hand[1][told] += 1
    row = Row(few[2], "exposure path, likes only", METRICS[0])
    for level, name in enumerate((SIMULTANEOUS, UNADJUSTED)):
        assert row.counts(split, name).tolist() == list(by_hand[level].values())
    assert sum(by_hand[0].values()) > 10 and by_hand[1]["right"] > 0
    shares = percent([split], lambda one: row.counts(one, UNADJUSTED))
    assert sum(number.value for number in shares) == pytest.approx(100.0)


def test_pairs_of_imitators_are_told(setting: Setting, few: list[Recipe]) -> None:
    """29 of 120 pairs have one of the two in them, and only these are counted; two processes work it off."""
    (split,) = Setting(setting.store, small_coat, workers=2).calls(few[:1], 1, models=IMITATED)
    names = list(lists_of(us.split.holdout(setting.data.mnar, SHARE, seed=0).train, IMITATED))
    expected = [a in IMITATORS or b in IMITATORS for a, b in combinations(names, 2)]
    assert (np.asarray(split["truth"]["imitates"]) > 0).tolist() == expected and sum(expected) == 29
    row = Row(few[0], "naive", METRICS[0])
    every, some, rest = (row.counts(split, SIMULTANEOUS, imitators=which) for which in (None, True, False))
    assert 0 < some.sum() < every.sum() and (some + rest == every).all()


def test_a_model_that_fails_is_no_smaller_study(
    setting: Setting, few: list[Recipe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shares are of all pairs: the run ends and names the model, instead of counting the pairs of the others."""

    def broken(train: Log) -> None:
        raise ValueError("no coats")

    monkeypatch.setitem(SETS[SIMPLE], "mix", broken)
    with refuses("missing-models", RefusedError):
        Setting(Store(tmp_path), small_coat).calls(few[:1], 1)


def test_calls_are_kept(setting: Setting, few: list[Recipe], monkeypatch: pytest.MonkeyPatch) -> None:
    """A second setting on the same store reads what the first one asked."""
    before = setting.calls(few, 1)
    other = Setting(setting.store, small_coat)
    monkeypatch.setattr(Recipe, "ask", lambda *_: pytest.fail("asked again"))
    monkeypatch.setattr(OfCoat, "lists", lambda *_: pytest.fail("fitted again"))
    after = other.calls(few, 1)
    np.testing.assert_array_equal(
        before[0]["naive"][f"{METRICS[0]} | naive | z"], after[0]["naive"][f"{METRICS[0]} | naive | z"]
    )


def test_the_default_call_is_the_one_without_any_choice(setting: Setting, few: list[Recipe]) -> None:
    """No estimators, targets or metrics: its verdicts on recall@10 are those of the row, on this log the path's."""
    (split,) = setting.calls(few, 1)
    train, test = us.split.holdout(setting.data.mnar, SHARE, seed=0)
    result = us.evaluate(as_likes(test), lists_of(train, SIMPLE), train=as_likes(train))
    assert result.headline()["estimator"] == PATH and METRICS[0] == "recall@10"
    said_ = [v.verdict for v in result.verdicts_ if v.estimator == PATH]
    found = split["default from likes"]["recall@10 | default call, likes only | word"]
    assert found.tolist() == [{"ahead": 1.0, "behind": -1.0, "depends": 2.0}.get(word, 0.0) for word in said_]
    assert (found == 2.0).any()


def test_intervals_hold_the_truth_up_to_its_own_error() -> None:
    """By hand: a value beyond an end is held where both errors together explain it, and only then."""
    row = Row(RECIPES[2], "naive", "recall@10")
    found = {"value": [[0.4, 0.4, 0.2], [0.5, 0.4, 0.2]], "low": [[0.3, 0.3, 0.1], [0.4, 0.3, 0.1]]}
    found["high"] = [[0.5, 0.5, 0.3], [0.6, 0.5, 0.3]]
    said_ = {f"recall@10 | naive | {what}": values for what, values in found.items()}
    true = {
        "recall@10 | pooled | value": [0.6, 0.51, 0.34],
        "recall@10 | pooled | se": [0.01, 0.05 / 1.96, 0.05 / 1.96],
    }
    split: dict[str, dict[str, Any]] = {"naive": said_, "truth": true}
    assert row.covered(split, own_error=False).tolist() == [1.0, 2.0]
    reach = math.hypot(0.1, 0.05)  # 0.112: from 0.4 to 0.512, and from 0.2 to 0.312
    assert 0.51 < 0.4 + reach < 0.52 and 0.2 + reach < 0.34
    assert row.covered(split, own_error=True).tolist() == [2.0, 1.0]


def test_floors_are_met_or_missed(setting: Setting, few: list[Recipe], monkeypatch: pytest.MonkeyPatch) -> None:
    """Floors are held against the numbers as they stand; one split is too few to judge."""
    monkeypatch.setattr(experiments, "RECIPES", tuple(few))
    name = "default call, likes only"
    monkeypatch.setattr(experiments, "FLOORS", tuple(f for f in experiments.FLOORS if f[0] == name))
    records = experiments.simple(setting, 2, False)
    floors = [r for r in records if "asked for" in r.experiment]
    assert {r.verdict for r in floors} <= {Verdict.HOLDS, Verdict.FAILS} and len(floors) == len(METRICS)
    for record in floors:
        (shown,) = [
            r.ours
            for r in records
            if r.column == "wrong"
            and r.row == name
            and r.experiment == record.experiment.replace("what was asked for", SIMULTANEOUS)
        ]
        assert record.ours == shown and (record.verdict is Verdict.HOLDS) == (record.ours <= 1.0)
    assert {r.ours for r in records if r.row == "naive" and r.column == "depends"} == {0.0}
    assert not [r for r in records if r.row == name and UNADJUSTED in r.experiment]
    (alone,) = {r.verdict for r in experiments.simple(setting, 1, False) if "asked for" in r.experiment}
    assert alone is Verdict.OPEN


def test_a_path_depends_where_its_points_differ() -> None:
    """Over points on both sides of 0 nothing is decided, and beyond 1.96 on one of them it depends."""
    train, test = us.split.holdout(small_coat().mnar, SHARE, seed=0)
    lists = lists_of(train, SIMPLE)
    chosen = {name: lists[name] for name in ("random", "most liked")}
    result = us.evaluate(
        as_likes(test), chosen, metrics=["recall@10"], estimators=[PATH, *POINTS], train=as_likes(train)
    )
    found = said(result, "recall@10", (PATH, POOLED), POINTS)
    z = np.array([v.difference / v.se for v in result.verdicts_ if v.estimator != PATH])
    same = bool((z > 0).all() or (z < 0).all())
    assert abs(found.z[0]) == pytest.approx(np.abs(z).min() if same else 0.0)
    assert bool(found.open[0]) == (bool((np.abs(z) > 1.96).any()) and abs(found.z[0]) <= 1.96)


def test_the_command_knows_the_study(tmp_path: Path) -> None:
    """A misspelt name lists it, and an experiment that it lacks is named with those that it has."""
    assert "coat-truth" in CliRunner().invoke(app, ["reproduce", "coat"]).output
    done = CliRunner().invoke(app, ["reproduce", "coat-truth", "table9", "--store", str(tmp_path)])
    assert done.exit_code != 0 and "models, learned, imitators" in " ".join(done.output.replace("│", " ").split())
