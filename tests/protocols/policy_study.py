"""How often policies are said to differ, in worlds where they do not matter and in worlds where they do.

    python -m tests.protocols.policy_study 500

prints, for every strength of the policies (``policy_worlds.py``; 0: they do not matter), in how many worlds
``policy_impact`` says that anything differs, that values differ, that a policy favours a model; and the same with
fitted models taken as given. Stops with an error if policies that do not matter differ more often than 5 % plus three
Monte Carlo errors.
"""

from __future__ import annotations

import math
import sys

import unskew as us
from tests.protocols.policy_worlds import world
from unskew.protocols.impact import PolicyImpact

MODELS = ("most_popular", "item_knn(neighbours=15)", "svd(dim=6)")
SPLIT = "leave_one_out(repeats=2)"
STRENGTHS = (0.0, 0.2, 0.5)
LEVEL = 0.95


def row(strength: float, worlds: int, refits: int) -> tuple[float, float, float]:
    """The shares of worlds in which anything differs, values do, and some model is favoured."""
    found = [us.policy_impact(world(seed, strength=strength), MODELS, SPLIT, refits=refits) for seed in range(worlds)]
    anything = sum(one.differ for one in found) / worlds
    return anything, _share(found, "value"), _share(found, "favour")


def _share(found: list[PolicyImpact], kind: str) -> float:
    return sum(any(d.differs for d in one.differences_ if d.kind == kind) for one in found) / len(found)


def main(worlds: int) -> None:
    """Print the table, and fail where the level is broken."""
    print("| strength | refits | worlds | anything | values | favours |")
    print("| --- | --- | --- | --- | --- | --- |")
    broken = False
    for strength in STRENGTHS:
        for refits in (10, 0):
            number = worlds if strength == 0.0 else max(worlds // 5, 1)
            shares = row(strength, number, refits)
            print(
                f"| {strength} | {refits} | {number} | " + " | ".join(f"{share:.1%}" for share in shares) + " |",
                flush=True,
            )
            most = (1.0 - LEVEL) + 3.0 * math.sqrt(LEVEL * (1.0 - LEVEL) / number)
            broken |= strength == 0.0 and refits > 0 and shares[0] > most
    if broken:
        sys.exit("policies that do not matter differ too often")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
