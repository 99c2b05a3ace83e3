"""One cross-validation per protocol, over the same log and models; then their values, ratios and rankings side by side.

The three criteria of jeunen18 §3.4: absolute values, ratios to the best, rankings; and how steady folds are. Values
share users: errors are clustered by user over all protocols and folds (``family.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from unskew.core.bounds import word
from unskew.core.errors import InputError, RefusedError
from unskew.cross_validation import Average, CrossValidation
from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.merging import Folds
from unskew.cross_validation.result import OverFolds
from unskew.cross_validation.user_errors import cells_of, joined, user_errors
from unskew.evaluation.read import Stage
from unskew.evaluation.run import reporter
from unskew.inference.log_contrasts import LogRatio
from unskew.log import Log
from unskew.protocols.comparison import (
    Level,
    MissingProtocol,
    ProtocolComparison,
    ProtocolValue,
    Ranking,
    Reordered,
    Steadiness,
)
from unskew.protocols.family import About, Family, Kind, kendall
from unskew.protocols.judging import NAIVE, NO_VALUE, judged, nothing_judged, prefixed, read_once, signs_of, windows
from unskew.split import Splits, Splitter, make, make_splits


def compare_protocols(
    log: Any,
    models: Mapping[str, Any] | Sequence[Any],
    protocols: Sequence[str | Splitter] | None = None,
    *,
    average: Literal["macro", "pooled"] = "macro",
    estimators: Sequence[Any] = (NAIVE,),
    level: float = 0.95,
    store: str | Path | None = None,
    workers: int | None = None,
    progress: Stage | None = None,
    **options: Any,
) -> ProtocolComparison:
    """Judge the same models by several protocols, and say what differs: values, ratios to the best, rankings.

    Protocols ask different questions, so that none of them is the truth of another. Orders and ratios are decided at
    one simultaneous level over all models and protocols, for each metric, estimator and target.

    Args:
        log, models: as in ``cross_validate``.
        protocols: canonical strings of splitters. By default leave-one-out with 10 repetitions, a random hold-out of a
            fifth of the rows and, where the log has times, sliding windows of a day, a week or a month: the narrowest
            that judges at least half of 30 windows, else the one that judges most.
        average: how folds are put together: the mean over folds (``macro``, as in the paper) or all rows (``pooled``).
        estimators: by default naive. What a protocol cannot support is listed; the exposure path has no single value,
            and is not compared here.
        level: of intervals.
        store, workers, progress: as in ``cross_validate``.
        options: everything else that ``cross_validate`` takes.
    """
    word(average, tuple(Average), "average")
    if "split" in options:
        raise InputError(
            "several protocols are compared: give protocols=[…] instead of split=….",
            code="conflicting-arguments",
            argument="split",
        )
    say = reporter(progress)
    whole = read_once(log, options)
    asked, missing = _protocols(whole, protocols)
    shared = options | {"estimators": list(estimators), "level": level, "store": store, "workers": workers}
    results: dict[str, CrossValidation] = {}
    folds: dict[str, Folds] = {}
    for name, splits in asked.items():
        found, lost = judged(whole, models, splits, shared | {"progress": prefixed(say, name)})
        missing += lost
        if found is not None:
            results[name], folds[name] = found.result, found.folds
    if not results:
        raise nothing_judged(missing)
    questions = {name: make(name).question for name in results}
    return _put_together(results, folds, questions, Average(average), level, missing)


def _protocols(log: Log, asked: Sequence[str | Splitter] | None) -> tuple[dict[str, Splits], list[MissingProtocol]]:
    """The splits of every protocol, by canonical string; and what could not be split."""
    missing: list[MissingProtocol] = []
    if asked is None:
        timed, missing = windows(log)
        found = [make_splits(log, "leave_one_out(repeats=10)"), make_splits(log, "holdout(share=0.2)"), *timed]
    else:
        if isinstance(asked, str | Splitter) or not asked:
            example = "['leave_one_out', 'sliding_window(width=1w)']"
            raise InputError(
                f"protocols are a list of splitters, such as {example}.", code="wrong-type", argument="protocols"
            )
        found = [make_splits(log, splitter) for splitter in asked]
    named = {splits.splitter: splits for splits in found}
    if len(named) < len(found):
        twice = next(splits.splitter for splits in found if sum(s.splitter == splits.splitter for s in found) > 1)
        raise InputError(f"the protocol '{twice}' is asked for twice.", code="repeated-protocol", protocol=twice)
    return named, missing


@dataclass(frozen=True, eq=False)
class _Cell:
    """One metric, estimator and target by the protocols that have it."""

    key: Key
    protocols: tuple[str, ...]
    models: tuple[str, ...]
    family: Family
    signs: Mapping[tuple[str, int, int], int]

    def values(self, protocol: str) -> list[float]:
        return self.family.values(self.protocols.index(protocol))

    def decided(self, protocol: str, a: int, b: int) -> int:
        """Who is ahead, if both the protocol's own verdict and the simultaneous interval say so."""
        ratio = self.family.order(self.protocols.index(protocol), a, b)
        sign = -ratio.sign if self.family.lower_is_better else ratio.sign
        verdict = self.signs.get((protocol, a, b), 0)
        return sign if sign == verdict else 0


