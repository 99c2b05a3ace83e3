"""What jeunen18 found comes out of the shop over time, though nothing in it knows of protocols."""

from __future__ import annotations

from functools import cache

import numpy as np
from tests.simulate.shops import lists_by_user

from unskew.log import Ids, Log
from unskew.models import make
from unskew.simulate import ShopOverTime

MODELS = {"popular": "most_popular", "recent": "recently_popular(last=300)", "item_knn": "item_knn(neighbours=50)"}


@cache
def shop() -> ShopOverTime:
    """Fourteen weeks."""
    return ShopOverTime(users=12_000, items=1200, days=98, future=7)


def recall(train: Log, test: Log) -> dict[str, float]:
    """Recall@10, the mean over users."""
    users = Ids(test.users.values.gather(np.flatnonzero(np.diff(test.indptr))))
    relevant: dict[int, set[int]] = {}
    for user, item in test.to_frame().select("user", "item").iter_rows():
        relevant.setdefault(user, set()).add(item)
    values = {}
    for name, text in MODELS.items():
        lists = lists_by_user(make(text).fit(train).recommend(users, 10, seen=train).to_frame())
        values[name] = float(np.mean([len(found & {*lists[u]}) / len(found) for u, found in relevant.items()]))
    return values


def leave_one_out(log: Log) -> dict[str, float]:
    """One random row of each user with two or more."""
    lengths = np.diff(log.indptr)
    some = np.flatnonzero(lengths > 1)
    held = np.zeros(len(log), dtype=np.bool_)
    held[log.indptr[some] + (np.random.default_rng(0).random(len(some)) * lengths[some]).astype(int)] = True
    return recall(log.take(~held), log.take(held))


def sliding_window(policy: int | None = None) -> dict[str, float]:
    """The mean over the last 24 days, by users with a past; of one policy's log if one is given."""
    found = []
    mine = np.arange(len(shop().ids[0])) >= 0 if policy is None else shop().policy_of == policy
    for day in range(74, 98):
        before, now = shop().before(day), shop().window(day)
        train = before.take(mine[before.user])
        found.append(recall(train, now.take(mine[now.user] & (np.diff(train.indptr) > 0)[now.user])))
    return {name: float(np.mean([values[name] for values in found])) for name in MODELS}


def test_leaving_one_out_overstates_levels_and_understates_popularity() -> None:
    """The best model twice as good and more, popularity a smaller share of it, than in a sliding window."""
    random, sliding = leave_one_out(shop().log), sliding_window()
    assert random["item_knn"] == max(random.values()) > 2.0 * max(sliding.values())
    assert sliding["recent"] / max(sliding.values()) > 2.0 * random["recent"] / max(random.values())
    assert sliding["popular"] / max(sliding.values()) > 1.3 * random["popular"] / max(random.values())


def test_a_policy_favours_its_own_algorithm() -> None:
    """item-kNN compared with recent popularity looks better on its own log than on that of either other policy."""
    ratio = []
    for policy in range(3):
        values = sliding_window(policy)
        ratio.append(values["item_knn"] / values["recent"])
    assert ratio[2] > 1.3 * max(ratio[:2])
