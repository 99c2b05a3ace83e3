"""Named data sets: found, checked and read; added from a copy; fetched from a publisher, safely or not at all.

Real sets are used where they are on this machine; everything else works on generated files of the same form, and
the publisher is a server on the loopback.
"""

from __future__ import annotations

import io
import shutil
import stat
import struct
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.conftest import missing

import unskew as us
from unskew.log import datasets
from unskew.log.datasets import places
from unskew.log.datasets.archive import unpack
from unskew.log.datasets.fetch import receive

# --- generated copies ------------------------------------------------------------------------------------------------


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


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    return Copies(tmp_path_factory.mktemp("copies"))


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any data: an empty cache, no UNSKEW_DATA, no checkout. Gives back the cache."""
    (tmp_path / "at" / "work").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "at" / "work")
    monkeypatch.setattr(places, "CHECKOUT", tmp_path / "nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("UNSKEW_DATA", raising=False)
    return tmp_path / "cache" / "unskew"


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


# --- what is read ----------------------------------------------------------------------------------------------------


def counts(dataset: datasets.Dataset) -> tuple[int, int, int, int | None]:
    log, mcar = dataset.mnar, dataset.mcar
    return len(log), len(log.users), len(log.items), None if mcar is None else len(mcar)


@pytest.mark.parametrize("name", datasets.NAMES)
def test_generated_copies_are_read(name: str, copies: Copies, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set is read from a file of its form, with the counts that its publisher states."""
    copies(name)
    monkeypatch.setenv("UNSKEW_DATA", str(copies.folder))
    dataset = us.load(name)
    assert counts(dataset) == COUNTS[name]
    assert dataset.name == name and name in repr(dataset)
    for frame, key in ((dataset.user_features, "user"), (dataset.item_features, "item")):
        assert frame is None or frame.columns[0] == key


@pytest.mark.parametrize("name", [name for name in datasets.NAMES if name != "yahoo-r3"])
def test_real_sets_are_read(name: str) -> None:
    """The published sets have the counts that their readers check, and features for every user and item seen."""
    dataset = real(name)
    assert counts(dataset) == COUNTS[name]
    log = dataset.mnar
    if dataset.user_features is not None:
        assert set(log.users.values) <= set(dataset.user_features["user"])
    if dataset.item_features is not None:
        assert set(log.items.values) <= set(dataset.item_features["item"])
        assert dataset.item_features["item"].is_unique().all()


def test_coat_has_the_known_means() -> None:
    """Mean rating of Coat: 2.611 naive, 2.424 by IPS, 2.331 by SNIPS, and 2.229 where coats were shown at random."""
    coat = real("coat")
    value, propensity = coat.mnar.value, coat.mnar.propensity
    assert value is not None and propensity is not None and coat.mcar is not None and coat.mcar.value is not None
    weight = 1.0 / propensity
    assert value.mean() == pytest.approx(2.611, abs=5e-4)
    assert (weight * value).sum() / (290 * 300) == pytest.approx(2.424, abs=5e-4)
    assert (weight * value).sum() / weight.sum() == pytest.approx(2.331, abs=5e-4)
    assert coat.mcar.value.mean() == pytest.approx(2.229, abs=5e-4)


def test_coat_parts_share_366_pairs() -> None:
    """366 pairs stand in both parts of Coat, with the same rating: nobody drops them silently."""
    coat = real("coat")
    assert coat.mcar is not None
    both = coat.mnar.to_frame().join(coat.mcar.to_frame(), on=["user", "item"])
    assert len(both) == 366
    assert (both["value"] == both["value_right"]).all()


def test_coat_propensities_cover_all_pairs_and_stand_in_the_log(copies: Copies, alone: Path) -> None:
    """The frame has all 87,000 pairs; the log's column is the same numbers, so that 'known' works on it."""
    coat = datasets.add("coat", copies("coat"))
    assert coat.propensity is not None and coat.propensity.shape == (87_000, 3)
    joined = coat.mnar.to_frame().join(coat.propensity, on=["user", "item"], how="left")
    assert len(joined) == 6_960 and (joined["propensity"] == joined["propensity_right"]).all()
    assert coat.mcar is not None and coat.mcar.propensity is None
    assert (coat.mnar.users.values[0], coat.mnar.items.values[0]) == (0, 0)
    assert coat.user_features is not None and coat.user_features.shape == (290, 15)
    assert coat.item_features is not None and coat.item_features.shape == (300, 34)
    result = us.evaluate(
        coat.mnar,
        {"popular": us.models.MostPopular().fit(coat.mcar.positives(">=4"))},
        estimators=["snips"],
        propensity="known",
        relevant=">=4",
    )
    assert 0.0 < result.estimates[0].value < 1.0


