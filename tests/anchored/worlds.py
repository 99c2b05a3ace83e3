"""Worlds in which two models are equally good and the log says otherwise (MATHS §16).

Every pair is relevant with probability ``rate``, whatever list it is in; both lists hold five items of a user, none in
common. What was seen favours the first list:

    cancelled   relevant pairs of the first list, and irrelevant ones of the second, were seen more often: the first one
                leads on what was seen, and the unseen pairs cancel that exactly
    positives   pairs of the first list were shown more often and clicked by chance: the log holds more clicks of it

A quarter of the questions is drawn from all candidates, the rest where lists differ. The truth is known: recall per
user (a sum) is 5 · rate for both models, whoever the users are, so that any verdict is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

import unskew as us

USERS, ITEMS, K = 300, 60, 5
METRIC, TARGET = f"recall@{K}", "per_user_sum"


@dataclass(frozen=True)
class Draw:
    """One world, by its number."""

    world: int
    kind: str
    rate: float
    questions: int


@dataclass(frozen=True)
class Said:
    """Whether a model was named, the answers that were positive, and how many of the values given cover the truth."""

    decided: bool
    positive: int
    covered: int
    given: int


def judge(draw: Draw) -> Said:
    """Draw the world, ask, and evaluate."""
    rng = np.random.default_rng([draw.world, draw.questions, int(1e6 * draw.rate), len(draw.kind)])
    order = np.argsort(rng.random((USERS, ITEMS)), axis=1)
    user = np.repeat(np.arange(USERS), K)
    listed = np.zeros((USERS, ITEMS), dtype=np.int64)  # 1, 2: which list holds it
    lists = {}
    for n, name in enumerate(("first", "second")):
        item = order[:, n * K : (n + 1) * K].ravel()
        listed[user, item] = n + 1
        lists[name] = pl.DataFrame({"user": user, "item": item, "rank": np.tile(np.arange(1, K + 1), USERS)})
    relevant = rng.random((USERS, ITEMS)) < draw.rate
    again = rng.random((USERS, ITEMS)) < draw.rate if draw.kind == "positives" else relevant
    if draw.kind == "positives":
        seen = rng.random((USERS, ITEMS)) < np.select([listed == 1, listed == 2], [0.6, 0.2], 0.3)
        seen &= relevant
    else:
        favoured = np.where(listed == 1, relevant, ~relevant)
        seen = rng.random((USERS, ITEMS)) < np.where(listed == 0, 0.2, np.where(favoured, 0.5, 0.1))
    if not (seen & relevant).any():
        return Said(False, 0, 0, 0)  # evaluations refuse a log without any relevant pair: no verdict, no values
    candidates = np.ones_like(seen) if draw.kind == "positives" else ~seen
    differ = candidates & (listed > 0)
    pi = np.minimum(0.25 * draw.questions * candidates / candidates.sum(), 1.0)
    pi = np.minimum(pi + 0.75 * draw.questions * differ / differ.sum(), 1.0)
    asked = rng.random((USERS, ITEMS)) < pi
    values = {"value": relevant[seen].astype(int)} if draw.kind != "positives" else {}
    u, i = np.nonzero(asked)
    answers = pl.DataFrame({"user": u, "item": i, "value": again[u, i].astype(int), "propensity": pi[u, i]})
    where: dict[str, Any] = dict(zip(("user", "item"), np.nonzero(seen), strict=True))
    result = us.evaluate(
        pl.DataFrame(where | values), lists, metrics=[METRIC], target=TARGET, estimators=["anchored"],
        feedback="conversions" if values else None, answers=answers, users=pl.DataFrame({"user": np.arange(USERS)}),
        items=pl.DataFrame({"item": np.arange(ITEMS)}), threads=1,
    )  # fmt: skip
    (verdict,) = result.verdicts_
    truth, given = K * draw.rate, [e for e in result.estimates if not np.isnan(e.value)]
    return Said(
        verdict.verdict != "undecided",
        result.inputs["answers"]["positive"],
        sum(e.low <= truth <= e.high for e in given),
        len(given),
    )
