"""Functions and scikit-learn-style objects: lists against sorting in a loop, and what is refused."""

from __future__ import annotations

import doctest
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge

import unskew as us
from tests.foreign.rankings import same_order, seen_by, small_log
from tests.models.test_models import lists_of
from tests.said import refuses
from unskew.kernels.hashing import mix
from unskew.kernels.topk import SEED
from unskew.log import Ids, Log
from unskew.models.foreign import scored

LOG = small_log()
ROWS = us.models.matrix(LOG)
IDS: dict[str, Any] = {"users": LOG.users, "items": LOG.items}


def hash_of(one: Any) -> Any:
    return Ids.of(pl.Series([one])).hashes[0]


@given(data=st.data())
def test_lists_of_a_function_are_its_scores_sorted(data: st.DataObject) -> None:
    """By score downwards, ties by hash, without −∞ and without what was seen, whatever the order of ids and blocks."""
    people = data.draw(st.lists(st.integers(0, 20), min_size=1, max_size=8, unique=True))
    things = data.draw(st.lists(st.integers(0, 20), min_size=1, max_size=9, unique=True))
    known = data.draw(st.lists(st.sampled_from(people), min_size=1, unique=True))
    number = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0])
    table = {(u, i): data.draw(number) for u in people for i in things}
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(people), st.sampled_from(things)), min_size=1, unique=True))
    seen = Log.from_frame(pl.DataFrame(pairs, schema=["user", "item"], orient="row"))
    users = Ids.of(pl.Series(people))
    calls = []

    def scores(asked: Any) -> Any:
        calls.append(len(asked))
        return np.array([[table[int(u), i] for i in things] for u in asked])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scored.Scored.__init__, "__defaults__", (lambda log: None, 2 * len(things)))  # two users a block
        model = us.models.adapt(scores, users=known, items=things)
    found = lists_of(model.recommend(users, 3, seen=seen))
    assert max(calls) <= 2 and sum(calls) == len(known)
    for user in people:
        salt = mix(hash_of(user) ^ SEED)
        fit = [i for i in things if user in known and table[user, i] > -np.inf and (user, i) not in pairs]
        assert found[user] == sorted(fit, key=lambda i: (-table[user, i], mix(salt ^ hash_of(i))))[:3]


def test_a_function_is_asked_in_its_own_spelling() -> None:
    """The log has texts, the function numbers: what is given as ``users`` is what it hears."""
    log = Log.from_frame(pl.DataFrame({"user": ["3", "10"], "item": ["x", "y"]}))
    heard: list[Any] = []

    def scores(asked: Any) -> Any:
        heard.extend(asked.tolist())
        return [[1, 2]] * len(asked)

    for spelled in ([10, 3], np.array([10, 3]), pd.Series([10, 3]), pl.Series([10, 3])):
        lists = us.models.adapt(scores, users=spelled, items=["x", "y"]).recommend(log.users, 1, seen=log)
        assert lists_of(lists) == {"10": ["x"], "3": ["y"]}
    assert set(heard) == {3, 10}
    heard.clear()
    us.models.adapt(scores, items=["x", "y"]).recommend(log.users, 1)
    assert heard == ["3", "10"]


def by_row(model: Any, row: int) -> Any:
    one = ROWS[[row]] if isinstance(model, TruncatedSVD | NMF) else ROWS[[row]].toarray()
    return (model.inverse_transform(model.transform(one)) if hasattr(model, "transform") else model.predict(one))[0]


@pytest.mark.parametrize(
    "model",
    [TruncatedSVD(4, random_state=0), NMF(4, init="nndsvd", max_iter=500), PCA(4, random_state=0), Ridge(5.0)],
    ids=lambda model: type(model).__name__,
)
def test_lists_of_rebuilt_and_predicted_rows(model: Any) -> None:
    """Decompositions rebuild the matrix; a regression of every column on all others predicts it."""
    rows = ROWS if isinstance(model, TruncatedSVD | NMF) else ROWS.toarray()
    model.fit(rows, rows) if isinstance(model, Ridge) else model.fit(rows)
    ours, seen = lists_of(us.models.adapt(model, rows=rows, **IDS).recommend(LOG.users, 8, seen=LOG)), seen_by(LOG)
    for row, user in enumerate(LOG.users):
        score = dict(zip(LOG.items, by_row(model, row), strict=True))
        theirs = sorted((item for item in LOG.items if item not in seen[user]), key=lambda item: -score[item])[:8]
        same_order(ours[user], theirs, score, 1e-9)


def features(users: Any, items: Any) -> Any:
    """Parities of the ids, and their product."""
    parity = np.array([[int(u[1:]) % 2, int(i[1:]) % 2] for u, i in zip(users, items, strict=True)], dtype=float)
    return np.hstack([parity, parity[:, :1] * parity[:, 1:], np.array([[float(i[1:])] for i in items]) / 1000])


