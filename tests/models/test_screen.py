"""Screened lists are those of the exhaustive pass, ties included, whatever the factors."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.hard_factors import ITEMS, USERS, World, worlds

from unskew.kernels.topk import SEED, top_k
from unskew.log.ids import Codes, Ids
from unskew.models.base import from_factors
from unskew.models.by_length import ByLength
from unskew.models.packed import finite
from unskew.models.screen import FEWEST_ITEMS, Screen, worthwhile


def exhaustive(world: World, k: int) -> tuple[Codes, np.ndarray]:
    """Lists from all scores in double precision, and whether their ends are tied."""
    lists = np.empty((USERS, k), dtype=np.int32)
    return lists, top_k(world.scores, k, *world.hashes, SEED, world.indptr, world.excluded, lists)


@settings(max_examples=60)
@given(world=worlds(), k=st.sampled_from([1, 10, 100]), block=st.sampled_from([1, 3, 20, USERS]))
def test_screened_lists_are_exact(world: World, k: int, block: int) -> None:
    """The same lists and the same ties at their ends, with seen items left out, in blocks of any size."""
    (wanted, tied), found = exhaustive(world, k), np.empty((USERS, k), dtype=np.int32)
    screen = Screen(*world[:5], k)
    for start in range(0, USERS, block):
        some = slice(start, min(start + block, USERS))
        ties = screen.fill(some, world.indptr[start : some.stop + 1], world.excluded, found[some])
        np.testing.assert_array_equal(ties, tied[some])
    np.testing.assert_array_equal(found, wanted)
    by_length = ByLength(*world[:5])
    np.testing.assert_array_equal(by_length.fill(slice(0, USERS), world.indptr, world.excluded, found), tied)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("sample", [(0, 1), (1, 1), (1, 3), (2, 1000)])
def test_the_sample_decides_nothing(sample: tuple[int, int]) -> None:
    """Lists are the same from floors that are guessed too high for everybody, well, too low, or not at all."""
    rng = np.random.default_rng(3)
    left, right = rng.standard_normal((USERS, 6)), rng.standard_normal((ITEMS, 6))
    hashes = tuple(rng.integers(0, 2**63, many).astype(np.uint64) for many in (USERS, ITEMS))
    nothing = np.zeros(USERS + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    rows = np.arange(USERS, dtype=np.int32)
    world = World(rows, left, right, np.zeros(ITEMS), (hashes[0], hashes[1]), *nothing)
    screen, found = Screen(*world[:5], 50), np.empty((USERS, 50), dtype=np.int32)
    screen.sample = sample
    screen.fill(slice(0, USERS), *nothing, found)
    np.testing.assert_array_equal(found, exhaustive(world, 50)[0])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_lists_of_a_model_are_screened_where_it_pays(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """``from_factors`` gives the same lists by both ways, by any number of threads; shorter ones are their heads."""
    rng = np.random.default_rng(0)
    users, items = Ids.of(pl.Series(range(600))), Ids.of(pl.Series(range(FEWEST_ITEMS)))
    factors = rng.standard_normal((600, 8)), rng.standard_normal((FEWEST_ITEMS, 8))
    asked = np.arange(600, dtype=np.int32), factors, np.zeros(FEWEST_ITEMS), items, users
    assert worthwhile(600, FEWEST_ITEMS, 40)
    monkeypatch.setattr("unskew.models.base.usual", lambda: threads)
    screened = from_factors(*asked, 40, None).item.reshape(600, 40)
    np.testing.assert_array_equal(screened[:, :7], from_factors(*asked, 7, None).item.reshape(600, 7))
    monkeypatch.setattr("unskew.models.base.worthwhile", lambda *_: False)
    np.testing.assert_array_equal(screened, from_factors(*asked, 40, None).item.reshape(600, 40))


def test_factors_that_leave_the_range_of_numbers_are_not_screened() -> None:
    """Neither NaN nor infinity, nor products beyond all numbers, are scaled."""
    one = np.ones((2, 2))
    assert finite(one, one, np.zeros(2))
    for bad in (np.nan, np.inf, 1e300):
        assert not finite(one * bad, one * 1e10, np.zeros(2))
        assert not finite(one * 1e10, one * bad, np.zeros(2))
    assert not finite(one, one, np.array([0.0, np.nan]))
