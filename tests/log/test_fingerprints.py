"""Fingerprints of lists: the same for the same lists however they come, another one as soon as a place changes."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.mixing import mix
from unskew.log import Ids, Recommendations, read_recommendations
from unskew.log.fingerprints import fingerprint, known_depth
from unskew.log.ids import hash_texts

ROWS = {"user": [1, 1, 1, 2, 2], "item": [10, 11, 12, 11, 10], "rank": [1, 2, 3, 1, 2]}
WHOLE = 2**64


def lists(**changes: list[int]) -> Recommendations:
    return Recommendations.from_frame(pl.DataFrame(ROWS | changes))


def slow(rows: list[tuple[str, str, int]], depth: int) -> str:
    """The formula, row by row."""
    total = 0
    for user, item, rank in rows:
        if rank <= depth:
            u, i = (int(hash_texts(pl.Series([text]))[0]) for text in (user, item))
            total += mix(mix(mix(u) ^ i) ^ rank)
    return f"{total % WHOLE:016x}@{depth}"


@given(
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from("abcdefg"), unique=True, max_size=5), min_size=1),
    st.integers(1, 6),
)
def test_it_is_a_sum_over_the_listed_pairs(found: dict[str, list[str]], depth: int) -> None:
    rows = [(user, item, n + 1) for user, items in found.items() for n, item in enumerate(items)]
    if rows:
        frame = pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row")
        assert fingerprint(Recommendations.from_frame(frame), depth) == slow(rows, depth)


def test_files_frames_texts_and_orders_of_rows_are_the_same_lists(tmp_path: Path) -> None:
    """So are lists over other vocabularies, and users without a list."""
    frame = pl.DataFrame(ROWS)
    frame.write_csv(tmp_path / "lists.csv")
    frame.write_parquet(tmp_path / "lists.parquet")
    read = [read_recommendations(tmp_path / f"lists.{ending}") for ending in ("csv", "parquet")]
    made = [frame.reverse(), frame.to_pandas(), frame.cast(pl.String).cast({"rank": pl.Int64})]
    wider = lists().recode(Ids(pl.Series([0, 1, 2, 3])), Ids(pl.Series([9, 10, 11, 12, 13])))
    every = [*read, *map(Recommendations.from_frame, made), wider]
    assert {fingerprint(each, 3) for each in every} == {fingerprint(lists(), 3)}


def test_deeper_places_do_not_count_and_are_not_known() -> None:
    """Lists that go on below the depth are known down to it; those that end there are known altogether."""
    short = Recommendations.from_frame(pl.DataFrame(ROWS).filter(pl.col("rank") <= 2))
    assert fingerprint(lists(), 2) == fingerprint(short, 2)
    assert known_depth(lists(), [fingerprint(short, 2)]) == 2.0
    assert known_depth(short, ["0" * 16 + "@9", fingerprint(short, 2)]) == math.inf
    assert known_depth(short, []) == 0.0 == known_depth(lists(item=[11, 10, 12, 11, 10]), [fingerprint(lists(), 4)])
