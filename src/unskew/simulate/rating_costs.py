"""What a prediction costs, or earns, per pair (schnabel16 Eqs. 2–7): the average of δ over all pairs is the truth.

    mae, mse, accuracy      from y and ŷ alone
    dcg@k, cg@k, …          I · y · worth(rank): a sum over a user's list becomes an average over pairs

A user's items are ranked by the prediction downwards, among all items, equal ones by the fixed hash of (user, item).
"""

from __future__ import annotations

import numpy as np

from unskew.errors import InputError
from unskew.kernels.arrays import Floats, Ints32
from unskew.log import Ids
from unskew.metrics import Metric, RatingMetric, Shape, make
from unskew.models.base import from_scores
from unskew.simulate.quantiles import Ratings

METRICS = ("mae", "mse", "accuracy", "cg@50", "dcg@50")


def costs(metric: Metric | str, truth: Ratings, prediction: Floats, users: Ids, items: Ids) -> Floats:
    """δ of every pair: float64[users, items]."""
    asked = make(metric)
    if isinstance(asked, RatingMetric):
        if asked.root:
            raise InputError(f"'{asked}' is the root of an average, not an average over pairs. Ask for mse.")
        return asked.cost(truth.astype(np.float64), prediction)
    if asked.shape is not Shape.ADDITIVE:
        raise InputError(f"'{asked}' is not an average over pairs. Ask for mae, mse, accuracy, cg@50 or dcg@50.")
    rank = ranks(prediction, len(items) if asked.k is None else asked.k, users, items)
    return np.asarray(len(items) * asked.table(len(items))[rank] * truth)


def ranks(prediction: Floats, k: int, users: Ids, items: Ids) -> Ints32:
    """The rank of each item among the user's, 1 … k, and 0 behind them."""
    lists = from_scores(lambda rows: prediction[rows], items, users, k, None)
    out = np.zeros(prediction.shape, dtype=np.int32)
    out[np.repeat(np.arange(len(users)), np.diff(lists.indptr)), lists.item] = lists.rank
    return out
