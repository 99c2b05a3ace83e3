"""UCI Online Retail: a year of invoices of one shop. Who bought what first, and when: implicit feedback.

Only purchases are positives. These rows are dropped, and counted in ``mnar.account``: those without a
customer, cancellations (invoices that begin with C), quantities that are not positive, and gifts (no price). Of a
customer's purchases of one article the first in time stays. Postage and the like ("POST", "M") are articles too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from unskew.core.errors import InputError
from unskew.log.datasets.base import About, Dataset, Source, expect
from unskew.log.log import Account, Log
from unskew.log.sources import reading

_NUMBERS = ("CustomerID", "Quantity", "UnitPrice")
_USED = ("InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID", "Country")


class OnlineRetail(Source):
    """``online_retail.parquet`` or ``online_retail.csv``, with the columns of the publisher's sheet."""

    about = About(
        name="online-retail",
        title="UCI Online Retail",
        description="541,909 invoice lines of a British gift shop, 2010 to 2011, timed; 266,792 first purchases.",
        licence="CC BY 4.0 at UCI (copies elsewhere: CC0)",
        citation="D. Chen. Online Retail. UCI Machine Learning Repository, 2015. doi:10.24432/C5BW33",
        homepage="https://archive.ics.uci.edu/dataset/352/online+retail",
        obtain=(
            "UCI offers a spreadsheet, which is not read here: save it as online_retail.csv, or convert it with "
            "pandas.read_excel(..., dtype={'InvoiceNo': str, 'StockCode': str}).to_parquet('online_retail.parquet')."
        ),
    )
    files = ("online_retail.parquet", "online_retail.csv")

    def lacking(self, folder: Path) -> list[str]:
        """One of the two forms is enough."""
        lacking = super().lacking(folder)
        return [" or ".join(lacking)] if len(lacking) == len(self.files) else []

    def read(self, folder: Path) -> Dataset:
        """First purchases; the country of each customer and the description of each article at that time."""
        path = next((folder / name for name in self.files if (folder / name).is_file()), folder / self.files[0])
        rows = _table(path)
        expect(path, "rows", len(rows), 541_909)
        account = Account(str(path), len(rows), {})
        dropped: dict[str, int] = {}
        for reason, wrong in _reasons():
            kept = rows.filter(~wrong)
            if len(kept) < len(rows):
                dropped[reason] = len(rows) - len(kept)
            rows = kept
        expect(path, "rows that are purchases", len(rows), 397_884)
        rows = rows.sort("InvoiceDate", maintain_order=True)
        log = Log.from_frame(
            rows,
            columns={"user": "CustomerID", "item": "StockCode", "time": "InvoiceDate"},
            feedback="implicit",
            duplicates="first",
            source=str(path),
        )
        expect(path, "customers", len(log.users), 4_338)
        expect(path, "articles", len(log.items), 3_665)
        expect(path, "pairs of customer and article", len(log), 266_792)
        return Dataset(
            self.about,
            mnar=replace(log, account=replace(account, dropped=dropped | dict(log.account.dropped))),
            user_features=_first(rows, user="CustomerID", country="Country"),
            item_features=_first(rows, item="StockCode", description="Description"),
        )


def _reasons() -> Iterator[tuple[str, pl.Expr]]:
    """Why a row is no purchase, in the order in which they are counted."""
    yield "no customer", pl.col("CustomerID").is_null()
    yield "cancelled", pl.col("InvoiceNo").str.starts_with("C")
    yield "quantity not positive", pl.col("Quantity") <= 0
    yield "price not positive", pl.col("UnitPrice") <= 0


def _table(path: Path) -> pl.DataFrame:
    """The columns with their types, from either form."""
    with reading(str(path)):
        if path.suffix == ".parquet":
            frame = pl.read_parquet(path, glob=False)
        else:
            frame = pl.read_csv(path.read_bytes(), infer_schema=False, encoding="utf8-lossy")
        if absent := [name for name in _USED if name not in frame.columns]:
            raise InputError(
                f"{path}: there is no column '{absent[0]}'.\nIs this the right file?",
                code="missing-column",
                column=absent[0],
            )
        frame = frame.select(_USED).with_columns(
            pl.col("InvoiceNo", "StockCode").cast(pl.String), pl.col(_NUMBERS).cast(pl.Float64)
        )
        frame = frame.with_columns(pl.col("CustomerID").cast(pl.Int64))
        if frame.schema["InvoiceDate"] == pl.String:
            frame = frame.with_columns(_moment(frame["InvoiceDate"]))
    return frame


def _moment(texts: pl.Series) -> pl.Series:
    """2010-12-01 08:26:00, or 12/1/2010 8:26 as spreadsheets write it."""
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%.f", "%m/%d/%Y %H:%M"):
        parsed = texts.str.to_datetime(form, time_unit="us", strict=False)
        if parsed.null_count() == texts.null_count():
            return parsed
    return texts.str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us")  # raises an error that names the first bad value


def _first(rows: pl.DataFrame, **columns: str) -> pl.DataFrame:
    """What stood in each one's first row."""
    key = next(iter(columns))
    return rows.select(**{ours: pl.col(theirs) for ours, theirs in columns.items()}).unique(key, keep="first").sort(key)
