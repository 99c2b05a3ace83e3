"""Reading lists: ranks are given or made from scores, repeats are found, entries are coded and ordered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.text import plain
from unskew.kernels.coding import repeats
from unskew.kernels.hashing import pair_uniform
from unskew.log.columns import check_ids, code_pairs, numbers, whole_numbers
from unskew.log.ids import Codes, Hashes, Ids, changed
from unskew.log.list_pieces import MANY, code_pieces, fit_for_pieces
from unskew.log.log import Account, Floats, Invalid
from unskew.log.match import differing
from unskew.log.order import Rows, group, group_entries, pick, starts_of
from unskew.log.paths import Paths
from unskew.log.recommendations import Recommendations
from unskew.log.said import say_columns
from unskew.log.several import files_of
from unskew.log.sources import MatchedFile, drops, matched_file, reading, table_of_file
from unskew.log.table import REMEDY, Table, show

REQUIRED = ("user", "item")
OPTIONAL = ("rank", "score")
LARGEST = 2**31 - 1
RANKED = Notice("ranks were made from scores; the hash of user and item ordered equal scores", code="ranked-by-score")
_REPEATED_ITEM, _REPEATED_RANK = 1, 2


def read_recommendations(
    path: Paths, *, columns: Mapping[str, Any] | None = None, invalid: Invalid = "error"
) -> Recommendations:
    """Read lists from a file, or from several (docs/files.md says which formats).

    Args:
        path: one row per entry with the columns ``user``, ``item`` and ``rank`` (1 = best). Without ranks, a column
            ``score`` orders the entries; equal scores are ordered by the stable hash of (user, item).
        columns: our names → the names in the file, where they are not recognised: ``{"rank": "place"}``.
        invalid: wrong rows are an ``error``, or ``drop`` leaves them out and counts them in ``account``; of two
            entries with the same item or rank the better-ranked one stays, else the first.
    """
    drop, files = drops(invalid), files_of(path)
    if len(files) > 1:
        return lists_of(table_of_file(path, REQUIRED, OPTIONAL, columns=columns, invalid=invalid))
    file = matched_file(files[0], REQUIRED, OPTIONAL, columns)
    return _from_pieces(file) or lists_of(file.read(drop))


def _from_pieces(file: MatchedFile) -> Recommendations | None:
    """The lists of a large Parquet file whose rows leave no doubt; nothing where it takes a look at all of them."""
    opened, names = file.opened, file.names
    if not opened.is_parquet or not fit_for_pieces(opened.empty(names).schema):
        return None
    before = opened.file.stat()
    with reading(file.source):
        read, rows = opened.pieces(names)
        found = code_pieces(read, rows) if rows >= MANY else None
    after = opened.file.stat()
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise changed()  # columns are read one after the other, and must be of the same rows
    if found is None:
        return None
    return Recommendations(*found, account=Account(file.source, rows, columns=differing(names)))


def lists_of(table: Table) -> Recommendations:
    """Check, code and order the entries of a table."""
    columns = table.kept(check_entries(table) | _scores_beside_ranks(table))
    return ordered_lists(table, *code_pairs(table, columns), columns)


def ordered_lists(
    table: Table, of_users: tuple[Ids, Codes], of_items: tuple[Ids, Codes], columns: Mapping[str, pl.Series]
) -> Recommendations:
    """The lists of coded entries: ordered, and every item and rank once.

    Args:
        columns: ``rank`` or ``score``; where both are there, ranks count, and scores are held against them.
    """
    (users, user), (items, item) = of_users, of_items
    if "rank" in columns:
        given = columns["rank"]
        rank = (given if given.dtype == pl.Int32 else given.cast(pl.Int32)).to_numpy(writable=True)
    else:
        table.notes.append(RANKED)
        say_columns(table.source, {}, RANKED)
        rank = ranks_by_score(users.hashes[user], items.hashes[item], user, columns["score"])
    lists = Recommendations(users, items, *group_entries(user, item, rank, len(users)))
    indptr = lists.indptr
    if "rank" in columns and "score" in columns:
        _refuse_contradiction(table, lists, pick(columns["score"].to_numpy(), _by_rank(user, rank, len(users))))
    flag = np.zeros(len(item), dtype=np.int8)
    if repeats(indptr, lists.item, lists.rank, np.full(len(items), -1, dtype=np.int64), flag):
        if not table.drop:
            _repeated(table, lists, flag, _by_rank(user, rank, len(users)))
        table.count("repeated item", int(np.count_nonzero(flag == _REPEATED_ITEM)))
        table.count("repeated rank", int(np.count_nonzero(flag == _REPEATED_RANK)))
        lists = lists.only(flag == 0, close="rank" not in columns)
    return replace(lists, account=table.account())


def check_entries(table: Table) -> dict[str, pl.Series]:
    """The columns that are used, each checked."""
    columns = {}
    for name in REQUIRED:
        check_ids(table, name)
        table.refuse_nulls(name)
        columns[name] = table.frame[name]
    if "rank" in table:
        columns["rank"] = ranks(table)
    elif "score" in table:
        columns["score"] = numbers(table, "score", largest=inf)  # only their order counts
    else:
        role = getattr(table.said, "role", "")
        rank, score = (f"{role}:{name}" if role else name for name in ("rank", "score"))
        raise InputError(
            f"{table.source}: there is neither a column 'rank' nor a column 'score' to order the lists by.\n"
            f"Say which column it is with columns={{'{rank}': '...'}} or columns={{'{score}': '...'}}. Predicted "
            "values are given with read_predictions(…).",
            code="missing-column",
            column="rank",
        )
    return columns


def _scores_beside_ranks(table: Table) -> dict[str, pl.Series]:
    """Scores that do not order the lists, as far as they are numbers; none where somebody said which column counts."""
    if "rank" not in table or "score" not in table or table.said.get("rank"):
        return {}
    score = table.frame["score"]
    known = score.dtype.is_numeric() or score.dtype == pl.String
    return {"score": score.cast(pl.Float64, strict=False)} if known else {}


def _refuse_contradiction(table: Table, lists: Recommendations, score: Floats) -> None:
    """Refuse two columns that order most lists otherwise: nothing says which one is the model's order."""
    lengths = np.diff(lists.indptr)
    user = np.repeat(np.arange(len(lengths)), lengths)
    rising = (score[1:] > score[:-1]) & (user[1:] == user[:-1])
    contradicting = np.unique(user[1:][rising])
    several = int(np.count_nonzero(lengths > 1))
    if not 2 * len(contradicting) > several:
        return
    rank, other = (plain(table.names[name]) for name in ("rank", "score"))
    role = getattr(table.said, "role", "")
    key = f"{role}:" if role else ""
    first = int(contradicting[0])
    raise InputError(
        f"{table.source}: columns '{rank}' and '{other}' contradict each other: in {len(contradicting):,} of "
        f"{several:,} lists an item with a higher {other} stands behind one with a lower, the first is that of user "
        f"{show(lists.users.values[first])}.\n"
        f"Say which one orders the lists: columns={{'{key}rank': {rank!r}}} (1 is the best), or "
        f"columns={{'{key}rank': ''}} to order them by '{other}' downwards.",
        code="contradicting-columns",
    )