def _put_together(
    results: Mapping[str, CrossValidation],
    folds: Mapping[str, Folds],
    questions: Mapping[str, str],
    way: Average,
    level: float,
    missing: Sequence[MissingProtocol],
) -> ProtocolComparison:
    keys = dict.fromkeys(key for kept in folds.values() for key in cells_of(kept))
    if not keys:
        raise RefusedError(NO_VALUE, code="no-value")
    cells = [_cell(key, results, folds, way, level) for key in keys]
    values: list[ProtocolValue] = []
    rankings: list[Ranking] = []
    reordered: list[Reordered] = []
    levels: list[Level] = []
    steady: list[Steadiness] = []
    for cell in cells:
        for place, protocol in enumerate(cell.protocols):
            values += _values(cell, place, results[protocol], way)
            steady.append(_steadiness(cell, protocol, results[protocol]))
        for one, other in combinations(cell.protocols, 2):
            rankings.append(_ranking(cell, one, other))
            reordered += _reordered(cell, one, other)
        levels += _levels(cell)
    return ProtocolComparison(
        results,
        questions,
        str(way),
        level,
        tuple(values),
        tuple(rankings),
        tuple(reordered),
        tuple(levels),
        tuple(steady),
        tuple(missing),
    )


def _cell(
    key: Key, results: Mapping[str, CrossValidation], folds: Mapping[str, Folds], way: Average, level: float
) -> _Cell:
    there = tuple(name for name in results if key in cells_of(folds[name]))
    models = folds[there[0]].models
    found = joined([user_errors(folds[name], key, way) for name in there])
    lower = results[there[0]].macro.traits[key.metric].lower_is_better
    signs = {(name, *pair): sign for name in there for pair, sign in signs_of(results[name], key, way, models).items()}
    return _Cell(key, there, models, Family(len(there), len(models), found, level, lower), signs)


def _values(cell: _Cell, place: int, found: CrossValidation, way: Average) -> list[ProtocolValue]:
    rows = {row.model: row for row in found.rows() if (row.metric, row.estimator, row.target) == tuple(cell.key)}
    out = []
    for m, model in enumerate(cell.models):
        row = rows[model]
        own = [v for v in found.values_ if (v.model, v.metric, v.estimator, v.target) == (model, *cell.key)]
        errors = [v.se for v in own if math.isfinite(v.se)]
        out.append(
            ProtocolValue(
                cell.protocols[place],
                model,
                *cell.key,
                **standing(row, way, cell.family, place, m),
                folds=row.folds,
                folds_won=row.folds_won,
                fold_sd=known(row.fold_sd),
                chance_sd=math.sqrt(sum(e * e for e in errors) / len(errors)) if len(errors) > 1 else None,
            )
        )
    return out


