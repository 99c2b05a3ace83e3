"""The world of §6.2: by what completion of ML-100K, and with which shares of the ratings.

Hits on held-out ratings by form and rank of the factorisation (``completion.py``); Table 1's DCG@50, all that depends
on the completion there, for the world that was chosen and two others; and the shares of the ratings. The paper takes
the shares from an earlier one, on other data, without printing them. Its Table 1 holds them: with p_r of rating r, true
MAE is 4 p₅ for rec_ones, 1 + 3 p₁ for rotate and 2 p₁ + p₂ + p₅ for coarsened, and p₄ follows from naive's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew import load
from unskew.core import Progress, Store
from unskew.log import Log
from unskew.simulate import NAMES, SCHNABEL16, RatingWorld
from unskew_papers.arrays import Floats, present
from unskew_papers.digest import digest_of
from unskew_papers.record import Near, Record, judged
from unskew_papers.repeated import Repeated, shown
from unskew_papers.schnabel16 import completion
from unskew_papers.schnabel16.setting import Setting
from unskew_papers.schnabel16.table1 import PAPER

LIKE: completion.Choice = ("none", 10, 0.1)  # ``RatingWorld.like``
SEEN = (0.06, 0.10, 0.25, 0.42, 0.17)  # as printed: in the model at α = .25, and in the real data
OWN = (0.06, 0.11, 0.27, 0.35, 0.21)
ROUNDED = Near(absolute=0.005)


def run(setting: Setting, runs: int, quick: bool, progress: Progress | None = None) -> list[Record]:
    """Hits by form and rank, Table 1's DCG@50 by completion, and the shares of the ratings that are seen."""
    log = load("ml-100k").mnar
    found = completion.accuracies(setting.store, log, setting.workers, progress)
    before, after = (completion.best(found, reading) for reading in range(len(completion.READINGS)))
    plain = completion.best({choice: hits for choice, hits in found.items() if choice[0] == "none"}, 0)
    worlds = {"here": before, "without offsets": plain, "hits after the adjustment": after, "unskew simulate": LIKE}
    records = _shown(found)
    for name, choice in worlds.items():
        records += _dcg(setting.store, log, choice, f"{name} ({choice[0]}, {choice[1]}, {choice[2]:g})")
    return records + _shares(setting.world, log)


def _shown(found: Mapping[completion.Choice, Floats]) -> list[Record]:
    """By form and rank, the best penalty and its hits in per cent, for both readings."""
    records = []
    for form, rank in dict.fromkeys(choice[:2] for choice in found):
        these = {choice: hits for choice, hits in found.items() if choice[:2] == (form, rank)}
        part, row = "completion/held-out ratings hit", f"offsets {form}, rank {rank}"
        for r, reading in enumerate(completion.READINGS):
            best = completion.best(these, r)
            records.append(judged(part, row, f"{reading}: best λ", best[2], runs=completion.SPLITS))
            records.append(shown(part, row, f"{reading}: %", Repeated.mean(100.0 * found[best][r])))
    return records


def _dcg(store: Store, log: Log, choice: completion.Choice, column: str) -> list[Record]:
    """True DCG@50 of the predictors, and naive's over many draws, in the world of a completion."""
    key = {"unit": "completion, dcg@50", "ratings": digest_of(log), "choice": list(choice), "shares": list(SCHNABEL16)}
    unit = store.once(key, lambda: _expected(log, choice))
    return [
        judged(f"completion/{what} DCG@50", name, column, unit[what][n], paper=number)
        for n, name in enumerate(NAMES)
        for true, *_, naive in [PAPER["dcg@50"][name]]
        for what, number in (("true", true), ("naive", naive[0]))
    ]


def _expected(log: Log, choice: completion.Choice) -> dict[str, Any]:
    made = completion.world_of(log, choice)
    predictions = made.predictions()
    costs = [made.costs("dcg@50", predictions[name]) for name in NAMES]
    weights = {"true": None, "naive": made.propensity}
    return {what: [float(np.average(cost, weights=weight)) for cost in costs] for what, weight in weights.items()}


def _shares(world: RatingWorld, log: Log) -> list[Record]:
    """Of the ratings among all pairs, among those that are seen at α = .25, and in ML-100K."""
    part = "completion/shares of the ratings"
    seen = world.marginals * world.propensity_of[1:]
    own = np.bincount(present(log.value).astype(np.int64), minlength=6)[1:] / len(log)
    records = []
    for r, (among_all, among_seen, among_own) in enumerate(zip(world.marginals, seen / seen.sum(), own, strict=True)):
        records.append(judged(part, str(r + 1), "all pairs", float(among_all)))
        records.append(judged(part, str(r + 1), "seen", float(among_seen), paper=SEEN[r], rule=ROUNDED))
        records.append(judged(part, str(r + 1), "ML-100K", float(among_own), paper=OWN[r], rule=ROUNDED))
    return records
