"""MovieTweetings, the snapshot of the first 100,000 ratings: films rated in tweets, timed.

An item is an IMDb id and stays text, since leading zeros are part of it ("0104257").
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from unskew.log.datasets.base import About, Dataset, Download, Source, as_numbers, expect, expect_range, read_columns
from unskew.log.log import Log

_SNAPSHOT = (
    "https://raw.githubusercontent.com/sidooms/MovieTweetings/4d8280a3f1ea83e3e23f13d1710d19f43564274f/snapshots/100K/"
)


class MovieTweetings(Source):
    """``ratings.dat`` and ``movies.dat``, separated by ``::``."""

    about = About(
        name="movietweetings",
        title="MovieTweetings, 100K snapshot",
        description="100,000 ratings (0 to 10) of 10,506 films by 16,554 people, taken from tweets of 2013, timed.",
        licence="MIT",
        citation=(
            "S. Dooms, T. De Pessemier, L. Martens. MovieTweetings: a Movie Rating Dataset Collected From Twitter. "
            "CrowdRec at RecSys 2013."
        ),
        homepage="https://github.com/sidooms/MovieTweetings",
    )
    files = ("ratings.dat", "movies.dat")
    downloads = tuple(Download(_SNAPSHOT + name, to=name) for name in files)

    def read(self, folder: Path) -> Dataset:
        """Ratings and films."""
        path = folder / "ratings.dat"
        frame = read_columns(path, ("user", "item", "value", "time"), separator="::")
        ratings = as_numbers(path, frame, "user", "value", "time")
        expect(path, "ratings", len(ratings), 100_000)
        expect(path, "users", ratings["user"].n_unique(), 16_554)
        expect(path, "items", ratings["item"].n_unique(), 10_506)
        expect_range(path, "rating", ratings["value"], 0, 10)
        return Dataset(
            self.about,
            mnar=Log.from_frame(ratings, feedback="ratings", source=str(path)),
            item_features=_films(folder / "movies.dat"),
        )


def _films(path: Path) -> pl.DataFrame:
    """Title, year, and a 0/1 column per genre."""
    films = read_columns(path, ("item", "title", "genres"), separator="::")
    expect(path, "items", len(films), 10_506)
    genres = films["genres"].fill_null("").str.split("|")
    known = sorted({genre for several in genres.to_list() for genre in several if genre})
    return films.select(
        "item",
        "title",
        pl.col("title").str.extract(r"\((\d{4})\)\s*$").cast(pl.Int64).alias("year"),
        *(genres.list.contains(genre).cast(pl.Int8).alias(genre) for genre in known),
    )
