"""One cross-validation of one log by one way of splitting, and what to do where that refuses what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unskew.alignment.sources import Names, as_log
from unskew.core.errors import InputError, RefusedError
from unskew.cross_validation import Average, CrossValidation
from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.merging import Folds
from unskew.cross_validation.run import judge_folds
from unskew.evaluation.read import Stage
from unskew.inference.verdict import Outcome
from unskew.log import Log
from unskew.protocols.comparison import MissingProtocol
from unskew.split import Splits, make_splits

WIDTHS = ("1d", "1w", "1mo")  # of windows, tried in this order where none is asked for
WINDOWS = 30
NAIVE = "naive"
NO_VALUE = "none of these estimators has a single value whose error users tell. Ask for naive, snips or ips."
_WEIGHS = ("propensity", "outcome", "in_sample")  # what naive estimates do not use


@dataclass(frozen=True, eq=False)
class Judged:
    """A result over folds, the folds, and the arguments with which they were judged."""

    result: CrossValidation
    folds: Folds
    ask: dict[str, Any]


def judged(log: Log, models: Any, splits: Splits, ask: dict[str, Any]) -> tuple[Judged | None, list[MissingProtocol]]:
    """Judge a log; where the split refuses what was asked, its naive estimates if these were asked for too."""
    name, estimators = splits.splitter, [str(estimator) for estimator in ask["estimators"]]
    try:
        return _judged(log, models, splits, ask)
    except RefusedError as error:
        others = [estimator for estimator in estimators if estimator != NAIVE]
        if len(others) in (0, len(estimators)):
            return None, [MissingProtocol(name, None, None, None, error.notice)]
        missing = [MissingProtocol(name, None, other, None, error.notice) for other in others]
    plain = {key: value for key, value in ask.items() if key not in _WEIGHS} | {"estimators": [NAIVE]}
    found, more = _judged(log, models, splits, plain)
    return found, missing + more


def _judged(log: Log, models: Any, splits: Splits, ask: dict[str, Any]) -> tuple[Judged, list[MissingProtocol]]:
    folds = judge_folds(log, models, split=splits, **(ask | {"refused": "skip"}))
    result = folds.result()
    refused = [
        MissingProtocol(splits.splitter, r["metric"], r["estimator"], r["target"], r["reason"])
        for r in result.inputs["refused"]
    ]
    return Judged(result, folds.folds, ask), refused


def nothing_judged(missing: Sequence[MissingProtocol]) -> RefusedError:
    """No way of splitting the log could judge anything."""
    reasons = "\n".join(f"{m.protocol}: {m.reason}" for m in missing)
    return RefusedError(f"no protocol can judge these models:\n{reasons}", code="nothing-judged")


def read_once(log: Any, options: dict[str, Any]) -> Log:
    """The log, with what options say of its columns; these options are taken out."""
    names = Names(options.pop("columns", None), ["log"])
    how = {name: options.pop(name) for name in ("feedback", "invalid", "duplicates") if name in options}
    return as_log(log, name="log", columns=names.of_test, **how)


def windows(log: Log) -> tuple[list[Splits], list[MissingProtocol]]:
    """Windows of the narrowest width that judges half of them, else of the one that judges most; or why there are none.

    A log without times has none, of which nothing needs to be said.
    """
    if log.time is None:
        return [], []
    found: list[Splits] = []
    reason: str = ""
    for width in WIDTHS:
        try:
            splits = make_splits(log, f"sliding_window(width={width}, folds={WINDOWS})")
        except InputError as error:
            reason = error.notice
            continue
        if 2 * len(splits) >= WINDOWS:
            return [splits], []
        found.append(splits)
    if not found:
        return [], [MissingProtocol("sliding_window", None, None, None, reason)]
    return [max(found, key=len)], []


def prefixed(say: Stage, name: str) -> Stage:
    """Progress with a name in front."""
    return lambda stage, done, total: say(f"{name}: {stage}", done, total)


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
