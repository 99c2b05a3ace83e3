"""Table 3 and Figure 2: both protocols on the rows of each logging policy of the shop.

The paper's undisclosed policy π_u is recently_popular(days=7) in the shop; π_p and π_i are popularity and item-kNN as
in the paper. Settings are those of the whole log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import hypot
from typing import Any

from unskew.core import Progress
from unskew_papers.jeunen18 import printed
from unskew_papers.jeunen18.algorithms import I_KNN, POP, POP_N, WITHOUT_TIME
from unskew_papers.jeunen18.joint import Joint, tau
from unskew_papers.jeunen18.protocols import LOOCV, SW, joint
from unskew_papers.jeunen18.setting import SHOP, Setting
from unskew_papers.jeunen18.table2 import MAIN, SHOWN, values
from unskew_papers.record import Above, Record, judged

OWN = {"popular": POP, "recent": POP_N, "item_knn": I_KNN}  # the algorithm that resembles each policy


def run(setting: Setting, runs: int = 1, quick: bool = False, progress: Progress | None = None) -> list[Record]:
    """Recall@k by policy and protocol, and whether each policy favours its own algorithm."""
    setting.begin(quick, progress)
    policies = [policy.name for policy in setting.shop.policies]
    records: list[Record] = []
    units: dict[str, dict[str, dict[str, Any]]] = {LOOCV: {}, SW: {}}
    for policy in policies:
        for protocol, found in units.items():
            found[policy] = setting.judged(SHOP, protocol, policy=policy)
            part = f"table3/{policy}, {protocol}"
            records += values(part, found[policy], printed.TABLE_3.get(policy, {}).get(protocol))
    for protocol, found in units.items():
        records += favours(protocol, {policy: joint(unit, MAIN) for policy, unit in found.items()})
    for protocol, found in units.items():
        records += rankings(protocol, {policy: joint(unit, MAIN) for policy, unit in found.items()})
    return records


def favours(protocol: str, by_policy: Mapping[str, Joint]) -> Iterator[Record]:
    """An algorithm, over SVD, which resembles no policy, does better on the rows of its own policy than elsewhere."""
    for own, algorithm in OWN.items():
        if own not in by_policy or algorithm not in by_policy[own].names:
            continue
        mine = relative(by_policy[own], algorithm)
        for other, values_there in by_policy.items():
            if other == own:
                continue
            there = relative(values_there, algorithm)
            yield judged(
                f"table3/claims, {protocol}",
                f"{own} against {other}",
                f"{algorithm} over SVD, Recall@10, is larger where '{own}' wrote the log",
                mine[0],
                rule=Above(),
                reference=(f"where '{other}' did", there[0]),
                paired_se=hypot(mine[1], there[1]),
            )
    for policy, found in by_policy.items():
        for algorithm in (model for model in SHOWN if model in found.names):
            value, error = relative(found, algorithm)
            yield judged(f"table3/Recall@10 over that of SVD, {protocol}", policy, algorithm, value, se=error)


def relative(found: Joint, algorithm: str) -> tuple[float, float]:
    """A value over that of SVD, which resembles no policy."""
    return found.ratio(algorithm, "SVD")


def rankings(protocol: str, by_policy: Mapping[str, Joint]) -> Iterator[Record]:
    """Kendall's τ between policies."""
    names = WITHOUT_TIME if protocol == LOOCV else next(iter(by_policy.values())).names
    policies = list(by_policy)
    for n, one in enumerate(policies):
        for other in policies[n + 1 :]:
            value, low, high = tau(by_policy[one].only(tuple(names)), by_policy[other].only(tuple(names)))
            for column, number in (("τ", value), ("2.5 %", low), ("97.5 %", high)):
                part = f"table3/Kendall's τ between policies, Recall@10, {protocol}"
                yield judged(part, f"{one} and {other}", column, number)
