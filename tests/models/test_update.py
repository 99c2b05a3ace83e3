"""update(rows) after fit(log) gives the lists of a fit on all rows."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.test_models import ids, lists_of
from tests.said import refuses

from unskew.log import Log
from unskew.models import Updatable, common_counts, make
from unskew.models.family import FAMILY

OPTIONS = {
    "most_popular": ["most_popular", "most_popular(relevant=>1)"],
    "recently_popular": [
        "recently_popular(last=5)",
        "recently_popular(days=1)",
        "recently_popular(half_life=1)",
        "recently_popular(last=7, days=2, half_life=0.5)",
    ],
    "item_knn": [
        "item_knn(neighbours=2)",
        "item_knn(neighbours=3, shrink=0.5)",
        "item_knn(neighbours=3, values=ratings)",
    ],
}
MODELS = [text for texts in OPTIONS.values() for text in texts]
Chunked = list[tuple[int, int, float, int, int]]
chunked = st.lists(  # user, item, value, hour, in which part of the log
    st.tuples(
        st.integers(7, 13),
        st.integers(5, 13),
        st.sampled_from([0.0, 1.0, 2.0]),
        st.sampled_from([0, 5, 20, 30, 60]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=50,
    unique_by=lambda row: row[:2],
)


def log_of(rows: Chunked) -> Log:
    """A log of conversions with times."""
    frame = pl.DataFrame([row[:3] for row in rows], schema=["user", "item", "value"], orient="row")
    times = [datetime(2024, 1, 1) + timedelta(hours=row[3]) for row in rows]
    return Log.from_frame(frame.with_columns(time=pl.Series(times)), feedback="conversions")


def test_every_model_that_updates_is_tried() -> None:
    """A model with ``update`` has its options in the list above."""
    assert {name for name in FAMILY.names() if isinstance(make(name), Updatable)} == set(OPTIONS)


@settings(max_examples=120, deadline=None)
@given(rows=chunked, text=st.sampled_from(MODELS), one_vocabulary=st.booleans(), counted=st.booleans())
def test_updates_give_the_lists_of_one_fit(rows: Chunked, text: str, one_vocabulary: bool, counted: bool) -> None:
    """In any number of parts, with new users and items or over the vocabulary of the whole, with kept counts or not."""
    whole = log_of(rows)
    part = {(user, item): number for user, item, _, _, number in rows}
    numbers = np.array([part[user, item] for user, item in whole.to_frame().select("user", "item").iter_rows()])
    used = sorted(set(numbers.tolist()))
    if one_vocabulary:
        parts = [whole.take(numbers == number) for number in used]
    else:
        parts = [log_of([row for row in rows if row[4] == number]) for number in used]
    asked = ids(*range(8, 16))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common_counts, "REPEATED", -1 if counted else 10**9)
        model = make(text).fit(parts[0])
        assert isinstance(model, Updatable)
        for further in parts[1:]:
            assert model.update(further) is model
    again = make(text).fit(whole)
    assert lists_of(model.recommend(asked, 9)) == lists_of(again.recommend(asked, 9))
    assert lists_of(model.recommend(asked, 9, seen=whole)) == lists_of(again.recommend(asked, 9, seen=whole))


def test_a_known_pair_is_refused() -> None:
    """item_knn holds the histories, so that it notices a pair that comes again."""
    log = Log.from_frame(pl.DataFrame({"user": ["a", "b"], "item": ["x", "y"]}))
    with refuses("repeated-pair"):
        make("item_knn").fit(log).update(log.take(np.array([False, True])))  # type: ignore[attr-defined]
