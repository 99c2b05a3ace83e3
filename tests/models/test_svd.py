"""svd against numpy's full decomposition."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.test_models import Rows, log_of, rows

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


@pytest.mark.parametrize(("users", "items", "dim"), [(300, 150, 10), (150, 300, 10), (90, 80, 60), (70, 400, 3)])
def test_larger_matrices(users: int, items: int, dim: int) -> None:
    """With more users than items or the other way round, by ARPACK or by a Gram matrix: numpy's scores to 1e-9."""
    log = random_log(users, items)
    left, right = SVD(dim).fit(log).factors()
    assert np.abs(left @ right.T - truncated(dense(log), dim)).max() < 1e-9


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


def test_it_is_the_same_every_time() -> None:
    """The start is a hash of the ids: two fits give the same numbers."""
    one, two = (SVD(10).fit(random_log(300, 150)) for _ in range(2))
    assert (one.user_ == two.user_).all() and (one.item_ == two.item_).all()