def test_movie_ids_keep_their_zeros(copies: Copies, alone: Path) -> None:
    """An IMDb id is text: '0000007' is not 7; genres are 0/1 columns and the year is a number."""
    films = datasets.add("movietweetings", copies("movietweetings"))
    assert films.mnar.items.values[7] == "0000007"
    assert films.item_features is not None
    assert films.item_features.columns == ["item", "title", "year", "Crime", "Drama"]
    assert films.item_features.row(0)[2:] == (1913, 0, 0)
    assert films.item_features.row(1)[2:] == (1913, 1, 1)


def test_movielens_titles_are_latin_1(copies: Copies, alone: Path) -> None:
    """Titles with accents arrive whole, genres as 0/1 columns, times as they stand."""
    films = datasets.add("ml-100k", copies("ml-100k"))
    assert films.item_features is not None and films.user_features is not None and films.mnar.time is not None
    assert films.item_features["title"][0] == "Café 1 (1995)"
    assert films.item_features.select("unknown", "Action", "Western").row(0) == (0, 1, 0)
    assert films.user_features.row(0) == (1, 24, "M", "technician", "85711")
    assert films.mnar.time.min() == 880_000_000


def test_retail_counts_what_it_drops_and_keeps_the_first_purchase(copies: Copies, alone: Path) -> None:
    """Every dropped line has its reason; of a repeated pair the earliest stays, wherever it stands in the file."""
    shop = datasets.add("online-retail", copies("online-retail")).mnar
    dropped = {"no customer": 135_080, "cancelled": 8_905, "price not positive": 40, "duplicate pair": 131_092}
    assert dict(shop.account.dropped) == dropped
    assert shop.account.rows == 541_909 == len(shop) + sum(dropped.values())
    assert shop.feedback is us.Feedback.IMPLICIT and shop.value is None
    assert shop.to_frame()["time"].dt.day().unique().to_list() == [2]


def test_real_retail_counts_what_it_drops() -> None:
    """The published invoices: 397,884 purchases remain, of 266,792 pairs."""
    shop = real("online-retail").mnar
    assert sum(shop.account.dropped.values()) == 541_909 - 266_792
    assert shop.account.dropped["duplicate pair"] == 397_884 - 266_792


def test_retail_is_read_from_a_spreadsheet_as_csv(alone: Path, tmp_path: Path, copies: Copies) -> None:
    """A CSV with a spreadsheet's dates and with quotes gives the same log as the Parquet file."""
    rows = retail().with_columns(pl.col("InvoiceDate").dt.strftime("%m/%d/%Y %H:%M"), pl.col("Quantity").cast(pl.Int64))
    rows.write_csv(tmp_path / "online_retail.csv")
    read = datasets.add("online-retail", tmp_path / "online_retail.csv").mnar.to_frame()
    assert read.equals(datasets.add("online-retail", copies("online-retail")).mnar.to_frame())


def test_an_impression_is_a_user(copies: Copies, alone: Path) -> None:
    """Open Bandit: clicks with the policy's own probabilities, the position kept, no impression lost."""
    shown = datasets.add("open-bandit", copies("open-bandit"))
    assert shown.mcar is not None and shown.mnar.policy is not None and shown.mnar.propensity is not None
    assert shown.mnar.feedback is us.Feedback.CONVERSIONS
    assert set(shown.mnar.policy) == {"bts"} and set(shown.mcar.to_frame()["policy"]) == {"random"}
    assert set(shown.mnar.columns["position"]) == {1, 2, 3}
    assert set(shown.mnar.propensity) == {0.02}
    assert not set(shown.mnar.users.values) & set(shown.mcar.users.values)
    assert shown.user_features is not None and len(shown.user_features) == 20_000
    assert shown.item_features is not None and shown.item_features["item_feature_1"][0] == "random1"


