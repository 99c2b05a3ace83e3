"""From folds to the result: the same judging as in an evaluation, once pooled and once averaged over folds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from unskew.core.errors import RefusedError
from unskew.core.notice import Notice
from unskew.cross_validation.averaging import Average
from unskew.cross_validation.fold_sums import FoldSums
from unskew.cross_validation.merging import Folds
from unskew.cross_validation.result import CrossValidation, Fold, FoldValue
from unskew.evaluation.planning import SKIP, NoHitsError
from unskew.evaluation.request import Request
from unskew.judging.answer import answer, estimates_of
from unskew.judging.measure import error_per_comparison
from unskew.log import Log
from unskew.metrics import RankingMetric
from unskew.result import MetricTraits, Result
from unskew.split import Skipped

NO_TIPPING = "not computed over folds, since they need all rows at once; evaluate a single fold"
_NUMBER = re.compile(r"\d[\d,.]*")


def answered(
    request: Request, log: Log, split: str, folds: Folds, skipped: Sequence[Skipped], notes: Sequence[str]
) -> CrossValidation:
    """The result over all folds."""
    _refuse(request, folds)
    results = {way: _result(request, log, split, folds, way, skipped) for way in Average}
    _refuse_no_hits(request, results[Average.POOLED])
    values = [value for fold in folds.sums for value in _values(folds, fold)]
    about = tuple(
        Fold(f.label, f.window, f.judged, f.train_rows, f.test_rows, sum(f.left_out.values())) for f in folds.sums
    )
    macro, pooled = results[Average.MACRO], results[Average.POOLED]
    return CrossValidation(split, macro, pooled, about, tuple(values), tuple(skipped), tuple(notes))


def _refuse(request: Request, folds: Folds) -> None:
    """Cells that were asked for and that some fold cannot support; and where nothing is left."""
    lines = [f"fold {label}: {' × '.join(cell)}: {reason}" for cell, (label, reason, _) in _lost(folds).items()]
    if not folds.plan.cells:
        raise RefusedError("no estimate is supported in every fold:\n" + "\n".join(lines), code="not-supported")
    if lines and request.chosen and request.refused == "error":
        raise RefusedError("this log cannot support:\n" + "\n".join(lines) + SKIP, code="not-supported")


def _lost(folds: Folds) -> dict[tuple[str, str, str], tuple[str, str, str]]:
    """Refused cells, by the first fold that refuses each, with the reason and its code."""
    found: dict[tuple[str, str, str], tuple[str, str, str]] = {}
    for fold in folds.sums:
        for r in fold.told["refused"]:
            found.setdefault((r["metric"], r["estimator"], r["target"]), (fold.label, r["reason"], r["code"]))
    return found


def _result(request: Request, log: Log, split: str, folds: Folds, way: Average, skipped: Sequence[Skipped]) -> Result:
    measured = folds.measured(way)
    found = answer(measured, error_per_comparison([measured]))
    return Result(
        estimates=found.estimates,
        verdicts_=found.verdicts,
        weights=found.weights,
        scenarios=found.scenarios,
        inputs=_account(request, log, split, folds, way, skipped),
        warnings=_warnings(folds, found.lost_replicates),
        traits={str(metric): MetricTraits.of(metric) for metric in request.metrics},
    )


def _values(folds: Folds, fold: FoldSums) -> list[FoldValue]:
    """The estimates of one fold."""
    alone = replace(folds, sums=(fold,), replicates=0)
    return [
        FoldValue(fold.label, e.model, e.metric, e.estimator, e.target, e.value, e.low, e.high, e.se, e.hits)
        for e in estimates_of(alone.measured(Average.POOLED))
    ]


def _refuse_no_hits(request: Request, pooled: Result) -> None:
    """As in an evaluation: a table of zeros says nothing of the models."""
    ranked = all(isinstance(metric, RankingMetric) for metric in request.metrics)
    if ranked and all(e.value == 0.0 for e in pooled.estimates):
        raise NoHitsError(
            "no list holds any relevant held-out interaction in any fold: every score of every model is 0, which says "
            "nothing of the models.\nAsk for a larger k, or judge repeats too with candidates='all'.",
            code="no-hits",
        )


def _account(
    request: Request, log: Log, split: str, folds: Folds, way: Average, skipped: Sequence[Skipped]
) -> dict[str, Any]:
    """What was read, judged and asked for, as plain values."""
    told = [fold.told for fold in folds.sums]
    dropped: dict[str, int] = {}
    clicks: dict[str, int] = {}
    for said in told:
        here = {name: count - log.account.dropped.get(name, 0) for name, count in said["dropped"].items()}
        for total, part in ((dropped, {n: c for n, c in here.items() if c}), (clicks, said["clicks_per_user"])):
            for name, count in part.items():
                total[name] = total.get(name, 0) + count
    left_out: dict[str, int] = {}
    for fold in folds.sums:
        for reason, count in fold.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + count
    return {
        "log": {
            "source": log.account.source,
            "rows": len(log),
            "dropped": dict(log.account.dropped),
            "columns": dict(log.account.columns),
        },
        "folds": {
            "split": split,
            "put_together": str(way),
            "judged": len(folds.sums),
            "skipped": len(skipped),
            "held_out_rows": sum(fold.test_rows for fold in folds.sums),
            "dropped": dropped,
            "left_out": left_out,
            "tipping_points": NO_TIPPING,
        },
        "users": {"judged": len(folds.users), "judged_in_folds": sum(fold.judged for fold in folds.sums)},
        "clicks_per_user": clicks,
        "models": {name: {"model": str(model)} for name, model in request.models.items()},
        "settings": {
            "split": split,
            "metrics": [str(m) for m in request.metrics],
            "estimators": list(dict.fromkeys(estimator for estimator, _, _ in folds.sums[0].kept)),
            "targets": told[0]["targets"],
            "propensity": told[0]["propensity"],
            "outcome": None if request.outcome is None else str(request.outcome),
            "feedback": told[0]["feedback"],
            "relevant": request.relevant,
            "candidates": told[0]["candidates"],
            "level": request.level,
            "interval": request.interval,
            "replicates": request.drawn,
            "seed": request.seed,
            "columns": dict(request.columns.given),
        },
        "refused": [
            {
                "metric": cell[0],
                "estimator": cell[1],
                "target": cell[2],
                "reason": f"fold {label}: {reason}",
                "code": code,
            }
            for cell, (label, reason, code) in _lost(folds).items()
        ],
    }


def _warnings(folds: Folds, lost: int) -> tuple[Notice, ...]:
    """What is said of folds, each sentence once, whatever its numbers, with how many folds it is said of."""
    said: dict[str, list[tuple[str, Notice]]] = {}
    for fold in folds.sums:
        for text in fold.told["warnings"]:
            said.setdefault(_NUMBER.sub("0", text), []).append((fold.label, text))
    found = []
    for texts in said.values():
        label, text = texts[0]
        if len(folds.sums) == 1 or (len(texts) == len(folds.sums) and len({text for _, text in texts}) == 1):
            found.append(text)
        else:
            which = f"In {len(texts)} of {len(folds.sums)} folds" if len(texts) > 1 else "In one fold"
            found.append(text.saying(f"{which} ({label}): {text}"))
    if lost:
        text = f"Up to {lost:,} bootstrap replicates had an empty divisor in some fold, and were dropped."
        found.append(Notice(text, code="lost-replicates", replicates=lost))
    return tuple(found)
