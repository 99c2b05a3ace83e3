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
from unskew.engine.data import EvaluationData
from unskew.errors import InputError
from unskew.log.order import starts_of
from unskew.log.population import Population
from unskew.plain import plain
from unskew.spec import parse, take

MOST = 1000
STRATA = Whole(2, MOST, "Every stratum is evaluated anew.")


def segments(aligned: Aligned, by: str | None, population: Population | None) -> Iterator[tuple[str, EvaluationData]]:
    """Every segment by its name."""
    if by is None:
        return
    if population is not None and by in population.columns:
        labels = population.columns[by]
        for name in _names(labels, by):
            yield f"{by}={name}", aligned.held.of_users(np.flatnonzero((labels == name).to_numpy()).astype(np.int32))
        return
    texts, prefix = aligned.labels.get(by), f"{by}="
    if texts is None and (name := parse(by, "column of by").name) in COUNTED:
        texts, prefix = COUNTED[name](aligned, by), f"{name} "
    if texts is None:
        known = sorted({*aligned.labels, *(population.columns if population is not None else ())})
        raise InputError(
            f"by={plain(by)!r}: neither the test log nor the users' table has a column '{plain(by)}'. "
            f"Known: {', '.join(known) or 'none'}; popularity(strata=3) works with any training log."
        )
    for label in _names(texts, by):
        yield f"{prefix}{label}", _rows(aligned.held, (texts == label).to_numpy())


def _names(labels: pl.Series, by: str) -> pl.Series:
    """The different labels, if they are few enough for a table each."""
    names = labels.unique().sort()
    if len(names) > MOST:
        raise InputError(
            f"by={plain(by)!r}: there are {len(names):,} different values, and every one is evaluated anew; {MOST:,} "
            "are the most. Join them into fewer groups."
        )
    return names


def _rows(held: EvaluationData, keep: npt.NDArray[np.bool_]) -> EvaluationData:
    """Some of the held-out rows, of the same users."""
    indptr = starts_of(keep)[held.indptr]
    return replace(held.of_rows(keep, indptr), relevant=None, candidates=None)


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


COUNTED = {"popularity": _popularity}  # segments that are counted, not read from a column
