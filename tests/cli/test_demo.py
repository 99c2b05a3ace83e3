"""The demo: what it recommends holds the truth, which it prints beside the estimates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import unskew as us
from tests.cli.commands import unskew
from tests.worlds import monte_carlo_error, worlds
from unskew.cli.demo import METRIC, RECOMMENDED, TARGET
from unskew.log import Recommender
from unskew.models import MostPopular
from unskew.simulate import World

SHOPS = worlds(40, 80)
ERROR = monte_carlo_error(0.95, SHOPS)
Floats = npt.NDArray[np.float64]


def test_it_shows_the_truth_inside_the_interval_of_what_it_recommends() -> None:
    """Naive picks the wrong model, snips the right one, and every truth lies inside its printed interval."""
    done = unskew("demo")
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.stdout.splitlines() if "│" in line]
    table = {row[0]: row[1:] for row in rows if len(row) == 6}
    assert list(table) == ["popular", "item_knn", "challenger"]
    for naive, value, interval, truth, inside in table.values():
        low, high = map(float, interval.strip("[]").split(", "))
        assert low <= float(truth) <= high and inside == "yes"
        assert low <= float(value) <= high
        assert naive != value
    assert f"{METRIC}, {TARGET}" in done.stdout
    assert "Best by naive: item_knn. Best by snips: challenger. In truth: challenger." in done.stdout


def judged(world: World, lists: dict[str, us.Recommendations]) -> us.Result:
    """The demo's evaluation of a shop."""
    return us.evaluate(
        world.test, lists, metrics=[METRIC], estimators=["naive", RECOMMENDED], target=TARGET, propensity="known",
        train=world.train, users=world.relevant_counts(), threads=1,
    )  # fmt: skip


@pytest.fixture(scope="module")
def shops() -> Floats:
    """(shop, model, estimator, 3): low, high, and the truth of the shop's users; naive first, popular first.

    The popular items are those of another shop: a model that is fixed in advance, as intervals take it to be.
    """
    base = World(users=600, items=200, relevant=32.0, impressions=160.0, seed=999)
    popular = MostPopular().fit(base.train)
    rows = []
    for seed in range(SHOPS):
        world = base.draw(seed)
        models: dict[str, Recommender] = {"popular": popular, "challenger": world.challenger()}
        lists = {name: model.recommend(world.train.users, 10, seen=world.train) for name, model in models.items()}
        truth = {name: world.truth(given, METRIC, TARGET) for name, given in lists.items()}
        found = {(e.model, e.estimator): (e.low, e.high, truth[e.model]) for e in judged(world, lists).estimates}
        rows.append([[found[name, estimator] for estimator in ("naive", RECOMMENDED)] for name in models])
    return np.array(rows)


def covered(shops: Floats, truth: Floats) -> Floats:
    """The share of the shops whose intervals hold a truth, by model and estimator."""
    return np.asarray(((shops[..., 0] <= truth) & (truth <= shops[..., 1])).mean(axis=0))


@pytest.mark.study
def test_its_intervals_hold_the_truth(shops: Floats) -> None:
    """Of snips in about 95 % of 40 shops (``make verify``: 80), for the population's truth and for the users' own.

    Naive intervals of the popular items never do: the check can fail.
    """
    population, own = covered(shops, shops[..., 2].mean(axis=0)), covered(shops, shops[..., 2])
    assert (population[:, 1] >= 0.95 - 3 * ERROR).all() and (own[:, 1] >= 0.95 - 3 * ERROR).all()
    assert population[0, 0] == own[0, 0] == 0.0