def test_real_open_bandit_probabilities_are_true() -> None:
    """Weighing bts impressions by (1/34)/P estimates the random policy's click rate, within its standard error."""
    shown = real("open-bandit")
    assert shown.mcar is not None and shown.mcar.value is not None and shown.mcar.propensity is not None
    assert shown.mnar.value is not None and shown.mnar.propensity is not None
    assert shown.mcar.propensity == pytest.approx(1 / 34)
    terms = shown.mnar.value / 34 / shown.mnar.propensity
    error = np.hypot(terms.std(), shown.mcar.value.std()) / 100.0
    assert abs(terms.mean() - shown.mcar.value.mean()) < 3 * error
    assert np.mean(1 / 34 / shown.mnar.propensity) == pytest.approx(1.0, abs=0.1)


def test_yahoo_has_two_parts_and_nothing_else(copies: Copies, alone: Path) -> None:
    """What a set does not have is None."""
    songs = datasets.add("yahoo-r3", copies("yahoo-r3"))
    assert songs.mcar is not None and len(songs.mcar.users) == 5_400
    assert songs.user_features is None and songs.item_features is None and songs.propensity is None


# --- what is wrong ---------------------------------------------------------------------------------------------------


R3 = "ydata-ymusic-rating-study-v1_0-train.txt"


@pytest.mark.parametrize(
    ("name", "file", "how", "words"),
    [
        ("coat", "train.ascii", lambda b: b[b.index(b"\n") + 1 :], ["289 rows", "290"]),
        ("coat", "train.ascii", lambda b: b.replace(b"5", b"0", 1), ["6,959 ratings", "6,960"]),
        ("coat", "test.ascii", lambda b: b.replace(b"5", b"9", 1), ["ratings must be 1 to 5"]),
        ("coat", "test.ascii", lambda b: b"<html>not found</html>", ["cannot be read"]),
        ("coat", "propensities.ascii", lambda b: b"-" + b, ["(0, 1]"]),
        ("coat", "user_item_features/user_features_map.txt", lambda b: b"one\ntwo", ["14 columns", "2"]),
        ("ml-100k", "u.data", lambda b: b[: len(b) // 2], ["u.data"]),
        ("ml-100k", "u.data", lambda b: b"1\t2\t3\t4\n" * 100_000, ["1 users", "943"]),
        ("ml-100k", "u.data", lambda b: b.replace(b"\t5\t88", b"\t6\t88", 1), ["between 1 and 5", "6"]),
        ("ml-100k", "u.data", lambda b: b.replace(b"\t5\t88", b"\tx\t88", 1), ["cannot be read"]),
        ("ml-100k", "u.data", lambda b: b.replace(b"\t", b","), ["1 columns", "4"]),
        ("ml-100k", "u.item", lambda b: b[: b.rindex(b"\n")], ["1,681 items"]),
        ("movietweetings", "ratings.dat", lambda b: b"", ["cannot be read"]),
        ("movietweetings", "ratings.dat", lambda b: b.replace(b"::5::13", b"::11::13", 1), ["between 0 and 10"]),
        ("open-bandit", "bts/men/men.csv", lambda b: b[: b.rindex(b"\n", 0, -1)], ["9,999 rows"]),
        ("open-bandit", "random/men/men.csv", lambda b: b.replace(b"click", b"clack", 1), ["cannot be read", "click"]),
        ("yahoo-r3", R3, lambda b: b[b.index(b"\n") + 1 :], ["311,703 ratings", "311,704"]),
    ],
)  # fmt: skip
def test_another_file_is_refused_by_name(
    name: str,
    file: str,
    how: Callable[[bytes], bytes],
    words: list[str],
    copies: Copies,
    tmp_path: Path,
    alone: Path,
) -> None:
    """A cut, changed or foreign file is an error that names it and says what is wrong, and is not registered."""
    folder = Path(shutil.copytree(copies(name), tmp_path / "copy"))
    (folder / file).write_bytes(how((folder / file).read_bytes()))
    with pytest.raises(us.InputError) as caught:
        datasets.add(name, folder)
    shown = file.replace("_map.txt", ".ascii")
    assert all(word in str(caught.value) for word in [shown, *words])
    assert datasets.folder_of(name) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.head(541_908), "541,908 rows"),
        (lambda f: f.with_columns(UnitPrice=pl.lit(0.0)), "0 rows that are purchases"),
        (lambda f: f.drop("Country"), "no column 'Country'"),
        (lambda f: f.with_columns(InvoiceDate=pl.lit("yesterday")), "cannot be read"),
    ],
)
def test_other_invoices_are_refused(
    change: Callable[[pl.DataFrame], pl.DataFrame], words: str, tmp_path: Path, alone: Path
) -> None:
    """Online Retail: rows, purchases, columns and dates are checked."""
    change(retail()).write_parquet(tmp_path / "online_retail.parquet")
    with pytest.raises(us.InputError, match=words):
        datasets.add("online-retail", tmp_path)


