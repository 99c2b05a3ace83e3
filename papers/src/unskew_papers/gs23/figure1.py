"""Figure 1: τ at Recall@100 over the number of strata, with naive and IPS beside; powers of popularity; strata.

With one stratum gs weighs all pairs of a user alike and is naive; with ever more strata every pair has its own weight
and gs is IPS (Proposition 4.1). Strata are made three ways: of as many held-out pairs each (the default), of as many
items of the catalogue each, and of equal width in the propensity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from unskew.core import Progress
from unskew.log import Log
from unskew_papers.arrays import Floats
from unskew_papers.gs23.printed import CUTS, GAMMAS, IPS, NAIVE, STRATA
from unskew_papers.gs23.setting import Setting
from unskew_papers.gs23.tables import METRICS
from unskew_papers.record import Below, Record, judged
from unskew_papers.recovery import Draw, Paired, Question, StudyResult
from unskew_papers.recovery.questions import Lists, Unit
from unskew_papers.repeated import averaged

METRIC = "recall@100"
GAMMA = "popularity(gamma=2)"
COLUMN = "catalogue"
BY_COLUMN = f"gs(strata=column({COLUMN}))"


@dataclass(frozen=True)
class ByCatalogue(Question):
    """Strata of as many items of the catalogue each, by their counts in training; as a column of the test log."""

    count: int = 5

    def key(self) -> dict[str, Any]:
        """With the number of strata."""
        return super().key() | {"catalogue": self.count}

    def ask(self, draw: Draw, lists: Lists, metrics: Sequence[str], targets: Sequence[str]) -> Unit:
        """With the column."""
        marked = replace(draw.test, columns=dict(draw.test.columns) | {COLUMN: self._strata(draw.train, draw.test)})
        return super().ask(replace(draw, test=marked), lists, metrics, targets)

    def _strata(self, train: Log, test: Log) -> pl.Series:
        seen = np.bincount(train.item, minlength=len(train.items))
        group = self.count * np.argsort(np.argsort(seen, kind="stable")) // len(seen)
        of_item = np.append(group, 0)[train.items.encode(test.items.values)]  # never seen in training: the rarest
        return pl.Series(COLUMN, of_item[test.item].astype(str))


def figure_1(
    part: str, source: Paired, setting: Setting, runs: int, quick: bool, progress: Progress | None
) -> list[Record]:
    """τ over the number of strata, and over everything else that the paper leaves open."""
    counts = STRATA[::2] if quick else STRATA
    many = tuple(f"gs(strata={count})" for count in counts)
    wide = tuple(f"gs(strata=equal_width({count}))" for count in counts)
    questions = [
        Question("strata", (NAIVE, IPS, *many, *wide), GAMMA, verdicts=False, metrics=(METRIC,)),
        *(
            ByCatalogue(f"catalogue {n}", (BY_COLUMN,), GAMMA, verdicts=False, metrics=(METRIC,), count=n)
            for n in counts
        ),
        *(
            Question(f"γ = {gamma:g}", (IPS, "gs(strata=5)"), f"popularity(gamma={gamma:g})", verdicts=False)
            for gamma in GAMMAS
        ),
    ]  # fmt: skip
    result = setting.study(source, setting.models(quick), questions, runs, metrics=METRICS, progress=progress)
    records = []
    boxes = [("naive", NAIVE), *zip(map(str, counts), many, strict=True), ("IPS", IPS)]
    for called, estimator in boxes:
        records += _each(f"{part}/τ of every seed", called, _of(result, "strata", estimator))
    for kind, made in (("pairs", many), ("equal width", wide)):
        for count, estimator in zip(counts, made, strict=True):
            values = _of(result, "strata", estimator)
            records.append(averaged(f"{part}/τ at Recall@100", str(count), f"gs, {kind}", values))
    for count in counts:
        values = _of(result, f"catalogue {count}", BY_COLUMN)
        records.append(averaged(f"{part}/τ at Recall@100", str(count), "gs, catalogue", values))
    for name, called in ((NAIVE, "naive"), (IPS, "IPS")):
        values = _of(result, "strata", name)
        records += [averaged(f"{part}/τ at Recall@100", str(count), called, values) for count in counts]
    records += _ends(part, result, many)
    for gamma in GAMMAS:
        for estimator, called in ((IPS, "IPS"), ("gs(strata=5)", "GS")):
            for cut, metric in zip(CUTS, METRICS, strict=True):
                rows = [
                    r for r in result.draw_scores
                    if (r.question, r.metric, r.estimator) == (f"γ = {gamma:g}", metric, estimator)
                ]  # fmt: skip
                values = np.array([row.tau for row in rows])
                records.append(averaged(f"{part}/τ by γ", f"{called}, γ = {gamma:g}", f"Recall@{cut}", values))
    return records


def _of(result: StudyResult, question: str, estimator: str) -> Floats:
    rows = [r for r in result.draw_scores if (r.question, r.metric, r.estimator) == (question, METRIC, estimator)]
    return np.array([row.tau for row in rows])


def _each(part: str, row: str, values: Floats) -> list[Record]:
    return [judged(part, row, f"seed {seed}", float(value)) for seed, value in enumerate(values)]


def _ends(part: str, result: StudyResult, many: Sequence[str]) -> list[Record]:
    """Proposition 4.1: one stratum is naive exactly, and the most strata are nearer to IPS than to naive."""
    naive, ips = (_of(result, "strata", name) for name in (NAIVE, IPS))
    one, most = (_of(result, "strata", many[place]) for place in (0, -1))
    return [
        judged(
            f"{part}/ends", "1 stratum", "|τ − τ of naive| is nothing", float(np.abs(one - naive).max()),
            runs=len(naive), rule=Below(), reference=("rounding", 1e-9),
        ),
        judged(
            f"{part}/ends", "most strata", "|τ − τ of IPS| is at most |τ − τ of naive|",
            float(np.abs(most - ips).mean()),
            runs=len(naive), rule=Below(), reference=("|τ − τ of naive|", float(np.abs(most - naive).mean())),
        ),
    ]  # fmt: skip


def on_coat(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Figure 1b."""
    return figure_1("figure1b", setting.coat(), setting, runs, quick, progress)


def on_yahoo(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Figure 1a, on Yahoo! R3 where there is a copy, else on a world of its size."""
    return figure_1("figure1a", setting.yahoo(), setting, runs, quick, progress)
