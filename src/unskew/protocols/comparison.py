"""What a comparison of protocols gives back: values, ratios to the best, rankings, and how steady folds are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from unskew.core.showing import ShownTable
from unskew.core.text import storable
from unskew.cross_validation import CrossValidation
from unskew.result import frame_of, plain

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class ProtocolValue:
    """One model by one protocol.

    Args:
        value, low, high: as the cross-validation says, for this value alone.
        rank: its place by value, 1 the best; models with the same value share the better one.
        ratio, ratio_low, ratio_high: to the best value by this protocol; the interval holds for all models and
            protocols together, whichever model is the best. ``None`` where too few users carry a value.
        folds, folds_won: how many folds there are, and in how many no model has a better value.
        fold_sd: the standard deviation between folds; ``chance_sd`` what the folds' own errors alone would give.
    """

    protocol: str
    model: str
    metric: str
    estimator: str
    target: str
    value: float
    low: float
    high: float
    rank: int | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    folds: int
    folds_won: int
    fold_sd: float | None
    chance_sd: float | None


@dataclass(frozen=True)
class Ranking:
    """Kendall's τ between the rankings of two protocols, with all that the data leaves open (protocols/family.py).

    ``agree`` and ``reversed`` count pairs of models that both protocols decide, ``open`` the others.
    """

    metric: str
    estimator: str
    target: str
    protocol: str
    other: str
    tau: float
    tau_low: float
    tau_high: float
    pairs: int
    agree: int
    reversed: int
    open: int


@dataclass(frozen=True)
class Reordered:
    """Two models that two protocols order differently by their values.

    ``decided`` and ``other_decided`` say whether each protocol decides the pair; ``ratio`` is how many times larger
    a / b is by ``protocol`` (which has ``a`` before ``b``) than by ``other``, with an interval for all ratios together.
    """

    metric: str
    estimator: str
    target: str
    a: str
    b: str
    protocol: str
    decided: bool
    other: str
    other_decided: bool
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None


@dataclass(frozen=True)
class Level:
    """One model's value by one protocol over that by another, with an interval for all ratios together."""

    metric: str
    estimator: str
    target: str
    model: str
    protocol: str
    other: str
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    differs: bool


@dataclass(frozen=True)
class Steadiness:
    """How steady one protocol's ranking is from fold to fold: the mean τ between a fold's ranking and that over all."""

    protocol: str
    metric: str
    estimator: str
    target: str
    folds: int
    tau_to_all: float | None


@dataclass(frozen=True)
class MissingProtocol:
    """Something that a protocol cannot give, and why; without an estimator, nothing at all."""

    protocol: str
    metric: str | None
    estimator: str | None
    target: str | None
    reason: str


@dataclass(frozen=True)
class ProtocolComparison(ShownTable):
    """The same models and the same log under several protocols.

    Args:
        results: the cross-validation by each protocol, by its canonical string.
        questions: what each of them asks, in a sentence.
        average: how folds are put together, ``macro`` or ``pooled``.
        level: of intervals.
        values_: every model by every protocol; ``rankings_``, ``reordered_``, ``levels_`` pairs of protocols;
            ``steadiness_``, each protocol.
        missing: what a protocol cannot give.
    """

    results: Mapping[str, CrossValidation]
    questions: Mapping[str, str]
    average: str
    level: float
    values_: tuple[ProtocolValue, ...]
    rankings_: tuple[Ranking, ...]
    reordered_: tuple[Reordered, ...]
    levels_: tuple[Level, ...]
    steadiness_: tuple[Steadiness, ...]
    missing: tuple[MissingProtocol, ...] = ()

    def table(self) -> pl.DataFrame:
        """One row per protocol, model, metric, estimator and target: value, rank, ratio to the best, and folds."""
        return frame_of(self.values_, ProtocolValue)

    def rankings(self) -> pl.DataFrame:
        """Kendall's τ between every two protocols, with all that the data leaves open."""
        return frame_of(self.rankings_, Ranking)

    def reordered(self) -> pl.DataFrame:
        """Pairs of models that two protocols order differently, and whether either decides them."""
        return frame_of(self.reordered_, Reordered)

    def levels(self) -> pl.DataFrame:
        """How many times larger a model's value is by one protocol than by another."""
        return frame_of(self.levels_, Level)

    def steadiness(self) -> pl.DataFrame:
        """How steady each protocol's ranking is from fold to fold."""
        return frame_of(self.steadiness_, Steadiness)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; numbers that do not exist are ``None``."""
        records: dict[str, tuple[Any, ...]] = {
            "values": self.values_,
            "rankings": self.rankings_,
            "reordered": self.reordered_,
            "levels": self.levels_,
            "steadiness": self.steadiness_,
            "missing": self.missing,
        }
        return {
            "schema_version": SCHEMA_VERSION,
            "average": self.average,
            "level": self.level,
            "protocols": {storable(name): storable(text) for name, text in self.questions.items()},
            **{name: [plain(asdict(row)) for row in rows] for name, rows in records.items()},
            "results": {storable(name): found.to_dict() for name, found in self.results.items()},
        }

    def _made_from(self) -> list[Path]:
        return [path for found in self.results.values() for path in found._made_from()]

    def __getitem__(self, protocol: str) -> CrossValidation:
        return self.results[protocol]

    def __repr__(self) -> str:
        return (
            f"<ProtocolComparison {len(self.results)} protocols, {len(self.reordered_)} reorderings; .table(), "
            ".rankings(), .reordered(), .levels(), .to_html()>"
        )