# --- where it is found -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wrong", "right"), [("ml100k", "ml-100k"), ("Coat", "coat"), ("yahoo", "yahoo-r3")])
def test_an_unknown_name_gets_the_nearest(wrong: str, right: str) -> None:
    """The error names the near miss and all that there is."""
    with pytest.raises(us.InputError, match=f"Did you mean '{right}'.*open-bandit"):
        us.load(wrong)


@pytest.mark.parametrize("name", datasets.NAMES)
def test_what_is_not_here_says_how_to_get_it(name: str, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading never downloads; the error tells the commands, the publisher and the licence."""
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("load went to the network"))
    with pytest.raises(us.InputError) as caught:
        us.load(name)
    source = datasets.source_of(name)
    words = [f"unskew data add {name}", source.about.licence, source.about.homepage]
    words += [f"unskew data fetch {name}"] if source.downloads else [source.about.obtain]
    assert all(word in str(caught.value) for word in words)


def test_places_are_asked_in_order(
    copies: Copies, alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Registered, UNSKEW_DATA, beside the checkout, beside the current folder, cache: the first that has a copy."""
    monkeypatch.setattr(places, "CHECKOUT", tmp_path / "code" / "unskew")
    (tmp_path / "code" / "unskew").mkdir(parents=True)
    (tmp_path / "code" / "unskew" / "pyproject.toml").touch()
    monkeypatch.setenv("UNSKEW_DATA", str(tmp_path / "env"))
    expected = [
        link(copies, "coat", place / "coat")
        for place in (
            alone / "data",
            tmp_path / "at" / "shared" / "data",
            tmp_path / "code" / "shared" / "data",
            tmp_path / "env",
        )
    ]
    datasets.add("coat", copies("coat"))
    assert datasets.folder_of("coat") == copies("coat")
    (alone / "datasets.json").unlink()
    for place in reversed(expected):
        assert datasets.folder_of("coat") == place
        place.unlink()
    assert datasets.folder_of("coat") is None


def test_a_registered_copy_may_lie_one_folder_down(copies: Copies, alone: Path, tmp_path: Path) -> None:
    """The folder above, or a file inside, is as good as the folder itself; others' entries stay."""
    link(copies, "coat", tmp_path / "downloads" / "coat")
    datasets.add("yahoo-r3", copies("yahoo-r3") / R3)
    datasets.add("coat", str(tmp_path / "downloads"))
    assert datasets.folder_of("coat") == copies("coat")
    assert datasets.folder_of("yahoo-r3") == copies("yahoo-r3")


def test_a_folder_without_the_set_is_refused(alone: Path, tmp_path: Path) -> None:
    """The error names what is missing; an archive is to be unpacked first."""
    with pytest.raises(us.InputError, match=r"train\.ascii"):
        datasets.add("coat", tmp_path)
    with pytest.raises(us.InputError, match="no such folder"):
        datasets.add("coat", tmp_path / "nowhere")
    (tmp_path / "coat.zip").touch()
    with pytest.raises(us.InputError, match="Unpack the archive first"):
        datasets.add("coat", tmp_path / "coat.zip")
    with pytest.raises(us.InputError, match=r"online_retail\.parquet or online_retail\.csv is missing"):
        datasets.add("online-retail", tmp_path)
    assert not alone.exists()


def test_a_registered_copy_that_is_gone_is_told(copies: Copies, alone: Path, tmp_path: Path) -> None:
    """Deleting the copy leads to an error that says where it was."""
    folder = tmp_path / "mine"
    folder.mkdir()
    write_coat(folder)
    datasets.add("coat", folder)
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(us.InputError, match="mine is gone"):
        us.load("coat")


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"coat": 1}', b"\xff"])
def test_a_spoilt_registry_is_named(content: bytes, alone: Path) -> None:
    """The list of registered copies is not overwritten when it cannot be read."""
    alone.mkdir(parents=True)
    (alone / "datasets.json").write_bytes(content)
    with pytest.raises(us.InputError, match=r"datasets\.json"):
        us.load("coat")
    assert (alone / "datasets.json").read_bytes() == content


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", ".cache/unskew"),
        ("darwin", "Library/Caches/unskew"),
        ("win32", "AppData/Local/unskew/Cache"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_it(
    platform: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without XDG_CACHE_HOME (or with a relative one) the platform's habit counts."""
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert places.cache() == tmp_path / expected


# --- fetching --------------------------------------------------------------------------------------------------------

Answer = bytes | Callable[[BaseHTTPRequestHandler], None]


class Publisher:
    """A server on the loopback: path → bytes, or a function that answers."""

    def __init__(self) -> None:
        answers: dict[str, Answer] = {}
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                answer = answers.get(self.path)
                if answer is None:
                    self.send_error(404)
                elif callable(answer):
                    answer(self)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                pass

        self.answers, self.asked = answers, asked
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    made = Publisher()
    yield made
    made.server.shutdown()
    made.server.server_close()


ZIP = "/datasets/movielens/ml-100k.zip"


def zipped(folder: Path, top: str) -> bytes:
    """A folder as an archive with one top folder."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.mkdir(top)
        for path in sorted(folder.iterdir()):
            packed.write(path, f"{top}/{path.name}")
    return content.getvalue()


def left(cache: Path) -> list[str]:
    """What lies in the store, hidden folders included."""
    return sorted(path.name for path in (cache / "data").iterdir()) if (cache / "data").exists() else []


def test_an_archive_is_fetched_checked_and_loaded(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """ml-100k: the archive's top folder becomes the set's folder in the cache, and nothing else stays."""
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")
    stages: list[tuple[str, int, int]] = []
    folder = datasets.fetch("ml-100k", mirror=publisher.url, progress=lambda *told: stages.append(told))
    assert folder == alone / "data" / "ml-100k" == datasets.folder_of("ml-100k")
    assert counts(us.load("ml-100k")) == COUNTS["ml-100k"]
    assert left(alone) == ["ml-100k"]
    assert stages[-1] == ("downloading ml-100k.zip", len(publisher.answers[ZIP]), len(publisher.answers[ZIP]))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["movietweetings", "open-bandit"])
def test_single_files_are_fetched(name: str, copies: Copies, alone: Path, publisher: Publisher) -> None:
    """Sets that are published file by file arrive in the folders that the reader expects."""
    for download in datasets.source_of(name).downloads:
        path = "/" + download.url.split("/", 3)[3]
        publisher.answers[path] = (copies(name) / download.to).read_bytes()
    datasets.fetch(name, mirror=publisher.url + "/")
    assert counts(us.load(name)) == COUNTS[name]
    assert left(alone) == [name]


def test_what_is_here_is_not_fetched(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """A copy on this machine is enough; only 'again' asks the publisher, and then replaces the cached one."""
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")
    place = link(copies, "ml-100k", alone / "data" / "ml-100k")
    assert datasets.fetch("ml-100k", mirror=publisher.url) == place
    assert publisher.asked == [] and place.is_symlink()
    assert datasets.fetch("ml-100k", mirror=publisher.url, again=True) == place
    assert publisher.asked == [ZIP] and not place.is_symlink()
    assert left(alone) == ["ml-100k"]


@pytest.mark.parametrize("name", ["coat", "online-retail", "yahoo-r3"])
def test_what_may_not_be_fetched_is_refused(name: str, alone: Path, publisher: Publisher) -> None:
    """Without a licence to download, or a form that is read here, the user is told what to do."""
    with pytest.raises(us.InputError, match=f"unskew data add {name}"):
        datasets.fetch(name, mirror=publisher.url)
    assert publisher.asked == [] and left(alone) == []


def one(name: str, content: bytes = b"x", **attributes: Any) -> bytes:
    """An archive with one entry."""
    entry = zipfile.ZipInfo("placeholder")
    entry.filename = entry.orig_filename = name
    entry.compress_type = zipfile.ZIP_DEFLATED
    for key, value in attributes.items():
        setattr(entry, key, value)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr(entry, content)
    return made.getvalue()


def lying() -> bytes:
    """An archive whose table says 10 bytes where 100,000 are packed."""
    made = one("u.data", b"0" * 100_000)
    return made.replace(struct.pack("<L", 100_000), struct.pack("<L", 10))


def encrypted() -> bytes:
    """An archive whose table says that its entry is encrypted."""
    made = bytearray(one("u.data"))
    made[made.index(b"PK\x01\x02") + 8] |= 1
    return bytes(made)


def twice() -> bytes:
    """An archive with the same file twice."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed, pytest.warns(UserWarning, match="Duplicate"):
        packed.writestr("u.data", "a")
        packed.writestr("u.data", "b")
    return made.getvalue()


LINK = (stat.S_IFLNK | 0o777) << 16


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda: one("../evil"), "leave the target"),
        (lambda: one("ml-100k/../../evil"), "leave the target"),
        (lambda: one("/evil"), "leave the target"),
        (lambda: one("C:/evil"), "leave the target"),
        (lambda: one("..\\evil"), "leave the target"),
        (lambda: one("u.data", b"/etc/passwd", external_attr=LINK), "link or a device"),
        (lambda: one("u.data", external_attr=(stat.S_IFIFO | 0o666) << 16), "link or a device"),
        (encrypted, "encrypted"),
        (lambda: one("u.data", compress_type=zipfile.ZIP_BZIP2), "unusual"),
        (lying, "damaged"),
        (twice, "two entries of the same name"),
        (lambda: b"<html>Please log in</html>", "damaged"),
        (lambda: one("u.data", b"0" * 1000)[:-30], "damaged"),
        (lambda: one("u.data/"), "is missing"),
        (lambda: one("readme.txt"), r"u\.data, u\.user, u\.item is missing"),
    ],
)
def test_hostile_archives_are_refused_whole(
    content: Callable[[], bytes], words: str, alone: Path, publisher: Publisher, tmp_path: Path
) -> None:
    """Whatever would leave the folder, link, overwrite or mislead is refused, and nothing at all is left behind."""
    publisher.answers[ZIP] = content()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(us.InputError, match=words):
        datasets.fetch("ml-100k", mirror=publisher.url)
    assert left(alone) == []
    made = {alone.parent, alone, alone / "data"}
    assert set(tmp_path.rglob("*")) - set(before) <= made
    assert not Path("/evil").exists()


