"""How far do the answers depend on the propensities? Several evaluations of the same models, side by side.

    spread       largest − smallest estimate of a model over the propensities
    half-width   the mean of (high − low)/2 over the same estimates: the sampling error that intervals tell of

A spread above the half-width says that the choice of the propensity matters more than chance does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from unskew.core.showing import ShownTable
from unskew.core.spec import find
from unskew.core.text import storable
from unskew.inference.verdict import Outcome, opposite
from unskew.propensity import make
from unskew.requirement import Requirement, Requirements, held_in_all, undecided
from unskew.result import Estimate, Result, Verdict, first_columns_first, frame_of, plain, storable_row

SCHEMA_VERSION = 1
Compared = tuple[str, str, str, str | None, str, str]  # metric, estimator, target, segment, and both models


@dataclass(frozen=True)
class Move:
    """How far one estimate moves between propensities.

    Args:
        propensities: how many of them have this cell.
        weighted: whether the estimator uses propensities at all.
        smallest, largest: the estimates, and under which propensity each was found.
        spread, ratio: ``None`` where only one propensity has the cell; the ratio also where there is no interval.
    """

    model: str
    metric: str
    estimator: str
    target: str
    segment: str | None
    propensities: int
    weighted: bool
    smallest: float
    smallest_under: str
    largest: float
    largest_under: str
    spread: float | None
    half_width: float | None
    ratio: float | None


@dataclass(frozen=True)
class Change:
    """A pair of models on which two propensities disagree; ``opposite`` if each puts another first."""

    metric: str
    estimator: str
    target: str
    segment: str | None
    a: str
    b: str
    propensity: str
    verdict: str
    other_propensity: str
    other_verdict: str
    opposite: bool


@dataclass(frozen=True)
class Missing:
    """A cell that is not there under a propensity, and why; without a metric, the whole propensity."""

    propensity: str
    metric: str | None
    estimator: str | None
    target: str | None
    reason: str
    code: str = ""


@dataclass(frozen=True)
class PropensityComparison(ShownTable):
    """The same models and metrics under several propensities.

    Args:
        results: the evaluation under each propensity, by the name under which it was asked for.
        missing: cells, or whole propensities, that could not be had.
        requirements: statements that were required of all of them, with their answers.
    """

    results: Mapping[str, Result]
    missing: tuple[Missing, ...] = ()
    requirements: tuple[Requirement, ...] = ()

    @property
    def fitted(self) -> dict[str, str]:
        """Each propensity as it prints once fitted."""
        settings = {name: result.inputs.get("settings", {}) for name, result in self.results.items()}
        return {name: str(said.get("propensity", name)) for name, said in settings.items()}

    def table(self) -> pl.DataFrame:
        """The estimates: one row per model, metric, estimator, target, segment and propensity."""
        names, fitted = list(self.results), self.fitted
        cells = {name: _by_cell(result.estimates) for name, result in self.results.items()}
        rows = []
        for cell in dict.fromkeys(key for found in cells.values() for key in found):
            for name in names:
                if cell in cells[name]:
                    rows.append((cells[name][cell], name, fitted[name]))
        keep = ("value", "low", "high", "se", "ess", "max_weight_share", "users", "interactions")
        found = pl.DataFrame(
            [
                storable_row({key: getattr(e, key) for key in ("model", "metric", "estimator", "target", "segment")})
                | {"propensity": name, "fitted": printed, "weighted": e.propensity is not None}
                | {key: getattr(e, key) for key in keep}
                for e, name, printed in rows
            ],
            schema_overrides={"segment": pl.String},
            infer_schema_length=None,
        )
        return found.select(first_columns_first(found.columns))

    def moves(self) -> pl.DataFrame:
        """How far each estimate moves: smallest, largest, spread, and spread over the mean half-width."""
        return frame_of(self.all_moves(), Move)

    def changes(self) -> pl.DataFrame:
        """Pairs of models on which propensities disagree: which, and from what to what."""
        return frame_of(self.all_changes(), Change)

    @property
    def changed(self) -> bool:
        """Whether any verdict depends on the propensity."""
        return bool(self.all_changes())

    def all_moves(self) -> list[Move]:
        """The moves as records; estimates that do not exist are left out, and a cell has at least one that does."""
        cells: dict[tuple[Any, ...], list[tuple[str, Estimate]]] = {}
        for name, result in self.results.items():
            for key, e in _by_cell(result.estimates).items():
                if math.isfinite(e.value):
                    cells.setdefault(key, []).append((name, e))
        return [_move(found) for found in cells.values()]

    def all_changes(self) -> list[Change]:
        """The changes as records: every two propensities that have the cell and disagree."""
        cells: dict[tuple[Any, ...], list[tuple[str, Verdict]]] = {}
        for name, result in self.results.items():
            for v in result.verdicts_:
                cells.setdefault(compared(v), []).append((name, v))
        return [
            Change(*compared(v), one, str(v.verdict), other, str(w.verdict), opposite(v.verdict, w.verdict))
            for found in cells.values()
            for (one, v), (other, w) in combinations(found, 2)
            if _disagree(v, w)
        ]

    def require(self, *statements: str) -> Requirements:
        """Whether statements such as ``"new better than old on recall@10"`` hold under all propensities.

        What is not answered alike under all of them is undecided, and so is everything where one could not be used.
        """
        found = held_in_all([result.require(*statements) for result in self.results.values()])
        unused = [missing for missing in self.missing if missing.metric is None]
        return undecided(found, f"{unused[0].propensity} could not be used") if unused else found

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; numbers that do not exist are ``None``."""
        return {
            "schema_version": SCHEMA_VERSION,
            "propensities": plain(self.fitted),
            "estimates": [plain(row) for row in self.table().to_dicts()],
            "moves": [plain(asdict(move)) for move in self.all_moves()],
            "changes": [plain(asdict(change)) for change in self.all_changes()],
            "missing": [plain(asdict(missing)) for missing in self.missing],
            "requirements": [plain(asdict(requirement)) for requirement in self.requirements],
            "results": {storable(name): result.to_dict() for name, result in self.results.items()},
        }

    def _made_from(self) -> list[Path]:
        return [path for result in self.results.values() for path in result._made_from()]

    def __getitem__(self, name: str) -> Result:
        return self.results[find("propensity", name, self.results, make)]

    def __repr__(self) -> str:
        changes = len({compared(c) for c in self.all_changes()})
        return (
            f"<PropensityComparison {len(self.results)} propensities, {changes} verdicts change; .table(), .moves(), "
            ".changes(), .to_html()>"
        )


