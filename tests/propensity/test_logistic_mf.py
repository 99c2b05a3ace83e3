"""Logistic matrix factorisation: close to the truth, the same every time, and sane on data that are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import logit

from tests.propensity.worlds import Bools, Floats, log_of, matrix_of
from tests.said import refuses
from unskew.log import Log
from unskew.propensity import LogisticMF


def low_rank(users: int, items: int, rate: float, *, rank: int = 4, spread: float = 1.5, seed: int = 0) -> Floats:
    """P = σ(v·w + a + b + c) with the given mean."""
    rng = np.random.default_rng(seed)
    sides = [rng.standard_normal((n, rank)) * np.sqrt(spread) / rank**0.25 for n in (users, items)]
    z = sides[0] @ sides[1].T + rng.normal(0.0, 0.7, users)[:, None] + rng.normal(0.0, 1.0, items)
    low, high = -20.0, 5.0
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if (1.0 / (1.0 + np.exp(-z - middle))).mean() < rate else (low, middle)
    return np.asarray(1.0 / (1.0 + np.exp(-z - low)))


def draw(chance: Floats, seed: int) -> Bools:
    return np.random.default_rng(seed).random(chance.shape) < chance


def log_loss(seen: Bools, chance: Floats) -> float:
    return float(-np.where(seen, np.log(chance), np.log1p(-chance)).mean())


SHAPE = (1500, 300)
CHANCE = low_rank(*SHAPE, 0.08)
LOG = log_of(draw(CHANCE, 1))
AGAIN = draw(CHANCE, 2)  # another draw of the same world


@pytest.fixture(scope="module")
def fitted() -> LogisticMF:
    return LogisticMF().fit(LOG)


def test_close_to_the_oracle(fitted: LogisticMF) -> None:
    """In a low-rank logistic world a new draw's log-loss is near the oracle's, far from popularity × activity."""
    oracle, found = log_loss(AGAIN, CHANCE), log_loss(AGAIN, matrix_of(fitted, SHAPE))
    rows, columns = np.diff(LOG.indptr), np.bincount(LOG.item, minlength=300)
    outer = np.clip(np.outer(rows, columns) / len(LOG), 1e-3, 0.999)
    offsets = log_loss(AGAIN, matrix_of(LogisticMF(dim=0).fit(LOG), SHAPE))
    assert oracle < found < offsets < log_loss(AGAIN, outer)
    assert found - oracle < 0.35 * (offsets - oracle)  # two thirds of the way
    assert found / oracle < 1.10


def test_row_and_column_sums_are_reproduced(fitted: LogisticMF) -> None:
    """As many pairs are expected as were seen: in all within 1 %, for users and items with many rows within 20 %."""
    chance = matrix_of(fitted, SHAPE)
    assert chance.sum() == pytest.approx(len(LOG), rel=0.01)
    rows, columns = np.diff(LOG.indptr), np.bincount(LOG.item, minlength=300)
    np.testing.assert_allclose(chance.sum(axis=1)[rows > 40], rows[rows > 40], rtol=0.2)
    np.testing.assert_allclose(chance.sum(axis=0)[columns > 100], columns[columns > 100], rtol=0.2)


@pytest.mark.parametrize("negatives", ["all", 3])
def test_the_same_every_time(negatives: int | str) -> None:
    """The same seed gives the same bits with any number of threads; another seed holds out other pairs."""
    model = LogisticMF(epochs=2, negatives=negatives)
    one, many = replace(model, threads=1).fit(LOG), replace(model, threads=3).fit(LOG)
    other = replace(model, seed=1).fit(LOG)
    assert (matrix_of(one, SHAPE) == matrix_of(many, SHAPE)).all()
    assert (matrix_of(one, SHAPE) != matrix_of(other, SHAPE)).any()


def test_sampling_unseen_pairs_is_undone_by_the_offset(fitted: LogisticMF) -> None:
    """With f of the unseen pairs logit P = logit P̃ + log f: the level is right, and little is lost."""
    sampled = LogisticMF(negatives=4).fit(LOG)
    assert matrix_of(sampled, SHAPE).sum() == pytest.approx(len(LOG), rel=0.05)
    all_pairs, some = log_loss(AGAIN, matrix_of(fitted, SHAPE)), log_loss(AGAIN, matrix_of(sampled, SHAPE))
    assert some < all_pairs * 1.03


def test_unknown_users_and_items_fall_back() -> None:
    """An unknown item has the user's offset, an unknown user the item's, and both are counted; silent ones, too."""
    seen = draw(low_rank(50, 30, 0.2), 0)
    seen[4], seen[:, 6] = False, False
    found = LogisticMF(dim=0, epochs=2).fit(log_of(seen))
    known, item, user, level = logit(found.predict([3, 99, 3, 99], [2, 2, 77, 77]))
    assert item + user - level == pytest.approx(known, abs=1e-9) and len({item, user, level}) == 3
    pairs = Log.from_frame(pl.DataFrame({"user": [3, 99, 99, 4, 1, 1], "item": [77, 2, 77, 1, 6, 2]}))
    assert found.of(pairs).floored == 5
    assert found.predict([4], [2])[0] < found.predict([1], [2])[0]  # a silent user is known to see little


@pytest.mark.parametrize("seen", [np.ones((3, 4), dtype=np.bool_), np.zeros((3, 4), dtype=np.bool_)])
def test_what_cannot_be_fitted_is_refused(seen: Bools) -> None:
    """Nothing seen, everything seen, nobody who counts."""
    with refuses("no-unseen-pairs"):
        LogisticMF().fit(log_of(seen))
    with refuses("no-weights"):
        LogisticMF().fit(log_of(np.eye(3, dtype=np.bool_)), weights=np.zeros(3))
