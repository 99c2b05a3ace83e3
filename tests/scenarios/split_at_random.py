"""Weights by popularity after a random split, a limit: ``python -m tests.scenarios.split_at_random [LOGS]``.

Half of 40 items are shown with P = .9, the others with P = .1, and all are liked alike, so that popularity is exposure
and nothing else. 30 % of the rows are held out at random; of two lists that are equally good, one holds items of the
first half and the other of the second. A pair outside training was held out with P·s/(1 − P(1 − s)): .73 and .03, a
factor of 23 where popularity says 9. Prints the sentence of docs/limits.md: in how many logs a default call puts one
of the two ahead, and in how many it does so where all items are candidates and lists keep training items.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import polars as pl

import unskew as us
from unskew.result import Result, Verdict

LOGS, USERS, ITEMS = 300, 1200, 40
OFTEN, RARELY, SHARE = 0.9, 0.1, 0.3


def world(seed: int, *, keep: bool) -> dict[str, Any]:
    """Half of the items are shown often, and all are liked alike; one list of each half, equally good.

    ``keep``: lists are made of all items, training items as well.
    """
    rng = np.random.default_rng(seed)
    chance = np.where(np.arange(ITEMS) < ITEMS // 2, OFTEN, RARELY)
    liked = rng.random((USERS, ITEMS)) < 0.4
    user, item = np.nonzero(liked & (rng.random((USERS, ITEMS)) < chance))
    log = us.Log.from_frame(pl.DataFrame({"user": user, "item": item, "time": np.arange(len(user))}))
    train, test = us.split.holdout(log, share=SHARE, seed=seed)
    barred = np.zeros((USERS, ITEMS), dtype=bool)
    frame = train.to_frame()
    barred[frame["user"].to_numpy(), frame["item"].to_numpy()] = not keep
    found = {}
    for name, inside in (("often", chance == OFTEN), ("rarely", chance == RARELY)):
        wanted = np.where(rng.random(USERS)[:, None] < 0.5, liked & ~barred, ~liked)
        score = rng.random(liked.shape) + 2.0 * wanted - 9.0 * (barred | ~inside)
        found[name] = pl.DataFrame({"user": np.arange(USERS), "item": score.argmax(axis=1), "rank": 1})
    return {"train": train, "test": test, "models": found, "log": log}


def evaluate(made: dict[str, Any], **options: Any) -> Result:
    asked: dict[str, Any] = {"train": made["train"], "metrics": ["recall@1"]}
    return us.evaluate(made["test"], made["models"], **(asked | options))


def of_path(result: Result) -> Verdict:
    (found,) = [v for v in result.verdicts_ if v.estimator == "exposure_path"]
    return found


def named(seed: int, *, keep: bool) -> bool:
    """Whether one of two equal models is called ahead of the other."""
    result = evaluate(world(seed, keep=keep), candidates="all" if keep else "unseen")
    return of_path(result).verdict in ("ahead", "behind")


if __name__ == "__main__":
    logs = int(sys.argv[1]) if len(sys.argv) > 1 else LOGS
    split, whole = (sum(named(seed, keep=keep) for seed in range(logs)) for keep in (False, True))
    print(
        f"One of two equal models was called ahead in {split} of {logs} simulated logs; with all items as candidates "
        f"and lists that keep training items, in {whole} of {logs}."
    )
