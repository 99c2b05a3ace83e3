"""What the paper leaves open, tried out on Coat: what models learn from, how long they train, which pairs are true.

And what it does not report: how often a *verdict* is wrong, with the default call of unskew beside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.gs23.printed import CALLED, COAT, CUTS
from unskew_papers.gs23.setting import Setting
from unskew_papers.gs23.tables import ASKED, METRICS, TOLERANCE, taus
from unskew_papers.record import Near, Record
from unskew_papers.recovery import Question
from unskew_papers.repeated import averaged

PLAIN = replace(ASKED, verdicts=False)
VARIANTS: dict[str, tuple[dict[str, bool], str]] = {  # options of the models, and which random pairs count
    "as in Table 2": ({}, "unseen"),
    "epochs by validation curves": ({"cornac": False}, "unseen"),
    "1 for every like": ({"values": False}, "unseen"),
    "1 for every like, epochs by validation curves": ({"values": False, "cornac": False}, "unseen"),
    "random pairs of the training part count as misses": ({}, "all"),
}
VERDICTS = (
    replace(ASKED, name="gs23's"),
    Question("γ = 1", ("snips",), "popularity(gamma=1)", target=("pooled",)),
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
    """τ in every variant."""
    records = []
    for name, (options, candidates) in VARIANTS.items():
        how: dict[str, Any] = {"candidates": candidates, "metrics": METRICS, "progress": progress}
        result = setting.study(setting.coat(), setting.models(quick, **options), [PLAIN], runs, **how)
        for estimator, called in CALLED.items():
            for place, (cut, metric) in enumerate(zip(CUTS, METRICS, strict=True)):
                values = taus(result, metric, estimator)
                paper = COAT[estimator][place]
                rule = {"paper": paper, "rule": Near(absolute=TOLERANCE)}
                records.append(averaged(f"variants/{called}", name, f"Recall@{cut}", values, **rule))
    return records


def verdicts(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Right and wrong among truly different pairs of 25 models."""
    result = setting.study(setting.coat(), setting.models(True), VERDICTS, runs, metrics=METRICS, progress=progress)
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
