"""Predictions from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unskew as us
from tests.said import only, refuses
from unskew import outcome
from unskew.core.notice import codes
from unskew.log import Log
from unskew.outcome import Given, crossfit

FRAME = pl.DataFrame({"user": [2, 1, 1], "item": ["b", "a", "b"], "prediction": [0.25, 0.5, 0.75]})
PAIRS = Log.from_frame(
    pl.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "b"], "value": [1, 0, 1]}), feedback="conversions"
)


@pytest.mark.parametrize("frame", [FRAME, FRAME.to_pandas(), FRAME.lazy()], ids=["polars", "pandas", "lazy"])
def test_pairs_are_looked_up(frame: pl.DataFrame | pd.DataFrame | pl.LazyFrame) -> None:
    """Whatever the order and the type of the ids."""
    found = Given(frame)
    np.testing.assert_array_equal(found.of(PAIRS), [0.5, 0.75, 0.25])
    np.testing.assert_array_equal(found.predict(["2", "1"], ["b", "a"]), [0.25, 0.5])
    np.testing.assert_array_equal(Given(frame, default=0.0).totals(PAIRS.users, PAIRS.items), [1.25, 0.25])
    assert found.fitted and found.fit(PAIRS) is found and crossfit(found, PAIRS) is found


def test_files_and_strings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``given(file)`` reads CSV and Parquet, and prints back."""
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("q.csv")
    FRAME.write_parquet("q.parquet")
    for text in ("given(q.csv)", "given(q.parquet, default=0.1)"):
        found = outcome.make(text)
        assert str(found) == text
        np.testing.assert_array_equal(found.of(PAIRS), [0.5, 0.75, 0.25])


def test_missing_pairs_are_an_error_with_their_number_or_get_the_default() -> None:
    """Known user and item without a row, unknown user, unknown item."""
    with refuses("missing-prediction", pairs=3):
        Given(FRAME).predict([2, 9, 1, 1], ["a", "a", "z", "b"])
    np.testing.assert_array_equal(
        Given(FRAME, default=0.125).predict([2, 9, 1, 1], ["a", "a", "z", "b"]), [0.125, 0.125, 0.125, 0.75]
    )


@pytest.mark.parametrize(
    ("frame", "code", "fields"),
    [
        (FRAME.drop("prediction"), "missing-column", {"column": "prediction"}),
        (pl.concat([FRAME, FRAME]), "repeated-pair", {}),
        (FRAME.with_columns(prediction=pl.Series([0.1, np.nan, 0.2])), "not-a-number", {"row": 2}),
        (FRAME.with_columns(item=pl.Series(["a", None, "b"])), "missing-value", {"column": "item", "row": 2}),
        (FRAME.clear(), "no-rows", {}),
    ],
)
def test_wrong_tables_are_told(frame: pl.DataFrame, code: str, fields: dict[str, Any]) -> None:
    """Column and row."""
    with refuses(code, **fields):
        Given(frame)


def test_pairs_that_get_the_default_are_counted_and_told() -> None:
    """Users and items that the table knows, in pairs that it lacks: of rows, and of what is listed down to rank 2."""
    frame = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "value": [0.0, 1.0, 1.0], "propensity": [0.5] * 3})
    lists = pl.DataFrame({"user": [1, 1, 2, 2, 2], "item": [1, 2, 1, 2, 3], "rank": [1, 2, 1, 2, 3]})
    table = pl.DataFrame({"user": [1, 2], "item": [1, 2], "prediction": [0.3, 0.3]})
    result = us.evaluate(
        Log.from_frame(frame, feedback="conversions"),
        {"m": lists, "n": lists.filter(pl.col("rank") == 1)},
        metrics=["dcg@2"],
        estimators=["direct"],
        propensity="known",
        outcome=Given(table, default=0.9),
    )
    account = result.inputs["outcome"]
    assert (account["unknown"], account["rows"]) == (2, 3)  # (1, 2) and (2, 1)
    assert (account["listed_unknown"], account["listed"]) == (3, 6)  # both in m, (2, 1) in n
    said = only("default-predictions", result.warnings)
    assert all(number in said for number in ("2 of 3 (67%)", "3 of 6 (50%)", "0.9"))
    whole = Given(pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "prediction": [0.3] * 4}), default=0.9)
    assert Given(table, default=0.9).unknown(PAIRS.take(np.zeros(3, dtype=bool))) == 0
    again = us.evaluate(
        Log.from_frame(frame, feedback="conversions"), {"m": lists}, metrics=["dcg@2"], estimators=["direct"],
        propensity="known", outcome=whole,
    )  # fmt: skip
    assert again.inputs["outcome"]["listed_unknown"] == 0 and "default-predictions" not in codes(again.warnings)


