"""What a cross-validation gives back: values over all folds and of each, verdicts, and what was skipped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew.core.bounds import word
from unskew.core.showing import ShownTable
from unskew.cross_validation.averaging import Average
from unskew.requirement import Requirements
from unskew.result import Estimate, Result, frame_of, plain
from unskew.split import Skipped

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Fold:
    """One fold: what it is called, and how much it learnt from and judged."""

    fold: str
    window: str
    users: int
    train_rows: int
    test_rows: int
    left_out: int


@dataclass(frozen=True)
class FoldValue:
    """One model in one fold; the interval is that fold's own, for users like those that it judges."""

    fold: str
    model: str
    metric: str
    estimator: str
    target: str
    value: float
    low: float
    high: float
    se: float
    hits: int


@dataclass(frozen=True)
class OverFolds:
    """One model over all folds.

    ``macro`` is the average over folds, ``pooled`` the value with the rows of all folds together; both intervals are
    clustered by user over all folds. ``fold_sd`` is the standard deviation between folds, and ``folds_won`` counts the
    folds in which no model has a better value: neither is an error of the average, since folds are no sample.
    """

    model: str
    metric: str
    estimator: str
    target: str
    macro: float
    macro_low: float
    macro_high: float
    macro_se: float
    pooled: float
    pooled_low: float
    pooled_high: float
    pooled_se: float
    folds: int
    folds_won: int
    fold_sd: float
    standing: str


@dataclass(frozen=True)
class CrossValidation(ShownTable):
    """The answer over all folds of one split.

    Args:
        split: the canonical string of the way of splitting.
        macro: the average over folds, as the result of an evaluation: estimates, verdicts, warnings.
        pooled: the same with the rows of all folds together.
        folds_: the folds that were judged; ``values_``, the estimates of every one.
        skipped: folds that are not judged, with the reason.
        notes: what a reader should know of the split.
    """

    split: str
    macro: Result
    pooled: Result
    folds_: tuple[Fold, ...]
    values_: tuple[FoldValue, ...] = field(repr=False)
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def inputs(self) -> Mapping[str, Any]:
        """What was read and asked for."""
        return self.macro.inputs

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader should know before trusting the numbers."""
        return self.macro.warnings

    def table(self) -> pl.DataFrame:
        """One row per model, metric, estimator and target: macro and pooled, and how folds differ."""
        return frame_of(self.rows(), OverFolds)

    def folds(self) -> pl.DataFrame:
        """The values of every fold, with their own intervals, and how much the fold learnt from and judged."""
        values = frame_of(self.values_, FoldValue)
        return values.join(frame_of(self.folds_, Fold), on="fold", how="left", maintain_order="left")

    def verdicts(
        self,
        metric: str | None = None,
        *,
        estimator: str | None = None,
        target: str | None = None,
        average: str = Average.MACRO,
    ) -> pl.DataFrame:
        """The verdicts over all folds, all or those of a metric, estimator and target; ``macro`` or ``pooled``."""
        word(average, tuple(Average), "average")
        result = self.macro if average == Average.MACRO else self.pooled
        return result.verdicts(metric, estimator=estimator, target=target)

    def require(self, *statements: str) -> Requirements:
        """Whether statements such as ``"new better than old on recall@10"`` hold on average over all folds.

        As of a single evaluation: ``Result.require``.
        """
        return self.macro.require(*statements)

    def leaderboard(self) -> pl.DataFrame:
        """The models in order, on average over all folds: ``Result.leaderboard``."""
        return self.macro.leaderboard()

    def rows(self) -> list[OverFolds]:
        """The table as records."""
        pooled = {_cell(e): e for e in self.pooled.estimates}
        values: dict[tuple[str, ...], list[float]] = {}
        for v in self.values_:
            values.setdefault((v.metric, v.estimator, v.target, v.model), []).append(v.value)
        won = self._won()
        return [_row(e, pooled[_cell(e)], values.get(_cell(e), []), won.get(_cell(e), 0)) for e in self.macro.estimates]

    def _won(self) -> dict[tuple[str, ...], int]:
        """In how many folds no model has a better value, by cell."""
        best: dict[tuple[str, ...], float] = {}
        signs = {v.metric: self._sign(v.metric) for v in self.values_}
        for v in self.values_:
            if math.isfinite(v.value):
                place = (v.fold, v.metric, v.estimator, v.target)
                best[place] = max(best.get(place, -math.inf), signs[v.metric] * v.value)
        found: dict[tuple[str, ...], int] = {}
        for v in self.values_:
            if best.get((v.fold, v.metric, v.estimator, v.target)) == signs[v.metric] * v.value:
                cell = (v.metric, v.estimator, v.target, v.model)
                found[cell] = found.get(cell, 0) + 1
        return found

    def _sign(self, metric: str) -> float:
        traits = self.macro.traits.get(metric)
        return -1.0 if traits is not None and traits.lower_is_better else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; numbers that do not exist are ``None``."""
        return {
            "schema_version": SCHEMA_VERSION,
            "split": plain(self.split),
            "headline": plain(self.macro.headline()),
            "table": [plain(asdict(row)) for row in self.rows()],
            "folds": [plain(asdict(fold)) for fold in self.folds_],
            "values": [plain(asdict(value)) for value in self.values_],
            "skipped": [plain(asdict(skipped)) for skipped in self.skipped],
            "notes": plain(self.notes),
            "macro": self.macro.to_dict(),
            "pooled": self.pooled.to_dict(),
        }

    def _made_from(self) -> Iterator[Path]:
        yield from self.macro._made_from()

    def __repr__(self) -> str:
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        title = self.macro.headline()["title"]
        return (
            f"<CrossValidation {self.split}, {len(self.folds_)} folds{skipped}: {title}; .table(), .folds(), "
            ".verdicts(), .to_html()>"
        )


def _cell(e: Estimate) -> tuple[str, ...]:
    return e.metric, e.estimator, e.target, e.model


def _row(macro: Estimate, pooled: Estimate, values: list[float], won: int) -> OverFolds:
    known = np.array([value for value in values if math.isfinite(value)])
    return OverFolds(
        model=macro.model,
        metric=macro.metric,
        estimator=macro.estimator,
        target=macro.target,
        macro=macro.value,
        macro_low=macro.low,
        macro_high=macro.high,
        macro_se=macro.se,
        pooled=pooled.value,
        pooled_low=pooled.low,
        pooled_high=pooled.high,
        pooled_se=pooled.se,
        folds=len(known),
        folds_won=won,
        fold_sd=float(known.std(ddof=1)) if len(known) > 1 else math.nan,
        standing=macro.standing,
    )
