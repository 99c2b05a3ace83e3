"""Figure 2: how far naive, ips and snips are from the truth as selection grows (α from 1 down to 1/32).

RMSE over draws of the estimates of MSE and DCG@50 (and of MAE, which the paper does not draw), averaged over the five
predictors; propensities known. The paper prints no numbers, but says:

    α = 1      snips is naive; ips pays a little for its weights
    α < 1      ips and snips are nearer to the truth than naive, at α = .25 by orders of magnitude
    MSE        snips is never behind ips;    DCG: both are alike
"""

from __future__ import annotations

from unskew.core import Progress
from unskew_papers.record import Above, Below, Near, Record, judged
from unskew_papers.repeated import Repeated, claim, shown
from unskew_papers.schnabel16.setting import ALPHAS, METRICS, Setting, rmse

RUNS = 50
ORDERS = 10.0  # "orders of magnitude", at the least
ALIKE = Near(relative=0.25)


def run(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """RMSE by α and estimator, and the claims."""
    draws = setting.draws(ALPHAS, range(runs), progress)
    records = []
    for alpha in ALPHAS:
        estimates = setting.estimates(draws[alpha], setting.at(alpha).propensity_of[1:])
        found = {name: rmse(values, setting.truth) for name, values in estimates.items()}
        for m, metric in enumerate(METRICS):
            each = {name: by_metric[m] for name, by_metric in found.items()}
            records += [shown(f"figure2/{metric}", f"{alpha:g}", name, error) for name, error in each.items()]
            records += _claims(metric, alpha, each)
    return records


def _claims(metric: str, alpha: float, found: dict[str, Repeated]) -> list[Record]:
    """What the paper says of this point, each a record of the part ``claims``."""
    part, row = f"figure2/claims for {metric}", f"{alpha:g}"

    def claimed(what: str, name: str, rule: Near | Above | Below, than: str) -> Record:
        return claim(part, row, what, found[name], rule, than, found[than])

    if alpha == 1.0:
        snips, naive = found["snips"], ("naive", found["naive"].value)
        same = Near(relative=1e-9)  # draw by draw: chance has no part in it
        exact = judged(part, row, "snips is naive", snips.value, runs=snips.runs, rule=same, reference=naive)
        return [exact, claimed("ips pays", "ips", Above(), "naive")]
    claims = [
        claimed("ips beats naive", "ips", Below(), "naive"),
        claimed("snips beats naive", "snips", Below(), "naive"),
    ]
    if metric == "dcg@50":
        claims.append(claimed("snips and ips are alike", "snips", ALIKE, "ips"))
    else:
        claims.append(claimed("snips is not behind ips", "snips", Below(), "ips"))
    if alpha == 0.25:
        claims.append(claimed("ips, by orders of magnitude", "ips", Below(1.0 / ORDERS), "naive"))
        claims.append(claimed("snips, by orders of magnitude", "snips", Below(1.0 / ORDERS), "naive"))
    return claims