def ranks(table: Table, otherwise: str = "") -> pl.Series:
    """The column of ranks; ``otherwise`` says what may stand there beside numbers from 1.

    Where most lists have a rank 0, all ranks are one too low, and dropping these rows would drop the best items.
    """
    given = table.frame["rank"]
    if given.dtype.is_integer() and not given.null_count() and _all_ranks(given):
        return given
    must = f"must hold whole numbers from 1 (the best) to {LARGEST:,}{otherwise}"
    rank = whole_numbers(table, "rank", must)
    zeros = (rank == 0).fill_null(False)
    if zeros.any() and 2 * zeros.sum() > table.frame["user"].n_unique() and not (rank < 0).any():
        place = table.place(int(zeros.arg_true()[0]))
        raise InputError(
            f"{table.source}: {table.called('rank')} must count from 1 (the best); {place} has 0 (rows with 0: "
            f"{zeros.sum():,}).\nDo your ranks start at 0? Then add 1 to all of them.",
            code="ranks-from-zero",
        )
    wrong = ~rank.is_between(1, LARGEST).fill_null(True)
    table.refuse("rank", wrong, must=must, reason="rank out of range", code="out-of-range")
    return rank


def _all_ranks(numbers: pl.Series) -> bool:
    low, high = numbers.min(), numbers.max()
    return isinstance(low, int) and isinstance(high, int) and low >= 1 and high <= LARGEST


def ranks_by_score(user_hash: Hashes, item_hash: Hashes, user: Codes, score: pl.Series) -> Codes:
    """Rank 1, 2, … in each user by score downwards; equal scores by hash, as in every list that we make."""
    frame = pl.DataFrame({"user": user, "score": score, "hash": pair_uniform(0, user_hash, item_hash)})
    order = frame.select(
        pl.arg_sort_by("user", "score", "hash", descending=[False, True, False], maintain_order=True)
    ).to_series()
    rows = order.to_numpy()
    rank = np.empty(len(user), dtype=np.int32)
    rank[rows] = np.arange(1, len(user) + 1) - starts_of(np.bincount(user))[user[rows]]
    return rank


def _by_rank(user: Codes, rank: Codes, users: int) -> Rows | None:
    """The rows by user and rank; ranks that are few but large are coded first, so that they can be counted."""
    keys = int(rank.max()) + 1
    if keys <= 4 * len(rank) + 1024:
        return group(user, rank, users, keys)[1]
    coded, key = Ids.code(pl.Series(rank))
    return group(user, key, users, len(coded))[1]


def _repeated(table: Table, lists: Recommendations, flag: npt.NDArray[np.int8], order: Rows | None) -> None:
    """Name the first row of the file that repeats an item or a rank of its user, and the row that it repeats."""
    rows = np.arange(len(flag)) if order is None else order
    flagged = np.flatnonzero(flag)
    at = int(flagged[np.argmin(rows[flagged])])
    user = int(np.searchsorted(lists.indptr, at, side="right")) - 1
    name, column = ("item", lists.item) if flag[at] == _REPEATED_ITEM else ("rank", lists.rank)
    start = int(lists.indptr[user])
    twin = start + int(np.argmax(column[start:at] == column[at]))
    both = [table.origin(row) for row in sorted((int(rows[twin]), int(rows[at])))]
    what = show(lists.items.values[int(lists.item[at])]) if name == "item" else int(lists.rank[at])
    raise InputError(
        f"{table.source}: {table.called(name)} repeats {name} {what} of user {show(lists.users.values[user])}, "
        f"in {table.place(*both)}.\nA list holds each {name} once. {REMEDY}",
        code=f"repeated-{name}",
        rows=[table.row_of(row)[0] for row in both],
    )
