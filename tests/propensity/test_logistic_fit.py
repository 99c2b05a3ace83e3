"""Logistic propensities: the likelihood, the sums that free offsets match, worlds that are recovered."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import logit

from tests.propensity.worlds import LogisticWorld, log_of, matrix_of
from tests.said import refuses
from unskew import propensity
from unskew.log import Log
from unskew.propensity import FitInputs, Logistic


@pytest.mark.parametrize("features", ["outer", "plain"])
def test_it_is_penalised_maximum_likelihood(features: str) -> None:
    """The gradient of the loss, written out pair by pair, vanishes: Σ (P − O) x + w/c = 0, intercept unpenalised."""
    world = LogisticWorld.draw(12, 9, seed=1)
    fitted = Logistic(features, c=0.7).fit(log_of(world.seen), inputs=world.side)
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


@pytest.mark.parametrize("text", ["features=outer, offsets=user+item, c=0.1", "features=none, offsets=user+item"])
def test_free_offsets_match_row_and_column_sums(text: str) -> None:
    """Σ_i P_ui is the user's number of rows and Σ_u P_ui the item's, to 1e-6 (users and items with some, not all)."""
    world = LogisticWorld.draw(150, 80, seed=2, spread=1.0)
    seen = world.seen
    seen[[0, 2]], seen[1] = False, True
    fitted = propensity.make(f"logistic({text})").fit(log_of(seen), inputs=world.side)
    assert isinstance(fitted, Logistic)
    p = matrix_of(fitted, seen.shape)
    inner = (seen.sum(axis=1) > 0) & (seen.sum(axis=1) < seen.shape[1])
    np.testing.assert_allclose(p.sum(axis=1)[inner], seen.sum(axis=1)[inner], atol=1e-6)
    items = (seen.sum(axis=0) > 0) & (seen.sum(axis=0) < seen.shape[0])
    at_once = p[~inner & (seen.sum(axis=1) == 0)].sum(axis=0)  # what silent users are guessed to add
    np.testing.assert_allclose((p.sum(axis=0) - at_once)[items], seen.sum(axis=0)[items], atol=1e-6)
    np.testing.assert_allclose(p[1], 1.0, atol=1e-6)
    np.testing.assert_allclose(p[[0, 2]].sum(axis=1), 1.0, rtol=0.2)  # about one row: as if seen once


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


@pytest.mark.parametrize(
    ("offsets", "sides", "swallowed"),
    [("user+item", "user", True), ("user+item", "item", True), ("item", "user item", True),
     ("item", "user", False), ("user", "item", False)],
)  # fmt: skip
def test_covariates_that_free_offsets_would_swallow_are_refused(offsets: str, sides: str, swallowed: bool) -> None:
    """features=plain: an offset per item leaves nothing to the covariates of items, so they would be ignored. Those of
    the other side count, and so does everything with free=no."""
    world = LogisticWorld.draw(40, 20, 0, effect=3.0)
    side = FitInputs(**{f"{name}_features": getattr(world.side, f"{name}_features") for name in sides.split()})
    log = log_of(world.seen)
    if swallowed:
        with refuses("conflicting-arguments"):
            Logistic("plain", offsets).fit(log, inputs=side)
    else:
        found = matrix_of(Logistic("plain", offsets, c=0.1).fit(log, inputs=side), world.seen.shape)
        none = matrix_of(Logistic("none", offsets).fit(log), world.seen.shape)
        assert np.abs(found - none).max() > 0.01
    assert Logistic("plain", offsets, free="no").fit(log, inputs=side).fitted
