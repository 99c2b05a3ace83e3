"""What every fitted propensity keeps to: strings, options, levels, weights; hostile data get an answer or a refusal."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.propensity.worlds import Floats, LogisticWorld, features_of, log_of
from tests.said import refuses
from unskew import propensity
from unskew.core.errors import InputError
from unskew.propensity import FitInputs, Level, Scope

pytest.importorskip("sklearn", reason="no scikit-learn: calibration is not tested")

PRINTED = {
    "naive_bayes": "naive_bayes(smoothing=1)",
    "naive_bayes(smoothing=0.5)": "naive_bayes(smoothing=0.5)",
    "popularity": "popularity(gamma=1)",
    "popularity(gamma=-0.5)": "popularity(gamma=-0.5)",
    "popularity(gamma=estimate, level=absolute, unsupported=drop)":
        "popularity(gamma=estimate, level=absolute, unsupported=drop)",
    "logistic": "logistic(features=outer, offsets=none, c=auto)",
    "logistic(offsets=user+item)": "logistic(features=outer, offsets=user+item, c=auto, free=yes)",
    "logistic(features=none, offsets=item, c=2, free=no, negatives=5, seed=3)":
        "logistic(features=none, offsets=item, c=2, free=no, negatives=5, seed=3)",
    "logistic(features=plain, negatives=all)": "logistic(features=plain, offsets=none, c=auto, negatives=all)",
    "logistic_mf": "logistic_mf(dim=10, penalty=0.7, epochs=30, negatives=auto, held_out=0.05, seed=0)",
    "logistic_mf(dim=0, penalty=0.25, epochs=1, negatives=4, held_out=0, seed=7)":
        "logistic_mf(dim=0, penalty=0.25, epochs=1, negatives=4, held_out=0, seed=7)",
    "calibrated(popularity(gamma=1))": "calibrated(popularity(gamma=1), method=isotonic)",
    "calibrated(popularity(gamma=1), method=platt, over=users)":
        "calibrated(popularity(gamma=1), method=platt, over=users)",
    "calibrated(logistic(features=none, offsets=user+item), folds=3)":
        "calibrated(logistic(features=none, offsets=user+item, c=auto, free=yes), method=isotonic, folds=3)",
}  # fmt: skip


@pytest.mark.parametrize("text", PRINTED)
def test_strings_read_back(text: str) -> None:
    """What is printed parses to the same model, which says that it is estimated and not fitted yet."""
    model = propensity.make(text)
    assert str(model) == PRINTED[text] and propensity.make(PRINTED[text]) == model
    assert model.estimated and not model.fitted
    with refuses("no-training-log"):
        model.of(log_of(np.eye(3, dtype=bool), np.ones((3, 3))))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("logistic(features=none)", "conflicting-arguments"),
        ("calibrated", "missing-argument"),
        ("calibrated(known)", "not-fitted"),
        ("calibrated(uniform)", "not-fitted"),
        ("calibrated(naive_bayes)", "not-supported"),
        ("calibrated(logistic(features=none, offsets=user+item), method=platt, over=users)", "not-supported"),
        ("calibrated(logistic_mf, method=platt, over=users)", "not-supported"),
    ],
)
def test_what_makes_no_propensity_is_refused(text: str, code: str) -> None:
    """Nothing to tell pairs apart by, nothing to calibrate, folds over users of a model with parameters of users."""
    with refuses(code):
        propensity.make(text)


MODELS = [
    "naive_bayes",
    "popularity(gamma=2)",
    "popularity(gamma=1, level=absolute)",
    "popularity(gamma=1, level=absolute, unsupported=drop)",
    "popularity(gamma=estimate)",
    "logistic",
    "logistic(features=outer, c=1e9)",
    "logistic(features=outer, offsets=user+item)",
    "logistic(features=plain, offsets=user+item, free=no)",
    "logistic(features=none, offsets=item)",
    "logistic(features=none, offsets=user+item, negatives=2)",
    "logistic_mf(dim=2)",
    "logistic_mf(dim=4, epochs=8, held_out=0, negatives=1, penalty=0.05)",
    "calibrated(popularity(gamma=1))",
    "calibrated(popularity(gamma=1), method=platt, over=users)",
    "calibrated(logistic(features=none, offsets=item), over=users)",
    "calibrated(logistic(features=plain), method=platt)",
    "calibrated(logistic_mf(dim=1), folds=2)",
]


def likes_of(shape: tuple[int, ...]) -> Floats:
    return (np.random.default_rng(7).random(shape) < 0.4).astype(np.float64)


@pytest.mark.parametrize("text", [text for text in MODELS if text != "popularity(gamma=estimate)"])
def test_levels_and_weights(text: str) -> None:
    """Absolute on logs of all seen pairs, relative on clicks; where nothing is penalised, users who all count twice
    change nothing."""
    world = LogisticWorld.draw(60, 25, seed=3, level=-0.5)
    values = likes_of(world.p.shape)
    side = replace(world.side, mcar=log_of(np.ones_like(world.seen), values))
    relative = text == "popularity(gamma=2)"
    lacking = {"ratings": "popularity", "implicit": "naive|absolute"}  # what needs a threshold, what needs zeros
    for feedback in ("implicit", "ratings", "conversions"):
        if feedback in lacking and re.search(lacking[feedback], text):
            continue
        log = log_of(world.seen, values, feedback)
        fitted = propensity.make(text).fit(log, inputs=side)
        assert fitted.level is (Level.RELATIVE if relative or feedback == "implicit" else Level.ABSOLUTE)
        assert fitted.fitted and fitted.refers(log) is Scope.TRAIN
    if "popularity" in text or text == "logistic(features=none, offsets=item)":
        twice = propensity.make(text).fit(log, inputs=side, weights=np.full(60, 2.0))
        np.testing.assert_allclose(twice.of(log).rows, fitted.of(log).rows, rtol=1e-4)


REPEATED = [
    "naive_bayes",
    "popularity(gamma=1, level=absolute)",
    "logistic(c=0.1)",
    "logistic(offsets=user+item, c=0.1)",
    "logistic(features=plain, offsets=user, c=0.1, free=no)",
    "logistic_mf(dim=3, epochs=4, held_out=0)",
]


@pytest.mark.parametrize("text", REPEATED)
def test_weights_equal_repetition_of_users(text: str) -> None:
    """A user of weight 2 counts like two users, one of weight 0 like none."""
    world, rng = LogisticWorld.draw(30, 20, seed=4, spread=0.5), np.random.default_rng(0)
    times, values = rng.integers(0, 4, 30), likes_of((30, 20))
    times[:2] = 1
    x = rng.integers(0, 2, (30, 3)).astype(np.float64)
    x[0], x[1] = 0.0, 1.0  # covariates range over [0, 1] in both logs
    found = []
    for mine, weights in ((np.arange(30), times.astype(np.float64)), (np.repeat(np.arange(30), times), None)):
        side = replace(world.side, user_features=features_of(x[mine], "user"), mcar=log_of(values > -1.0, values))
        fitted = propensity.make(text).fit(log_of(world.seen[mine], values[mine]), inputs=side, weights=weights)
        rows = fitted.of(log_of(np.ones((len(mine), 20), dtype=bool), values[mine])).rows.reshape(-1, 20)
        found.append(rows if weights is None else np.repeat(rows, times, axis=0))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def hostile() -> dict[str, tuple[Any, Floats, FitInputs]]:
    """What was seen, the values, and covariates."""
    rng = np.random.default_rng(0)
    users, items = 30, 14
    usual, nothing = rng.random((users, items)) < np.linspace(0.6, 0.1, items), np.zeros((users, items), dtype=bool)
    values = (rng.random((users, items)) < 0.4).astype(np.float64)
    x, z = rng.normal(size=(users, 2)), rng.normal(size=(items, 2))
    everybody, eager = usual.copy(), usual.copy()
    everybody[:, 3], eager[5] = True, True
    user, item = np.arange(users)[:, None], np.arange(items)
    halves = [(side.reshape(-1, 1) % 2).astype(np.float64) for side in (user, item)]
    zeros, ones = np.zeros_like(values), np.ones_like(values)
    one = user * items + item == 17

    def side(x: Floats, z: Floats, like: Floats = values) -> FitInputs:
        shown = rng.random(like.shape) < 0.3
        shown.flat[:2] = True
        return FitInputs(log_of(shown, like), features_of(x, "user"), features_of(z, "item"))

    return {
        "constant covariates": (usual, values, side(np.full((users, 2), 7.0), np.zeros((items, 1)))),
        "separable covariates": (user % 2 == item % 2, values, side(*halves)),
        "huge and tiny covariates": (usual, values, side(1e12 * x, 1e-12 * z)),
        "one user": (usual[:1], values[:1], side(x[:1], z, values[:1])),
        "one item": (usual[:, :1], values[:, :1], side(x, z[:1], values[:, :1])),
        "an item everybody saw": (everybody, values, side(x, z)),
        "a user who saw everything": (eager, values, side(x, z)),
        "stairs": (user // 2 > item, values, side(x, z)),
        "two worlds": ((user < 15) == (item < 7), values, side(x, z)),
        "nothing seen": (nothing, values, side(x, z)),
        "everything seen": (~nothing, values, side(x, z)),
        "one row": (one, values, side(x, z)),
        "all but one row": (~one, values, side(x, z)),
        "only zeros": (usual, zeros, side(x, z, zeros)),
        "only ones": (usual, ones, side(x, z, ones)),
        "random sample of other values": (usual, values, side(x, z, zeros)),
    }


DRAWN = ("one user", "an item everybody saw", "nothing seen", "one row")  # also in a bootstrap draw
REFUSED = {"empty-log", "no-positives", "exponent-unknown", "all-relevant", "no-unseen-pairs", "unseen-value"}


@pytest.mark.parametrize("case", hostile())
@pytest.mark.parametrize("text", MODELS)
def test_hostile_data_get_an_answer_or_a_refusal(text: str, case: str) -> None:
    """Every row's P is in (0, 1] (NaN only where unsupported=drop says so), else the log is told to say too little."""
    seen, values, side = hostile()[case]
    log, asked = log_of(seen, values), log_of(np.ones_like(seen), values)
    drawn = np.random.default_rng(1).poisson(1.0, len(seen)).astype(np.float64)
    for weights in (None, drawn) if case in DRAWN else (None,):
        try:
            rows = propensity.make(text).fit(log, inputs=side, weights=weights).of(asked).rows
        except InputError as error:
            assert error.code in REFUSED and (case == "nothing seen" or not text.startswith("logistic("))
            continue
        there = ~np.isnan(rows) if "drop" in text else np.ones(len(rows), dtype=np.bool_)
        assert ((rows[there] > 0.0) & (rows[there] <= 1.0)).all()
        assert there.any()
