"""How often policies are said to differ, in worlds where they do not matter and in worlds where they do.

    python -m tests.protocols.policy_study 500                    all settings, each with its rows of the table
    python -m tests.protocols.policy_study 500 windows            one of them

prints, for every setting and strength of the policies (``policy_worlds.py``; 0: they do not matter), in how many worlds
``policy_impact`` says that anything differs, that values differ, that a policy favours a model; and the same with
fitted models taken as given (refits=0). Policies that matter are drawn in a fifth of the worlds. Stops with an error if
policies that do not matter differ more often than 5 % plus three Monte Carlo errors.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import unskew as us
from tests.protocols.policy_worlds import world
from unskew.protocols.impact import PolicyImpact

MODELS = ("most_popular", "item_knn(neighbours=15)", "svd(dim=6)")
LEVEL = 0.95


class Setting(NamedTuple):
    """How many users two policies have together, how they are judged, and how strong policies are."""

    users: int
    split: str
    strengths: tuple[float, ...]
    min_users: int = 20


SETTINGS = {
    "leave_one_out": Setting(600, "leave_one_out(repeats=2)", (0.0, 0.2, 0.5)),
    "windows": Setting(600, "sliding_window(width=1w, folds=3, min_users=40)", (0.0, 0.5)),
    "small_parts": Setting(120, "leave_one_out(repeats=2)", (0.0, 0.5, 1.5)),
    "small_windows": Setting(120, "sliding_window(width=1w, folds=3, min_users=10)", (0.0, 1.5), min_users=5),
}


def row(setting: Setting, strength: float, worlds: int, refits: int) -> tuple[float, float, float]:
    """The shares of worlds in which anything differs, values do, and some model is favoured."""
    users, split, least = setting.users, setting.split, setting.min_users
    found = [
        us.policy_impact(world(seed, users, strength=strength), MODELS, split, refits=refits, min_users=least)
        for seed in range(worlds)
    ]
    anything = sum(one.differ for one in found) / worlds
    return anything, _share(found, "value"), _share(found, "favour")


def _share(found: list[PolicyImpact], kind: str) -> float:
    return sum(any(d.differs for d in one.differences_ if d.kind == kind) for one in found) / len(found)


def main(worlds: int, settings: list[str]) -> None:
    """Print the table, and fail where the level is broken."""
    print("| split | strength | refits | worlds | anything differs | values | favours |")
    print("|---|---|---|---|---|---|---|")
    broken = False
    for name in settings:
        for strength in SETTINGS[name].strengths:
            for refits in (10, 0) if strength == 0.0 else (10,):
                number = worlds if strength == 0.0 else max(worlds // 5, 1)
                shares = row(SETTINGS[name], strength, number, refits)
                told = " | ".join(f"{share:.1%}" for share in shares)
                print(f"| {name} | {strength} | {refits} | {number} | {told} |", flush=True)
                most = (1.0 - LEVEL) + 3.0 * math.sqrt(LEVEL * (1.0 - LEVEL) / number)
                broken |= strength == 0.0 and refits > 0 and shares[0] > most
    if broken:
        sys.exit("policies that do not matter differ too often")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500, sys.argv[2:] or list(SETTINGS))
