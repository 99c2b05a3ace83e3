"""A few worlds of every kind: what a default call may not say of a broken column, and must still say of a right one.

``column_study`` draws many.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from .broken_columns import BROKEN
from .column_study import Task, one_world, study
from .column_worlds import USERS
from .honest_columns import by_item
from .verdict_worlds import Case

# Where the zeros are logged, Σ 1/P is far off: over all pairs, or over tenths of the users or of the items. (Crawlers
# move it too, but so do pages that are drawn at random as a whole: docs/limits.md.)
VISIBLE = [
    "per impression",
    "given a visit, of all",
    "candidates: personal",
    "candidates: truncated",
    "candidates: regional",
    "greedy policy mixed in",
    "ε per place",
    "floor",
    "organic finds",
    "place of a slate",
    "softmax of scores",
    "sigmoid of scores",
    "share of impressions",
    "fitted: clicks",
    "propensity to buy",
    "catalogue never shown",
    "recomputed",
    "column of the whole log",
]
# Winners that are seldom named, so that two worlds show nothing; ratings have no column.
SELDOM = ("forgotten share", "k-core", "train and test swapped")
# Honest logs in which models differ clearly.
DECIDED = ["personal chances", "chances by item", "ε-greedy", "two policies", "silent users", "own split", "few rows"]


@pytest.mark.parametrize("kind", VISIBLE)
def test_no_winner_where_zeros_show_that_the_column_is_wrong(kind: str) -> None:
    """Two equal models: neither is better, and neither is ahead."""
    (zeros, _) = study(kind, 2)
    assert [said.word for said in zeros.equal if said.named] == []


@pytest.mark.parametrize("kind", [kind for kind in BROKEN if kind not in SELDOM])
def test_never_better_by_clicks_alone(kind: str) -> None:
    """Without zeros nothing tests a column, so a verdict on it has a condition, which the word says."""
    said = [one_world(Task(kind, world))[False] for world in range(2)]
    assert not {each.word for each in said} & {"better", "worse"}
    assert all(each.assumption for each in said if each.named)


def test_a_swapped_split_names_nobody() -> None:
    """Train and test swapped: lists hold nothing that is judged, and no outcome model makes up for it."""
    (found,) = study("train and test swapped", 3)
    assert found.false == 0.0


@pytest.mark.parametrize("kind", DECIDED)
def test_right_columns_still_decide(kind: str) -> None:
    """The better model is named in most of three worlds, with zeros and without, and nothing is withheld."""
    for found in study(kind, 3):
        assert found.power > 0.6
        assert not found.alarms()


def test_segments_are_ahead_at_most() -> None:
    """The whole log tests the column; it may be wrong for a few users all the same, whose segment nothing tests."""
    case = by_item(np.random.default_rng(0), 4.0).case(zeros=True)
    people = pl.DataFrame({"user": np.arange(USERS), "on": np.where(np.arange(USERS) % 4 == 0, "app", "web")})
    said = Case(case.test, case.models, case.best, case.options | {"users": people, "by": "on"}).run().verdicts_
    weighed = [v for v in said if v.estimator == "snips"]
    assert [(v.segment, str(v.verdict)) for v in weighed] == [
        (None, "worse"),
        ("on=app", "behind"),
        ("on=web", "behind"),
    ]
    assert [bool(v.assumption) for v in weighed] == [False, True, True]