def compared(v: Verdict | Change) -> Compared:
    """What a verdict is about: which two models in which cell."""
    return v.metric, v.estimator, v.target, v.segment, v.a, v.b


def _by_cell(estimates: Iterable[Estimate]) -> dict[tuple[Any, ...], Estimate]:
    return {(e.metric, e.estimator, e.target, e.segment, e.model): e for e in estimates}


def _move(found: list[tuple[str, Estimate]]) -> Move:
    e = found[0][1]
    under, least = min(found, key=lambda pair: pair[1].value)
    over, most = max(found, key=lambda pair: pair[1].value)
    widths = [(e.high - e.low) / 2.0 for _, e in found if math.isfinite(e.high - e.low)]
    half = sum(widths) / len(widths) if widths else None
    spread = most.value - least.value if len(found) > 1 else None
    return Move(
        model=e.model,
        metric=e.metric,
        estimator=e.estimator,
        target=e.target,
        segment=e.segment,
        propensities=len(found),
        weighted=any(e.propensity is not None for _, e in found),
        smallest=least.value,
        smallest_under=under,
        largest=most.value,
        largest_under=over,
        spread=spread,
        half_width=half,
        ratio=spread / half if half and spread is not None else None,
    )


def _disagree(v: Verdict, w: Verdict) -> bool:
    """Whether only one of them names a winner or says that it depends, or each names another one.

    Better and ahead name the same.
    """
    one, other = Outcome(v.verdict), Outcome(w.verdict)
    if Outcome.DEPENDS in (one, other):
        return one is not other
    return one.decided != other.decided or opposite(one, other)
