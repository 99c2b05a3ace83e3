"""Models of Cornac: our lists are its own top-k with seen items removed, by the ids that it keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.foreign.rankings import same_order, seen_by, small_log
from tests.models.test_models import lists_of
from tests.said import refusal, refuses

LOG = small_log()
MODELS: dict[str, dict[str, Any]] = {
    "BPR": {"k": 5, "max_iter": 20, "seed": 1},
    "MF": {"k": 5, "max_iter": 10, "seed": 1},
    "MostPop": {},
    "ItemKNN": {"k": 10, "seed": 1},
    "UserKNN": {"k": 10, "seed": 1},
    "EASE": {},
    "NMF": {"k": 5, "seed": 1},
}


def fitted(cornac: Any, name: str) -> tuple[Any, Any]:
    """A model and its data set; the data set is built in another order than that of the log."""
    drawn = np.random.default_rng(2)
    pairs = LOG.to_frame().select("user", "item").rows()
    rated = [(*pairs[place], float(drawn.integers(1, 6))) for place in drawn.permutation(len(pairs))]
    data = cornac.data.Dataset.from_uir(rated, seed=1)
    return getattr(cornac.models, name)(**MODELS[name]).fit(data), data


@pytest.mark.parametrize("name", MODELS)
def test_lists_are_its_own(cornac: Any, name: str) -> None:
    """For every user the top 10 of ``model.recommend(…, remove_seen=True)``."""
    model, data = fitted(cornac, name)
    ours = lists_of(us.models.adapt(model).recommend(LOG.users, 10, seen=LOG))
    seen = seen_by(LOG)
    for user in LOG.users:
        theirs = model.recommend(user, k=10, remove_seen=True, train_set=data)
        assert not seen[user] & set(ours[user])
        scores = np.ravel(model.score(data.uid_map[user])).astype(np.float64)
        score = {item: scores[number] for item, number in data.iid_map.items()}
        same_order(ours[user], theirs, score, 1e-6 * np.abs(scores).max())


def test_users_whom_it_does_not_know_get_no_list(cornac: Any) -> None:
    """They are not guessed for; where it knows nobody, the ids are another spelling."""
    model, _ = fitted(cornac, "BPR")
    adapted = us.models.adapt(model)
    ids = us.Log.from_frame(pl.DataFrame({"user": ["nobody", *LOG.users.values[:2]], "item": "x"})).users
    lists = lists_of(adapted.recommend(ids, 3))
    assert [len(lists[user]) for user in ("nobody", *LOG.users.values[:2])] == [0, 3, 3]
    with refuses("unknown-users"):
        adapted.recommend(us.Log.from_frame(pl.DataFrame({"user": ["nobody"], "item": "x"})).users, 3)


def test_scores_that_it_refuses_make_no_list(cornac: Any) -> None:
    """Cornac itself would put all items in any order."""
    model, data = fitted(cornac, "MostPop")
    refused, score = data.uid_map[LOG.users.values[0]], model.score

    def some(user: int, item: int | None = None) -> Any:
        if user == refused:
            raise cornac.exception.ScoreException("no")
        return score(user, item)

    model.score = some
    lists = lists_of(us.models.adapt(model).recommend(LOG.users, 3))
    assert [len(found) for found in lists.values()] == [0] + [3] * (len(LOG.users) - 1)


def test_what_cannot_be_adapted_says_so(cornac: Any) -> None:
    """Not fitted; ids from outside; models of sequences; a table of ids that is no numbering."""
    adapt = us.models.adapt
    assert refusal(adapt, cornac.models.BPR()).code == "not-fitted"
    model, _ = fitted(cornac, "MostPop")
    assert refusal(adapt, model, users=LOG.users).code == "unknown-argument"
    assert refusal(adapt, cornac.models.SPop()).code == "not-supported"
    model.uid_map = {user: 2 * number for user, number in model.uid_map.items()}
    assert refusal(adapt, model).code == "bad-ids"
