"""Yahoo! R3: ratings of songs that people chose (MNAR) and of ten random songs each for 5,400 of them (MCAR).

Yahoo! passes it on only under an agreement that each user signs, so the reader takes a user's own copy. Ids are
those of the files, from 1.
"""

from __future__ import annotations

from pathlib import Path

from unskew.log.datasets.base import About, Dataset, Source, as_numbers, expect, expect_range, read_columns
from unskew.log.log import Log

TRAIN, TEST = (f"ydata-ymusic-rating-study-v1_0-{part}.txt" for part in ("train", "test"))


class YahooR3(Source):
    """Two files with tabs: user, song, rating."""

    about = About(
        name="yahoo-r3",
        title="Yahoo! R3: Music ratings for User Selected and Randomly Selected songs",
        description="311,704 ratings (1 to 5) of songs that people chose, and 54,000 of random songs.",
        licence="Yahoo! Webscope agreement: approved non-commercial research, no redistribution",
        citation=(
            "B. M. Marlin, R. S. Zemel. Collaborative Prediction and Ranking with Non-Random Missing Data. "
            "RecSys 2009. Data: Yahoo! Webscope R3, version 1.0."
        ),
        homepage="https://webscope.sandbox.yahoo.com/catalog.php?datatype=r&did=3",
        obtain="It needs a signed agreement, so it is not downloaded from here: ask Yahoo! Webscope for R3.",
    )
    files = (TRAIN, TEST)

    def read(self, folder: Path) -> Dataset:
        """Both parts; the set has neither features nor propensities."""
        return Dataset(
            self.about,
            mnar=_ratings(folder / TRAIN, rows=311_704, users=15_400),
            mcar=_ratings(folder / TEST, rows=54_000, users=5_400),
        )


def _ratings(path: Path, *, rows: int, users: int) -> Log:
    names = ("user", "item", "value")
    ratings = as_numbers(path, read_columns(path, names, separator="\t"), *names)
    expect(path, "ratings", len(ratings), rows)
    expect(path, "users", ratings["user"].n_unique(), users)
    expect(path, "songs", ratings["item"].n_unique(), 1_000)
    expect_range(path, "rating", ratings["value"], 1, 5)
    return Log.from_frame(ratings, feedback="ratings", duplicates="first", source=str(path))
