"""Factors that were made elsewhere (implicit, LightFM, a two-tower network), as a recommender.

    score(u, i) = v_u·w_i + a_u + b_i

Lists are made from them here, exactly, so that nobody has to write list files. Nothing is fitted and nothing guessed: a
user without factors gets no list, which evaluations count and report.

A file of factors is a plain .npz with the constructor's names, so that ``numpy.savez`` alone can write one:

    users, items                 ids, whole numbers or texts
    user_factors, item_factors   a row for each of them, in that order, of the same width
    user_offsets, item_offsets   a number for each of them; may be absent
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.atomic import atomic_file
from unskew.core.errors import InputError
from unskew.core.text import plain
from unskew.log import Ids
from unskew.log.columns import as_ids
from unskew.log.expected import a_log, some_ids
from unskew.log.ids import Codes
from unskew.log.log import Floats, Log
from unskew.log.paths import shown
from unskew.log.recommendations import Recommendations
from unskew.models import files
from unskew.models.base import from_factors
from unskew.models.by_factors import ByFactors, Scored
from unskew.propensity.base import IdColumn

REQUIRED = ("users", "items", "user_factors", "item_factors")
OPTIONAL = ("user_offsets", "item_offsets")


class GivenFactors(ByFactors):
    """A recommender from factors of users and items.

    Args:
        users, items: their ids, written as in the logs.
        user_factors, item_factors: arrays of a row per id, in the order of the ids, and a column per factor.
        user_offsets, item_offsets: a number per id (0 by default). Those of users move no item past another.

    Everything is kept by ascending id, in double precision.
    """

    def __init__(
        self,
        users: IdColumn | Ids,
        items: IdColumn | Ids,
        user_factors: npt.ArrayLike,
        item_factors: npt.ArrayLike,
        user_offsets: npt.ArrayLike | None = None,
        item_offsets: npt.ArrayLike | None = None,
    ) -> None:
        self.users, self.user_factors, self.user_offsets = _side("user", users, user_factors, user_offsets)
        self.items, self.item_factors, self.item_offsets = _side("item", items, item_factors, item_offsets)
        widths = self.user_factors.shape[1], self.item_factors.shape[1]
        if widths[0] != widths[1]:
            raise InputError(
                f"user_factors have {widths[0]} columns and item_factors {widths[1]}: both need one per factor.",
                code="wrong-shape",
            )
        sizes = [np.abs(array).max(initial=0.0) for array in (self.user_factors, self.item_factors)]
        with np.errstate(over="ignore"):
            if not np.isfinite(widths[0] * sizes[0] * sizes[1] + np.abs(self.item_offsets).max()):
                raise InputError(
                    f"the factors are so large (up to {sizes[0]:g} and {sizes[1]:g}) that scores are not numbers.",
                    code="factors-too-large",
                )

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items with the highest score; users without factors get no list."""
        rows = some_ids(users).into(self.users)
        known = rows >= 0
        if len(users) and not known.any():
            raise InputError(
                f"none of the {len(users):,} users that lists are asked for has factors. They look like "
                f"'{plain(users.values[0])}', those with factors like '{plain(self.users.values[0])}': are these the "
                "same ids, written the same way?",
                code="unknown-users",
            )
        asked = users if known.all() else Ids(users.values.filter(pl.Series(known)))
        factors = self.user_factors, self.item_factors
        lists = from_factors(rows[known], factors, self.item_offsets, self.items, asked, k, seen)
        return lists.recode(users, self.items)

    def scored(self, users: Ids) -> Scored:
        """By v·w + b."""
        rows = some_ids(users).into(self.users)
        return Scored(rows, (self.user_factors, self.item_factors), self.item_offsets, self.items)

    def ranks(self, held_out: Log, *, seen: Log | None = None) -> Codes:
        """As of other models; 0 for users without factors, who get no list."""
        known = a_log(held_out).users.into(self.users) >= 0
        return np.where(known[held_out.user], super().ranks(held_out, seen=seen), np.int32(0))

    def scores(self, users: IdColumn, items: IdColumn) -> Floats:
        """Scores of pairs (users[j], items[j]); NaN where one of the two has no factors."""
        user, item = self.users.encode(ids_of("users", users)), self.items.encode(ids_of("items", items))
        if len(user) != len(item):
            raise InputError(
                f"users and items must be pairs: there are {len(user):,} and {len(item):,}.", code="wrong-shape"
            )
        inner = np.einsum("ij,ij->i", self.user_factors[user], self.item_factors[item])
        return np.where((user < 0) | (item < 0), np.nan, inner + self.user_offsets[user] + self.item_offsets[item])

    def save(self, path: str | Path) -> None:
        """Write a plain .npz (see the top of this module); nothing in it can run code."""
        arrays = {name: getattr(self, name) for name in (*REQUIRED[2:], *OPTIONAL)}
        for name in REQUIRED[:2]:
            ids = getattr(self, name).values
            arrays[name] = ids.to_numpy() if ids.dtype.is_integer() else np.array(ids.to_list(), dtype=str)
        with atomic_file(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote, or what anybody wrote with ``numpy.savez`` under the same names."""
        arrays = files.read_arrays(path, "a file of factors")
        holds = f"A file of factors holds {', '.join(REQUIRED)}, and perhaps {' and '.join(OPTIONAL)}."
        if lacking := [name for name in REQUIRED if name not in arrays]:
            found = plain(", ".join(arrays) or "nothing")
            raise InputError(
                f"{shown(path)}: there is no array '{lacking[0]}' (there is {found}).\n{holds}",
                code="missing-array",
                array=lacking[0],
            )
        if strange := [name for name in arrays if name not in (*REQUIRED, *OPTIONAL)]:
            near = get_close_matches(strange[0], OPTIONAL, 1)
            meant = f" Is '{near[0]}' meant?" if near else ""
            raise InputError(
                f"{shown(path)}: nothing is known of an array '{plain(strange[0])}'.{meant}\n{holds}",
                code="unknown-array",
                array=strange[0],
            )
        try:
            return cls(**arrays)
        except InputError as problem:
            raise problem.saying(f"{shown(path)}: {problem}") from None

    def __str__(self) -> str:
        return f"given_factors(users={len(self.users)}, items={len(self.items)}, dim={self.user_factors.shape[1]})"

    def __repr__(self) -> str:
        return str(self)


def _side(
    what: str, ids: IdColumn | Ids, factors: npt.ArrayLike, offsets: npt.ArrayLike | None
) -> tuple[Ids, Floats, Floats]:
    """Ids, factors and offsets of users or items, checked, by ascending id."""
    column = ids_of(f"{what}s", ids)
    if not len(column):
        raise InputError(f"{what}s: there is none.", code="empty-ids", argument=f"{what}s")
    if not column.is_unique().all():
        twice = column.filter(column.is_duplicated())[0]
        raise InputError(
            f"{what}s: '{plain(twice)}' occurs more than once. Give one row of factors per {what}.",
            code="repeated-id",
            argument=f"{what}s",
        )
    known, code = Ids.code(column)
    matrix = _numbers(f"{what}_factors", factors, 2, column)
    numbers = np.zeros(len(column)) if offsets is None else _numbers(f"{what}_offsets", offsets, 1, column)
    order = slice(None) if (code[1:] > code[:-1]).all() else np.argsort(code)
    return known, matrix[order].astype(np.float64), numbers[order].astype(np.float64)


def ids_of(name: str, given: Any) -> pl.Series:
    """Ids as whole numbers or texts, without gaps."""
    values = given.values if isinstance(given, Ids) else given
    if not isinstance(values, pl.Series | np.ndarray) and hasattr(values, "tolist"):
        values = values.tolist()  # pandas
    try:
        column = pl.Series(name, None if isinstance(values, str) else values)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        raise InputError(
            f"{name}: ids must be a sequence of whole numbers, or of texts ({plain(problem)}).",
            code="wrong-type",
            argument=name,
        ) from None
    unfit = (pl.Binary, pl.Object, pl.Datetime, pl.Duration, pl.Time)
    if values is None or isinstance(values, str) or column.dtype.is_nested() or column.dtype in unfit:
        kind = type(given).__name__ if len(column) == 0 else column.dtype
        raise InputError(
            f"{name}: ids must be a sequence of whole numbers, or of texts, not {kind}.",
            code="wrong-type",
            argument=name,
        )
    if column.null_count():
        raise InputError(
            f"{name}: an id is missing (the first at place {column.is_null().arg_true()[0] + 1:,}).",
            code="missing-id",
            argument=name,
        )
    if column.dtype.is_float() or column.dtype.is_decimal():
        floats = column.cast(pl.Float64)
        if not (whole := (floats == floats.floor()) & (floats.abs() < 2**53)).all():
            raise InputError(
                f"{name}: ids must be whole numbers or texts, not {plain(column.filter(~whole)[0])}.",
                code="wrong-type",
                argument=name,
            )
    return as_ids(column)


def _numbers(name: str, given: npt.ArrayLike, ndim: int, ids: pl.Series) -> npt.NDArray[Any]:
    """A finite number, or a row of them, for every id."""
    one = ids.name.removesuffix("s")
    try:
        raw = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as problem:  # ragged rows; tensors on a device or with gradients
        raise InputError(
            f"{name}: not an array of numbers ({plain(problem)}).", code="not-a-number", argument=name
        ) from None
    if raw.dtype.kind not in "fiu":
        raise InputError(f"{name}: not an array of numbers, but of {raw.dtype}.", code="not-a-number", argument=name)
    if raw.ndim != ndim:
        shape = f"a row per {one} and a column per factor" if ndim == 2 else f"one number per {one}"
        raise InputError(
            f"{name}: there must be {shape}; this array has {raw.ndim} dimensions, {raw.shape}.",
            code="wrong-shape",
            argument=name,
        )
    if len(raw) != len(ids):
        turned = " It seems to be transposed." if ndim == 2 and raw.shape[1] == len(ids) else ""
        raise InputError(
            f"{name}: {len(raw):,} rows for {len(ids):,} {one}s; each needs one.{turned}",
            code="wrong-shape",
            argument=name,
        )
    finite = np.isfinite(raw).reshape(len(raw), -1).all(axis=1)
    if not finite.all():
        first, many = int(np.argmin(finite)), np.count_nonzero(~finite)
        raise InputError(
            f"{name}: every number must be finite; {many:,} of {len(raw):,} {one}s have another, the first is "
            f"'{plain(ids[first])}'.\nLeave out {one}s that the model knows nothing of.",
            code="not-finite",
            argument=name,
        )
    return raw
