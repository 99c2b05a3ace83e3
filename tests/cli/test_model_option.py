"""``unskew evaluate --model``: each model learns from the rows that it is made for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.cli.commands import flat, unskew
from tests.worlds import pairs_of
from unskew.log import Log


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ratings 1 … 5 with propensities, split at random, and the same as conversions of 0 and 1."""
    made = tmp_path_factory.mktemp("logs")
    rng = np.random.default_rng(0)
    full = np.clip(np.round(3.0 + rng.normal(size=(80, 2)) @ rng.normal(size=(2, 40))), 1, 5)
    chance = np.where(full >= 4, 0.5, 0.2)
    frame = pairs_of(rng.random(full.shape) < chance, value=full, propensity=chance)
    bought = frame.with_columns(value=(pl.col("value") >= 4).cast(pl.Float64))
    for name, each, feedback in (("ratings", frame, "ratings"), ("bought", bought, "conversions")):
        train, test = us.split.holdout(Log.from_frame(each, feedback=feedback), 0.3, seed=0)
        train.to_frame().write_parquet(made / f"{name}_train.parquet")
        test.to_frame().write_parquet(made / f"{name}_test.parquet")
    return made


def values(folder: Path, name: str, *arguments: str) -> dict[str, float]:
    """What the command says of each model."""
    files: list[str | Path] = [folder / f"{name}_test.parquet", "--train", folder / f"{name}_train.parquet"]
    done = unskew("evaluate", *files, *arguments, "--json", folder / "r.json", "--quiet")
    assert done.returncode == 0, flat(done.stderr)
    return {row["model"]: row["value"] for row in json.loads((folder / "r.json").read_text())["estimates"]}


def both(folder: Path, name: str, feedback: str) -> tuple[Log, Log]:
    train, test = (us.read_log(folder / f"{name}_{part}.parquet", feedback=feedback) for part in ("train", "test"))
    return train, test


@pytest.mark.parametrize("loss", ["logistic", "warp"])
def test_factors_learn_from_zeros_where_their_loss_does(folder: Path, loss: str) -> None:
    """As in Python on the whole log; on positives only, logistic and squared would say something else."""
    spec = f"factors(dim=4, loss={loss}, epochs=5)"
    arguments = ["--feedback", "conversions", "--metric", "dcg@5", "--estimator", "naive", "--model", f"m={spec}"]
    train, test = both(folder, "bought", "conversions")

    def judged(rows: Log) -> float:
        model = us.models.make(spec).fit(rows)
        return us.evaluate(test, {"m": model}, metrics=["dcg@5"], estimators=["naive"], train=train).estimates[0].value

    found = values(folder, "bought", *arguments)["m"]
    assert found == judged(train)
    if loss != "warp":
        assert found != judged(train.positives())


def test_mf_learns_from_ratings_with_the_share_of_its_part(folder: Path) -> None:
    """Without a threshold, weighed by the column of the training file, which is 70 % of the whole."""
    spec = "mf(dim=2, penalty=5, propensity=known)"
    arguments = ["--feedback", "ratings", "--metric", "mae", "--estimator", "snips", "--propensity", "known"]
    found = values(folder, "ratings", *arguments, "--share", "0.3", "--model", f"m={spec}")["m"]
    train, test = both(folder, "ratings", "ratings")
    model = us.models.MF(dim=2, penalty=5.0, propensity="known").fit(train, share=0.7)
    asked = us.evaluate(
        test, {"m": model}, metrics=["mae"], estimators=["snips"], propensity="known", train=train, share=0.3
    )
    assert found == asked.estimates[0].value
    assert model.training_.share == 0.7


def test_a_threshold_reaches_every_model(folder: Path) -> None:
    """mf learns from all ratings, logistic tells those from 4 upwards apart, most_popular counts them."""
    specs = ["mf(dim=2, penalty=5)", "factors(dim=4, loss=logistic, epochs=5)", "most_popular"]
    models = [word for n, spec in enumerate(specs) for word in ("--model", f"m{n}={spec}")]
    found = values(folder, "ratings", "--relevant", ">=4", "--metric", "recall@5", "--estimator", "naive", *models)
    train, test = both(folder, "ratings", "ratings")
    liked = train.to_frame().with_columns(value=(pl.col("value") >= 4).cast(pl.Float64))
    rows = [train, Log.from_frame(liked, feedback="conversions"), train.positives(">=4")]
    fitted = {f"m{n}": us.models.make(spec).fit(rows[n]) for n, spec in enumerate(specs)}
    asked = us.evaluate(test, fitted, metrics=["recall@5"], estimators=["naive"], relevant=">=4", train=train)
    assert found == {row.model: row.value for row in asked.estimates}
