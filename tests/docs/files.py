"""The files that the pages speak of, small: a shop's clicks, its lists, ratings, conversions, answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import unskew as us
from tests.newcomer import purchases
from unskew.simulate import World, relevant_for

USERS, ITEMS = 400, 60


def write(folder: Path) -> None:
    """Everything, under the names of the pages."""
    world = World(users=USERS, items=ITEMS, seed=0, relevant=relevant_for(ITEMS))
    train, test = world.train.to_frame(), world.test.to_frame()
    for name in ("test", "heldout", "heldout/part"):
        put(folder / f"{name}.parquet", test)
    put(folder / "train.parquet", train)
    put(folder / "train" / "part.parquet", train)
    clicks = pl.concat([train.select("user", "item"), test.select("user", "item")]).unique(
        ["user", "item"], maintain_order=True
    )
    policy = pl.when(pl.col("user").rank("dense") % 2 == 0).then(pl.lit("popular")).otherwise(pl.lit("knn"))
    put(folder / "clicks.parquet", clicks.with_columns(time=times(len(clicks)), policy=policy))
    put(folder / "log.parquet", clicks)
    models = [us.models.MostPopular().fit(world.train), us.models.make("item_knn(neighbours=20)").fit(world.train)]
    for names, model in zip((("popular", "a"), ("als", "challenger", "b", "lists")), models, strict=True):
        lists = (
            model.recommend(world.train.users, 10, seen=world.train)
            .to_frame()
            .filter(pl.col("user").is_in(train["user"].unique()))
        )
        for name in names:
            put(folder / f"{name}.parquet", lists)
        put(folder / "lists" / names[0] / "part.parquet", lists)
    lists.write_csv(folder / "popular.csv")
    asked = us.plan({name: f"{folder}/{name}.parquet" for name in "ab"}, log=world.test, seen=world.train)
    put(folder / "answers.parquet", answered(asked.draw(200, seed=0).frame))
    ratings(folder)
    conversions(folder)
    purchases(folder)


def answered(questions: pl.DataFrame) -> pl.DataFrame:
    """A third says yes."""
    yes = np.random.default_rng(2).random(len(questions)) < 0.3
    return questions.with_columns(value=pl.Series(yes.astype(np.float64)))


def conversions(folder: Path) -> None:
    """Clicks of which some brought something, from known propensities."""
    rng = np.random.default_rng(3)
    propensity = 0.5 / (1.0 + np.arange(ITEMS) / 10.0) * np.ones((USERS, 1))
    user, item = np.nonzero(rng.random((USERS, ITEMS)) < propensity)
    value = (rng.random(len(user)) < 0.3).astype(np.float64)
    seen = {"user": user, "item": item, "value": value, "propensity": propensity[user, item]}
    put(folder / "conversions.parquet", pl.DataFrame(seen))


def ratings(folder: Path) -> None:
    """Ratings that people chose, ratings of random pairs, predictions."""
    rng = np.random.default_rng(0)
    value = rng.integers(1, 6, (USERS, ITEMS)).astype(np.float64)
    chosen = 0.05 + 0.05 * value
    for name, propensity in {"ratings": chosen, "random": np.full_like(value, 0.2)}.items():
        user, item = np.nonzero(rng.random(value.shape) < propensity)
        seen = {"user": user, "item": item, "value": value[user, item], "propensity": propensity[user, item]}
        put(folder / f"{name}.parquet", pl.DataFrame(seen))
        put(folder / ("rated" if name == "ratings" else name) / "part.parquet", pl.DataFrame(seen))
        pl.DataFrame(seen).drop("propensity").write_csv(folder / f"{name}.csv")
    user, item = np.indices(value.shape).reshape(2, -1)
    for name, guess in {"mf": value + rng.normal(size=value.shape), "mean": np.full_like(value, 3.0)}.items():
        put(folder / f"{name}.parquet", pl.DataFrame({"user": user, "item": item, "prediction": guess.ravel()}))


def times(rows: int) -> pl.Series:
    """Twenty weeks, in no order."""
    seconds = np.random.default_rng(1).integers(1_700_000_000, 1_700_000_000 + 20 * 7 * 86_400, rows)
    return pl.Series(pl.from_epoch(pl.Series(seconds)))


def put(path: Path, rows: pl.DataFrame) -> None:
    """Write, with the folder that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.write_parquet(path)
