"""Named data sets: what is read, from generated copies and, where they are on this machine, from the real sets."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import unskew as us
from tests.log.copies import COUNTS, Copies, counts, real, retail
from unskew.log import datasets


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


def test_coat_propensities_cover_all_pairs_and_stand_in_the_log(copies: Copies, alone: Path) -> None:
    """The frame has all 87,000 pairs; the log's column is the same numbers."""
    coat = datasets.add("coat", copies("coat"))
    assert coat.propensity is not None and coat.propensity.shape == (87_000, 3)
    joined = coat.mnar.to_frame().join(coat.propensity, on=["user", "item"], how="left")
    assert len(joined) == 6_960 and (joined["propensity"] == joined["propensity_right"]).all()
    assert coat.mcar is not None and coat.mcar.propensity is None
    assert (coat.mnar.users.values[0], coat.mnar.items.values[0]) == (0, 0)
    assert coat.user_features is not None and coat.user_features.shape == (290, 15)
    assert coat.item_features is not None and coat.item_features.shape == (300, 34)


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
    dropped = [135_080, 8_905, 40, 131_092]  # no customer, cancelled, without a price, repeated
    assert list(shop.account.dropped.values()) == dropped
    assert shop.account.rows == 541_909 == len(shop) + sum(dropped)
    assert shop.feedback is us.Feedback.IMPLICIT and shop.value is None
    assert shop.to_frame()["time"].dt.day().unique().to_list() == [2]


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
