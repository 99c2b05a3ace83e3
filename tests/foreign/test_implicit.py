"""Models of implicit: our lists are its own top-k with seen items removed, and ids that do not fit are refused."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import unskew as us
from tests.foreign.rankings import same_order, small_log
from tests.models.test_models import lists_of
from tests.said import refusal, refuses
from unskew.core.notice import codes

LOG = small_log()
ROWS = us.models.matrix(LOG).astype(np.float32)
ALONE = {"num_threads": 1, "random_state": 3}
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "als": ("cpu.als", "AlternatingLeastSquares", {"factors": 8, "iterations": 5, **ALONE}),
    "bpr": ("cpu.bpr", "BayesianPersonalizedRanking", {"factors": 8, "iterations": 20, **ALONE}),
    "lmf": ("cpu.lmf", "LogisticMatrixFactorization", {"factors": 8, "iterations": 10, **ALONE}),
    "cosine": ("nearest_neighbours", "CosineRecommender", {"K": 8, "num_threads": 1}),
    "tfidf": ("nearest_neighbours", "TFIDFRecommender", {"K": 8, "num_threads": 1}),
    "bm25": ("nearest_neighbours", "BM25Recommender", {"K": 8, "num_threads": 1}),
}
pytestmark = [
    pytest.mark.usefixtures("implicit"),
    pytest.mark.filterwarnings("ignore:Method expects CSR:Warning"),
    pytest.mark.filterwarnings("ignore:OpenBLAS is configured:RuntimeWarning"),
]


def unfitted(name: str) -> Any:
    module, kind, options = MODELS[name]
    return getattr(import_module(f"implicit.{module}"), kind)(**options)


def fitted(name: str) -> Any:
    model = unfitted(name)
    model.fit(ROWS, show_progress=False)
    return model


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("shuffled", [False, True])
def test_lists_are_its_own(name: str, shuffled: bool) -> None:
    """For every user the top 10 of ``model.recommend`` with filter_already_liked_items, also from a shuffled matrix."""
    drawn = np.random.default_rng(1)
    people = drawn.permutation(len(LOG.users)) if shuffled else np.arange(len(LOG.users))
    things = drawn.permutation(len(LOG.items)) if shuffled else np.arange(len(LOG.items))
    rows = ROWS[people][:, things].tocsr()
    model = unfitted(name)
    model.fit(rows, show_progress=False)
    users, items = LOG.users.values.gather(people), LOG.items.values.gather(things)
    ours = lists_of(us.models.adapt(model, users=users, items=items, rows=rows).recommend(LOG.users, 10, seen=LOG))
    for row, user in enumerate(users):
        codes, _ = model.recommend(row, rows[row], N=10, filter_already_liked_items=True)
        scores = _scores(model, row, rows)
        score = dict(zip(items, scores, strict=True))
        same_order(ours[user], [items[int(code)] for code in codes], score, 1e-6 * np.abs(scores).max())


def _scores(model: Any, row: int, rows: Any) -> Any:
    if hasattr(model, "user_factors"):
        return model.item_factors.astype(np.float64) @ model.user_factors[row].astype(np.float64)
    return (rows[row].astype(np.float64) @ model.similarity).toarray()[0]


@pytest.mark.parametrize(
    ("change", "code", "argument"),
    [
        ({"users": None}, "missing-argument", "users"),
        ({"items": None}, "missing-argument", "items"),
        ({"users": LOG.users.values[:-1]}, "wrong-shape", "users"),
        ({"users": LOG.items, "items": LOG.users}, "wrong-shape", "users"),
        ({"items": [*LOG.items.values[1:], LOG.items.values[1]]}, "repeated-id", "items"),
        ({"rows": ROWS.T}, "wrong-shape", "rows"),
        ({"pairs": lambda users, items: None}, "unknown-argument", "pairs"),
    ],
)
def test_ids_that_do_not_fit_are_refused(change: dict[str, Any], code: str, argument: str) -> None:
    """A wrong mapping gives every list to somebody else, and no number would show it."""
    given = {"users": LOG.users, "items": LOG.items, **change}
    with refuses(code, argument=argument):
        us.models.adapt(fitted("als"), **given)


@pytest.mark.parametrize("side", ["users", "items"])
@pytest.mark.parametrize("name", ["als", "cosine"])
def test_ids_in_another_order_are_found_out_by_the_rows(name: str, side: str) -> None:
    """The lengths fit, the pairs do not."""
    given: dict[str, Any] = {"users": LOG.users, "items": LOG.items}
    given[side] = given[side].values.reverse()
    with refuses("ids-out-of-order"):
        us.models.adapt(fitted(name), rows=ROWS, **given).recommend(LOG.users, 5, seen=LOG)


def test_what_is_not_ready_says_so() -> None:
    """Not fitted; neighbours without the users' rows; given to an evaluation as it is."""
    for name in ("als", "cosine"):
        with refuses("not-fitted"):
            us.models.adapt(unfitted(name), users=LOG.users, items=LOG.items, rows=ROWS)
    with refuses("missing-argument", argument="rows"):
        us.models.adapt(fitted("cosine"), users=LOG.users, items=LOG.items)
    how: dict[str, Any] = {"metrics": ["recall@5"], "estimators": ["naive"]}
    assert "us.models.adapt" in str(refusal(us.evaluate, LOG, {"als": fitted("als")}, **how))


def test_ids_that_were_not_checked_are_told() -> None:
    """Without the matrix, or without a training log to hold it against, nothing shows a wrong order."""
    model, test = fitted("als"), small_log(seed=1)
    ids: dict[str, Any] = {"users": LOG.users, "items": LOG.items}

    def warned(adapted: Any, **options: Any) -> bool:  # a log of other rows is no wrong mapping
        result = us.evaluate(test, {"als": adapted}, estimators=["naive"], **options)
        return "ids-not-checked" in codes(result.warnings)

    assert not warned(us.models.adapt(model, **ids, rows=ROWS), train=LOG)
    assert warned(us.models.adapt(model, **ids), train=LOG)
    assert warned(us.models.adapt(model, **ids, rows=ROWS), train=LOG, candidates="all")
