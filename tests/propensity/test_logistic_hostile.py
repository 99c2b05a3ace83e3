"""Logistic propensities of hostile logs, and what they need and refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.propensity.worlds import LogisticWorld, features_of, log_of, matrix_of
from unskew import propensity
from unskew.errors import InputError
from unskew.propensity import FitInputs, Logistic
from unskew.spec import parse


def hostile() -> dict[str, tuple[Any, FitInputs]]:
    """Logs that break careless fits."""
    rng = np.random.default_rng(8)
    world = LogisticWorld.draw(25, 12, seed=8)
    split = np.arange(25)[:, None] % 2 == np.arange(12) % 2
    parity = FitInputs(
        user_features=features_of((np.arange(25)[:, None] % 2).astype(np.float64), "user"),
        item_features=features_of((np.arange(12)[:, None] % 2).astype(np.float64), "item"),
    )
    constant = FitInputs(
        user_features=features_of(np.full((25, 2), 3.0), "user"), item_features=features_of(np.zeros((12, 1)), "item")
    )
    huge = FitInputs(
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
    fitted = propensity.make(text).fit(log_of(seen), inputs=side)
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
    side = FitInputs(
        user_features=world.side.user_features if user else None,
        item_features=world.side.item_features if item else None,
    )
    log = log_of(world.seen)
    if refused is None:
        found = matrix_of(Logistic("plain", offsets, c=0.1).fit(log, inputs=side), world.seen.shape)
        none = matrix_of(Logistic("none", offsets).fit(log), world.seen.shape)
        assert np.abs(found - none).max() > 0.01
    else:
        with pytest.raises(InputError, match=f"leave --{refused}-features out"):
            Logistic("plain", offsets).fit(log, inputs=side)
    assert Logistic("plain", offsets, free="no").fit(log, inputs=side).fitted


def test_what_it_needs_is_said() -> None:
    """Missing covariates, empty logs and impossible options are explained."""
    world = LogisticWorld.draw(10, 8, seed=0)
    log = log_of(world.seen)
    with pytest.raises(InputError, match="user_features="):
        Logistic().fit(log, inputs=replace(world.side, item_features=None))
    with pytest.raises(InputError, match="item_features="):
        Logistic("plain").fit(log)
    Logistic("plain").fit(log, inputs=replace(world.side, item_features=None))
    with pytest.raises(InputError, match="none"):
        Logistic("none", "user").fit(log.take(np.zeros(len(log), dtype=bool)))
    with pytest.raises(InputError, match="train="):
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
        ("logistic", "logistic(features=outer, offsets=none, c=auto)"),
        ("logistic(offsets=user+item)", "logistic(features=outer, offsets=user+item, c=auto, free=yes)"),
        (
            "logistic(features=none, offsets=item, c=2, free=no, negatives=5, seed=3)",
            "logistic(features=none, offsets=item, c=2, free=no, negatives=5, seed=3)",
        ),
        ("logistic(features=plain, negatives=all)", "logistic(features=plain, offsets=none, c=auto, negatives=all)"),
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
