"""How much does each logging policy overstate each algorithm? Recall in the log over recall of all that was wanted.

A policy favours the algorithm that it overstates most (``shop/overstatement.py``). That compares a log with the truth
behind it, where ratios between policies (Table 3) compare logs that also teach models differently. Policies serve a
third of the users each; worlds differ in how much is found without the page (``SEARCHES``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.jeunen18.algorithms import I_KNN, POP, POP_N, SVD, U_KNN
from unskew_papers.jeunen18.setting import Setting
from unskew_papers.jeunen18.table3 import OWN
from unskew_papers.record import Above, Record
from unskew_papers.repeated import Repeated, averaged, claim
from unskew_papers.shop import POLICIES, ShopOverTime, overstatement

RUNS, QUICK_RUNS = 20, 3
WEEK = 7
SEARCHES = (5.0, 1.0)
THIRDS = tuple(policy._replace(share=1.0 / len(POLICIES)) for policy in POLICIES)
MODELS = {
    POP: "most_popular",
    SVD: "svd(dim=30)",
    U_KNN: "user_knn(neighbours=200, votes=count)",
    I_KNN: "item_knn(neighbours=50)",  # the policy's own
    POP_N: "recently_popular(last=1000)",
}


def run(setting: Setting, runs: int = RUNS, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """By policy and algorithm, averaged over worlds; each policy's own algorithm against the others."""
    setting.begin(quick, progress)
    records: list[Record] = []
    for search in SEARCHES:
        usual = replace(setting.small, search=search, future=0, policies=THIRDS)
        keys = [{"overstated": sorted(asdict(usual).items()), "models": MODELS, "seed": seed} for seed in range(runs)]

        def make_world(key: Mapping[str, Any], usual: ShopOverTime = usual) -> dict[str, Any]:
            return overstatement(replace(usual, seed=key["seed"]), MODELS, usual.days - WEEK, WEEK)

        where = f"{search:g} items found without the page"
        worlds = setting.store.map(keys, make_world, workers=setting.workers, progress=progress, stage=where)
        for policy, own in OWN.items():
            times = {name: np.array([each[policy][place] for each in worlds]) for place, name in enumerate(MODELS)}
            mine, column = Repeated.mean(times[own]), f"'{policy}' overstates its own {own} more than the others"
            for name, values in times.items():
                records.append(averaged(f"overstated/{where}", f"rows of '{policy}'", name, values))
                if name != own:
                    row, theirs = f"{name}, {where}", Repeated.mean(values)
                    records.append(claim("overstated/claims", row, column, mine, Above(), f"{name}'s", theirs))
    return records
