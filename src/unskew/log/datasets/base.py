"""What a named data set is, what its reader promises, and the checks that all readers share."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import polars as pl

from unskew.core.errors import InputError
from unskew.log.log import Log
from unskew.log.sources import reading


class About(NamedTuple):
    """What one should know before using a set.

    Args:
        name: by which ``load`` knows it.
        licence: as its publisher states it.
        obtain: how to get a copy where it is not downloaded from here, empty where it is.
    """

    name: str
    title: str
    description: str
    licence: str
    citation: str
    homepage: str
    obtain: str = ""


@dataclass(frozen=True)
class Download:
    """One file at the publisher: stored as ``to``, or unpacked if ``to`` is empty (a zip archive).

    ``sha256`` is the checksum of the publisher's file where it is known.
    """

    url: str
    to: str = ""
    sha256: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A set as it was read; what a set does not have is None.

    Args:
        mnar: interactions that were seen because somebody chose them (missing not at random).
        mcar: interactions that were shown at random (missing completely at random): the yardstick.
        user_features, item_features: column ``user`` (``item``) and one column per feature.
        propensity: columns ``user``, ``item``, ``propensity`` for *all* pairs. Those of the seen pairs stand in
            ``mnar.propensity`` too, where ``propensity="known"`` finds them; a set may have only these.
    """

    about: About
    mnar: Log
    mcar: Log | None = None
    user_features: pl.DataFrame | None = None
    item_features: pl.DataFrame | None = None
    propensity: pl.DataFrame | None = None

    @property
    def name(self) -> str:
        """By which ``load`` knows it."""
        return self.about.name

    def __repr__(self) -> str:
        parts = [f"mnar {len(self.mnar):,} rows"]
        if self.mcar is not None:
            parts.append(f"mcar {len(self.mcar):,} rows")
        for name in ("user_features", "item_features"):
            if (frame := getattr(self, name)) is not None:
                parts.append(f"{frame.width - 1} {name}")
        if self.propensity is not None:
            parts.append(f"propensity of {len(self.propensity):,} pairs")
        elif self.mnar.propensity is not None:
            parts.append("propensity of seen pairs")
        return f"<Dataset {self.name}: {', '.join(parts)}>"


class Source(ABC):
    """The reader of one set: which files it consists of, and how they become logs."""

    about: ClassVar[About]
    files: ClassVar[tuple[str, ...]]
    downloads: ClassVar[tuple[Download, ...]] = ()

    def lacking(self, folder: Path) -> list[str]:
        """The files that a copy in this folder would still need."""
        return [name for name in self.files if not os.path.isfile(folder / name)]

    def find(self, folder: Path) -> bool:
        """Whether the folder looks like a copy; its content is checked when it is read."""
        return not self.lacking(folder)

    def size(self, folder: Path) -> int:
        """Bytes of the files that are read."""
        return sum((folder / name).stat().st_size for name in self.files if os.path.isfile(folder / name))

    @abstractmethod
    def read(self, folder: Path) -> Dataset:
        """Read and check a copy."""


def expect(path: Path, what: str, found: int, wanted: int) -> None:
    """The counts of a published set are known; other counts mean another file, another version or a part of it."""
    if found != wanted:
        raise InputError(
            f"{path}: there are {found:,} {what}, but the set has {wanted:,}.\n"
            "Is this the right file? It may be cut off, or belong to another version of the set.",
            code="wrong-count",
        )


def expect_range(path: Path, what: str, column: pl.Series, low: float, high: float) -> None:
    """Every value lies where the set's description says."""
    wrong = ~column.is_between(low, high).fill_null(False)
    if wrong.any():
        raise InputError(
            f"{path}: every {what} must lie between {low:g} and {high:g}; row {int(wrong.arg_true()[0]) + 1:,} has "
            f"{column.filter(wrong)[0]}.\nIs this the right file?",
            code="out-of-range",
        )


def read_columns(path: Path, names: Sequence[str], *, separator: str, encoding: str = "utf8") -> pl.DataFrame:
    """The columns of a text file without a header, still as text; the separator may have several characters."""
    with reading(str(path)):
        content = path.read_bytes()
        if len(separator) > 1:
            content, separator = content.replace(separator.encode(), b"\t"), "\t"
        frame = pl.read_csv(
            content, separator=separator, has_header=False, infer_schema=False, quote_char=None, encoding=encoding
        )
    expect(path, "columns", frame.width, len(names))
    frame.columns = list(names)
    return frame


def as_numbers(path: Path, frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """The same frame with some of its text columns as whole numbers."""
    with reading(str(path)):
        return frame.with_columns(pl.col(names).str.strip_chars().cast(pl.Int64))
