"""A world of ratings as files: what was seen, the truth, and five predictors with their true errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.atomic import together
from unskew.core.outputs import refuse_existing
from unskew.simulate.files import Progress, save
from unskew.simulate.predictions import NAMES
from unskew.simulate.ratings import METRICS, RatingWorld

FILES = (*(f"{name}.parquet" for name in ("log", "truth", *NAMES)), "truth.json")


def write_ratings(
    world: RatingWorld,
    directory: str | Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    force: bool = False,
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
        force: whether files of these names may be replaced.
    """
    refuse_existing([Path(directory) / name for name in FILES], force)
    paths: dict[str, Path] = {}
    with together():
        paths["log"] = save(directory, "log", world.draw(seed).to_frame(), progress)
        paths["truth"] = save(directory, "truth", _table(world, "value", world.truth), progress)
        values: list[dict[str, Any]] = []
        for name, matrix in world.predictions(seed).items():
            paths[name] = save(directory, name, _table(world, "prediction", matrix), progress)
            values += [
                {"model": name, "metric": metric, "target": "per_pair", "value": world.true_value(metric, matrix)}
                for metric in METRICS
            ]
        paths["values"] = save(directory, "values", values, progress)
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