def test_a_table_is_read_like_the_logs(tmp_path: Path) -> None:
    """``--invalid drop`` and ``--columns`` reach the file of guesses; what is dropped is counted and shown."""
    log = pl.DataFrame({"who": [1, 1, 2], "item": [1, 2, 1], "value": [0.0, 1.0, 1.0], "propensity": [0.5] * 3})
    lists = pl.DataFrame({"who": [1, 1, 2], "item": [1, 2, 1], "place": [1, 2, 1]})
    guesses = pl.DataFrame(
        {"who": [1, 1, 2, 2, 1], "item": [1, 2, 1, 3, 1], "prediction": [0.3, 0.4, 0.5, np.inf, 0.9]}
    )
    guesses.write_csv(tmp_path / "q.csv")

    def run(propensity: str | list[str], **options: Any) -> Any:
        several: dict[str, Any] = (
            {"propensities": propensity} if isinstance(propensity, list) else {"propensity": propensity}
        )
        return (us.compare_propensities if isinstance(propensity, list) else us.evaluate)(
            log, {"m": lists}, metrics=["dcg@2"], estimators=["direct"], feedback="conversions",
            outcome=f"given({tmp_path / 'q.csv'})", columns={"user": "who", "rank": "place"}, **several, **options,
        )  # fmt: skip

    with refuses("not-a-number", column="prediction", row=4):
        run("known")
    result = run("known", invalid="drop")
    assert list(result.inputs["outcome"]["table"]["dropped"].values()) == [1, 1]
    whole = Given(guesses.head(3), columns={"user": "who"})
    np.testing.assert_array_equal(whole.table.value, [0.3, 0.4, 0.5])
    assert result.estimates[0].value == pytest.approx((0.3 + 0.4 / np.log2(3) + 0.5) / 2)
    both = run(["known", "uniform(p=0.5)"], invalid="drop").results["uniform(p=0.5)"]
    assert both.inputs["outcome"] == result.inputs["outcome"]


U, ITEMS, K = 60, 12, 3
LISTED = {
    "a": pl.DataFrame(
        {"user": np.repeat(np.arange(U), K), "item": np.tile([0, 1, 2], U), "rank": np.tile([1, 2, 3], U)}
    ),
    "b": pl.DataFrame({"user": np.repeat(np.arange(U), 5), "item": np.tile([3, 4, 5, 6, 7], U)}).with_columns(
        rank=pl.Series(np.tile([1, 2, 3, 4, 5], U))
    ),
}
NEEDED = pl.concat([lists.filter(pl.col("rank") <= K).select("user", "item") for lists in LISTED.values()])
EVERY = pl.DataFrame({"user": np.repeat(np.arange(U), ITEMS), "item": np.tile(np.arange(ITEMS), U)})


def summed(table: pl.DataFrame, estimator: str, target: str = "per_user_sum") -> list[float]:
    """Values under a table of predictions 0.3."""
    rng = np.random.default_rng(0)
    user, item = np.nonzero(rng.random((U, ITEMS)) < 0.2)
    log = pl.DataFrame({"user": user, "item": item, "value": (rng.random(len(user)) < 0.4).astype(float)})
    result = us.evaluate(
        log.with_columns(propensity=pl.lit(0.2)), LISTED, metrics=[f"recall@{K}", "dcg@2"], estimators=[estimator],
        target=target, propensity="known", outcome=Given(table.with_columns(prediction=pl.lit(0.3))),
        users=pl.DataFrame({"user": np.arange(U)}), feedback="conversions",
    )  # fmt: skip
    return [e.value for e in result.estimates]


@pytest.mark.parametrize("estimator", ["direct", "dr", "sndr", "switch(tau=10)", "clipped(dr, at=0.1)"])
def test_only_listed_pairs_down_to_the_cut_off_are_asked_for(estimator: str) -> None:
    """A table of the listed pairs that count gives what a table of all pairs gives; one less is an error."""
    assert summed(NEEDED, estimator) == summed(EVERY, estimator)
    with refuses("missing-prediction", pairs=1):
        summed(NEEDED.tail(-1), estimator)
