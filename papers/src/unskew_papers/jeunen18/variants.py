"""Both protocols otherwise: by the dimensions of SVD, with the first item of a window alone, and by width.

The paper says of the first that results were very comparable, and leaves the second for later. Widths are compared over
the same last week: 28 windows of 6 hours, 7 of a day, one of a week. Narrow windows with fewer than 100 users who have
a past are skipped, and counted.
"""

from __future__ import annotations

from typing import Any

from unskew.core import Progress
from unskew_papers.jeunen18.algorithms import CUTS, I_KNN, SVD, U_KNN
from unskew_papers.jeunen18.joint import tau
from unskew_papers.jeunen18.protocols import LOOCV, SW, joint
from unskew_papers.jeunen18.setting import SHOP, Setting
from unskew_papers.jeunen18.table2 import MAIN, SHOWN
from unskew_papers.record import Above, Below, Record, judged

WIDTHS = {"6h": 28, "1d": 7, "1w": 1}
BY_DAY = (SHOP, "movietweetings")
RANKED = "online-retail"
DIMS = (50, 100)  # fewer than are chosen
REVERSAL = (
    (LOOCV, U_KNN, Above(), "ahead of"),
    (SW, U_KNN, Below(), "behind"),
    (SW, I_KNN, Below(), "behind"),
)


def first_only(setting: Setting, runs: int = 1, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """Recall@k where only each user's first item of a window is relevant, and over that of all items."""
    setting.begin(quick, progress)
    records: list[Record] = []
    ranks: list[Record] = []
    for name in setting.there((SHOP, "online-retail", "movietweetings")):
        first, every = setting.judged(name, SW, first_only=True), setting.judged(name, SW)
        for k in CUTS:
            one, all_items = joint(first, f"recall@{k}"), joint(every, f"recall@{k}")
            for model in SHOWN:
                part = f"first-only/{name}, Recall@k"
                records.append(judged(part, str(k), model, one.of_name(model), se=one.se(model)))
            for model in SHOWN:
                part = f"first-only/{name}, over Recall@k of all items"
                records.append(judged(part, str(k), model, one.of_name(model) / all_items.of_name(model)))
        value, _, low, high = tau(joint(first, MAIN), joint(every, MAIN))
        for column, number in (("τ", value), ("2.5 %", low), ("97.5 %", high)):
            ranks.append(judged("first-only/Kendall's τ with all items, Recall@10", name, column, number))
    return records + ranks


def widths(setting: Setting, runs: int = 1, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """Recall@10 over the last week, by the width of windows."""
    setting.begin(quick, progress)
    records = []
    for name in setting.there(BY_DAY):
        for width, folds in WIDTHS.items():
            unit = setting.judged(name, SW, width=width, folds=folds)
            part = f"widths/{name}, Recall@10 in the last week"
            each = joint(unit, MAIN)
            for model in (model for model in SHOWN if model in each.names):
                records.append(judged(part, width, model, each.of_name(model), se=each.se(model)))
            counts = {"windows": len(unit["folds"]), "skipped": len(unit["skipped"]), "users": sum(unit["judged"])}
            for column, number in counts.items():
                records.append(judged(f"widths/{name}, what was judged", width, column, float(number)))
    return records


def tuning(setting: Setting, runs: int = 1, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """Recall@10 of SVD by its dimensions under both protocols, beside the neighbours that leave-one-out chooses."""
    setting.begin(quick, progress)
    records: list[Record] = []
    for name in setting.there((RANKED,)):
        for number, value in setting.tried(name)[SVD]:
            records.append(judged(f"tuning/{name}, Recall@10 while tuning", str(number), SVD, value))
        found = {protocol: joint(setting.judged(name, protocol), MAIN) for protocol in (LOOCV, SW)}
        for protocol, tuned in found.items():
            fewer = joint(setting.judged(name, protocol, dims=DIMS), MAIN)
            for each, models in ((fewer, fewer.names), (tuned, (SVD, U_KNN, I_KNN))):
                for model in models:
                    part, value = f"tuning/{name}, Recall@10", each.of_name(model)
                    records.append(judged(part, model, protocol, value, se=each.se(model)))
        for protocol, other, rule, way in REVERSAL:
            each = found[protocol]
            column, than = f"as tuned, SVD is {way} {other} under {protocol}", (other, each.of_name(other))
            how: dict[str, Any] = {"rule": rule, "reference": than, "paired_se": each.difference(SVD, other)[1]}
            records.append(judged("tuning/claims", name, column, each.of_name(SVD), **how))
    return records
