"""The paper's five algorithms, and how their settings are chosen.

POP, SVD, U-kNN and I-kNN stand in both protocols; POP-N needs times, and stands in SW-EVAL only. Settings are those
with the best Recall@10 in one repetition of leave-one-out (its own draw, none of the ten that are reported), and are
kept for every k and for SW-EVAL (jeunen18 §3.1). Each algorithm has one number: of dimensions, neighbours or rows.
1, 2, 3, 5, 10, 20, … are tried until ``PATIENCE`` in a row are no better than the best, so that no winner is the
largest that was tried; the smallest is a natural end. How N of POP-N was tuned is not stated, and leave-one-out
cannot tell: of all N up to the whole log we take the one with the best Recall@10 in the windows before those judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from unskew import cross_validate
from unskew.log import Log
from unskew.models import search
from unskew.split import leave_one_out, make_splits
from unskew_papers.arrays import present
from unskew_papers.climb import Tried, climb

CUTS = (5, 10, 15, 20)
METRICS = tuple(f"recall@{k}" for k in CUTS)
TUNED_BY = "recall@10"
POP, POP_N, SVD, U_KNN, I_KNN = NAMES = ("POP", "POP-N", "SVD", "U-kNN", "I-kNN")
WITHOUT_TIME = (POP, SVD, U_KNN, I_KNN)
WITH = {
    SVD: "svd(dim={})",
    U_KNN: "user_knn(neighbours={}, votes=count)",
    I_KNN: "item_knn(neighbours={})",
    POP_N: "recently_popular(last={})",
}
STEPS = tuple(digit * 10**zeros for zeros in range(7) for digit in (1, 2, 3, 5))
PATIENCE = 3
MOST_DIMENSIONS = 1000  # that the library grants
TUNING_SEED = 1  # of leave-one-out; the repetitions that are reported have seed 0
TUNING_WINDOWS = 5


def tuned(log: Log, width: str | None, folds: int, min_users: int, steps: Sequence[int]) -> dict[str, Tried]:
    """What was tried for each algorithm; POP-N only where a log has windows of a ``width``."""
    split = leave_one_out(log, seed=TUNING_SEED)[0]
    train, test = split.train, split.test

    def held_out(name: str, number: int) -> float:
        return float(search(train, test, [WITH[name].format(number)], TUNED_BY).table["value"][0])

    found = {name: climb(partial(held_out, name), steps, PATIENCE) for name in (U_KNN, I_KNN)}
    found[SVD] = climb(partial(held_out, SVD), [n for n in steps if n <= MOST_DIMENSIONS], PATIENCE)
    if width is not None:
        found[POP_N] = last_n(log, width, folds, min_users, steps)
    return found


def last_n(log: Log, width: str, folds: int, min_users: int, steps: Sequence[int]) -> Tried:
    """POP-N by N in the windows before the first that is judged."""
    judged = make_splits(log, f"sliding_window(width={width}, folds={folds}, min_users={min_users})")
    start = present(judged[0].window).start
    past = log.take(present(log.time) < start)
    models = {str(last): WITH[POP_N].format(last) for last in steps if last <= len(past)}
    split = f"sliding_window(width={width}, folds={TUNING_WINDOWS}, min_users={min_users})"
    found = cross_validate(past, models, split=split, metrics=[TUNED_BY], estimators=["naive"], target="per_user")
    return [(int(row.model), row.macro) for row in found.rows()]
