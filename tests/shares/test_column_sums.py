"""What tests of a column of propensities add up, beside plain loops over users and pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from unskew.alignment.column import MISSED, ActivityQuestion, PopularityQuestion, _ratio, tenths
from unskew.alignment.level import ERRORS, LevelPart, SeenQuestion
from unskew.engine.data import EvaluationData
from unskew.kernels.arrays import Bools, Ints64
from unskew.log import Ids, Log

USERS, ITEMS = 40, 18


class Small(NamedTuple):
    """A log with zeros, and training rows of the same users, as frames."""

    rows: pl.DataFrame
    known: pl.DataFrame

    @classmethod
    def of(cls, seed: int) -> Small:
        rng = np.random.default_rng(seed)
        p = np.clip(rng.uniform(0.2, 1.8, (USERS, 1)) * np.linspace(0.7, 0.1, ITEMS), 0.05, 1.0)
        seen, training = rng.random(p.shape) < p, rng.random(p.shape) < 0.1
        y = (rng.random(p.shape) < 0.3).astype(float)
        user, item = np.nonzero(seen & ~training)
        columns = {"user": user, "item": item, "value": y[user, item], "propensity": p[user, item]}
        there = dict(zip(("user", "item"), np.nonzero(training), strict=True))
        policy = pl.Series(np.where(user % 3, "old", "new"))
        return cls(pl.DataFrame(columns).with_columns(policy=policy), pl.DataFrame(there))

    def part(self, who: npt.NDArray[np.int64]) -> LevelPart:
        """Some of the users, over the vocabulary of all items."""
        users, items = Ids.of(pl.Series(who)), Ids.of(pl.Series(range(ITEMS)))

        def log(frame: pl.DataFrame, **how: Any) -> Log:
            return Log.from_frame(frame.filter(pl.col("user").is_in(who)), **how).recode(users, items)

        rows, known = log(self.rows, feedback="conversions"), log(self.known)
        held = EvaluationData(
            hashes=users.hashes, indptr=rows.indptr, item=rows.item, value=np.asarray(rows.value), lists=(),
            propensity=rows.propensity, candidates=ITEMS - np.diff(known.indptr).astype(float),
        )  # fmt: skip
        return LevelPart(rows, held, known, ITEMS)

    def halves(self) -> tuple[dict[int, int], dict[int, int]]:
        """The half of every user, and of every item."""
        users, items = Ids.of(pl.Series(range(USERS))), Ids.of(pl.Series(range(ITEMS)))
        bits = (users.hashes >> np.uint64(17)) & np.uint64(1), (items.hashes >> np.uint64(23)) & np.uint64(1)
        return dict(enumerate(bits[0].tolist())), dict(enumerate(bits[1].tolist()))

    def pairs(self, user: int, unseen: bool) -> Iterator[int]:
        """The items that a user could be recommended."""
        gone = set(self.known.filter(pl.col("user") == user)["item"]) if unseen else set()
        return (item for item in range(ITEMS) if item not in gone)

    def weights(self, user: int) -> dict[int, float]:
        """1/P of the user's rows, by item."""
        own = self.rows.filter(pl.col("user") == user)
        return {item: 1.0 / p for item, p in own.select("item", "propensity").iter_rows()}


EVERYBODY = np.arange(USERS)


def counted(world: Small) -> Ints64:
    return SeenQuestion().of(world.part(EVERYBODY)).counts


def groups(world: Small) -> tuple[Ints64, Bools]:
    counts = counted(world)[::-1]
    return tenths(counts, counts > 0), np.asarray(counts > 0)


@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_tenths_of_items_beside_a_loop(seed: int, unseen: bool) -> None:
    """Σ 1/P ÷ pairs of every group and its standard error: clustered by user, at least that of independent pairs."""
    world = Small.of(seed)
    group, _ = groups(world)
    half, _ = world.halves()
    sums = PopularityQuestion(group, unseen).of(world.part(EVERYBODY))
    assert group.max() >= 4
    for g in range(int(group.max()) + 1):
        t: list[float] = []
        c: list[float] = []
        own: list[float] = []
        for user in range(USERS):
            mine = {item: w for item, w in world.weights(user).items() if group[half[user], item] == g}
            t.append(sum(mine.values()))
            c.append(sum(group[half[user], item] == g for item in world.pairs(user, unseen)))
            own += mine.values()
        ratio = sum(t) / sum(c)
        spread = sum((a - ratio * b) ** 2 for a, b in zip(t, c, strict=True)) * USERS / (USERS - 1)
        alone = sum(w * w - w for w in own)  # (1 − P)/P²
        value, error, heavy = _ratio(sums, [g])
        assert value == pytest.approx(ratio) and error == pytest.approx(math.sqrt(max(spread, alone)) / sum(c))
        more = sum(w**3 for w in own) / sum(w**2 for w in own)
        assert heavy == pytest.approx((math.sqrt(max(spread, alone)) + MISSED * more / ERRORS) / sum(c))
        assert sums.rows[g] == len(own) and sums.square[g] == pytest.approx(sum(w * w for w in own))


@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_activity_beside_a_loop(seed: int, unseen: bool) -> None:
    """Σ_u (n_uB/n̄_B − 1)(Σ_OA 1/P − ρ |C_uA|) over users with rows in B, the same mirrored, and Σ r_uA r_uB."""
    world = Small.of(seed)
    _, allowed = groups(world)
    half, side = world.halves()
    sums = ActivityQuestion(allowed, unseen).of(world.part(EVERYBODY))
    for a, b in ((0, 1), (1, 0)):
        users, n, t, c = 0, [], [], []
        for user in range(USERS):
            own = {item: w for item, w in world.weights(user).items() if allowed[half[user], item]}
            pairs = [side[item] for item in world.pairs(user, unseen) if allowed[half[user], item]]
            if rows := sum(side[item] == b for item in own):
                users += 1
                n.append(rows)
                t.append([sum(w for item, w in own.items() if side[item] == part) for part in (a, b)])
                c.append([pairs.count(a), pairs.count(b)])
        active, weight, there = np.array(n, dtype=float), np.array(t), np.array(c, dtype=float)
        assert users == sums.users[a] < USERS
        ratio = weight[:, 0].sum() / there[:, 0].sum()
        each = (active / active.mean() - 1.0) * (weight[:, 0] - ratio * there[:, 0])
        way = np.array([1.0 / active.mean(), -ratio / active.mean(), -1.0, ratio])
        total, pairs_a, rows_b, nt, nc, tt, tc, ct, cc = sums.sums[a]
        assert (total, pairs_a, rows_b) == pytest.approx((weight[:, 0].sum(), there[:, 0].sum(), active.sum()))
        assert way @ [nt, nc, total, pairs_a] == pytest.approx(each.sum())
        assert way @ sums.products[a] @ way == pytest.approx((each**2).sum())
        alike = (weight[:, 0] - ratio * there[:, 0]) @ (weight[:, 1] - ratio * there[:, 1])
        assert tt - ratio * (tc + ct) + ratio**2 * cc == pytest.approx(alike)
        assert cc == pytest.approx(there[:, 0] @ there[:, 1])
