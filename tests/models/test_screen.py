"""Screened lists are those of the exhaustive pass, ties included, whatever the factors."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.kernels.panels import PANEL
from unskew.kernels.screened import TILE
from unskew.kernels.topk import SEED, top_k
from unskew.log.ids import Codes, Ids
from unskew.log.log import Floats
from unskew.log.order import starts_of
from unskew.models.base import from_factors
from unskew.models.by_length import ByLength
from unskew.models.screen import FEWEST_ITEMS, Screen, finite, worthwhile

USERS, ITEMS = 37, 2 * TILE * PANEL + 5


def kinds(kind: str, rng: np.random.Generator, rows: int, dim: int) -> Floats:
    """Factors that make screening hard: ties, near ties, scales far apart."""
    normal = rng.standard_normal((rows, dim))
    if kind == "duplicates":
        return normal[rng.integers(0, max(1, rows // 9), rows)]
    if kind == "whole":
        return rng.integers(-1, 2, (rows, dim)).astype(np.float64)
    if kind == "nearly equal":
        return 1.0 + normal * 1e-9
    if kind == "scales":
        return normal * 10.0 ** rng.integers(-40, 40, (rows, 1))
    return normal * {"zero": 0.0, "huge": 1e150, "tiny": 1e-160, "normal": 1.0}[kind]


def in_order(rows: Codes, left: Floats, right: Floats, offsets: Floats) -> Floats:
    """((b + v_1 w_1) + v_2 w_2) + … of all pairs; b alone for users without factors."""
    scores = np.repeat(offsets[None], len(rows), axis=0)
    for j in range(right.shape[1]):
        scores = scores + np.where(rows >= 0, left[rows, j], 0.0)[:, None] * right[None, :, j]
    return scores


KINDS = ("normal", "duplicates", "whole", "nearly equal", "scales", "zero", "huge", "tiny")


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    kind=st.tuples(*[st.sampled_from(KINDS)] * 3),
    dim=st.integers(1, 9),
    k=st.sampled_from([1, 10, 100]),
)
def test_screened_lists_are_exact(seed: int, kind: tuple[str, str, str], dim: int, k: int) -> None:
    """The same lists and the same ties at their ends, with seen items left out and users without factors."""
    rng = np.random.default_rng(seed)
    left, right = kinds(kind[0], rng, USERS, dim), kinds(kind[1], rng, ITEMS, dim)
    offsets = kinds(kind[2], rng, ITEMS, 1)[:, 0].copy()
    if not finite(left, right, offsets):
        return
    rows = np.where(rng.random(USERS) < 0.1, -1, np.arange(USERS)).astype(np.int32)
    users, items = (rng.integers(0, 2**63, many).astype(np.uint64) for many in (USERS, ITEMS))
    seen = [np.flatnonzero(rng.random(ITEMS) < rng.choice([0.0, 0.01, 0.97])) for _ in range(USERS)]
    indptr, excluded = starts_of(np.array([len(s) for s in seen])), np.concatenate(seen).astype(np.int32)
    wanted, found = (np.empty((USERS, k), dtype=np.int32) for _ in range(2))
    scores = in_order(rows, left, right, offsets)
    tied = top_k(scores, k, users, items, SEED, indptr, excluded, wanted)
    screen = Screen(rows, left, right, offsets, (users, items), k)
    for block in (slice(0, 20), slice(20, USERS)):
        ties = screen.fill(block, indptr[block.start : block.stop + 1], excluded, found[block])
        np.testing.assert_array_equal(ties, tied[block])
    np.testing.assert_array_equal(found, wanted)
    by_length = ByLength(rows, left, right, offsets, (users, items))
    np.testing.assert_array_equal(by_length.fill(slice(0, USERS), indptr, excluded, found), tied)
    np.testing.assert_array_equal(found, wanted)


def test_lists_of_a_model_are_screened_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """``from_factors`` gives the same lists by both ways, and takes the screen for many users and items."""
    rng = np.random.default_rng(0)
    users, items = Ids.of(pl.Series(range(64))), Ids.of(pl.Series(range(FEWEST_ITEMS)))
    factors = rng.standard_normal((64, 8)), rng.standard_normal((FEWEST_ITEMS, 8))
    asked = np.arange(64, dtype=np.int32), factors, np.zeros(FEWEST_ITEMS), items, users, 10, None
    assert worthwhile(64, FEWEST_ITEMS, 10)
    screened = from_factors(*asked)
    monkeypatch.setattr("unskew.models.base.worthwhile", lambda *_: False)
    np.testing.assert_array_equal(screened.item, from_factors(*asked).item)


def test_short_catalogues_few_users_and_long_lists_are_not_screened() -> None:
    """Where packing costs more than it saves, the exhaustive pass is taken."""
    assert not worthwhile(1000, FEWEST_ITEMS - 1, 10)
    assert not worthwhile(3, 10**5, 10)
    assert not worthwhile(1000, 10**4, 5000)
