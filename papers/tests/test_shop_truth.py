"""The truth of the shop over time against A/B tests that are drawn event by event."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from tests.said import refuses

from papers.tests.shops import clicks_of_a_user, expected_clicks, keen_shop, lists_by_user, page_of, small_shop
from unskew.log import Ids
from unskew.models import make
from unskew_papers.shop import ShopOverTime, overstatement

START, DAYS = 60, 14
MODELS = {"popular": "most_popular", "item_knn": "item_knn(neighbours=20)"}


@pytest.mark.parametrize("make_shop", [small_shop, keen_shop])
def test_clicks_are_those_of_tests_that_are_drawn(make_shop: Callable[[], ShopOverTime]) -> None:
    """The 15 users who come most often in two weeks, 80 times: the mean of the drawn clicks is the exact value (4 sd).

    For two of them it is also summed item by item and intent by intent. Several visits of a user bring every term in:
    items that were had meanwhile, stock that changes, two campaigns.
    """
    shop, rng = make_shop(), np.random.default_rng(0)
    visits, before = shop.visits_of(START, DAYS), shop.before(START)
    test = shop.ab_test(MODELS, START, DAYS)
    most = np.argsort(-test.visits, kind="stable")[:15]
    assert test.visits[most].min() >= 2
    for name, text in MODELS.items():
        lists = lists_by_user(make(text).fit(before).recommend(test.users, 80, seen=before).to_frame())
        drawn = np.zeros((15, 80))
        for row, user in enumerate(test.users.values.gather(most).to_list()):
            came = np.flatnonzero((shop.visits.user == user) & (shop.visits.day >= START))
            came = came[shop.visits.day[came] < START + DAYS].tolist()
            assert len(came) == np.diff(visits.start)[user]
            history = set(before.item[before.indptr[user] : before.indptr[user + 1]].tolist())
            pages = {visit: page_of(shop, visit, history, lists[user]) for visit in came}
            if row < 2:
                assert test.clicks[name][most[row]] == pytest.approx(expected_clicks(shop, pages, history), rel=1e-9)
            for turn in range(80):
                drawn[row, turn] = clicks_of_a_user(shop, pages, history, rng)
        total = drawn.sum(axis=0)
        assert abs(total.mean() - test.clicks[name][most].sum()) < 4 * total.std() / np.sqrt(80)
        assert total.std() / np.sqrt(80) < 0.05 * total.mean()


def test_recall_is_that_of_everything_wanted() -> None:
    """Wanted items, and those of them in lists, are the means over 60 draws of the full log (4 sd)."""
    shop = small_shop()
    test = shop.ab_test(MODELS, START, 7, cuts=(5, 20))
    before = shop.before(START)
    lists = {name: make(text).fit(before).recommend(test.users, 20, seen=before) for name, text in MODELS.items()}
    wanted, found = np.zeros(60), {name: np.zeros((60, 2)) for name in MODELS}
    for draw in range(60):
        full = shop.full_log(START, 7, draw=draw + 1)
        assert set(full.users.values.gather(np.flatnonzero(np.diff(full.indptr))).to_list()) <= set(test.users)
        wanted[draw] = len(full)
        frame = full.to_frame()
        for name, made in lists.items():
            rank = frame.join(made.to_frame(), on=["user", "item"])["rank"].to_numpy()
            found[name][draw] = [(rank <= 5).sum(), (rank <= 20).sum()]
    assert abs(wanted.mean() - test.wanted.sum()) < 4 * wanted.std() / np.sqrt(60)
    for name in MODELS:
        error = found[name].std(axis=0) / np.sqrt(60)
        assert (np.abs(found[name].mean(axis=0) - test.in_list[name].sum(axis=0)) < 4 * error).all()
        row = test.table().row(by_predicate=pl.col("model") == name, named=True)
        assert row["recall@20"] == pytest.approx(test.in_list[name][:, 1].sum() / test.wanted.sum())


def test_candidates_come_as_lists_models_or_strings() -> None:
    """The same lists have the same values; errors and differences are those of the users; missing lists are counted."""
    shop = small_shop()
    before = shop.before(START)
    users = shop.ab_test(MODELS, START, 1).users
    popular = make("most_popular")
    half = Ids(users.values.head(len(users) // 2))
    lists = make("most_popular").fit(before).recommend(users, 80, seen=before)
    some = make("most_popular").fit(before).recommend(half, 80, seen=before)
    test = shop.ab_test({"a": "most_popular", "b": popular, "c": lists, "half": some}, START, 1)
    assert popular.items_ is None  # what is given is not fitted
    assert (test.clicks["a"] == test.clicks["b"]).all() and (test.clicks["a"] == test.clicks["c"]).all()
    assert test.without_list == {"a": 0, "b": 0, "c": 0, "half": len(users) - len(half)}
    assert (test.clicks["half"][: len(half)] == test.clicks["a"][: len(half)]).all()
    ahead, error = test.difference("a", "half")
    gap = test.clicks["a"] - test.clicks["half"]
    assert ahead == pytest.approx(gap.mean()) and error == pytest.approx(gap.std(ddof=1) / np.sqrt(len(gap)))
    recall = test.difference("a", "half", "recall@10")
    table = {row["model"]: row for row in test.table().iter_rows(named=True)}
    assert recall[0] == pytest.approx(table["a"]["recall@10"] - table["half"]["recall@10"]) and recall[1] > 0.0
    with refuses("unknown-name"):
        test.difference("a", "b", "ndcg@10")


def test_a_policy_overstates_by_what_its_log_holds_of_what_was_wanted() -> None:
    """Recall in the log over recall of all that was wanted, counted pair by pair for the users of each policy."""
    shop = small_shop()
    found = overstatement(shop, MODELS, START, 7)
    before, week, wanted = (
        log.to_frame() for log in (shop.before(START), shop.window(START, 7), shop.full_log(START, 7))
    )
    served = dict(enumerate(shop.policy_of.tolist()))
    for number, policy in enumerate(shop.policies):
        past = shop.before(START).take(shop.policy_of[shop.before(START).user] == number)
        known = {user for user in before["user"].to_list() if served[user] == number}
        for place, text in enumerate(MODELS.values()):
            users = Ids(pl.Series("user", sorted(known)))
            lists = lists_by_user(make(text).fit(past).recommend(users, 10, seen=past).to_frame())
            hits = []
            for frame in (week, wanted):
                pairs = [pair for pair in frame.select("user", "item").iter_rows() if pair[0] in known]
                hits.append(sum(item in lists.get(user, []) for user, item in pairs) / len(pairs))
            assert found[policy.name][place] == pytest.approx(hits[0] / hits[1])
