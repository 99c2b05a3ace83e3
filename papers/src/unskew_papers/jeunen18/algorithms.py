"""The paper's five algorithms, and how their settings are chosen.

POP, SVD, U-kNN and I-kNN stand in both protocols; POP-N needs times, and stands in SW-EVAL only. Settings come from a
grid by Recall@10 of one repetition of leave-one-out (its own draw, none of the ten that are reported), and are kept for
every k and for SW-EVAL (jeunen18 §3.1). How N was tuned is not stated, and leave-one-out cannot tell: we take the N
with the best Recall@10 in the windows just before those that are judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unskew import cross_validate
from unskew.log import Log
from unskew.models import search
from unskew.split import leave_one_out, make_splits
from unskew_papers.arrays import present

CUTS = (5, 10, 15, 20)
METRICS = tuple(f"recall@{k}" for k in CUTS)
TUNED_BY = "recall@10"
POP, POP_N, SVD, U_KNN, I_KNN = NAMES = ("POP", "POP-N", "SVD", "U-kNN", "I-kNN")
WITHOUT_TIME = (POP, SVD, U_KNN, I_KNN)
GRIDS: Mapping[str, tuple[str, ...]] = {
    SVD: tuple(f"svd(dim={d})" for d in (10, 30, 100)),
    U_KNN: tuple(f"user_knn(neighbours={n}, votes=count)" for n in (20, 50, 100, 200)),
    I_KNN: tuple(f"item_knn(neighbours={n})" for n in (2, 5, 10, 20, 50, 200)),
}
LASTS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
TUNING_SEED = 1  # of leave-one-out; the repetitions that are reported have seed 0
TUNING_WINDOWS = 5

Chosen = dict[str, str]


def tuned(log: Log, width: str | None, folds: int, min_users: int, grids: Mapping[str, Sequence[str]]) -> Chosen:
    """The settings for a log; POP-N only where it has windows of a ``width``."""
    split = leave_one_out(log, seed=TUNING_SEED)[0]
    train, test = split.train, split.test
    found = {POP: "most_popular"} | {name: search(train, test, grid, TUNED_BY).best for name, grid in grids.items()}
    if width is not None:
        found[POP_N] = last_n(log, width, folds, min_users)
    return {name: found[name] for name in NAMES if name in found}


def last_n(log: Log, width: str, folds: int, min_users: int) -> str:
    """POP-N with the best N in the windows before the first that is judged."""
    judged = make_splits(log, f"sliding_window(width={width}, folds={folds}, min_users={min_users})")
    start = present(judged[0].window).start
    past = log.take(present(log.time) < start)
    models = [f"recently_popular(last={n})" for n in LASTS]
    split = f"sliding_window(width={width}, folds={TUNING_WINDOWS}, min_users={min_users})"
    found = cross_validate(past, models, split=split, metrics=[TUNED_BY], estimators=["naive"], target="per_user")
    return max(found.rows(), key=lambda row: row.macro).model
