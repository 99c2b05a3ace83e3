"""Logistic propensities: the likelihood, the sums that free offsets match, sampling, and hostile logs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, logit

import unskew as us
from tests.conftest import missing
from tests.propensity.worlds import Floats, LogisticWorld, all_pairs, features_of, log_of
from unskew import propensity
from unskew.errors import InputError, RefusedError
from unskew.log import Log
from unskew.propensity import Level, Logistic, Part, Side
from unskew.propensity.crossfit import pair_folds, unseen_pairs
from unskew.spec import parse


def matrix_of(model: Logistic, shape: tuple[int, ...]) -> Floats:
    """P of all pairs of the users and items 0, 1, …"""
    return model.predict(*all_pairs(shape)).reshape(shape)


def coat() -> Path:
    """Where the Coat data lie."""
    root = os.environ.get("UNSKEW_DATA") or Path(__file__).parents[3] / "shared" / "data"
    path = Path(root) / "coat"
    if not (path / "propensities.ascii").exists():
        missing("Coat is not there: set UNSKEW_DATA to the directory that holds coat/")
    return path


def test_the_propensities_of_coat_come_back() -> None:
    """schnabel16 §6.5: on Coat the default correlates by at least 0.97 with the propensities that its authors ship."""
    path = coat()
    stars = np.loadtxt(path / "train.ascii")
    user = np.loadtxt(path / "user_item_features" / "user_features.ascii")
    item = np.loadtxt(path / "user_item_features" / "item_features.ascii")
    side = Side(user_features=features_of(user, "user"), item_features=features_of(item, "item"))
    fitted = Logistic().fit(log_of(stars > 0, stars, "ratings"), side)
    found, theirs = matrix_of(fitted, stars.shape), np.loadtxt(path / "propensities.ascii")
    assert np.corrcoef(found.ravel(), theirs.ravel())[0, 1] >= 0.97
    assert found.sum() == pytest.approx(np.count_nonzero(stars), rel=1e-9)
    assert fitted.level is Level.ABSOLUTE


@pytest.mark.parametrize("features", ["outer", "plain"])
def test_it_is_penalised_maximum_likelihood(features: str) -> None:
    """The gradient of the loss, written out pair by pair, vanishes: Σ (P − O) x + w/c = 0, intercept unpenalised."""
    world = LogisticWorld.draw(12, 9, seed=1)
    fitted = Logistic(features, c=0.7).fit(log_of(world.seen), world.side)
    x, z = (f.matrix for f in (world.side.user_features, world.side.item_features) if f is not None)
    x, z = ((m - m.min(axis=0)) / np.ptp(m, axis=0) for m in (x, z))
    p = matrix_of(fitted, world.seen.shape)
    rows, rest, logits = [], [], []
    for u in range(12):
        for i in range(9):
            products = [np.outer(x[u], z[i]).ravel()] if features == "outer" else []
            rows.append(np.concatenate([[1.0], x[u], z[i], *products]))
            rest.append(p[u, i] - world.seen[u, i])
            logits.append(logit(p[u, i]))
    design = np.array(rows)
    w = np.linalg.lstsq(design, np.array(logits), rcond=None)[0]
    np.testing.assert_allclose(design @ w, logits, atol=1e-8)
    np.testing.assert_allclose(design.T @ np.array(rest) + np.concatenate([[0.0], w[1:] / 0.7]), 0.0, atol=1e-6)


@pytest.mark.parametrize("text", ["features=outer, offsets=user+item", "features=none, offsets=user+item"])
def test_free_offsets_match_row_and_column_sums(text: str) -> None:
    """Σ_i P_ui is the user's number of rows and Σ_u P_ui the item's, to 1e-6 (users and items with some, not all)."""
    world = LogisticWorld.draw(150, 80, seed=2, spread=1.0)
    seen = world.seen
    seen[[0, 2]], seen[1] = False, True
    fitted = propensity.make(f"logistic({text})").fit(log_of(seen), world.side)
    assert isinstance(fitted, Logistic)
    p = matrix_of(fitted, seen.shape)
    inner = (seen.sum(axis=1) > 0) & (seen.sum(axis=1) < seen.shape[1])
    np.testing.assert_allclose(p.sum(axis=1)[inner], seen.sum(axis=1)[inner], atol=1e-6)
    items = (seen.sum(axis=0) > 0) & (seen.sum(axis=0) < seen.shape[0])
    at_once = p[~inner & (seen.sum(axis=1) == 0)].sum(axis=0)  # what silent users are guessed to add
    np.testing.assert_allclose((p.sum(axis=0) - at_once)[items], seen.sum(axis=0)[items], atol=1e-6)
    np.testing.assert_allclose(p[1], 1.0, atol=1e-6)
    np.testing.assert_allclose(p[[0, 2]].sum(axis=1), 1.0, rtol=0.2)  # about one row: as if seen once


@pytest.mark.parametrize("offsets", ["user", "item"])
def test_one_sided_free_offsets_are_log_odds(offsets: str) -> None:
    """With offsets of one kind only, P is the row (column) share."""
    seen = np.random.default_rng(0).random((20, 15)) < 0.4
    axis = 1 if offsets == "user" else 0
    fitted = Logistic("none", offsets).fit(log_of(seen))
    share = np.broadcast_to(seen.mean(axis=axis, keepdims=True), seen.shape)
    np.testing.assert_allclose(matrix_of(fitted, seen.shape), share, atol=1e-8)


@pytest.mark.parametrize(
    ("text", "spread"),
    [
        ("logistic(features=outer, c=10)", 0.0),
        ("logistic(features=outer, offsets=user+item, c=10)", 0.7),
        ("logistic(features=outer, offsets=user+item, c=0.5, free=no)", 0.7),
    ],
)
def test_known_worlds_are_recovered(text: str, spread: float) -> None:
    """Where the model is right, its propensities correlate with the true ones and have their level."""
    world = LogisticWorld.draw(500, 200, seed=3, spread=spread)
    fitted = propensity.make(text).fit(log_of(world.seen), world.side)
    assert isinstance(fitted, Logistic)
    p = matrix_of(fitted, world.p.shape)
    assert np.corrcoef(logit(p).ravel(), logit(world.p).ravel())[0, 1] > 0.95
    error = np.abs(p - world.p).mean() / world.p.mean()
    assert error < (0.03 if not spread else 0.2)


@pytest.mark.parametrize(
    "model", [Logistic(), Logistic(offsets="user+item"), Logistic("plain", "user", free="no")], ids=str
)
def test_weights_equal_repetition_of_users(model: Logistic) -> None:
    """A user of weight 2 counts like two users, one of weight 0 like none, penalised or free."""
    world = LogisticWorld.draw(30, 20, seed=4, spread=0.5)
    weights = np.random.default_rng(0).integers(0, 3, 30).astype(np.float64)
    weights[:2] = 1.0
    copies = np.repeat(np.arange(30), weights.astype(int))
    x = np.random.default_rng(1).integers(0, 2, (30, 3)).astype(np.float64)
    x[0], x[1] = 0.0, 1.0  # the covariates that count range over [0, 1] in both logs
    by_weight = model.fit(log_of(world.seen), replace(world.side, user_features=features_of(x, "user")), weights)
    side = replace(world.side, user_features=features_of(x[copies], "user"))
    repeated = matrix_of(model.fit(log_of(world.seen[copies]), side), (len(copies), 20))
    np.testing.assert_allclose(matrix_of(by_weight, (30, 20))[copies], repeated, rtol=1e-5)


def sampling_shifts(first: int, worlds: int = 12) -> Floats:
    """Per world the level and the slope, along the exact fit, of logit P from a sample less logit P from all pairs."""
    found = []
    for seed in range(first, first + worlds):
        world = LogisticWorld.draw(300, 200, seed=seed, level=-3.0)
        log, model = log_of(world.seen), Logistic(c=10.0)
        exact = logit(matrix_of(model.fit(log, world.side), world.p.shape)).ravel()
        sampled = replace(model, negatives=3, seed=seed).fit(log, world.side)
        shift = logit(matrix_of(sampled, world.p.shape)).ravel() - exact
        slope, _ = np.polyfit(exact - exact.mean(), shift, 1)
        found.append([shift.mean(), slope])
    return np.array(found)


def test_sampled_unseen_pairs_agree_with_all() -> None:
    """logit P = logit P̃ + log f: over worlds, the corrected fit agrees with the exact one in level and slope.

    Given what was seen, the two fits need not agree even on average over samples: both are consistent, and each takes
    another part of the chance in what was seen. Over new worlds the mean difference is 0 up to the second-order bias
    of maximum likelihood, at most the 9 parameters over twice the 3,000 seen pairs, 0.002 on the logit scale. Twelve
    worlds give a mean whose error they tell themselves; Student's t with 11 degrees of freedom exceeds 5 in 0.04 % of
    cases.
    """
    found = sampling_shifts(0)
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0)) < 5.0 * error + 0.002).all()
    assert (error < 0.02).all()  # without the correction the level is off by log f, about 1.8


def test_samples_are_repeatable() -> None:
    """The same seed draws the same pairs, another one others."""
    world = LogisticWorld.draw(100, 80, seed=5, level=-3.0)
    log, model = log_of(world.seen), Logistic(c=10.0, negatives=3)
    once, again, other = (
        matrix_of(m.fit(log, world.side), world.p.shape) for m in (model, model, replace(model, seed=1))
    )
    np.testing.assert_array_equal(once, again)
    assert (once != other).any()


def test_sampling_all_unseen_pairs_is_the_exact_fit() -> None:
    """At rate 1 both ways of holding pairs find the same minimum."""
    world = LogisticWorld.draw(40, 30, seed=6, spread=0.5)
    log = log_of(world.seen)
    for offsets in ("none", "user+item"):
        model = Logistic(offsets=offsets)
        sampled = replace(model, negatives=1000).fit(log, world.side)
        p = matrix_of(model.fit(log, world.side), world.p.shape)
        np.testing.assert_allclose(matrix_of(sampled, world.p.shape), p, rtol=1e-6)


def test_unseen_pairs_are_unseen_different_and_uniform() -> None:
    """Drawn pairs are not in the log, none twice, and the rate is their share of all unseen pairs."""
    seen = np.random.default_rng(1).random((50, 40)) < 0.3
    log = log_of(seen)
    drawn = unseen_pairs(log, 600)
    hit = np.zeros_like(seen)
    hit[drawn.pairs.user, drawn.pairs.item] = True
    assert hit.sum() == len(drawn.pairs) and not (hit & seen).any()
    assert drawn.rate == pytest.approx(hit.sum() / (~seen).sum()) and 0.25 < drawn.rate < 0.45
    assert len(unseen_pairs(log, 10**6).pairs) == (~seen).sum()


def test_folds_depend_on_the_pair_alone() -> None:
    """A pair is in the same fold seen or unseen, alone or among others."""
    every = log_of(np.ones((30, 20), dtype=bool))
    some = np.random.default_rng(0).random(600) < 0.2
    np.testing.assert_array_equal(pair_folds(every, 5)[some], pair_folds(every.take(some), 5))
    assert np.bincount(pair_folds(every, 5)).min() > 80


def test_large_worlds_are_sampled_and_never_squared() -> None:
    """A world of 40 million pairs is fitted to a sample by default; asking for a few pairs costs a few pairs."""
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 2, (20_000, 1)).astype(float), rng.integers(0, 2, (2_000, 1)).astype(float)
    user, item = rng.integers(0, 20_000, 120_000), rng.integers(0, 2_000, 120_000)
    keep = rng.random(120_000) < expit(-1.0 + 1.5 * (x[user, 0] == z[item, 0]))
    frame = pl.DataFrame({"user": user[keep], "item": item[keep]}).unique(maintain_order=True)
    log = Log.from_frame(frame.with_columns(value=pl.lit(1.0)), feedback="conversions")
    side = Side(user_features=features_of(x, "user"), item_features=features_of(z, "item"))
    fitted = Logistic(negatives=2).fit(log, side)
    same, other = fitted.predict([int(np.argmax(x))] * 2, [int(np.argmax(z)), int(np.argmin(z))])
    assert same / other == pytest.approx(expit(0.5) / expit(-1.0), rel=0.05)
    with pytest.raises(InputError, match="negatives=10"):
        everywhere = pl.DataFrame({"user": np.arange(20_000), "item": np.arange(20_000), "value": 1.0})
        model = Logistic("none", "user", negatives="all")
        model.fit(Log.from_frame(everywhere, feedback="conversions"))


def test_level_depends_on_the_training_log() -> None:
    """All seen pairs: absolute. Positives only: clicks mix seeing and liking, so relative."""
    seen = np.random.default_rng(0).random((20, 10)) < 0.4
    model = Logistic("none", "user+item")
    assert model.level is Level.RELATIVE and not model.fitted and model.estimated
    for feedback, level in (("conversions", "absolute"), ("ratings", "absolute"), ("implicit", "relative")):
        log = log_of(seen, feedback=feedback)
        fitted = model.fit(log)
        assert fitted.level == level and fitted.fitted and fitted.refers(log) is Part.TRAIN


def test_users_and_items_outside_training_come_from_covariates() -> None:
    """Without offsets a new pair is what its covariates say; a pair of training with the same covariates agrees."""
    world = LogisticWorld.draw(40, 30, seed=7)
    assert world.side.user_features is not None and world.side.item_features is not None
    twice = Side(
        user_features=features_of(np.tile(world.side.user_features.matrix, (2, 1)), "user"),
        item_features=features_of(np.tile(world.side.item_features.matrix, (2, 1)), "item"),
    )
    fitted = Logistic().fit(log_of(world.seen), twice)
    assert fitted.predict([43, 3], [37, 7]).tolist() == pytest.approx([fitted.predict([3], [7])[0]] * 2)
    with pytest.raises(InputError, match="'99'"):
        fitted.predict([99], [0])


@pytest.mark.parametrize("free", ["yes", "no"])
def test_items_that_training_never_showed_are_counted_and_rare(free: str) -> None:
    """In the vocabulary or not, such an item is less likely than an average one, more than nothing, and counted."""
    seen = np.random.default_rng(3).random((60, 30)) < 0.3
    seen[:, 0] = False
    fitted = Logistic("none", "user+item", c=1.0, free=free).fit(log_of(seen))
    asked = Log.from_frame(pl.DataFrame({"user": [1, 1, 1, 77], "item": [0, 1, 99, 1]}))
    scored = fitted.of(asked)
    known, usual, unknown, newcomer = scored.rows
    assert scored.floored == 2
    assert known == pytest.approx(unknown, rel=0.05)
    assert 0.001 < known < 0.5 * usual and 0.0 < newcomer < usual
    if free == "yes":
        total = fitted.predict(list(range(60)), [0] * 60).sum()
        assert total == pytest.approx(1.0, rel=0.01)


def hostile() -> dict[str, tuple[Any, Side]]:
    """Logs that break careless fits."""
    rng = np.random.default_rng(8)
    world = LogisticWorld.draw(25, 12, seed=8)
    split = np.arange(25)[:, None] % 2 == np.arange(12) % 2
    parity = Side(
        user_features=features_of((np.arange(25)[:, None] % 2).astype(np.float64), "user"),
        item_features=features_of((np.arange(12)[:, None] % 2).astype(np.float64), "item"),
    )
    constant = Side(
        user_features=features_of(np.full((25, 2), 3.0), "user"), item_features=features_of(np.zeros((12, 1)), "item")
    )
    huge = Side(
        user_features=features_of(1e12 * rng.normal(size=(25, 1)), "user"),
        item_features=features_of(1e-12 * rng.normal(size=(12, 1)), "item"),
    )
    popular = world.seen.copy()
    popular[:, 3] = True
    stairs = np.arange(25)[:, None] // 2 > np.arange(12)
    return {
        "separable": (split, parity),
        "constant": (world.seen, constant),
        "huge": (world.seen, huge),
        "everybody saw it": (popular, world.side),
        "all seen": (np.ones((25, 12), dtype=bool), world.side),
        "one row": (np.arange(300).reshape(25, 12) == 7, world.side),
        "stairs": (stairs, world.side),
        "one user": (np.arange(12)[None] % 3 == 0, world.side),
    }


@pytest.mark.parametrize("name", list(hostile()))
@pytest.mark.parametrize(
    "text",
    [
        "logistic(features=outer)",
        "logistic(features=outer, c=1e9)",
        "logistic(features=plain, offsets=user, free=no)",
        "logistic(features=outer, offsets=user+item)",
        "logistic(features=none, offsets=user+item, free=no)",
        "logistic(features=outer, offsets=item, negatives=2)",
    ],
)
def test_hostile_logs_get_an_answer(name: str, text: str) -> None:
    """Whatever the log, every propensity is a number in (0, 1]."""
    seen, side = hostile()[name]
    fitted = propensity.make(text).fit(log_of(seen), side)
    assert isinstance(fitted, Logistic)
    p = matrix_of(fitted, seen.shape)
    assert np.isfinite(p).all() and (p > 0.0).all() and (p <= 1.0).all()


@pytest.mark.parametrize(
    ("offsets", "user", "item", "refused"),
    [
        ("user+item", True, False, "user"),
        ("user+item", False, True, "item"),
        ("item", True, True, "item"),
        ("item", True, False, None),
        ("user", False, True, None),
    ],
)
def test_covariates_that_free_offsets_would_swallow_are_refused(
    offsets: str, user: bool, item: bool, refused: str | None
) -> None:
    """features=plain: an offset per item leaves nothing to the covariates of items, so they would be ignored. Those of
    the other side count, and so does everything with free=no."""
    world = LogisticWorld.draw(40, 20, 0, effect=3.0)
    side = Side(
        user_features=world.side.user_features if user else None,
        item_features=world.side.item_features if item else None,
    )
    log = log_of(world.seen)
    if refused is None:
        found = matrix_of(Logistic("plain", offsets).fit(log, side), world.seen.shape)
        none = matrix_of(Logistic("none", offsets).fit(log), world.seen.shape)
        assert np.abs(found - none).max() > 0.01
    else:
        with pytest.raises(InputError, match=f"leave --{refused}-features out"):
            Logistic("plain", offsets).fit(log, side)
    assert Logistic("plain", offsets, free="no").fit(log, side).fitted


def test_what_it_needs_is_said() -> None:
    """Missing covariates, empty logs and impossible options are explained."""
    world = LogisticWorld.draw(10, 8, seed=0)
    log = log_of(world.seen)
    with pytest.raises(InputError, match="--user-features"):
        Logistic().fit(log, replace(world.side, item_features=None))
    with pytest.raises(InputError, match="--item-features"):
        Logistic("plain").fit(log)
    Logistic("plain").fit(log, replace(world.side, item_features=None))
    with pytest.raises(InputError, match="none"):
        Logistic("none", "user").fit(log.take(np.zeros(len(log), dtype=bool)))
    with pytest.raises(InputError, match="--train"):
        Logistic().of(log)
    for options in (
        {"features": "inner"},
        {"offsets": "both"},
        {"free": "maybe"},
        {"c": 0.0},
        {"negatives": 0},
        {"negatives": "many"},
        {"seed": -1},
        {"features": "none"},
    ):
        with pytest.raises(InputError, match="'logistic'"):
            Logistic(**options)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("logistic", "logistic(features=outer, offsets=none, c=0.1)"),
        ("logistic(offsets=user+item)", "logistic(features=outer, offsets=user+item, c=0.1, free=yes)"),
        (
            "logistic(features=none, offsets=item, c=2, free=no, negatives=5, seed=3)",
            "logistic(features=none, offsets=item, c=2, free=no, negatives=5, seed=3)",
        ),
        ("logistic(features=plain, negatives=all)", "logistic(features=plain, offsets=none, c=0.1, negatives=all)"),
    ],
)
def test_strings_read_back(text: str, printed: str) -> None:
    """What is printed parses to the same model."""
    model = propensity.make(text)
    assert str(model) == printed and propensity.make(printed) == model


def test_names_may_be_joined_by_plus() -> None:
    """user+item is one word of the grammar; signs of numbers stay signs."""
    spec = parse("f(a=user+item, b=+2, c=1e+3)")
    assert spec.options == {"a": "user+item", "b": 2, "c": 1000.0} and str(parse(str(spec))) == str(spec)


def skewed(seed: int) -> dict[str, Any]:
    """Covariates decide what is seen and what is liked; the lists hold what was shown much."""
    rng = np.random.default_rng(seed)
    users, items = 4000, 60
    world = LogisticWorld.draw(users, items, seed, level=-1.5, effect=2.0)
    liked = rng.random(world.p.shape) < expit(-1.5 + 0.7 * logit(world.p))
    train, test = us.split.holdout(log_of(world.seen, liked * 1.0), 0.4, seed=seed)
    top = np.argsort(-world.p, axis=1)[:, :10]
    lists = pl.DataFrame({"user": np.repeat(np.arange(users), 10), "item": top.ravel()})
    lists = lists.with_columns(rank=pl.Series(np.tile(np.arange(1, 11), users)))
    hits = np.take_along_axis(liked, top, axis=1)
    truth = {"pooled": hits.sum() / liked.sum(), "per_user_sum": (hits / np.log2(np.arange(2, 12))).sum(axis=1).mean()}
    features = {"user_features": world.side.user_features, "item_features": world.side.item_features}
    return {"test": test, "train": train, "lists": lists, "truth": truth, "features": features}


@pytest.mark.parametrize("text", ["logistic(c=10)", "calibrated(logistic(c=10), method=platt)"])
def test_it_at_least_halves_the_error_of_naive_where_it_holds(text: str) -> None:
    """In a logistic world, snips and ips come closer to the truth than naive by a factor of two or more."""
    errors: dict[str, list[float]] = {"naive": [], "snips": [], "naive sum": [], "ips": []}
    for seed in range(4):
        world = skewed(seed)
        result = us.evaluate(
            world["test"],
            {"m": world["lists"]},
            metrics=["recall@10", "dcg@10"],
            estimators=["naive", "snips", "ips"],
            propensity=text,
            target=["pooled", "per_user_sum"],
            seen=world["train"],
            candidates="all",
            refused="skip",
            **world["features"],
        )
        found = {(e.estimator, e.metric, e.target): e.value for e in result.estimates}
        truth = world["truth"]
        errors["naive"].append(found["naive", "recall@10", "pooled"] / truth["pooled"] - 1.0)
        errors["snips"].append(found["snips", "recall@10", "pooled"] / truth["pooled"] - 1.0)
        errors["naive sum"].append(found["naive", "dcg@10", "per_user_sum"] / truth["per_user_sum"] - 1.0)
        errors["ips"].append(found["ips", "dcg@10", "per_user_sum"] / truth["per_user_sum"] - 1.0)
    size = {name: float(np.abs(error).mean()) for name, error in errors.items()}
    assert size["snips"] < 0.5 * size["naive"] and size["ips"] < 0.5 * size["naive sum"]
    assert abs(np.mean(errors["ips"])) < 0.1


def test_ips_needs_the_share_of_the_test_log_and_all_seen_pairs() -> None:
    """A known share allows ips, an unknown one is refused with a hint at --share, and implicit logs are refused."""
    world = skewed(2)
    options: dict[str, Any] = {
        "metrics": ["dcg@10"],
        "propensity": "logistic",
        "target": "per_user_sum",
        "candidates": "all",
        **world["features"],
    }
    lists = {"m": world["lists"]}
    known = us.evaluate(world["test"], lists, seen=world["train"], estimators=["ips"], **options)
    lost = replace(world["test"], share=None)
    with pytest.raises(RefusedError):
        us.evaluate(lost, lists, seen=world["train"], estimators=["ips"], **options)
    both = us.evaluate(lost, lists, seen=world["train"], estimators=["naive", "ips"], refused="skip", **options)
    assert any("--share" in warning for warning in both.warnings)
    told = us.evaluate(lost, lists, seen=world["train"], estimators=["ips"], share=0.4, **options)
    assert told.estimates[0].value == pytest.approx(known.estimates[0].value, rel=1e-12)
    clicks = [Log.from_frame(log.to_frame().select("user", "item")) for log in (world["train"], world["test"])]
    with pytest.raises(RefusedError, match="relative"):
        us.evaluate(clicks[1], lists, seen=clicks[0], estimators=["ips"], share=0.4, **options)
