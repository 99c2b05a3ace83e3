"""One run of carraro20 §5.2: split, fit, sample, and measure on every test set.

    MNAR   60 % training, 40 % held out (the sampling space)
    MAR    15 % weights (posteriors of WTD), 15 % validation (settings), 70 % ground truth; disjoint

FULL, REG, SKEW, WTD and WTD_H are drawn from the held-out part, half of it each; posteriors of users and items and
SKEW's popularity are counted on the training part. The authors' published code writes the ground truth before it
takes the validation part out; here they are disjoint, as in the paper. It also has powers of 1 and 1 in place of the
paper's 1 and 2: both are drawn.

Some pairs stand in both MNAR and MAR (366 on Coat). A pair that is in training cannot be recommended, so that it lowers
the recall of every recommender on the ground truth. ``KEPT`` keeps such pairs, as the paper does; ``UNTRAINED`` leaves
those out that are in the run's training part; ``UNCHOSEN`` leaves out all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from unskew.evaluation import estimate
from unskew.log import Log, Recommendations
from unskew.sampling import sample
from unskew.split import holdout
from unskew_papers.arrays import Bools, Floats
from unskew_papers.carraro20.printed import STRATEGIES
from unskew_papers.carraro20.recommenders import RELEVANT, Choice, recommend

KEPT, UNTRAINED, UNCHOSEN = "all pairs", "without training pairs", "without all pairs of both parts"
TRUTHS = (KEPT, UNTRAINED, UNCHOSEN)
POWERS = {  # of the authors' code
    "WTD (1, 1)": "weighted(user_power=1, item_power=1, target=mcar)",
    "WTD_H (1, 1)": "weighted(user_power=1, item_power=1)",
}
DRAWN = {name: name.lower() for name in STRATEGIES} | POWERS
TESTS = (*TRUTHS, *DRAWN)
METRICS = {"recall@10": "per_user", "precision@10": "per_user_sum", "map@10": "per_user", "ndcg@10": "per_user"}
HELD_OUT, TRUE, HALF = 0.4, 0.7, 0.5
SALT = 1_000_000  # pairs of both parts are not to land in training and in the ground truth together


def one_run(mnar: Log, mcar: Log, run: int, choice: Choice) -> dict[str, Any]:
    """value[test, metric, recommender], likes[test] that carry it, and the settings that were chosen."""
    train, held = holdout(mnar, HELD_OUT, seed=run)
    rest, true = holdout(mcar, TRUE, seed=SALT + run)
    weights, validation = holdout(rest, HALF, seed=2 * SALT + run)
    lists, chosen = recommend(train, validation, choice)
    tests = {KEPT: true, UNTRAINED: true.take(~inside(true, train)), UNCHOSEN: true.take(~inside(true, mnar))}
    tests |= {name: sample(held, by, train=train, mcar=weights, seed=run) for name, by in DRAWN.items()}
    return {
        "value": np.array([measured(tests[name], lists, train) for name in TESTS]),
        "likes": np.array([len(tests[name].positives(RELEVANT)) for name in TESTS]),
        "chosen": chosen,
    }


def measured(test: Log, lists: Mapping[str, Recommendations], train: Log) -> Floats:
    """[metric, recommender]: the textbook value, over users who like something; of precision over all users."""
    found = estimate(
        test,
        lists,
        metrics=list(METRICS),
        estimators=["naive"],
        target=list(dict.fromkeys(METRICS.values())),
        train=train,
        candidates="all",
        feedback="ratings",
        relevant=RELEVANT,
        refused="skip",
        threads=1,
    )
    names = [(row.metric, str(row.target), row.model) for row in found.rows]
    value = dict(zip(names, np.concatenate(found.values), strict=True))  # also where intervals leave everything open
    return np.array([[value[metric, target, name] for name in lists] for metric, target in METRICS.items()])


def inside(log: Log, other: Log) -> Bools:
    """Which pairs of a log also stand in another one."""
    user, item = log.users.into(other.users)[log.user], log.items.into(other.items)[log.item]
    width = len(other.items)
    keys = np.where((user >= 0) & (item >= 0), user.astype(np.int64) * width + item, -1)
    return np.isin(keys, other.user.astype(np.int64) * width + other.item)


def common(mnar: Log, mcar: Log) -> tuple[Log, Log]:
    """Both parts over the users and items that they have in common; nothing but the ratings is kept."""
    one, other = (part.to_frame().select("user", "item", "value") for part in (mnar, mcar))
    return _restricted(one, other, mnar.account.source), _restricted(other, one, mcar.account.source)


def _restricted(rows: pl.DataFrame, other: pl.DataFrame, source: str) -> Log:
    for side in ("user", "item"):
        rows = rows.join(other.select(side).unique(), on=side, how="semi")
    return Log.from_frame(rows, feedback="ratings", source=source)
