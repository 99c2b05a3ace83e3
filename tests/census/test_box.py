"""A few worlds of the study of census and tilt; ``box_study`` runs all of it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.census.box_study import POINTS, TASTES, WORLDS, Inside, Tastes, draws, false, limit, one_world, page
from tests.census.box_worlds import ALONE, DEFAULT, NAIVE, TWINS, Counts, Said, _counts, inside
from tests.worlds import worlds


@pytest.mark.study
def test_any_verdict_is_rarely_wrong_where_the_box_is_right() -> None:
    """30 worlds at five points of the box: at most 5 % + 3 Monte Carlo errors (5 worlds) have a wrong verdict."""
    found = [one_world(Inside(world, *point, 120)) for point in POINTS for world in range(worlds(6, 20))]
    assert false(found) <= limit(len(found))
    counts = [said.counts[ALONE] for said in found]
    assert sum(each.right for each in counts) >= 0.4 * 21 * len(found)
    assert sum(said.covered for said in found) >= 0.9 * sum(said.models for said in found)


def test_outcomes_of_what_was_seen_follow_the_model_and_no_other_pair_is_logged() -> None:
    """Held-out rows and training rows are disjoint, everybody has lists of what is not in training, twins are equal."""
    world = inside(0, 4.0, 0.4, 200)
    rows = {part: set(world.given[part].select("user", "item").rows()) for part in ("train", "test")}
    assert not rows["train"] & rows["test"]
    for lists in world.given["models"].values():
        assert lists["user"].n_unique() == 200 and not set(lists.select("user", "item").rows()) & rows["train"]
    for twins in TWINS:
        a, b = (world.truth[name] for name in twins)
        assert abs(a - b) < 0.03
    assert np.ptp(list(world.truth.values())) > 0.05


def test_a_verdict_on_twins_is_wrong_whatever_it_says() -> None:
    """Others are judged by the truth; what is not decided depends or is undecided."""
    world = inside(0, 1.0, 0.0, 100)
    sign = 1 if world.truth["mean"] > world.truth["random"] else -1
    said = {
        ("random", "random again"): (1, True),
        ("near again", "near"): (-1, True),
        ("mean", "random"): (sign, True),
        ("random", "mean"): (sign, True),
        ("popular", "mean"): (0, True),
        ("popular", "random"): (0, False),
    }
    assert _counts(world, said) == Counts(right=1, wrong=3, depends=1, undecided=1)


def test_the_study_has_as_many_worlds_as_it_says_and_its_page_shows_misses() -> None:
    """500 worlds over points and numbers of users, no two of them alike; too many wrong ones are marked."""
    tasks = draws(WORLDS)
    assert len(tasks) == len(set(tasks)) == WORLDS and {(task.odds, task.slope) for task in tasks} == set(POINTS)

    def said(wrong: int) -> Said:
        return Said(dict.fromkeys((ALONE, DEFAULT, NAIVE), Counts(10, wrong, 5, 5)), 7, 7)

    outer = [(Tastes(0, *kind), said(1)) for kind in TASTES]
    good = page([(task, said(0)) for task in tasks], outer)
    bad = page([(task, said(int(task.odds == 3.0))) for task in tasks], outer)
    assert "which keeps" in good and "**over**" not in good
    assert "**which misses**" in bad and bad.count("100.0% **over**") == 1
