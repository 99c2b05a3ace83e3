"""Table 2 with one thing changed at a time, and what the paper does not report: how often a *verdict* is wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unskew.core import Progress
from unskew_papers.gs23.printed import COAT, CUTS
from unskew_papers.gs23.setting import ANCESTOR, IPS, OURS, Setting, Way
from unskew_papers.gs23.tables import METRICS, VALUES, taus
from unskew_papers.record import Record, judged
from unskew_papers.recovery import Question
from unskew_papers.repeated import averaged


class Variant(NamedTuple):
    """A setting of Table 2: whether models learn from ratings, and which random pairs count, besides the way."""

    way: Way = ANCESTOR
    values: bool = True
    candidates: str = "unseen"


VARIANTS = {
    "as in Table 2": Variant(),
    "MF and SVD at Cornac's rate, .01": Variant(ANCESTOR._replace(training="cornac")),
    "popularity of the training part": Variant(ANCESTOR._replace(whole=False)),
    "strata of as many pairs each": Variant(ANCESTOR._replace(equal=False)),
    "rate, popularity and strata, all three": Variant(OURS),
    "all three, and random pairs of the training part count as misses": Variant(OURS, candidates="all"),
    "all three, and 1 for every like": Variant(OURS, values=False),
    "all three, and epochs by validation curves": Variant(OURS._replace(training="curves")),
}
VERDICTS = (
    OURS.question("gs23's", list(OURS.estimators.values())),
    Question("γ = 1", (IPS,), "popularity(gamma=1)", target=("pooled",)),
    Question("likes only, as unskew asks", ("exposure_path",), target=("pooled",)),
)
MEASURES = {
    "right": "right",
    "wrong": "wrong",
    "depends": "depends",
    "undecided": "undecided",
    "alone_right": "right, each pair by itself",
    "alone_wrong": "wrong, each pair by itself",
    "coverage": "interval holds the truth",
    "widened": "with the truth's own error",
}


def variants(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """τ in every variant, and how far all of them are from the paper's."""
    records = []
    for name, (way, values, candidates) in VARIANTS.items():
        asked = way.question(VALUES, list(way.estimators.values()), verdicts=False)
        models = setting.models(quick, values=values, training=way.training)
        how: dict[str, Any] = {"candidates": candidates, "metrics": METRICS, "progress": progress}
        result, far = setting.study(setting.coat(), models, [asked], runs, **how), []
        for called, estimator in way.estimators.items():
            for cut, metric, paper in zip(CUTS, METRICS, COAT[called], strict=True):
                each = taus(result, metric, estimator)
                records.append(averaged(f"variants/{called}", name, f"Recall@{cut}", each))
                far.append(each.mean() - paper)
        rms = float(np.sqrt(np.mean(np.square(far))))
        records.append(judged("variants/all 15", name, "root mean square deviation from the paper", rms, runs=runs))
    return records


def verdicts(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Right and wrong among truly different pairs of 25 models."""
    models = setting.models(True, training=OURS.training)
    result = setting.study(setting.coat(), models, VERDICTS, runs, metrics=METRICS, progress=progress)
    records = []
    for metric in METRICS:
        own = [row for row in result.draw_scores if row.metric == metric]
        lines = dict.fromkeys((row.question, row.estimator, row.target) for row in own)
        for line in lines:
            rows = [row for row in own if (row.question, row.estimator, row.target) == line]
            question, estimator, target = line
            for measure, told in MEASURES.items():
                values = 100.0 * np.array([getattr(row, measure) for row in rows])
                if np.isfinite(values).all():
                    records.append(averaged(f"verdicts/{metric}", f"{estimator}, {target} ({question})", told, values))
    return records
