"""Copies of the named data sets: generated files of the same form and counts, and the real ones where they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import unskew as us
from tests.conftest import missing
from unskew.log import datasets


def spread(rows: int, users: int, items: int) -> pl.DataFrame:
    """Distinct pairs over all users and items, from 0, with a value from 1 to 5."""
    row = np.arange(rows)
    frame = pl.DataFrame({"user": row % users, "item": (row // users * 37 + row) % items, "value": row % 5 + 1})
    assert (frame["user"].n_unique(), frame["item"].n_unique()) == (users, items)
    assert frame.n_unique(["user", "item"]) == rows
    return frame


def text(frame: pl.DataFrame, path: Path, separator: str) -> None:
    """A text file without a header."""
    lines = frame.select(pl.concat_str(pl.all().cast(pl.String), separator=separator)).to_series()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_coat(folder: Path) -> None:
    rng = np.random.default_rng(1)
    for name, each in (("train", 24), ("test", 16)):
        seen = rng.random((290, 300)).argsort(axis=1) < each
        np.savetxt(folder / f"{name}.ascii", np.where(seen, rng.integers(1, 6, (290, 300)), 0), fmt="%d ")
    np.savetxt(folder / "propensities.ascii", rng.uniform(0.01, 0.5, (290, 300)))
    (folder / "user_item_features").mkdir()
    for name, rows, columns in (("user", 290, 14), ("item", 300, 33)):
        path = folder / "user_item_features" / f"{name}_features.ascii"
        np.savetxt(path, rng.integers(0, 2, (rows, columns)), fmt="%d")
        path.with_name(f"{name}_features_map.txt").write_text("\n".join(f"kind:{k}" for k in range(columns)))


def write_ml_100k(folder: Path) -> None:
    ratings = spread(100_000, 943, 1_682).with_columns(pl.col("user", "item") + 1, time=880_000_000 + pl.row_index())
    text(ratings, folder / "u.data", "\t")
    people = [f"{user}|24|M|technician|85711" for user in range(1, 944)]
    (folder / "u.user").write_text("\n".join(people), encoding="latin-1")
    films = [
        f"{item}|Café {item} (1995)|01-Jan-1995||http://imdb|" + "|".join("01" * 9 + "0") for item in range(1, 1683)
    ]
    (folder / "u.item").write_text("\n".join(films), encoding="latin-1")


def write_movietweetings(folder: Path) -> None:
    ratings = spread(100_000, 16_554, 10_506).with_columns(
        pl.col("item").cast(pl.String).str.zfill(7), time=1_365_000_000 + pl.row_index()
    )
    text(ratings, folder / "ratings.dat", "::")
    films = [f"{item:07}::À l'ombre {item} (1913)::{'Crime|Drama' if item else ''}" for item in range(10_506)]
    (folder / "movies.dat").write_text("\n".join(films) + "\n", encoding="utf-8")


def retail() -> pl.DataFrame:
    """Invoice lines of which 397,884 are purchases of 266,792 pairs; the last purchases of a pair come first."""
    first = spread(266_792, 4_338, 3_665).select(
        InvoiceNo=pl.lit("536365"),
        StockCode=pl.col("item").cast(pl.String).str.zfill(5) + "A",
        Description=pl.lit("A GLOBE, INFLATABLE"),
        Quantity=pl.lit(6.0),
        InvoiceDate=pl.lit("2010-12-02 08:26:00").str.to_datetime(time_unit="us"),
        UnitPrice=pl.lit(2.5),
        CustomerID=pl.col("user") + 12_000.0,
        Country=pl.lit("Iceland"),
    )
    later = first.head(131_092).with_columns(InvoiceDate=pl.col("InvoiceDate").dt.offset_by("1d"))
    nobody = first.head(135_080).with_columns(CustomerID=pl.lit(None, dtype=pl.Float64))
    cancelled = first.head(8_905).with_columns(InvoiceNo=pl.lit("C536365"), Quantity=pl.lit(-6.0))
    return pl.concat([later, nobody, first, cancelled, first.head(40).with_columns(UnitPrice=pl.lit(0.0))])


def write_online_retail(folder: Path) -> None:
    retail().write_parquet(folder / "online_retail.parquet")


def write_open_bandit(folder: Path) -> None:
    for policy in ("random", "bts"):
        place = folder / policy / "men"
        place.mkdir(parents=True)
        row = np.arange(10_000)
        frame = pl.DataFrame({"": row, "timestamp": ["2019-11-24 00:01:03.979311+00:00"] * len(row)}).with_columns(
            item_id=pl.Series(row % 34),
            position=pl.Series(row % 3 + 1),
            click=pl.Series((row % 100 == 0).astype(int)),
            propensity_score=pl.lit(1 / 34 if policy == "random" else 0.02),
            **{f"user_feature_{k}": pl.lit("cef3390ed299") for k in range(4)},
            **{f"user-item_affinity_{k}": pl.lit(0.0) for k in range(34)},
        )
        frame.write_csv(place / "men.csv")
        items = pl.DataFrame({"": range(34), "item_id": range(34), "item_feature_0": [-0.5] * 34})
        items.with_columns(**{f"item_feature_{k}": pl.lit(f"{policy}{k}") for k in (1, 2, 3)}).write_csv(
            place / "item_context.csv"
        )


def write_yahoo_r3(folder: Path) -> None:
    for part, rows, users in (("train", 311_704, 15_400), ("test", 54_000, 5_400)):
        ratings = spread(rows, users, 1_000).with_columns(pl.col("user", "item") + 1)
        text(ratings, folder / f"ydata-ymusic-rating-study-v1_0-{part}.txt", "\t")


WRITERS: dict[str, Callable[[Path], None]] = {
    "coat": write_coat,
    "ml-100k": write_ml_100k,
    "movietweetings": write_movietweetings,
    "online-retail": write_online_retail,
    "open-bandit": write_open_bandit,
    "yahoo-r3": write_yahoo_r3,
}
COUNTS = {  # name → rows, users, items of the MNAR part, rows of the MCAR part
    "coat": (6_960, 290, 300, 4_640),
    "ml-100k": (100_000, 943, 1_682, None),
    "movietweetings": (100_000, 16_554, 10_506, None),
    "online-retail": (266_792, 4_338, 3_665, None),
    "open-bandit": (10_000, 10_000, 34, 10_000),
    "yahoo-r3": (311_704, 15_400, 1_000, 54_000),
}


class Copies:
    """Generated copies, each written when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str) -> Path:
        """The folder of one copy."""
        place = self.folder / name
        if not place.exists():
            place.mkdir()
            WRITERS[name](place)
        return place


R3 = "ydata-ymusic-rating-study-v1_0-train.txt"


def link(copies: Copies, name: str, place: Path) -> Path:
    """Put a copy somewhere without copying it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(copies(name), target_is_directory=True)
    return place


def real(name: str) -> datasets.Dataset:
    """The real set, where this machine has it."""
    if datasets.folder_of(name) is None:
        missing(f"no copy of the data set '{name}' (looked in UNSKEW_DATA, ../shared/data and the cache)")
    return us.load(name)


def counts(dataset: datasets.Dataset) -> tuple[int, int, int, int | None]:
    log, mcar = dataset.mnar, dataset.mcar
    return len(log), len(log.users), len(log.items), None if mcar is None else len(mcar)
