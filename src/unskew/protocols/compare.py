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

from unskew.alignment.sources import Names, as_log
from unskew.bounds import word
from unskew.cross_validation import Average, CrossValidation
from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.merging import Folds
from unskew.cross_validation.run import judge_folds
from unskew.cross_validation.user_errors import cells_of, joined, user_errors
from unskew.errors import InputError, RefusedError
from unskew.evaluation.read import Stage
from unskew.evaluation.run import reporter
from unskew.inference.log_contrasts import LogRatio
from unskew.inference.verdict import Outcome
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
from unskew.split import Splits, Splitter, make, make_splits

WIDTHS = ("1d", "1w", "1mo")  # of windows, tried in this order where none is asked for
WINDOWS = 30
NAIVE = "naive"
NO_VALUE = "none of these estimators has a single value whose error users tell. Ask for naive, snips or ips."


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
        raise InputError("several protocols are compared: give protocols=[…] instead of split=….")
    say = reporter(progress)
    whole = read_once(log, options)
    asked = _protocols(whole, protocols)
    shared = options | {"level": level, "store": store, "workers": workers}
    results: dict[str, CrossValidation] = {}
    folds: dict[str, Folds] = {}
    missing: list[MissingProtocol] = []
    for name, splits in asked.items():
        told = _prefixed(say, name)
        found, kept, lost = _judged(whole, models, name, splits, shared | {"progress": told}, list(estimators))
        missing += lost
        if found is not None and kept is not None:
            results[name], folds[name] = found, kept
    if not results:
        reasons = "\n".join(f"{m.protocol}: {m.reason}" for m in missing)
        raise RefusedError(f"no protocol can judge these models:\n{reasons}")
    questions = {name: make(name).question for name in results}
    return _put_together(results, folds, questions, Average(average), level, missing)


def read_once(log: Any, options: dict[str, Any]) -> Log:
    """The log, with what options say of its columns; these options are taken out."""
    names = Names(options.pop("columns", None))
    how = {name: options.pop(name) for name in ("feedback", "invalid", "duplicates") if name in options}
    return as_log(log, name="log", columns=names.of_test, **how)


def _protocols(log: Log, asked: Sequence[str | Splitter] | None) -> dict[str, Splits]:
    """The splits of every protocol, by canonical string."""
    if asked is None:
        found = [make_splits(log, "leave_one_out(repeats=10)"), make_splits(log, "holdout(share=0.2)")]
        found += [] if log.time is None else windows(log)
    else:
        if isinstance(asked, str | Splitter) or not asked:
            example = "['leave_one_out', 'sliding_window(width=1w)']"
            raise InputError(f"protocols are a list of splitters, such as {example}.")
        found = [make_splits(log, splitter) for splitter in asked]
    named = {splits.splitter: splits for splits in found}
    if len(named) < len(found):
        twice = next(splits.splitter for splits in found if sum(s.splitter == splits.splitter for s in found) > 1)
        raise InputError(f"the protocol '{twice}' is asked for twice.")
    return named


def windows(log: Log) -> list[Splits]:
    """Windows of the narrowest width that judges half of them, else of the one that judges most."""
    found: list[Splits] = []
    for width in WIDTHS:
        try:
            splits = make_splits(log, f"sliding_window(width={width}, folds={WINDOWS})")
        except InputError:
            continue  # no window has enough users
        if 2 * len(splits) >= WINDOWS:
            return [splits]
        found.append(splits)
    return [max(found, key=len)] if found else []


def _prefixed(say: Stage, name: str) -> Stage:
    return lambda stage, done, total: say(f"{name}: {stage}", done, total)


