"""The worlds of ``column_study`` are what they say, and its page and sums count right: no library in between."""

from __future__ import annotations

import numpy as np
import pytest

from .broken_columns import BROKEN
from .column_study import BROKEN_HEAD, HONEST_HEAD, Found, Task, line, page, withheld
from .column_sums import Elsewhere, Pairs, by_list, over_active, tenths
from .column_worlds import Said, World, mark
from .honest_columns import HONEST, personal
from .verdict_worlds import Floats

# What is drawn is what was clicked, not what is relevant.
CLICKED = ("places looked at", "crawlers")
COLUMNS = [kind for kind in [*BROKEN, *HONEST] if kind not in (*CLICKED, "train and test swapped")]


def hits(kind: str, lift: float) -> Floats:
    """Relevant items that lists a and b alone hold, over three worlds, and how many pairs each holds alone."""
    found = np.zeros((2, 2))
    for n in range(3):
        world = Task(kind, n, lift).draw()
        assert isinstance(world, World)
        a, b = (mark(items, world.seen.shape[1]) for items in (world.a, world.b))
        found += [[(alone & world.relevant).sum(), alone.sum()] for alone in (a & ~b, b & ~a)]
    return found


@pytest.mark.parametrize("kind", COLUMNS)
def test_equal_models_are_equal(kind: str) -> None:
    """Lists hold as many relevant items, within four standard errors."""
    (a, alone_a), (b, alone_b) = hits(kind, 1.0)
    assert abs(a / alone_a - b / alone_b) < 4.0 * np.sqrt(a / alone_a**2 + b / alone_b**2)


@pytest.mark.parametrize("kind", HONEST)
def test_the_better_model_is_better_by_the_lift(kind: str) -> None:
    """What list b alone holds is relevant so many times as often."""
    lift = HONEST[kind][1]
    (a, alone_a), (b, alone_b) = hits(kind, lift)
    assert abs(b / alone_b / (a / alone_a) / lift - 1.0) < 4.0 * np.sqrt(1.0 / a + 1.0 / b)


@pytest.mark.parametrize("kind", [kind for kind in HONEST if kind not in ("silent users, unnamed", "few rows")])
def test_honest_columns_add_up(kind: str) -> None:
    """Σ 1/P is the number of pairs on either list, within five standard errors or 3 %; users without rows count."""
    for world in range(3):
        made = Task(kind, world).draw()
        assert isinstance(made, World)
        lists = by_list(Pairs.of(made))
        assert np.all((np.abs(lists.errors) < 5.0) | (np.abs(lists.value - 1.0) < 0.03))


def test_ratios_are_those_of_a_loop() -> None:
    """ρ, its standard error and the effective number of weights of two groups of items."""
    rng = np.random.default_rng(1)
    seen, there = rng.random((30, 8)) < 0.5, rng.random((30, 8)) < 0.9
    seen &= there
    p = rng.uniform(0.1, 0.9, seen.shape)
    group = np.arange(8) % 2
    found = Pairs(seen, there, p, seen, seen, True, True).ratios(group)
    for g in range(2):
        mine = [[(u, i) for i in range(8) if there[u, i] and group[i] == g] for u in range(30)]
        t = [sum(1.0 / p[pair] for pair in pairs if seen[pair]) for pairs in mine]
        c = [len(pairs) for pairs in mine]
        weights = [1.0 / p[pair] for pairs in mine for pair in pairs if seen[pair]]
        value = sum(t) / sum(c)
        spread = sum((x - value * n) ** 2 for x, n in zip(t, c, strict=True))
        alone = sum(w * w - w for w in weights)
        assert found.value[g] == pytest.approx(value)
        assert found.error[g] == pytest.approx(np.sqrt(max(spread, alone)) / sum(c))
        room = 10.0 * (1.0 / p[seen] ** 3).sum() / (1.0 / p[seen] ** 2).sum() / sum(c)
        assert found.room[g] == pytest.approx(room)
        assert found.ess[g] == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))


def test_tenths_are_made_elsewhere() -> None:
    """Who has no rows elsewhere counts only where users are named, and the rows that are judged decide nothing."""
    assert tenths(np.array([0, 5, 0, 7]), every=False).tolist() == [-1, 0, -1, 5]
    assert tenths(np.array([3, 5, 0, 7]), every=True).tolist() == [2, 5, 0, 7]
    pairs = Pairs.of(personal(np.random.default_rng(2), 1.0))
    elsewhere = Elsewhere.of(pairs, np.random.default_rng(3))
    item, judged = pairs.seen.copy(), elsewhere.users == elsewhere.users[:, :1]
    half = judged.all(axis=0)  # the items that share a half with the first one
    item[:, half] = ~item[:, half]
    again = Elsewhere.of(Pairs(item, pairs.there, pairs.p, pairs.a, pairs.b, False, False), np.random.default_rng(3))
    assert np.array_equal(again.users[:, half], elsewhere.users[:, half])
    assert not np.array_equal(again.users[:, ~half], elsewhere.users[:, ~half])
    assert not over_active(pairs)
    crawled = pairs.seen.copy()
    crawled[0] = True
    assert over_active(Pairs(crawled, pairs.there, pairs.p, pairs.a, pairs.b, True, True))


def test_the_page_has_a_line_for_every_kind() -> None:
    """With zeros and without; what is withheld is told from what is undecided by chance."""
    said = (Said("better"), Said("undecided", "because"), Said("undecided"), Said("ahead", assumption="it is so"))
    kinds = [(kind, zeros) for kind in [*BROKEN, *HONEST] for zeros in (True, False)]
    made = [Found(kind, zeros, said, said if kind in HONEST else ()) for kind, zeros in kinds]
    assert page(made).count("\n| ") == len(made) + 4
    assert [withheld(each) for each in said] == [False, True, False, False]
    assert line(made[0]).count("|") == BROKEN_HEAD.count("|")
    assert line(made[-1]).count("|") == HONEST_HEAD.count("|")
    assert line(made[0]) == "| per impression | yes | 25% | 25% | a | 0% | 25% | 25% | 0% | 25% |"
