"""svd against numpy's full decomposition."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.test_models import Rows, log_of, rows

from unskew.kernels import lanczos
from unskew.log import Log
from unskew.models import SVD


def dense(log: Log) -> np.ndarray:
    """The 0/1 matrix."""
    out = np.zeros((len(log.users), len(log.items)))
    out[log.user, log.item] = 1.0
    return out


def truncated(matrix: np.ndarray, dim: int) -> np.ndarray:
    """The nearest matrix of this rank."""
    left, size, right = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray((left[:, :dim] * size[:dim]) @ right[:dim])


def random_log(users: int, items: int, seed: int = 0) -> Log:
    """Popularity falls with the number of the item."""
    seen = np.random.default_rng(seed).random((users, items)) < 0.6 * np.arange(1, items + 1) ** -0.6
    user, item = np.nonzero(seen)
    return Log.from_frame(pl.DataFrame({"user": user, "item": item}))


@settings(deadline=None)
@given(train=rows, dim=st.integers(1, 12), values=st.booleans())
def test_small_matrices(train: Rows, dim: int, values: bool) -> None:
    """Singular values are numpy's, of any rank; where the cut falls between two of them, so are all scores."""
    log = log_of(train, values)
    matrix = dense(log.positives())
    full = np.append(np.linalg.svd(matrix, compute_uv=False), 0.0)
    model = SVD(dim).fit(log)
    rank = np.count_nonzero(full > 1e-9)
    assert np.allclose(model.values_, full[: min(dim, rank)], atol=1e-9)
    if dim >= rank or full[dim - 1] - full[dim] > 1e-6:
        users, items = model.factors()
        assert np.allclose(users @ items.T, truncated(matrix, dim), atol=1e-7)


@pytest.mark.parametrize(
    ("users", "items", "dim"), [(300, 150, 10), (150, 300, 10), (90, 80, 60), (70, 400, 3), (400, 300, 80)]
)
def test_larger_matrices(users: int, items: int, dim: int) -> None:
    """More users than items or the other way round, by the Lanczos method, a Gram matrix or ARPACK: numpy's scores."""
    log = random_log(users, items)
    left, right = SVD(dim).fit(log).factors()
    assert np.abs(left @ right.T - truncated(dense(log), dim)).max() < 1e-8


def test_vectors_stay_orthogonal() -> None:
    """One value is far above all others, which are close together: rounding towards its vector grows at each step."""
    user, item = np.nonzero(np.random.default_rng(0).random((300, 200)) < 0.2)
    log = Log.from_frame(pl.DataFrame({"user": user, "item": item}))
    assert np.allclose(SVD(20).fit(log).values_, np.linalg.svd(dense(log), compute_uv=False)[:20], rtol=1e-12)


def test_parts_that_no_vector_reaches_score_zero() -> None:
    """A user and an item apart from all others: no rounding ranks for them, so that their lists are random."""
    one = random_log(150, 100).to_frame()
    log = Log.from_frame(pl.concat([one, pl.DataFrame({"user": [1000], "item": [1000]})]))
    users, items = SVD(4).fit(log).factors()
    assert not users[-1].any() and not items[-1].any() and users[:-1].any(axis=1).all()


@pytest.mark.parametrize("dim", [4, 20])
def test_singular_values_that_come_twice(dim: int) -> None:
    """Two parts of the same shape: one start reaches each value once, and both are to be there."""
    one = random_log(150, 100).to_frame()
    log = Log.from_frame(pl.concat([one, one.with_columns(pl.col("user") + 1000, pl.col("item") + 1000)]))
    expected = np.linalg.svd(dense(log), compute_uv=False)[:dim]
    assert np.allclose(SVD(dim).fit(log).values_, expected, atol=1e-9)


@settings(deadline=None)
@given(
    numbers=st.lists(st.tuples(st.floats(-9, 9), st.sampled_from([0.0, 1e-9, 0.5, 1.0, 7.0])), min_size=1, max_size=30)
)
def test_eigenvalues_of_tridiagonal_matrices(numbers: list[tuple[float, float]]) -> None:
    """Against numpy: values, vectors, and one entry of each vector where no more is asked for."""
    diagonal, beside = (np.array(side) for side in zip(*numbers, strict=True))
    matrix = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    value, vector, entry = diagonal.copy(), np.eye(len(diagonal)), np.eye(len(diagonal))[:, -1:].copy()
    lanczos.eigen(value, beside.copy(), vector)
    assert np.allclose(np.sort(value), np.linalg.eigvalsh(matrix), atol=1e-12)
    assert np.allclose(vector @ matrix, value[:, None] * vector, atol=1e-12)
    assert np.allclose(vector @ vector.T, np.eye(len(value)), atol=1e-12)
    lanczos.eigen(diagonal, beside, entry)
    assert (entry[:, 0] == vector[:, -1]).all()


def test_items_with_the_same_users_are_tied() -> None:
    """Twins have the same factors to the last bit, so that the hash of user and item decides between them."""
    log = random_log(300, 150)
    frame = log.to_frame()
    twins = Log.from_frame(
        pl.concat([frame, frame.filter(pl.col("item") == 20).with_columns(item=pl.lit(999, pl.Int64))])
    )
    model = SVD(10).fit(twins)
    assert (model.item_[20] == model.item_[-1]).all() and model.items_ is twins.items
    lists = model.recommend(twins.users, 151).to_frame().filter(pl.col("item").is_in([20, 999])).sort("user", "rank")
    first = lists.group_by("user", maintain_order=True).first()["item"]
    assert abs((first == 20).mean() - 0.5) < 4 * 0.5 / np.sqrt(len(first))  # type: ignore[operator]