def _judged(
    log: Log, models: Any, name: str, splits: Splits, options: dict[str, Any], estimators: list[Any]
) -> tuple[CrossValidation | None, Folds | None, list[MissingProtocol]]:
    """One protocol; where it refuses what was asked, its naive estimates if these were asked for too."""
    ask = options | {"estimators": estimators, "refused": "skip"}
    try:
        judged = judge_folds(log, models, split=splits, **ask)
        found = judged.result()
    except RefusedError as error:
        lost = [MissingProtocol(name, None, None, None, str(error))]
        if NAIVE not in [str(e) for e in estimators] or estimators == [NAIVE]:
            return None, None, lost
        ask = {key: value for key, value in ask.items() if key not in ("propensity", "outcome", "in_sample")}
        judged = judge_folds(log, models, split=splits, **(ask | {"estimators": [NAIVE]}))
        others = [str(e) for e in estimators if str(e) != NAIVE]
        return judged.result(), judged.folds, [MissingProtocol(name, None, other, None, str(error)) for other in others]
    refused = found.inputs["refused"]
    missing = [MissingProtocol(name, r["metric"], r["estimator"], r["target"], r["reason"]) for r in refused]
    return found, judged.folds, missing


@dataclass(frozen=True, eq=False)
class _Cell:
    """One metric, estimator and target by the protocols that have it."""

    key: Key
    protocols: tuple[str, ...]
    models: tuple[str, ...]
    family: Family
    signs: Mapping[tuple[str, int, int], int]

    def values(self, protocol: str) -> list[float]:
        place, size = self.protocols.index(protocol), len(self.models)
        return [float(v) for v in self.family.found.values[place * size : (place + 1) * size]]

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
        raise RefusedError(NO_VALUE)
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
    lower = results[there[0]].macro.metrics[key.metric].lower_is_better
    signs = {(name, *pair): sign for name in there for pair, sign in signs_of(results[name], key, way, models).items()}
    return _Cell(key, there, models, Family(len(there), len(models), found, level, lower), signs)


def signs_of(found: CrossValidation, key: Key, way: Average, models: Sequence[str]) -> dict[tuple[int, int], int]:
    """Who is ahead by the cross-validation's own verdicts, both ways round; 0 where that is undecided."""
    result = found.macro if way is Average.MACRO else found.pooled
    signs: dict[tuple[int, int], int] = {}
    for v in result.verdicts_:
        if (v.metric, v.estimator, v.target) == tuple(key):
            outcome = Outcome(v.verdict)
            sign = 0 if not outcome.decided else 1 if outcome.first else -1
            a, b = models.index(v.a), models.index(v.b)
            signs[a, b], signs[b, a] = sign, -sign
    return signs


def _values(cell: _Cell, place: int, found: CrossValidation, way: Average) -> list[ProtocolValue]:
    rows = {row.model: row for row in found.rows() if (row.metric, row.estimator, row.target) == tuple(cell.key)}
    values = cell.values(cell.protocols[place])
    sign = -1.0 if cell.family.lower_is_better else 1.0
    out = []
    for m, model in enumerate(cell.models):
        row = rows[model]
        shown = (
            (row.macro, row.macro_low, row.macro_high)
            if way is Average.MACRO
            else (row.pooled, row.pooled_low, row.pooled_high)
        )
        own = [v for v in found.values_ if (v.model, v.metric, v.estimator, v.target) == (model, *cell.key)]
        errors = [v.se for v in own if math.isfinite(v.se)]
        rank = None if not math.isfinite(values[m]) else 1 + sum(sign * v > sign * values[m] for v in values)
        ratio, low, high = (known(number) for number in cell.family.to_best(place, m))
        out.append(
            ProtocolValue(
                cell.protocols[place],
                model,
                *cell.key,
                *shown,
                rank=rank,
                ratio=ratio,
                ratio_low=low,
                ratio_high=high,
                folds=row.folds,
                folds_won=row.folds_won,
                fold_sd=known(row.fold_sd),
                chance_sd=math.sqrt(sum(e * e for e in errors) / len(errors)) if len(errors) > 1 else None,
            )
        )
    return out


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
