"""Stratified estimator (gs23 Eq. 3, after Jadidinejad et al.).

    R̂_u = Σ_v P(v) · mean of λ over the user's seen relevant items in stratum v  /  Σ P(v) over the same strata

As printed (``mode=eq3``) there is no divisor: strata in which a user has no seen relevant item are lost with their
shares (.155 for a truth of .218 in one check).

It debiases only if P(v) is the share of the user's relevant items that lie in v. Shares measured on the positives of
a skewed log keep its skew (with P(v) = n*_uv / n*_u it *is* naive), so implicit logs need shares from outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import polars as pl

from unskew.core.bounds import shown
from unskew.core.errors import InputError
from unskew.core.parts import Made, Words, option
from unskew.estimators.base import Batch, Estimator, Need, Standing, Term, users
from unskew.estimators.gs import GeneralizedStratified
from unskew.estimators.strata import GROUPS, Strata
from unskew.estimators.summary import Summary
from unskew.estimators.target import Target
from unskew.kernels.arrays import Floats, Ints32, present
from unskew.kernels.sums import per_user
from unskew.log.columns import numbers
from unskew.log.sources import table_of_file


def _shares(value: Any) -> str | Mapping[str, float]:
    if isinstance(value, str | Mapping):
        return value
    raise InputError(
        f"'stratified': shares must be train, the path of a table or a mapping, not {shown(value)}.", code="wrong-type"
    )


@dataclass(frozen=True)
class Stratified(Estimator):
    """Weigh the strata by given shares, every seen item in a stratum alike.

    Args:
        strata: how pairs are grouped.
        shares: P(v): ``train`` (the training rows' shares), the path of a table ``stratum, share``, or a mapping.
            Strata of the propensity are called 1, 2, … from rare to popular, those of a column by its values.
        mode: ``renormalised`` (divided by the shares of the user's non-empty strata), or ``eq3`` as printed (divisor 1:
            the shares of strata in which the user has nothing are lost, and the estimate is too low).
    """

    strata: Strata = option(Strata, GROUPS, "how pairs are grouped", unnamed=True)
    shares: str | Mapping[str, float] = option("train", Made(_shares, "train or FILE"), "P(v)")
    mode: str = option("renormalised", Words(("eq3", "renormalised")), "divided, or as printed in gs23")
    table: tuple[float, ...] | None = None

    name = "stratified"
    unclippable = "does not weigh by propensities: there is nothing to clip."
    valid = frozenset({Target.PER_USER})
    claim = Standing.BIASED, "debiased only if the shares P(v) are those of each user's relevant items"

    def needs(self, target: Target) -> frozenset[Need]:
        """Strata by propensity need propensities; shares from training need more than positives."""
        strata = {Need.PROPENSITY} if self.strata.by_propensity else set()
        return frozenset(strata | ({Need.SHARES} if self.shares == "train" else set()))

    def prepare(self, summary: Summary) -> Self:
        """Fix the strata's edges and P(v)."""
        strata = self.strata.fit(summary)
        if self.shares == "train":
            table = _training_shares(strata, summary)
        else:
            given = read_shares(self.shares) if isinstance(self.shares, str) else self.shares
            table = _given_shares(strata, summary, given)
        return replace(self, strata=strata, table=tuple(table))

    def prepare_probe(self, summary: Summary) -> Self:
        """Any shares will do."""
        strata = self.strata.fit(summary)
        return replace(self, strata=strata, table=(1.0 / strata.count,) * strata.count)

    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """P(v) over the number seen in v; y-weighted where values are graded."""
        groups = self.strata.of(batch)
        share = np.asarray(self.table, dtype=np.float64)[groups]
        inside = _group_sum(batch, groups, self.strata.count)
        weight = np.divide(share, inside, out=np.zeros_like(share), where=inside > 0.0)
        divisor = np.empty(batch.users)
        if self.mode == "renormalised":
            per_user(batch.indptr, weight * batch.value, divisor)
        else:
            per_user(batch.indptr, batch.value, divisor)
            divisor = (divisor > 0.0).astype(np.float64)
        return (Term(weight, users(divisor)),)

    def similar(self) -> Iterable[Estimator]:
        """Strata of a column suit gs too, which needs no shares."""
        return () if self.strata.by_propensity else (GeneralizedStratified(self.strata),)

    @property
    def with_table(self) -> tuple[Self, str] | None:
        """Shares that are not measured on training rows."""
        if self.shares != "train":
            return None
        words = "the strata's shares from outside with stratified(shares=FILE), a table 'stratum,share'"
        return replace(self, shares="FILE"), words

    def shown(self) -> dict[str, Any]:
        """Shares that were given as a mapping are called so."""
        return super().shown() | ({} if isinstance(self.shares, str) else {"shares": "given"})


def _group_sum(batch: Batch, groups: Ints32, count: int) -> Floats:
    """Σ y over the user's rows in the same stratum."""
    rows = np.repeat(np.arange(batch.users, dtype=np.int64), np.diff(batch.indptr)) * count + groups
    return np.asarray(np.bincount(rows, weights=batch.value)[rows], dtype=np.float64)


def _training_shares(strata: Strata, summary: Summary) -> list[float]:
    """P(v): the share of the training rows in each stratum."""
    rows = summary.training
    if rows is None:
        raise InputError(
            "stratified(shares=train) needs a training log to measure the shares on: give train=….",
            code="no-training-log",
        )
    if strata.by_propensity:
        if not rows.weighed:
            raise InputError(
                "stratified(shares=train) needs the propensities of the training rows too: add a column 'propensity' "
                "to the training log, or give the shares with stratified(shares=FILE).",
                code="no-propensity",
            )
        counts = rows.by_propensity(np.asarray(present(strata.edges)))
    elif strata.column not in rows.columns:
        raise InputError(
            f"stratified(shares=train): the training log has no column '{strata.column}'.",
            code="missing-column",
            column=strata.column,
        )
    else:
        counts = rows.by_label(strata.column, strata.count)
    return [float(n) / float(counts.sum()) for n in counts]


def _given_shares(strata: Strata, summary: Summary, given: Mapping[str, float]) -> list[float]:
    """P(v) by the strata's names; every stratum must have one, and they must sum to 1."""
    names = [str(v + 1) for v in range(strata.count)]
    if not strata.by_propensity:
        names = list((summary.levels or {})[strata.column])
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(
            f"stratified: no share is given for stratum '{missing[0]}' (needed: {', '.join(names)}).",
            code="missing-stratum",
            stratum=missing[0],
        )
    total = sum(given.values())
    if min(given.values()) < 0.0 or abs(total - 1.0) > 1e-6:
        raise InputError(
            f"stratified: the shares must be at least 0 and sum to 1; they sum to {total:.6g}.",
            code="out-of-range",
            argument="shares",
        )
    return [float(given[name]) for name in names]


def read_shares(path: str) -> dict[str, float]:
    """Read a table ``stratum, share`` (CSV, TSV or Parquet)."""
    table = table_of_file(path, ("stratum", "share"), ())
    table.refuse_nulls("stratum")
    share = numbers(table, "share")
    table.refuse_repeats("stratum")
    return dict(zip(table.frame["stratum"].cast(pl.String).to_list(), share.to_list(), strict=True))
