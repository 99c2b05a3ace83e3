"""MovieLens 100K: 100,000 timed ratings of films. Ids are those of the files, from 1; no random part."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from unskew.log.datasets.base import About, Dataset, Download, Source, as_numbers, expect, expect_range, read_columns
from unskew.log.log import Log

GENRES = (
    "unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama", "Fantasy",
    "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western",
)  # fmt: skip


class MovieLens100K(Source):
    """``u.data`` (tabs, not sorted by time), ``u.user`` and ``u.item`` (pipes, latin-1)."""

    about = About(
        name="ml-100k",
        title="MovieLens 100K",
        description="100,000 ratings (1 to 5) of 1,682 films by 943 people, 1997 to 1998, timed.",
        licence="research use; no redistribution, no commercial use without permission (see its README)",
        citation=(
            "F. M. Harper, J. A. Konstan. The MovieLens Datasets: History and Context. ACM Transactions on Interactive "
            "Intelligent Systems 5(4), 2015. doi:10.1145/2827872"
        ),
        homepage="https://grouplens.org/datasets/movielens/100k/",
    )
    files = ("u.data", "u.user", "u.item")
    downloads = (
        Download(
            "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
            sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
        ),
    )

    def read(self, folder: Path) -> Dataset:
        """Ratings, people and films."""
        path = folder / "u.data"
        names = ("user", "item", "value", "time")
        ratings = as_numbers(path, read_columns(path, names, separator="\t"), *names)
        expect(path, "ratings", len(ratings), 100_000)
        expect(path, "users", ratings["user"].n_unique(), 943)
        expect(path, "items", ratings["item"].n_unique(), 1_682)
        expect_range(path, "rating", ratings["value"], 1, 5)
        return Dataset(
            self.about,
            mnar=Log.from_frame(ratings, feedback="ratings", source=str(path)),
            user_features=_people(folder / "u.user"),
            item_features=_films(folder / "u.item"),
        )


def _people(path: Path) -> pl.DataFrame:
    names = ("user", "age", "gender", "occupation", "zip_code")
    people = read_columns(path, names, separator="|", encoding="latin-1")
    expect(path, "users", len(people), 943)
    return as_numbers(path, people, "user", "age")


def _films(path: Path) -> pl.DataFrame:
    names = ("item", "title", "released", "video", "url", *GENRES)
    films = read_columns(path, names, separator="|", encoding="latin-1")
    expect(path, "items", len(films), 1_682)
    films = as_numbers(path, films, "item", *GENRES).drop("video", "url")
    return films.with_columns(pl.col(GENRES).cast(pl.Int8))
