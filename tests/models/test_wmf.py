"""Weighted factorisation against dense loops over all pairs, seen or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from unskew.core import threads
from unskew.kernels.hashing import pair_uniform
from unskew.log import Ids, Log
from unskew.models import WMF
from unskew.models.wmf import START, STEPS

Matrix = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Row = Callable[[Matrix, Matrix, Matrix], Matrix]
ALPHA, PENALTY, DIM = 2.5, 0.3, 6


@pytest.fixture(scope="module", params=["ones", "ratings"])
def values(request: pytest.FixtureRequest) -> str:
    """What pairs count as."""
    return str(request.param)


@pytest.fixture(scope="module")
def seen(values: str) -> Matrix:
    """Users and items of all sizes, as 1 or as a rating from .5 to 3; user 0 and item 2 have nothing."""
    rng = np.random.default_rng(0)
    seen = rng.random((40, 25)) < np.outer(rng.random(40), rng.random(25) ** 2)
    seen[0], seen[:, 2] = False, False
    return np.where(seen, rng.integers(1, 7, seen.shape) / 2.0 if values == "ratings" else 1.0, 0.0)


@pytest.fixture(scope="module")
def log(seen: Matrix) -> Log:
    """The same as a log; everybody is in the vocabulary."""
    user, item = np.nonzero(np.ones_like(seen))
    whole = Log.from_frame(pl.DataFrame({"user": user, "item": item, "value": seen.ravel()}), feedback="conversions")
    return whole.take(seen[whole.user, whole.item] > 0)


def start(items: Ids, dim: int) -> Matrix:
    drawn = [[pair_uniform(0, items.hashes[i : i + 1], np.array([j], dtype=np.uint64))[0] for j in range(dim)]
             for i in range(len(items))]  # fmt: skip
    return START * (np.array(drawn) - 0.5)


def exactly(other: Matrix, seen: Matrix, before: Matrix) -> Matrix:
    """argmin Σ c (r − x·y)² + λ|x|² over all pairs of one row; r is 1 or the rating, and 0 where nothing was seen."""
    weight = 1.0 + ALPHA * seen
    return np.asarray(
        np.linalg.solve(other.T @ (weight[:, None] * other) + PENALTY * np.eye(len(before)), other.T @ (weight * seen))
    )


def by_steps(other: Matrix, seen: Matrix, before: Matrix) -> Matrix:
    """Textbook conjugate gradients from where the row was; rows without a pair are 0."""
    if not seen.any():
        return np.zeros_like(before)
    weight = 1.0 + ALPHA * seen
    matrix, right = other.T @ (weight[:, None] * other) + PENALTY * np.eye(len(before)), other.T @ (weight * seen)
    x, rest = before.copy(), right - matrix @ before
    way = rest.copy()
    for _ in range(STEPS):
        if rest @ rest < 1e-20:
            break
        length = rest @ rest / (way @ matrix @ way)
        x = x + length * way
        new = rest - length * matrix @ way
        way, rest = new + (new @ new) / (rest @ rest) * way, new
    return x


def fitted(seen: Matrix, items: Matrix, rounds: int, row: Row) -> tuple[Matrix, Matrix]:
    """All users, then all items, row by row."""
    users = np.zeros((len(seen), items.shape[1]))
    for _ in range(rounds):
        users = np.array([row(items, seen[u], users[u]) for u in range(len(seen))])
        items = np.array([row(users, seen[:, i], items[i]) for i in range(seen.shape[1])])
    return users, items


def objective(seen: Matrix, users: Matrix, items: Matrix) -> float:
    error = (1.0 + ALPHA * seen) * (seen - users @ items.T) ** 2
    return float(error.sum() + PENALTY * ((users**2).sum() + (items**2).sum()))


@pytest.mark.parametrize(("solver", "row", "close"), [("exact", exactly, 1e-9), ("cg", by_steps, 2e-4)])
@pytest.mark.parametrize("dim", [1, DIM, 17])
def test_factors_are_those_of_dense_loops(
    solver: str, row: Row, close: float, dim: int, seen: Matrix, log: Log, values: str
) -> None:
    """Both solvers visit seen pairs only, and give what loops over all pairs give (cg: in single precision).

    Rounding grows from round to round, and more with ratings, which make c larger.
    """
    rounds, close = (3, close) if values == "ones" else (2, 10.0 * close)
    model = WMF(dim, ALPHA, PENALTY, rounds=rounds, solver=solver, values=values).fit(log)  # type: ignore[arg-type]
    users, items = fitted(seen, start(log.items, dim), rounds, row)
    np.testing.assert_allclose(model.user_, users, atol=close, rtol=close)
    np.testing.assert_allclose(model.item_, items, atol=close, rtol=close)
    assert model.loss(log) == pytest.approx(objective(seen, model.user_, model.item_), rel=1e-12)


@pytest.mark.parametrize("solver", ["exact", "cg"])
def test_it_ends_where_nothing_can_be_gained(solver: str, seen: Matrix, log: Log, values: str) -> None:
    """After many rounds the gradient of the objective over all pairs is 0, and every round has lowered it."""
    model = WMF(DIM, ALPHA, PENALTY, solver=solver, values=values)  # type: ignore[arg-type]
    losses = [replace(model, rounds=rounds).fit(log).loss(log) for rounds in (1, 2, 4, 8, 500)]
    assert (np.diff(losses) <= 1e-6 * losses[-1]).all() and losses[-1] < losses[0] - 1.0
    model = replace(model, rounds=500).fit(log)
    error = (1.0 + ALPHA * seen) * (model.user_ @ model.item_.T - seen)
    assert np.abs(error @ model.item_ + PENALTY * model.user_).max() < 2e-3
    assert np.abs(error.T @ model.user_ + PENALTY * model.item_).max() < 2e-3


def test_nothing_is_learnt_of_those_without_rows(log: Log) -> None:
    """User 0 and item 2 have factors 0; a log without positives has nothing else."""
    model = WMF(DIM).fit(log)
    assert not model.user_[0].any() and not model.item_[2].any() and model.user_[1:].any(axis=1).sum() > 30
    empty = WMF(DIM).fit(log.take(np.zeros(len(log), dtype=np.bool_)))
    assert not empty.user_.any() and not empty.item_.any()


@pytest.mark.parametrize("solver", ["exact", "cg"])
def test_threads_change_no_number(solver: str, log: Log, values: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread and one block, or four threads and blocks of three rows: the same bits."""
    found = []
    for count, block in ((1, 1000), (4, 3)):
        monkeypatch.setattr(threads, "usual", lambda count=count: count)
        monkeypatch.setattr(threads, "BLOCK", block)
        model = WMF(DIM, rounds=3, solver=solver, values=values).fit(log)  # type: ignore[arg-type]
        found.append((model.user_.tobytes(), model.item_.tobytes()))
    assert found[0] == found[1]