def standing(row: OverFolds, way: Average, family: Family, group: int, model: int) -> dict[str, Any]:
    """A model's value with its interval, its rank in its group, and its ratio to the best with its ends, by name."""
    macro, pooled = (row.macro, row.macro_low, row.macro_high), (row.pooled, row.pooled_low, row.pooled_high)
    sign = -1.0 if family.lower_is_better else 1.0
    values = family.values(group)
    rank = None if not math.isfinite(values[model]) else 1 + sum(sign * v > sign * values[model] for v in values)
    found = dict(zip(("value", "low", "high"), macro if way is Average.MACRO else pooled, strict=True))
    ratio = (known(number) for number in family.to_best(group, model))
    return found | {"rank": rank} | dict(zip(("ratio", "ratio_low", "ratio_high"), ratio, strict=True))


def _ranking(cell: _Cell, one: str, other: str) -> Ranking:
    decided, too = _deciding(cell, one), _deciding(cell, other)
    found = kendall(cell.values(one), cell.values(other), decided, too)
    counts = found.pairs, found.agree, found.reversed, found.open
    return Ranking(*cell.key, one, other, found.tau, found.low, found.high, *counts)


def _deciding(cell: _Cell, protocol: str) -> Callable[[int, int], int]:
    return lambda a, b: cell.decided(protocol, a, b)


def _reordered(cell: _Cell, one: str, other: str) -> list[Reordered]:
    """Pairs with values in other orders; ``one`` has the first of each before the second."""
    sign = -1.0 if cell.family.lower_is_better else 1.0
    mine, theirs = cell.values(one), cell.values(other)
    g, h = cell.protocols.index(one), cell.protocols.index(other)
    out = []
    for a, b in combinations(range(len(cell.models)), 2):
        lead, opposite = sign * (mine[a] - mine[b]), sign * (theirs[a] - theirs[b])
        if not lead * opposite < 0.0:
            continue
        ratio = cell.family.ratios[About(Kind.RATIO, g, h, a, b)]
        first, second = (a, b) if lead > 0.0 else (b, a)
        ends = as_ratio(ratio, turned=lead < 0.0)
        decisions = cell.decided(one, a, b) != 0, cell.decided(other, a, b) != 0
        names = cell.models[first], cell.models[second]
        out.append(Reordered(*cell.key, *names, one, decisions[0], other, decisions[1], *ends))
    return out


def _levels(cell: _Cell) -> list[Level]:
    found = []
    for about, ratio in cell.family.of_kind(Kind.VALUE).items():
        names = cell.models[about.model], cell.protocols[about.group], cell.protocols[about.other]
        found.append(Level(*cell.key, *names, *as_ratio(ratio), ratio.sign != 0))
    return found


def as_ratio(found: LogRatio, *, turned: bool = False) -> tuple[float | None, float | None, float | None]:
    """A ratio and its ends, or one over it; ``None`` where it does not exist."""
    numbers = (-found.value, -found.high, -found.low) if turned else (found.value, found.low, found.high)
    value, low, high = (known(_exp(number)) for number in numbers)
    return value, low, high


def _exp(number: float) -> float:
    return math.exp(number) if number < 700.0 else math.inf


def known(number: float) -> float | None:
    """``None`` for a number that does not exist."""
    return None if math.isnan(number) else number


def _steadiness(cell: _Cell, protocol: str, found: CrossValidation) -> Steadiness:
    over_all = cell.values(protocol)
    by_fold: dict[str, dict[str, float]] = {}
    for v in found.values_:
        if (v.metric, v.estimator, v.target) == tuple(cell.key):
            by_fold.setdefault(v.fold, {})[v.model] = v.value
    taus = [
        kendall([values[m] for m in cell.models], over_all, _open, _open).tau
        for values in by_fold.values()
        if all(math.isfinite(values.get(m, math.nan)) for m in cell.models)
    ]
    mean = sum(taus) / len(taus) if len(taus) > 1 and len(cell.models) > 1 else None
    return Steadiness(protocol, *cell.key, len(by_fold), mean)


def _open(a: int, b: int) -> int:
    return 0
