"""Lists that are read piece by piece are those that are read at once, and what is wrong is said in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.core.errors import InputError
from unskew.log import Recommendations, lists, read_recommendations
from unskew.log.list_pieces import code_pieces

compiled = settings(deadline=None)  # the first call compiles kernels

ids = st.integers(-5, 5) | st.sampled_from([2**40, -(2**40), 2**62])
texts = st.sampled_from(
    ["a", "b", "é", "", " a", "a b", "a longer text than twelve", "a longer text than twelve bytes"]
)
rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7), st.integers(-1, 9)), max_size=40)


def at_once(frame: pl.DataFrame) -> Recommendations | None:
    """The lists by the way that looks at all rows; nothing where it refuses them."""
    try:
        return Recommendations.from_frame(frame)
    except InputError:
        return None


def same(one: Recommendations, other: Recommendations) -> bool:
    """Whether two readings are alike in everything but their accounts."""
    vocabularies = one.users.values.equals(other.users.values) and one.items.values.equals(other.items.values)
    types = [ids.values.dtype for each in (one, other) for ids in (each.users, each.items)]
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("indptr", "item", "rank"))
    return vocabularies and types[:2] == types[2:] and arrays


def pieces_of(frame: pl.DataFrame, size: int) -> list[pl.DataFrame]:
    return [frame.slice(start, size) for start in range(0, len(frame), size)]


@compiled
@given(
    rows,
    st.lists(ids | texts, min_size=6, max_size=6, unique_by=str),
    st.lists(ids, min_size=8, max_size=8, unique=True) | st.lists(texts, min_size=8, max_size=8, unique=True),
    st.integers(1, 9),
    st.booleans(),
)
def test_what_is_read_in_pieces_is_read_the_same_at_once(
    rows: list[tuple[int, int, int]], users: list[Any], items: list[Any], size: int, ordered: bool
) -> None:
    """Rows in any order, with any defect: either the lists are the same, or the pieces leave them to the other way."""
    named = {True: pl.String, False: pl.Int64}
    if len({isinstance(user, str) for user in users}) == 2:
        users = [str(user) for user in users]
    rows = sorted(set(rows), key=lambda row: (row[0], row[2])) if ordered else rows
    frame = pl.DataFrame(
        {
            "user": pl.Series([users[u] for u, _, _ in rows], dtype=named[isinstance(users[0], str)]),
            "item": pl.Series([items[i] for _, i, _ in rows], dtype=named[isinstance(items[0], str)]),
            "rank": pl.Series([rank for _, _, rank in rows], dtype=pl.Int64),
        }
    )
    found, wanted = code_pieces(lambda columns: pieces_of(frame.select(columns), size), len(frame)), at_once(frame)
    if found is not None:
        assert wanted is not None
        assert same(Recommendations(*found), wanted)


KINDS = {"Int64": pl.Int64, "Int16": pl.Int64, "String": pl.String, "Categorical": pl.String}


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        *((0, "user", order) for order in ("ascending", "shuffled")),
        *((3, "rank", rank) for rank in (0, 1, 2**31)),
        *((3, "item", item) for item in (None, "again")),
        (9, "user", "again"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_large_files_are_read_in_pieces(
    kind: str, row: int, column: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users in any order, ids of any kind, several row groups: the same lists, account and errors.

    Doubtful are a rank or item twice, a rank of no place, a user who comes again, a null.
    """
    rng = np.random.default_rng(0)
    users = rng.permutation(40) if value == "shuffled" else np.arange(40)
    items = np.concatenate([rng.choice(30, 7, replace=False) for _ in users])
    frame = pl.DataFrame({"user": np.repeat(users, 7), "item": items, "rank": np.tile(np.arange(1, 8), 40)})
    if value not in ("ascending", "shuffled"):
        frame[row, column] = frame[0, column] if value == "again" else value
    frame = frame.with_columns(pl.col("user", "item").cast(KINDS[kind]).cast(getattr(pl, kind)))
    frame.rename({"user": "customer"}).write_parquet(path := tmp_path / "lists.parquet", row_group_size=25)
    found: list[list[Any]] = []
    for many in (1_000, 0):
        monkeypatch.setattr(lists, "MANY", many)
        found.append([])
        for invalid in ("error", "drop"):
            try:
                found[-1].append(read_recommendations(path, columns={"user": "customer"}, invalid=invalid))
            except InputError as problem:
                found[-1].append(str(problem))
    for one, other in zip(*found, strict=True):
        assert one == other if isinstance(one, str) else same(one, other) and one.account == other.account
    assert isinstance(found[0][0], str) == (value not in ("ascending", "shuffled"))
