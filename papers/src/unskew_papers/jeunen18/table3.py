"""Table 3 and Figure 2: both protocols on the rows of each logging policy of the shop.

The paper's undisclosed policy π_u is recently_popular(days=7) in the shop; π_p and π_i are popularity and item-kNN as
in the paper. Settings are those of the whole log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import hypot
from typing import Any

import numpy as np

from unskew.core import Progress
from unskew_papers.jeunen18 import printed
from unskew_papers.jeunen18.algorithms import CUTS, I_KNN, POP, POP_N, SVD, U_KNN, WITHOUT_TIME
from unskew_papers.jeunen18.joint import Joint, kendall, tau
from unskew_papers.jeunen18.protocols import LOOCV, SW, joint
from unskew_papers.jeunen18.setting import SHOP, Setting
from unskew_papers.jeunen18.table2 import MAIN, SHOWN, opposed, values
from unskew_papers.record import Above, Below, Record, Rule, judged

OWN = {"popular": POP, "recent": POP_N, "item_knn": I_KNN}  # the algorithm that resembles each policy
BESIDE = (SVD, U_KNN)  # which resemble none
DIMS = (10, 30, 100)


def run(setting: Setting, runs: int = 1, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """Recall@k by policy and protocol, whether each policy favours its own algorithm, and how policies rank."""
    setting.begin(quick, progress)
    policies = [policy.name for policy in setting.shop.policies]
    records: list[Record] = []
    claims: list[Record] = []
    for protocol in (LOOCV, SW):
        units = {policy: setting.judged(SHOP, protocol, policy=policy) for policy in policies}
        for policy, unit in units.items():
            theirs = printed.TABLE_3.get(policy, {}).get(protocol)
            records += values(f"table3/{policy}, {protocol}", unit, theirs)
        by_policy = {policy: joint(unit, MAIN) for policy, unit in units.items()}
        for beside in BESIDE:
            claims += favours(protocol, by_policy, beside)
        claims += rankings(protocol, units, by_policy)
        for policy in policies:
            more = joint(setting.judged(SHOP, protocol, policy=policy, dims=DIMS), MAIN)
            for model in more.names:
                part = f"table3/Recall@10 of I-kNN over that of SVD by its dimensions, {protocol}"
                claims.append(judged(part, policy, model, by_policy[policy].of_name(I_KNN) / more.of_name(model)))
    return records + claims


def favours(protocol: str, by_policy: Mapping[str, Joint], beside: str) -> Iterator[Record]:
    """An algorithm, over one that resembles no policy, does better on the rows of its own policy than elsewhere."""
    for own, algorithm in OWN.items():
        if own not in by_policy or algorithm not in by_policy[own].names:
            continue
        mine = by_policy[own].ratio(algorithm, beside)
        for other in (policy for policy in by_policy if policy != own):
            there = by_policy[other].ratio(algorithm, beside)
            yield judged(
                f"table3/claims, {protocol}",
                f"{own} against {other}",
                f"{algorithm} over {beside}, Recall@10, is larger where '{own}' wrote the log",
                mine[0],
                rule=Above(),
                reference=(f"where '{other}' did", there[0]),
                paired_se=hypot(mine[1], there[1]),
            )
    for policy, found in by_policy.items():
        theirs = _printed(policy, protocol)
        for algorithm in (model for model in SHOWN if model in found.names):
            value, error = found.ratio(algorithm, beside)
            paper = theirs[algorithm] / theirs[beside] if theirs else None
            part = f"table3/Recall@10 over that of {beside}, {protocol}"
            yield judged(part, policy, algorithm, value, paper=paper, se=error)


def rankings(protocol: str, units: Mapping[str, Mapping[str, Any]], by_policy: Mapping[str, Joint]) -> Iterator[Record]:
    """Kendall's τ between policies: by leave-one-out they rank alike (the paper), by SW-EVAL they do not."""
    names = WITHOUT_TIME if protocol == LOOCV else next(iter(by_policy.values())).names
    pairs = len(list(combinations(names, 2)))
    for one, other in combinations(by_policy, 2):
        value, error, low, high = tau(by_policy[one].only(names), by_policy[other].only(names))
        theirs = [[_printed(policy, protocol).get(name, 0.0) for name in names] for policy in (one, other)]
        paper = float(kendall(*np.array(theirs)[:, None])[0]) if np.any(theirs) else None
        part = f"table3/Kendall's τ between policies, Recall@10, {protocol}"
        opposite = float(len(opposed(units[one], units[other], names)))
        yield judged(part, f"{one} and {other}", "τ", value, paper=paper, se=error)
        for column, number in (("2.5 %", low), ("97.5 %", high), ("pairs decided both ways", opposite)):
            yield judged(part, f"{one} and {other}", column, number)
        rule: Rule = Above() if protocol == LOOCV else Below()
        column = "policies rank alike" if protocol == LOOCV else "policies rank differently"
        than = ("τ with half a pair swapped", 1.0 - 1.0 / pairs)
        part = f"table3/claims on rankings, {protocol}"
        yield judged(part, f"{one} and {other}", column, value, rule=rule, reference=than, paired_se=error)


def _printed(policy: str, protocol: str) -> dict[str, float]:
    """Recall@10 as printed; nothing where it is not."""
    place = CUTS.index(10)
    return {model: row[place] for model, row in printed.TABLE_3.get(policy, {}).get(protocol, {}).items()}
