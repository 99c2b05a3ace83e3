"""Judging a model that memorises what it was fitted on: the table of docs/ratings.md (``python docs/memorising.py``).

Two models predict ratings. *constant* always says 3. *memory* repeats the ratings it was fitted on, and says 3
elsewhere. In a world whose ratings are all known, each is judged by ips with the true propensities

* on the very log that it was fitted on,
* on a random 30 % that was held out, over all pairs (P·s),
* on the same 30 %, over the pairs outside training (P·s / (1 − P·(1 − s))),

and compared with its true mean error over the same pairs, over many draws of what is seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import unskew as us

USERS, ITEMS, SHARE = 150, 40, 0.3
Matrix = npt.NDArray[np.float64]
CONSTANT: Matrix = np.full((USERS, ITEMS), 3.0)


def world(seed: int) -> tuple[Matrix, Matrix]:
    """All ratings, and how likely each is to be seen: more so the better it is."""
    rng = np.random.default_rng(seed)
    rating = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], (USERS, ITEMS), p=[0.3, 0.25, 0.2, 0.15, 0.1])
    return rating, 0.05 * 1.8 ** (rating - 1.0)


def memory_of(log: us.Log) -> Matrix:
    """The ratings that a log holds, and 3 elsewhere."""
    guess = CONSTANT.copy()
    assert log.value is not None
    guess[log.user, log.item] = log.value
    return guess


def judged(test: us.Log, memory: Matrix, **settings: Any) -> list[float]:
    """ips of the mean absolute error of both models."""
    models = {"constant": CONSTANT, "memory": memory}
    result = us.evaluate(test, models, metrics=["mae"], estimators=["ips"], propensity="known", threads=1, **settings)
    return [e.value for e in result.estimates]


def simulate(draws: int, seed: int = 0) -> pl.DataFrame:
    """Per way of judging and model: the true error, the mean estimate, and the standard error of their difference."""
    rating, p = world(seed)
    user, item = (index.ravel() for index in np.indices(rating.shape))
    columns = {"user": user, "item": item, "value": rating.ravel(), "propensity": p.ravel()}
    full = us.Log.from_frame(pl.DataFrame(columns), feedback="ratings")
    rng = np.random.default_rng(seed + 1)
    rows = []
    for draw in range(draws):
        log = full.take(rng.random(len(full)) < p.ravel())
        train, test = us.split.holdout(log, SHARE, seed=draw)
        everywhere = np.full(rating.shape, True)
        outside = everywhere.copy()
        outside[train.user, train.item] = False
        for way, memory, estimates, pairs in (
            ("on its own log", memory_of(log), judged(log, memory_of(log)), everywhere),
            (
                "held out, all",
                memory_of(train),
                judged(test, memory_of(train), train=train, candidates="all"),
                everywhere,
            ),
            ("held out, unseen", memory_of(train), judged(test, memory_of(train), train=train), outside),
        ):
            for model, guess, estimate in zip(("constant", "memory"), (CONSTANT, memory), estimates, strict=True):
                rows.append((way, model, float(np.abs(guess - rating)[pairs].mean()), estimate))
    drawn = pl.DataFrame(rows, schema=["judged", "model", "truth", "ips"], orient="row")
    return drawn.group_by("judged", "model", maintain_order=True).agg(
        pl.col("truth").mean(),
        pl.col("ips").mean(),
        error=(pl.col("ips") - pl.col("truth")).std() / draws**0.5,
    )


def main() -> None:
    """Print the table."""
    print("| judged | model | true mae | mean of ips | ± |\n|---|---|---|---|---|")
    for way, model, truth, found, error in simulate(300).iter_rows():
        print(f"| {way} | {model} | {truth:.3f} | {found:.3f} | {error:.3f} |")


if __name__ == "__main__":
    main()