def test_bombs_are_refused_before_they_burst(tmp_path: Path) -> None:
    """An archive that unpacks to more than the limit, or holds too many entries, is not unpacked at all."""
    bomb = tmp_path / "bomb.zip"
    bomb.write_bytes(one("zeros", b"\0" * 5_000_000))
    assert bomb.stat().st_size < 10_000
    with pytest.raises(us.InputError, match="5,000,000 bytes"):
        unpack(bomb, tmp_path / "out", limit=1_000_000)
    with zipfile.ZipFile(bomb, "w") as packed:
        for number in range(10_001):
            packed.writestr(str(number), b"")
    with pytest.raises(us.InputError, match="10,001 entries"):
        unpack(bomb, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_archive_with_another_set_is_refused(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """What came is read before it is kept; the message names the file as it stands in the archive."""
    content = io.BytesIO(zipped(copies("ml-100k"), "ml-100k"))
    with zipfile.ZipFile(content) as packed:
        files = {entry.filename: packed.read(entry) for entry in packed.infolist() if not entry.is_dir()}
    files["ml-100k/u.data"] = files["ml-100k/u.data"][: files["ml-100k/u.data"].index(b"\n") + 1]
    with zipfile.ZipFile(content, "w") as packed:
        for name, part in files.items():
            packed.writestr(name, part)
    publisher.answers[ZIP] = content.getvalue()
    with pytest.raises(us.InputError, match=r"is not 'ml-100k': u\.data: there are 1 ratings"):
        datasets.fetch("ml-100k", mirror=publisher.url)
    assert left(alone) == []


def test_a_failed_fetch_keeps_the_old_copy(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """Fetching again replaces a copy only by a good one."""
    place = link(copies, "ml-100k", alone / "data" / "ml-100k")
    publisher.answers[ZIP] = one("readme.txt")
    with pytest.raises(us.InputError):
        datasets.fetch("ml-100k", mirror=publisher.url, again=True)
    assert left(alone) == ["ml-100k"] and datasets.folder_of("ml-100k") == place


def test_an_interrupted_fetch_leaves_nothing(copies: Copies, alone: Path, publisher: Publisher) -> None:
    """Ctrl-C in the middle of a download removes what had come."""
    publisher.answers[ZIP] = zipped(copies("ml-100k"), "ml-100k")

    def stop(*_: Any) -> None:
        assert any(path.suffix == ".zip" for path in (alone / "data").rglob("*"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.fetch("ml-100k", mirror=publisher.url, progress=stop)
    assert left(alone) == []


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Promise more than is sent."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"0" * 10)


def endless(handler: BaseHTTPRequestHandler) -> None:
    """Send without saying how much."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"0" * 65_536)
    except OSError:
        pass


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Answer too late."""
    time.sleep(1.0)


def moved(address: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """Send the visitor elsewhere."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.end_headers()

    return answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "404"),
        (cut, "cut off after 10 of 1,000 bytes"),
        (b"0" * 200_000, "200,000 bytes, and at most 100,000"),
        (endless, "does not end"),
        (silent, "timed out"),
        (moved("http://192.0.2.1/x.zip"), "only https"),
        (moved("file:///etc/passwd"), "only https|not allowed"),
        (moved("/x.zip"), "redirect"),
    ],
)
def test_downloads_that_go_wrong_are_told(
    answer: Answer | None, words: str, publisher: Publisher, tmp_path: Path
) -> None:
    """Missing, cut off, too large, silent or sent to an unsafe place: an error that says which."""
    if answer is not None:
        publisher.answers["/x.zip"] = answer
    with pytest.raises(us.InputError, match=words):
        receive(f"{publisher.url}/x.zip", tmp_path / "x.zip", limit=100_000, timeout=0.5)


def test_a_move_on_the_same_machine_is_followed(publisher: Publisher, tmp_path: Path) -> None:
    """Redirections are ordinary, as long as they are as safe as the first address."""
    publisher.answers |= {"/x.zip": moved("/y.zip"), "/y.zip": b"content"}
    receive(f"{publisher.url}/x.zip", tmp_path / "x.zip")
    assert (tmp_path / "x.zip").read_bytes() == b"content"


@pytest.mark.parametrize(
    "mirror",
    ["http://example.org", "ftp://127.0.0.1", "file:///tmp", "here", "", "http://127.0.0.1.example.org", "http://[x"],
)
def test_only_https_is_asked(mirror: str, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain http leaves this machine never; nothing is asked before that is clear."""
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("went to the network"))
    with pytest.raises(us.InputError, match="only https"):
        datasets.fetch("ml-100k", mirror=mirror)
    assert left(alone) == []


def test_nobody_there_is_told(alone: Path) -> None:
    """A server that does not answer is an error with the way to do it by hand."""
    with pytest.raises(us.InputError, match=r"cannot be downloaded.*[\s\S]*unskew data add"):
        datasets.fetch("ml-100k", mirror="http://127.0.0.1:9")
    assert left(alone) == []


def test_every_publisher_is_asked_over_https() -> None:
    """The addresses in the readers are https, and files stay inside the set's folder."""
    for name in datasets.NAMES:
        source = datasets.source_of(name)
        assert source.downloads or source.about.obtain
        for download in source.downloads:
            assert download.url.startswith("https://")
            assert ".." not in download.to and not download.to.startswith("/")
