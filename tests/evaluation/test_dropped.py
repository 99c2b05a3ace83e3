"""What is dropped is counted: training items, repeated pairs, wrong rows, short lists."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import unskew as us
from tests.evaluation.shop import SEEN, TEST, evaluate, numbers, said, value
from tests.said import refuses


def test_training_items_in_lists_are_counted_and_can_be_dropped() -> None:
    """A list that repeats training wastes its places; drop_seen closes the ranks up."""
    kept = evaluate(train=SEEN)
    assert kept.inputs["models"]["a"]["training_items_in_lists"] == 3
    assert any(text.startswith("a: 3 ") for text in said(kept, "lists-of-models"))
    closed = evaluate(train=SEEN, drop_seen=True)
    assert closed.inputs["models"]["a"]["training_items_in_lists"] == 0
    assert closed.inputs["models"]["a"]["dropped"] == {"already seen": 3}
    by_hand = pl.DataFrame({"user": [2, 3], "item": [20, 10], "rank": [1, 1]})
    assert value(evaluate(train=SEEN, drop_seen=True, metrics=["arhr@1"])) == pytest.approx(
        value(evaluate(train=SEEN, models={"a": by_hand}, metrics=["arhr@1"]))
    )
    assert value(closed, metric="recall@2") == value(kept)  # at depth 2 the hit was there before
    assert value(evaluate(train=SEEN, metrics=["recall@1"])) < value(
        evaluate(train=SEEN, metrics=["recall@1"], drop_seen=True)
    )


def test_repeated_training_pairs_are_dropped_for_unseen_candidates_only() -> None:
    """(1, 10) and (2, 40) are in training: nothing that may be recommended, unless all items are candidates."""
    unseen = evaluate(train=SEEN)
    assert [*unseen.inputs["test"]["dropped"].values()] == [2]
    (repeats,) = said(unseen, "rows-in-training")
    assert repeats.startswith("2 ")
    again = ~((pl.col("user") == 1) & (pl.col("item") == 10)) & ~((pl.col("user") == 2) & (pl.col("item") == 40))
    assert numbers(unseen) == numbers(evaluate(TEST.filter(again), train=SEEN))
    everything = evaluate(train=SEEN, candidates="all")
    assert everything.inputs["test"]["dropped"] == {}
    assert not said(everything, "rows-in-training")
    assert value(everything) == pytest.approx(value(evaluate()), rel=1e-12)  # SEEN has a user more to average over


def test_support_gap_is_the_share_of_interactions_on_unknown_items() -> None:
    """Item 20 is not in training: 2 of the remaining 5 interactions; without a training log the share is not known."""
    result = evaluate(train=SEEN)
    left = [20, 30, 20, 30, 10]
    assert result.estimates[0].support_gap == pytest.approx(left.count(20) / 5)
    assert result.inputs["items"]["without_training_support"] == 1
    assert evaluate().estimates[0].support_gap is None


def test_duplicate_pairs_and_wrong_rows_follow_the_options() -> None:
    """duplicates and invalid apply to the test log, and what they drop is counted."""
    twice = pl.concat([TEST, TEST.head(1)])
    with refuses("repeated-pair"):
        evaluate(twice, duplicates="error")
    assert evaluate(twice, duplicates="first").inputs["test"]["dropped"] == {"duplicate pair": 1}
    assert numbers(evaluate(twice, duplicates="first")) == numbers(evaluate())
    wrong = pl.concat(
        [TEST, TEST.tail(1).with_columns(item=pl.lit(70), propensity=pl.lit(0.0))], how="vertical_relaxed"
    )
    with refuses("out-of-range", column="propensity"):
        evaluate(wrong)
    assert evaluate(wrong, invalid="drop").inputs["test"]["dropped"] == {"propensity outside (0, 1]": 1}


def test_repeated_clicks_are_kept_once_and_counted(tmp_path: Path) -> None:
    """Clicking twice is no second positive: by default the first row stays, in both logs, files and frames."""
    twice, seen = pl.concat([TEST, TEST.head(2)]), pl.concat([SEEN, SEEN.head(1)])
    expected = numbers(evaluate(train=SEEN))
    result = evaluate(twice, train=seen)
    assert numbers(result) == expected
    assert result.inputs["test"]["dropped"]["duplicate pair"] == 2
    assert result.inputs["train"]["dropped"] == {"duplicate pair": 1}
    assert [text.split(" rows")[0] for text in said(result, "repeated-pairs")] == ["test: 2", "train: 1"]
    twice.write_csv(tmp_path / "test.csv")
    seen.write_parquet(tmp_path / "seen.parquet")
    again = evaluate(tmp_path / "test.csv", train=tmp_path / "seen.parquet")
    assert numbers(again) == expected
    assert again.inputs["test"]["dropped"]["duplicate pair"] == 2
    assert not said(evaluate(twice, train=seen, duplicates="first"), "repeated-pairs")


def test_repeated_values_stay_an_error() -> None:
    """Two values of one pair may contradict each other: somebody must say which one counts."""
    valued = pl.concat([TEST, TEST.head(1)]).with_columns(value=pl.lit(1.0))
    for told in ({"feedback": "conversions"}, {"relevant": ">=1"}):
        with refuses("repeated-pair"):
            evaluate(valued, target="per_user", **told)
    ignored = evaluate(valued, feedback="implicit")
    assert ignored.inputs["test"]["dropped"] == {"duplicate pair": 1}


def test_mostly_repeated_pairs_are_questioned() -> None:
    """A feature in the place of the user: nearly all rows repeat a pair, in evaluate and in the audit."""
    rows = pl.DataFrame({"group": [1, 2] * 100, "item": [10, 20] * 100})
    lists = pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 1]})
    result = us.evaluate(rows, {"a": lists}, columns={"test:user": "group"}, metrics=["recall@1"])
    *_, asked = said(result, "repeated-pairs")
    assert all(piece in asked for piece in ("198 of 200 ", "(99.0%)", "'group'"))
    found = us.audit(rows, columns={"user": "group"})
    assert ("mostly-repeated", "warning") in {(finding.code, finding.level) for finding in found.findings}
    assert not said(us.evaluate(lists, {"a": lists}, metrics=["recall@1"]), "repeated-pairs")
