"""Predictions as people have them: frames, arrays, files, fitted models; and what is said of wrong ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

import unskew as us
from tests.said import only, refuses
from unskew.core.errors import InputError
from unskew.core.notice import codes
from unskew.kernels.hashing import pair_uniform
from unskew.log.ids import hash_texts

TEST = pl.DataFrame(
    {
        "user": [0, 0, 1, 2, 2],
        "item": [0, 1, 0, 2, 1],
        "value": [3.0, 4.0, 1.0, 5.0, 2.0],
        "propensity": [0.5, 0.2, 0.4, 0.9, 0.6],
    }
)
GUESS = np.array([[3.5, 3.0, 1.0], [2.0, 4.5, 2.5], [1.5, 2.5, 4.0]])
PAIRS = pl.DataFrame(
    {"user": np.repeat(np.arange(3), 3), "item": np.tile(np.arange(3), 3), "prediction": GUESS.ravel()}
)


def judge(model: Any, **settings: Any) -> us.Result:
    asked: dict[str, Any] = {
        "metrics": ["mae", "mse"],
        "estimators": ["naive", "ips", "snips"],
        "propensity": "known",
        "feedback": "ratings",
    }
    return us.evaluate(settings.pop("test", TEST), {"m": model}, **(asked | settings))


def values(result: us.Result) -> list[float]:
    return [e.value for e in result.estimates]


class Table:
    """A fitted model: predicts pairs by their ids."""

    def __init__(self, guess: npt.ArrayLike) -> None:
        self.listed = np.asarray(guess)

    def predict(self, users: Any, items: Any) -> npt.NDArray[np.float64]:
        return np.asarray([self.listed[int(u), int(i)] for u, i in zip(users, items, strict=True)])


def expected() -> list[float]:
    """By hand: mae and mse of naive, ips, snips (three users, three items)."""
    error = [abs(GUESS[u, i] - y) for u, i, y in TEST.select("user", "item", "value").iter_rows()]
    weight = [1.0 / p for p in TEST["propensity"]]
    out = []
    for w, below in (([1.0] * 5, 5.0), (weight, 9.0), (weight, sum(weight))):
        for power in (1, 2):
            out.append(sum(a * e**power for a, e in zip(w, error, strict=True)) / below)
    return out


@pytest.mark.parametrize(
    "kind", ["frame", "pandas", "arrow", "array", "Predictions", "predict", "csv", "parquet", "path"]
)
def test_all_forms_say_the_same(kind: str, tmp_path: Path) -> None:
    """Whatever holds the predictions, the numbers are those counted by hand."""
    PAIRS.write_csv(tmp_path / "m.csv")
    PAIRS.write_parquet(tmp_path / "m.parquet")
    forms: dict[str, Any] = {
        "frame": PAIRS.sample(fraction=1.0, shuffle=True, seed=1), "pandas": PAIRS.to_pandas(),
        "arrow": PAIRS.to_arrow(), "array": GUESS, "Predictions": us.Predictions.from_frame(PAIRS),
        "predict": Table(GUESS), "csv": str(tmp_path / "m.csv"), "parquet": str(tmp_path / "m.parquet"),
        "path": tmp_path / "m.parquet",
    }  # fmt: skip
    np.testing.assert_allclose(values(judge(forms[kind])), expected(), rtol=1e-12)


def test_ids_are_their_texts() -> None:
    """7 and "7" are one user; arrays with ids of their own; columns under other names."""
    texts = PAIRS.with_columns(pl.col("user").cast(pl.String), pl.col("item").cast(pl.String))
    np.testing.assert_allclose(values(judge(texts)), expected(), rtol=1e-12)
    turned = us.Predictions.from_array(GUESS[::-1][:, [2, 0, 1]], users=["2", "1", "0"], items=[2, 0, 1])
    np.testing.assert_allclose(values(judge(turned)), expected(), rtol=1e-12)
    renamed = TEST.rename({"user": "who"}), PAIRS.rename({"user": "who", "prediction": "score"})
    result = judge(renamed[1], test=renamed[0], columns={"user": "who", "prediction": "score"})
    np.testing.assert_allclose(values(result), expected(), rtol=1e-12)


def tie(user: int, item: int) -> float:
    return float(pair_uniform(0, *(hash_texts(pl.Series([str(text)])) for text in (user, item)))[0])


def test_predictions_of_all_candidates_are_ranked() -> None:
    """Largest first, ties by the hash of the ids, training pairs left out; and a rank column says the same."""
    flat = np.array([[4.0, 4.0, 4.0], [2.0, 5.0, 5.0], [3.0, 1.0, 3.0]])
    train = pl.DataFrame({"user": [0, 1], "item": [2, 1], "value": [1.0, 1.0]})
    gone = set(train.select("user", "item").iter_rows())
    rows = []
    for user in range(3):
        there = [item for item in range(3) if (user, item) not in gone]
        there.sort(key=lambda item: (-flat[user, item], tie(user, item)))
        rows += [(user, item, flat[user, item], rank) for rank, item in enumerate(there, 1)]
    ranked = pl.DataFrame(rows, schema=["user", "item", "prediction", "rank"], orient="row")
    settings: dict[str, Any] = {"metrics": ["dcg@1", "dcg@2", "cg@2"], "train": train, "target": "per_pair"}
    by_itself = judge(us.Predictions.from_array(flat), **settings)
    np.testing.assert_allclose(values(by_itself), values(judge(us.Predictions.from_frame(ranked), **settings)))
    lists = us.Recommendations.from_frame(ranked.drop("prediction"))
    np.testing.assert_allclose(values(by_itself), values(judge(lists, **settings)))


def test_predictions_without_a_rank_are_not_listed() -> None:
    """One file may predict all pairs and rank some: empty ranks mean that the item is not in the list."""
    some = PAIRS.with_columns(rank=pl.Series([1, None, None, None, 2, 1, None, 1, None]))
    both = judge(some, metrics=["mae", "dcg@2"], target="per_pair", estimators=["naive"])
    mae, dcg = values(both)
    assert mae == pytest.approx(expected()[0])
    lists = us.Recommendations.from_frame(some.drop_nulls().drop("prediction"))
    assert dcg == pytest.approx(values(judge(lists, metrics=["dcg@2"], target="per_pair", estimators=["naive"]))[0])
    assert "missing-rank" in codes(both.inputs["models"]["m"]["notes"])
    as_text = us.Predictions.from_frame(some.with_columns(pl.col("rank").cast(pl.Float64)))
    assert as_text.rank is not None and as_text.rank.tolist() == [1, 0, 0, 0, 2, 1, 0, 1, 0]


def test_a_model_that_predicts_and_recommends_is_asked_for_both() -> None:
    """mae from predict(), dcg from recommend()."""

    class Both(Table):
        def recommend(self, users: Any, k: int, *, seen: Any = None) -> us.Recommendations:
            assert k == 2
            return us.Recommendations.from_frame(pl.DataFrame({"user": [0, 1], "item": [0, 0], "rank": [2, 1]}))

    result = judge(Both(GUESS), metrics=["mae", "dcg@2"], target="per_pair", estimators=["naive"])
    gain = 3.0 * (3.0 / np.log2(3.0) + 1.0 * 1.0) / 5.0
    assert values(result) == pytest.approx([expected()[0], gain])


RANKED = PAIRS.with_columns(rank=pl.col("item"))


@pytest.mark.parametrize(
    ("model", "code", "fields"),
    [
        (PAIRS.filter(pl.col("user") != 2), None, {}),
        (PAIRS.with_columns(user=pl.col("user") + 100), None, {}),
        (PAIRS.with_columns(prediction=pl.when(pl.col("item") == 1).then(np.nan).otherwise(2.0)), "not-a-number",
         {"column": "prediction", "row": 2}),
        (PAIRS.with_columns(prediction=pl.when(pl.col("item") == 2).then(None).otherwise(2.0)), "missing-value",
         {"column": "prediction", "row": 3}),
        (PAIRS.with_columns(prediction=pl.lit("good")), "not-a-number", {"column": "prediction", "row": 1}),
        (pl.concat([PAIRS, PAIRS[4:5]]), "repeated-pair", {}),
        (PAIRS.rename({"prediction": "guess"}), "missing-column", {"column": "prediction"}),
        (RANKED, "ranks-from-zero", {}),
        (RANKED.with_columns(pl.col("rank") + 0.5), "not-an-integer", {"column": "rank", "row": 1}),
        (RANKED.with_columns(rank=pl.lit(1)), "repeated-rank", {}),
        (PAIRS.clear(), "no-rows", {}),
        (GUESS.ravel(), "wrong-shape", {}),
        (np.array([["a", "b"], ["c", "d"]]), "not-a-number", {}),
        (np.where(GUESS > 4.0, np.inf, GUESS), "out-of-range", {}),
        (GUESS[:2], None, {}),
        (Table(np.full((3, 3), np.nan)), None, {}),
        (17, "not-a-dataframe", {}),
    ],
    ids=lambda case: type(case).__name__,
)  # fmt: skip
def test_wrong_predictions_are_named(model: Any, code: str | None, fields: dict[str, Any]) -> None:
    """One error: which model, where, and what to do."""
    with pytest.raises(InputError) as caught:
        judge(model)
    assert code in (None, caught.value.code) and fields.items() <= caught.value.fields.items()
    assert re.search(r"\bm\b", str(caught.value))


@pytest.mark.parametrize("answer", [[1.0, 2.0], np.zeros((5, 1)), ["much"] * 5, None], ids=str)
def test_wrong_answers_of_models_are_named(answer: Any) -> None:
    """predict() must give a number per pair."""

    class Wrong:
        def predict(self, users: Any, items: Any) -> Any:
            return answer

    with pytest.raises(InputError) as caught:
        judge(Wrong())
    assert "'m'" in str(caught.value)


@pytest.mark.parametrize(
    ("users", "items", "code"),
    [
        (["a", "b"], None, "wrong-shape"),
        (None, [1, 2, 3, 4], "wrong-shape"),
        (["a", "b", "a"], None, "repeated-id"),
        (None, [1, 1, 2], "repeated-id"),
    ],
    ids=str,
)
def test_ids_of_arrays_must_fit(users: Any, items: Any, code: str) -> None:
    """As many ids as rows and columns, each once."""
    with refuses(code):
        us.Predictions.from_array(GUESS, users, items)


def test_dropped_predictions_are_counted() -> None:
    """--invalid drop: wrong predictions are counted at the model, pairs that lost theirs at the log, and a warning."""
    wrong = pl.concat(
        [
            PAIRS.with_columns(prediction=pl.when(pl.col("user") == 1).then(np.nan).otherwise(pl.col("prediction"))),
            PAIRS[:1].with_columns(prediction=pl.lit(9.0)),
        ]
    )
    result = judge(wrong, invalid="drop")
    assert result.inputs["models"]["m"]["dropped"] == {"prediction not finite": 3, "repeated pair": 1}
    assert list(result.inputs["test"]["dropped"].values()) == [1]
    assert "ips" in only("rows-without-prediction", result.warnings)
    kept = TEST.filter(pl.col("user") != 1)
    clean = judge(GUESS, test=kept, estimators=["naive", "snips"])
    found = [e.value for e in result.estimates if e.estimator != "ips"]
    np.testing.assert_allclose(found, values(clean), rtol=1e-12)
    assert {e.interactions for e in result.estimates} == {4}
