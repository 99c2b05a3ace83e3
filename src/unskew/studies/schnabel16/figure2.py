"""Figure 2: how far naive, ips and snips are from the truth as selection grows (α from 1 down to 1/32).

RMSE over draws of the estimates of MSE and DCG@50 (and of MAE, which the paper does not draw), averaged over the five
predictors; propensities known. The paper prints no numbers, but says:

    α = 1      snips is naive; ips pays a little for its weights
    α < 1      ips and snips are nearer to the truth than naive, at α = .25 by orders of magnitude
    MSE        snips is never behind ips;    DCG: both are alike
"""

from __future__ import annotations

import numpy as np

from unskew.engine.store import Progress
from unskew.log.log import Floats
from unskew.studies.record import Above, Below, Near, Record, judged
from unskew.studies.schnabel16.setting import ALPHAS, METRICS, Setting, rmse

RUNS = 50
ORDERS = 10.0  # "orders of magnitude", at the least
ALIKE = Near(relative=0.25)


def run(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """RMSE by α and estimator, and the claims."""
    draws = setting.draws(ALPHAS, range(runs), progress)
    records = []
    for alpha in ALPHAS:
        p = setting.at(alpha).propensity_of[1:]
        found: dict[str, tuple[Floats, Floats]] = {
            "naive": rmse(np.array([draw.naive() for draw in draws[alpha]]), setting.truth),
            "ips": rmse(np.array([draw.ips(p, setting.pairs) for draw in draws[alpha]]), setting.truth),
            "snips": rmse(np.array([draw.snips(p) for draw in draws[alpha]]), setting.truth),
        }
        for m, metric in enumerate(METRICS):
            value = {name: float(both[0][m]) for name, both in found.items()}
            for name, both in found.items():
                records.append(
                    judged(f"figure2/{metric}", f"{alpha:g}", name, value[name], se=float(both[1][m]), runs=runs)
                )
            records += _claims(metric, alpha, value, runs)
    return records


def _claims(metric: str, alpha: float, value: dict[str, float], runs: int) -> list[Record]:
    """What the paper says of this point, each a record of the part ``claims``."""

    def claim(what: str, ours: float, rule: Near | Above | Below, name: str, reference: float) -> Record:
        return judged(
            f"figure2/claims for {metric}", f"{alpha:g}", what, ours, runs=runs, rule=rule, reference=(name, reference)
        )

    naive, ips, snips = value["naive"], value["ips"], value["snips"]
    if alpha == 1.0:
        return [
            claim("snips is naive", snips, Near(relative=1e-9), "naive", naive),
            claim("ips pays", ips, Above(), "naive", naive),
        ]
    claims = [
        claim("ips beats naive", ips, Below(), "naive", naive),
        claim("snips beats naive", snips, Below(), "naive", naive),
    ]
    if metric == "dcg@50":
        claims.append(claim("snips and ips are alike", snips, ALIKE, "ips", ips))
    else:
        claims.append(claim("snips is not behind ips", snips, Below(), "ips", ips))
    if alpha == 0.25:
        claims.append(claim("ips, by orders of magnitude", ips, Below(1.0 / ORDERS), "naive", naive))
        claims.append(claim("snips, by orders of magnitude", snips, Below(1.0 / ORDERS), "naive", naive))
    return claims