@pytest.mark.parametrize(("model", "users"), [(LogisticRegression(), None), (Ridge(), LOG.users)])
def test_lists_of_predicted_pairs(model: Any, users: Any) -> None:
    """The probability of a click, or a prediction, by features of user and item."""
    seen = seen_by(LOG)
    pairs = [(user, item) for user in LOG.users for item in LOG.items]
    y = np.array([item in seen[user] for user, item in pairs])
    model.fit(features(*zip(*pairs, strict=True)), y)
    adapted = us.models.adapt(model, users=users, items=LOG.items, pairs=features)
    ours = lists_of(adapted.recommend(LOG.users, 5, seen=LOG))
    for user in list(LOG.users)[:10]:
        x = features([user] * len(LOG.items), list(LOG.items))
        worth = model.predict_proba(x)[:, 1] if hasattr(model, "predict_proba") else model.predict(x)
        score = dict(zip(LOG.items, worth, strict=True))
        theirs = sorted((item for item in LOG.items if item not in seen[user]), key=lambda item: -score[item])[:5]
        same_order(ours[user], theirs, score, 1e-12)


DENSE = ROWS.toarray()
SVD4 = TruncatedSVD(4, random_state=0).fit(ROWS)
THREE = RandomForestClassifier(2, random_state=0).fit([[0], [1], [2]], [0, 1, 2])


def swapped(ids: Ids) -> list[Any]:
    """The items that most and fewest rows have, exchanged."""
    counts = np.asarray((ROWS != 0).sum(axis=0)).ravel()
    out = ids.values.to_list()
    out[counts.argmax()], out[counts.argmin()] = out[counts.argmin()], out[counts.argmax()]
    return out


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (SVD4, {"users": LOG.users.values.reverse(), "items": LOG.items, "rows": ROWS}),
        (Ridge().fit(DENSE, DENSE), {"users": LOG.users, "items": swapped(LOG.items), "rows": DENSE}),
    ],
)
def test_ids_in_another_order_are_found_out(model: Any, options: dict[str, Any]) -> None:
    """A rebuilt matrix holds the training data, so that its pairs must be those of the log; two swapped are enough."""
    with refuses("ids-out-of-order"):
        us.models.adapt(model, **options).recommend(LOG.users, 5, seen=LOG)


@pytest.mark.parametrize(
    ("scores", "code"),
    [
        (lambda users: np.zeros((len(users), 3)), "wrong-shape"),
        (lambda users: np.zeros(2), "wrong-shape"),
        *((lambda users, wrong=wrong: wrong, "not-a-number") for wrong in (
            [[1.0, 2.0], [1.0]], [["a", "b"]] * 2, [[0.0, np.nan]] * 2, [[np.inf, 0.0]] * 2, ROWS)),
        (lambda users: np.ma.masked_array([[3.0, 2.0]] * 2, mask=[[True, False], [False, False]]), ""),
    ],
)  # fmt: skip
def test_scores_that_cannot_be_ranked_are_refused(scores: Any, code: str) -> None:
    """No score is guessed; the mask of an array says what −∞ says."""
    adapted, users = us.models.adapt(scores, items=["x", "y"]), Ids.of(pl.Series(["a", "b"]))
    if code:
        with refuses(code):
            adapted.recommend(users, 1)
    else:
        assert adapted.recommend(users, 2).to_frame().rows() == [("a", "y", 1), ("b", "x", 1), ("b", "y", 2)]


@pytest.mark.parametrize(
    ("model", "options", "code"),
    [
        (SVD4, IDS, "missing-argument"),
        (SVD4, {**IDS, "rows": ROWS, "pairs": features}, "missing-argument"),
        (SVD4, {**IDS, "rows": ROWS[1:]}, "wrong-shape"),
        (SVD4, {**IDS, "rows": ROWS[:, 1:]}, "wrong-shape"),
        (SVD4, {"users": LOG.users, "rows": ROWS}, "missing-argument"),
        (THREE, {**IDS, "rows": ROWS}, "not-supported"),
        (THREE, {"items": LOG.items, "pairs": features}, "not-supported"),
        (TruncatedSVD, IDS, "not-an-object"),
        (TruncatedSVD(4), {**IDS, "rows": ROWS}, "not-fitted"),
        (LogisticRegression(), {"items": LOG.items, "pairs": features}, "not-fitted"),
        (us.models.MostPopular(), {}, "already-a-recommender"),
        (lambda users: users, {"items": ["x"], "rows": ROWS}, "unknown-argument"),
        (lambda users: users, {}, "missing-argument"),
        (lambda users: users, {"items": []}, "empty-ids"),
        (7, {}, "not-supported"),
    ],
)
def test_what_cannot_be_adapted_is_refused(model: Any, options: dict[str, Any], code: str) -> None:
    """With what is missing."""
    with refuses(code):
        us.models.adapt(model, **options)


def test_the_matrix_of_a_log_is_its_rows() -> None:
    """Values where there are some, and a copy: whoever changes it does not change the log."""
    log = Log.from_frame(pl.DataFrame({"user": ["b", "a", "b"], "item": [5, 5, 3], "value": [2.0, 3.0, 4.0]}))
    rows = us.models.matrix(log)
    assert rows.toarray().tolist() == [[0.0, 3.0], [4.0, 2.0]]
    rows.data[:] = 0.0
    rows.indices[:] = 0
    assert log.value is not None and log.value.tolist() == [3.0, 4.0, 2.0] and log.item.tolist() == [1, 0, 1]


@pytest.mark.parametrize("name", ["adapting", "matrix"])
def test_examples_in_docstrings(name: str) -> None:
    """They give what they say."""
    found = doctest.testmod(sys.modules[f"unskew.models.foreign.{name}"])
    assert found.attempted and not found.failed
