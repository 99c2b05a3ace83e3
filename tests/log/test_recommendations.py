"""Lists: read from ranks or scores, freed of what was seen, put over other vocabularies."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.said import only, refuses
from unskew.kernels.hashing import pair_uniform
from unskew.log import Ids, Log, Recommendations

compiled = settings(deadline=None)  # the first call compiles kernels

Lists = dict[int, list[tuple[int, int]]]  # user → (rank, item), ranks ascending

small_lists = st.dictionaries(
    st.integers(0, 9),
    st.tuples(
        st.lists(st.integers(0, 12), min_size=1, max_size=8, unique=True),
        st.lists(st.integers(1, 40), min_size=8, max_size=8, unique=True),
    ).map(lambda both: sorted(zip(both[1], both[0], strict=False))),
    min_size=1,
)
long_list = [(rank, 1000 - rank) for rank in range(2, 300, 3)]
small_logs = st.sets(st.tuples(st.integers(-2, 9), st.integers(-2, 12)), min_size=1)


def frame_of(lists: Lists, shuffle: int | None = None) -> pl.DataFrame:
    rows = [(user, item, rank) for user, entries in lists.items() for rank, item in entries]
    frame = pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row")
    return frame if shuffle is None else frame.sample(fraction=1.0, shuffle=True, seed=shuffle)


def dict_of(lists: Recommendations) -> Lists:
    out: Lists = {}
    for user, item, rank in lists.to_frame().cast(pl.Int64).rows():
        out.setdefault(user, []).append((rank, item))
    return out


def log_of(pairs: set[tuple[int, int]], *, text: bool = False) -> Log:
    frame = pl.DataFrame(sorted(pairs), schema=["user", "item"], orient="row")
    return Log.from_frame(frame.cast(pl.String) if text else frame)


@compiled
@given(small_lists, st.integers(0, 100))
@example({3: [(1, 5)], 4: long_list, 5: [(2, 7)]}, 1)
def test_lists_come_back_in_the_order_of_ranks(lists: Lists, shuffle: int) -> None:
    """Whatever the order of rows, entries stand by rank; gaps between ranks stay."""
    read = Recommendations.from_frame(frame_of(lists, shuffle))
    assert dict_of(read) == {user: lists[user] for user in sorted(lists)}
    assert read.depth == max(rank for entries in lists.values() for rank, _ in entries)
    assert read.item.dtype == read.rank.dtype == np.int32 and read.indptr.dtype == np.int64


@compiled
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-1, 5)), min_size=1, max_size=40))
def test_drop_keeps_the_better_ranked_of_repeats_and_counts(rows: list[tuple[int, int, int]]) -> None:
    """Walking down each list, an entry goes if its rank is none, or its item or rank was taken.

    Ranks that start at 0 in most lists are no wrong rows but a wrong count, and nothing is dropped.
    """
    kept: Lists = {}
    reasons = {"rank": 0, "repeated item": 0, "repeated rank": 0}
    for user, item, rank in sorted(rows, key=lambda row: (row[0], row[2])):
        entries = kept.get(user, [])
        if rank < 1:
            reasons["rank"] += 1
        elif item in [i for _, i in entries]:
            reasons["repeated item"] += 1
        elif rank in [r for r, _ in entries]:
            reasons["repeated rank"] += 1
        else:
            kept.setdefault(user, []).append((rank, item))
    if not kept:
        return
    frame = pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row")
    ranks = [rank for _, _, rank in rows]
    if 2 * ranks.count(0) > len({user for user, _, _ in rows}) and min(ranks) == 0:
        with refuses("ranks-from-zero"):
            Recommendations.from_frame(frame, invalid="drop")
        return
    read = Recommendations.from_frame(frame, invalid="drop")
    assert dict_of(read) == kept
    assert sorted(read.account.dropped.values()) == sorted(filter(None, reasons.values()))


def test_scores_make_ranks_and_the_hash_breaks_ties() -> None:
    """Higher scores come first, equal ones by the stable hash of user and item, whatever the order of rows."""
    users, items = [u for u in range(5) for _ in range(6)], list(range(6)) * 5
    scores = [float(i // 3) for i in items]
    frame = pl.DataFrame({"user": users, "item": items, "score": scores})
    read = Recommendations.from_frame(frame)
    only("ranked-by-score", read.account.notes)
    for user in range(5):
        codes = np.full(6, user)
        ties = pair_uniform(0, read.users.hashes[codes], read.items.hashes)
        best = sorted(range(6), key=lambda item: (-(item // 3), ties[item]))
        assert read.item[read.indptr[user] : read.indptr[user + 1]].tolist() == best
    shuffled = Recommendations.from_frame(frame.sample(fraction=1.0, shuffle=True, seed=1))
    assert shuffled.to_frame().equals(read.to_frame())
    assert read.rank.tolist() == [1, 2, 3, 4, 5, 6] * 5


@compiled
@given(small_lists, small_logs, st.booleans())
def test_drop_seen_against_sets(lists: Lists, pairs: set[tuple[int, int]], text: bool) -> None:
    """Seen items go and ranks close up, also if the log holds the ids as text; what went is counted."""
    read, seen = Recommendations.from_frame(frame_of(lists)), log_of(pairs, text=text)
    left, gone = {}, 0
    for user, entries in sorted(lists.items()):
        new = [item for _, item in entries if (user, item) not in pairs]
        gone += len(entries) - len(new)
        if new:
            left[user] = list(enumerate(new, start=1))
    fresh = read.drop_seen(seen)
    assert dict_of(fresh) == left
    assert fresh.account.dropped["already seen"] == gone == read.count_seen(seen)
    assert fresh.count_seen(seen) == 0


@compiled
@given(small_lists, st.sets(st.integers(-2, 12)), st.sets(st.integers(-2, 14)), st.booleans())
def test_recode_puts_lists_over_given_vocabularies(lists: Lists, users: set[int], items: set[int], text: bool) -> None:
    """One list per asked user, −1 for unknown items, ranks as they were."""
    kind: Any = pl.String if text else pl.Int64
    new_users = Ids.of(pl.Series(sorted(users), dtype=pl.Int64).cast(kind))
    new_items = Ids.of(pl.Series(sorted(items), dtype=pl.Int64).cast(kind))
    read = Recommendations.from_frame(frame_of(lists, shuffle=3))
    again = read.recode(new_users, new_items)
    assert again.users is new_users and again.items is new_items
    codes = {int(value): code for code, value in enumerate(new_items.values)}
    for u, user in enumerate(new_users.values):
        entries = lists.get(int(user), [])
        span = slice(again.indptr[u], again.indptr[u + 1])
        assert again.rank[span].tolist() == [rank for rank, _ in entries]
        assert again.item[span].tolist() == [codes.get(item, -1) for _, item in entries]
    assert again.to_frame()["item"].null_count() == np.count_nonzero(again.item < 0)
    assert read.recode(read.users, read.items) is read
