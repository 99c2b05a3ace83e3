"""A world as files, as they would arrive from a shop, with the truth beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from unskew.core.atomic import atomic_file, folder, together, write_json
from unskew.core.outputs import refuse_existing
from unskew.estimators import Target
from unskew.evaluation import evaluate
from unskew.log import Recommender
from unskew.models import ItemKNN, MostPopular, Random
from unskew.result import plain
from unskew.simulate.world import World

DEPTH = 100  # length of the lists
MODELS = ("popular", "item_knn", "challenger", "random")
FILES = (*(f"{name}.parquet" for name in ("train", "test", "users", "full", *MODELS)), "truth.json")

Progress = Callable[[str], None]


def write(
    world: World, directory: str | Path, progress: Progress | None = None, *, force: bool = False
) -> dict[str, Path]:
    """Write a world's logs, population, lists and truth; gives back the path of each by name.

        train.parquet        user, item (and value, with conversions)
        test.parquet         the same and propensity: that of the test part, given training
        users.parquet        user, relevant: the whole population with n_u, the relevant items outside training
                             (no n_u where outcomes are graded: what averages divide by is no count then)
        full.parquet         all relevant pairs outside training: naive evaluation on it is the truth
        popular, item_knn, challenger, random .parquet       lists: user, item, rank, without training items
        truth.json           the true value of every metric for every model

    All files appear together when the last one is made; a run that fails before leaves the directory as it was.

    Args:
        progress: is told the name of each file when it has been made.
        force: whether files of these names may be replaced.
    """
    refuse_existing([Path(directory) / name for name in FILES], force)
    paths: dict[str, Path] = {}
    lists: dict[str, pl.DataFrame] = {}
    with together():
        for name, table in _tables(world):
            paths[name] = save(directory, name, table, progress)
            if name in MODELS:
                lists[name] = table
        paths["truth"] = save(directory, "truth", plain(truths(world, lists)), progress)
    return paths


def save(directory: str | Path, name: str, content: Any, progress: Progress | None) -> Path:
    """Write a table, or true values as truth.json, and tell the name."""
    if isinstance(content, pl.DataFrame):
        path = folder(directory) / f"{name}.parquet"
        with atomic_file(path) as temporary, temporary.open("wb") as file:
            content.write_parquet(file)
    else:
        write_json(path := folder(directory) / "truth.json", content)
    if progress is not None:
        progress(name)
    return path


def _tables(world: World) -> Iterator[tuple[str, pl.DataFrame]]:
    """The files, one after the other, so that only one table is held at a time."""
    train = world.train
    yield "train", train.to_frame()
    yield "test", world.test.to_frame()
    people = world.relevant_counts()
    yield "users", people.select("user") if world.graded else people
    yield "full", world.full_log().to_frame()
    models: dict[str, Callable[[], Recommender]] = {
        "popular": lambda: MostPopular().fit(train),
        "item_knn": lambda: ItemKNN().fit(train),
        "challenger": world.challenger,
        "random": lambda: Random().fit(train),
    }
    for name, model in models.items():
        yield name, model().recommend(train.users, DEPTH, seen=train).to_frame()


def truths(
    world: World, lists: Mapping[str, Any], metrics: Sequence[str] = ("recall@5", "recall@10", "recall@50", "dcg@10")
) -> list[dict[str, Any]]:
    """The true value of every metric for given lists under each target: naive evaluation of the full log."""
    result = evaluate(
        world.full_log(),
        lists,
        metrics=metrics,
        estimators=["naive"],
        target=[Target.PER_USER, Target.POOLED, Target.PER_USER_SUM],
        users=world.relevant_counts().select("user"),
        refused="skip",
    )
    return result.table().select("model", "metric", "target", "value").to_dicts()
