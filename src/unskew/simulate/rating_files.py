"""A world of ratings as files: what was seen, the truth, and five predictors with their true errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.atomic import atomic, folder
from unskew.simulate.rating_costs import METRICS
from unskew.simulate.ratings import RatingWorld

FILES = 8


def write_ratings(
    world: RatingWorld, directory: str | Path, *, seed: int = 0, progress: Callable[[str], None] | None = None
) -> dict[str, Path]:
    """Write one draw of a world; gives back the path of each file by name.

        log.parquet          user, item, value, propensity: the ratings that were seen
        truth.parquet        user, item, value: the rating of every pair
        rec_ones, rec_fours, rotate, skewed, coarsened .parquet       user, item, prediction: for every pair
        truth.json           the true value of each metric for each predictor

    All files appear together when the last one is made; a run that fails before leaves the directory as it was.

    Args:
        seed: which pairs are seen, and which ratings the predictors get wrong.
        progress: is told the name of each file when it has been made.
    """
    paths: dict[str, Path] = {}
    with ExitStack() as files:

        def place(name: str, file: str) -> Path:
            paths[name] = folder(directory) / file
            return files.enter_context(atomic(paths[name]))

        def done(name: str) -> None:
            if progress is not None:
                progress(name)

        world.draw(seed).to_frame().write_parquet(place("log", "log.parquet"))
        done("log")
        _table(world, "value", world.truth).write_parquet(place("truth", "truth.parquet"))
        done("truth")
        values: list[dict[str, Any]] = []
        for name, matrix in world.predictions(seed).items():
            _table(world, "prediction", matrix).write_parquet(place(name, f"{name}.parquet"))
            values += [
                {"model": name, "metric": metric, "target": "per_pair", "value": world.true_value(metric, matrix)}
                for metric in METRICS
            ]
            done(name)
        place("values", "truth.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
        done("values")
    return paths


def _table(world: RatingWorld, name: str, matrix: npt.NDArray[Any]) -> pl.DataFrame:
    """A full matrix as a table with a row per pair."""
    users, items = matrix.shape
    return pl.DataFrame(
        {
            "user": world.users.values.gather(np.repeat(np.arange(users), items)),
            "item": world.items.values.gather(np.tile(np.arange(items), users)),
            name: matrix.reshape(-1),
        }
    )
