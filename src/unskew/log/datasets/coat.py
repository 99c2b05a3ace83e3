"""Coat Shopping: 290 people, 300 coats, 24 ratings of self-chosen coats each (MNAR) and 16 of random ones (MCAR).

Users and items are the rows and columns of the matrices, from 0. The authors' propensities are a logistic estimate
from the features, not logged truth; they remove only a part of the bias. 366 pairs stand in both parts, with the
same rating: a study should say whether it keeps them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.errors import InputError
from unskew.log.datasets.base import About, Dataset, Source, expect
from unskew.log.log import Log

USERS, ITEMS = 290, 300
Matrix = npt.NDArray[np.float64]


class Coat(Source):
    """Space-separated matrices, 0 = not rated."""

    about = About(
        name="coat",
        title="Coat Shopping",
        description="Ratings of coats by 290 people: 24 each of coats they chose, 16 each of random ones.",
        licence="none stated by its authors: use it for research, do not pass it on",
        citation=(
            "T. Schnabel, A. Swaminathan, A. Singh, N. Chandak, T. Joachims. Recommendations as Treatments: Debiasing "
            "Learning and Evaluation. ICML 2016."
        ),
        homepage="https://www.cs.cornell.edu/~schnabts/mnar/",
        obtain="Its authors state no licence, so it is not downloaded from here: get coat.zip from their page.",
    )
    files = (
        "train.ascii",
        "test.ascii",
        "propensities.ascii",
        "user_item_features/user_features.ascii",
        "user_item_features/user_features_map.txt",
        "user_item_features/item_features.ascii",
        "user_item_features/item_features_map.txt",
    )

    def read(self, folder: Path) -> Dataset:
        """Both parts, the features and the authors' propensities."""
        path = folder / "propensities.ascii"
        propensity = _matrix(path, USERS, ITEMS)
        if not ((propensity > 0.0) & (propensity <= 1.0)).all():
            raise InputError(
                f"{path}: every propensity must lie in (0, 1].\nIs this the right file?", code="out-of-range"
            )
        pairs = pl.DataFrame(
            {
                "user": np.repeat(np.arange(USERS), ITEMS),
                "item": np.tile(np.arange(ITEMS), USERS),
                "propensity": propensity.ravel(),
            }
        )
        return Dataset(
            self.about,
            mnar=_ratings(folder / "train.ascii", 24, propensity),
            mcar=_ratings(folder / "test.ascii", 16),
            user_features=_features(folder / "user_item_features" / "user_features.ascii", "user", USERS),
            item_features=_features(folder / "user_item_features" / "item_features.ascii", "item", ITEMS),
            propensity=pairs,
        )


def _matrix(path: Path, rows: int, columns: int) -> Matrix:
    try:
        matrix: Matrix = np.loadtxt(path, ndmin=2)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"{path}: the matrix cannot be read ({problem}).\nIs this the right file?", code="unreadable-file"
        ) from problem
    expect(path, "rows", matrix.shape[0], rows)
    expect(path, "columns", matrix.shape[1], columns)
    return matrix


def _ratings(path: Path, each: int, propensity: Matrix | None = None) -> Log:
    """The log of a rating matrix, with the propensities of its seen cells."""
    ratings = _matrix(path, USERS, ITEMS)
    if not np.isin(ratings, range(6)).all():
        raise InputError(
            f"{path}: ratings must be 1 to 5, and 0 where there is none.\nIs this the right file?", code="out-of-range"
        )
    user, item = np.nonzero(ratings)
    expect(path, "ratings", len(user), each * USERS)
    counts = np.bincount(user, minlength=USERS)
    odd = int(np.argmax(counts != each))
    expect(path, f"ratings in row {odd + 1}", int(counts[odd]), each)
    frame = pl.DataFrame({"user": user, "item": item, "value": ratings[user, item]})
    if propensity is not None:
        frame = frame.with_columns(propensity=propensity[user, item])
    log = Log.from_frame(frame, feedback="ratings", source=str(path))
    return log if propensity is None else replace(log, estimated_by="its authors")


def _features(path: Path, key: str, rows: int) -> pl.DataFrame:
    """0/1 columns, named by the lines of the map beside them ("gender:men")."""
    names = path.with_name(f"{path.stem}_map.txt")
    try:
        labels = names.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeError) as problem:
        raise InputError(f"{names}: the file cannot be read ({problem}).", code="unreadable-file") from problem
    labels = [label.strip() for label in labels if label.strip()]
    matrix = _matrix(path, rows, len(labels)).astype(np.int8)
    columns = {label: matrix[:, place] for place, label in enumerate(labels)}
    return pl.DataFrame({key: np.arange(rows), **columns})
