"""Segments: the same table for parts of the users, or parts of the held-out interactions.

A column of the population divides users; a column of the test log, or ``popularity(strata=3)``, divides interactions
(how well does a model do on rare items?). n_u and |C_u| are known for whole users only, so a part of the interactions
has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from unskew.alignment.align import Aligned
from unskew.bounds import Whole
from unskew.engine.guess import Guess
from unskew.engine.held import Floats, Held
from unskew.errors import InputError
from unskew.log import Ids
from unskew.log.population import Population
from unskew.plain import plain
from unskew.spec import parse, take

MOST = 1000
STRATA = Whole(2, MOST, "Every stratum is evaluated anew.")


def segments(aligned: Aligned, by: str | None, population: Population | None) -> Iterator[tuple[str, Held]]:
    """Every segment by its name."""
    if by is None:
        return
    if population is not None and by in population.columns:
        labels = population.columns[by]
        for name in _names(labels, by):
            yield f"{by}={name}", _users(aligned, (labels == name).to_numpy())
        return
    texts = aligned.labels.get(by)
    if texts is None and parse(by, "column of by").name == "popularity":
        texts, by = _popularity(aligned, by), "popularity"
    if texts is None:
        known = sorted({*aligned.labels, *(population.columns if population is not None else ())})
        raise InputError(
            f"by={plain(by)!r}: neither the test log nor the users' table has a column '{plain(by)}'. "
            f"Known: {', '.join(known) or 'none'}; popularity(strata=3) works with any training log."
        )
    for name in _names(texts, by):
        yield f"{by} {name}" if by == "popularity" else f"{by}={name}", _rows(aligned.held, (texts == name).to_numpy())


def _names(labels: pl.Series, by: str) -> pl.Series:
    """The different labels, if they are few enough for a table each."""
    names = labels.unique().sort()
    if len(names) > MOST:
        raise InputError(
            f"by={plain(by)!r}: there are {len(names):,} different values, and every one is evaluated anew; {MOST:,} "
            "are the most. Join them into fewer groups."
        )
    return names


def _users(aligned: Aligned, keep: npt.NDArray[np.bool_]) -> Held:
    """The held-out rows and lists of some users."""
    held = aligned.held
    users = Ids(aligned.users.values.filter(pl.Series(keep)))
    rows = np.repeat(keep, np.diff(held.indptr))
    kept = _rows(held, rows)
    lengths = np.diff(held.indptr)[keep]

    def cut(numbers: Floats | None) -> Floats | None:
        return None if numbers is None else numbers[keep]

    def of_them(guess: Guess | None) -> Guess | None:
        return None if guess is None else replace(guess, people=np.flatnonzero(keep).astype(np.int32))

    return replace(
        kept,
        hashes=held.hashes[keep],
        indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        lists=tuple(lists.recode(users, aligned.items) for lists in held.lists),
        relevant=cut(held.relevant),
        candidates=cut(held.candidates),
        q_total=cut(held.q_total),
        guess=of_them(held.guess),
        shown=of_them(held.shown),
    )


def _rows(held: Held, keep: npt.NDArray[np.bool_]) -> Held:
    """Some of the held-out rows, of the same users."""
    before = np.concatenate([[0], np.cumsum(keep)])
    return replace(
        held,
        indptr=before[held.indptr].astype(np.int64),
        item=held.item[keep],
        value=held.value[keep],
        propensity=None if held.propensity is None else held.propensity[keep],
        labels={name: codes[keep] for name, codes in held.labels.items()},
        rating=None if held.rating is None else held.rating[keep],
        predicted=tuple(None if numbers is None else numbers[keep] for numbers in held.predicted),
        q=None if held.q is None else held.q[keep],
        relevant=None,
        candidates=None,
    )


def _popularity(aligned: Aligned, by: str) -> pl.Series:
    """Strata of the items by their training count, as texts per row: 1 is the rarest."""
    if aligned.training_counts is None:
        raise InputError(f"by={plain(by)!r} counts items in a training log: give train=….")
    count = int(STRATA.of(take(parse(by), ("strata",), strata=int).get("strata", 3), f"by={plain(by)!r}: strata"))
    counts = aligned.training_counts
    if count > len(counts):
        raise InputError(f"by={plain(by)!r}: {len(counts):,} items cannot be divided into {count:,} strata.")
    edges = np.floor(np.quantile(counts, np.arange(1, count) / count))
    place = np.searchsorted(edges, counts[aligned.held.item], side="left")
    bounds = [f"n ≤ {edge:,.0f}" for edge in edges] + [f"n > {edges[-1]:,.0f}"]
    digits = len(str(count))  # so that they sort as numbers
    names = np.array([f"{j + 1:0{digits}}/{count} ({bound})" for j, bound in enumerate(bounds)])
    return pl.Series(names[place])
