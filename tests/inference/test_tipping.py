"""Tipping points against brute force: every row's weight low or high, all 2ⁿ ways, the worst of them.

A ratio of sums that are linear in the weights is least (or largest) at a corner of the box that the weights may lie
in, so trying all corners is a proof and not an approximation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from unskew.engine.held import Held
from unskew.engine.memory import estimate, tilt
from unskew.engine.tilts import Pull
from unskew.estimators import Estimator, Stratified
from unskew.evaluation.answer import answer
from unskew.inference.bootstrap import replicate_sums
from unskew.inference.tipping import GRID, closed, on_grid
from unskew.log import Recommendations
from unskew.result import Verdict

from .worlds import ITEMS, Floats, Ints64, draw, numbered, plan_of, setting

K = 5
GS = "gs(strata=2)"
CLOSED = (
    ("snips", "pooled"),
    (GS, "pooled"),
    ("naive", "pooled"),
    ("ips", "per_user"),
    ("ips", "pooled"),
    ("ips", "per_user_sum"),
    ("snips", "per_user_sum"),
    ("naive", "per_user_sum"),
    ("clipped(snips, quantile=0.3)", "pooled"),
)
RATIOS = (("snips", "per_user"), (GS, "per_user"), ("naive", "per_user"))


def small(seed: int, *, relative: bool, users: int = 4, rows: int = 9) -> Held:
    """A few users with graded values, zeros and random lists of two models; one user has no rows."""
    rng = np.random.default_rng(seed)
    owner = np.sort(rng.integers(0, users - 1, rows))
    item = np.concatenate(
        [np.sort(rng.choice(10, n, replace=False)) for n in np.bincount(owner, minlength=users)]
    ).astype(np.int32)
    lists = []
    for _ in range(2):
        listed = np.concatenate([rng.permutation(10)[:K] for _ in range(users)]).astype(np.int32)
        starts = np.arange(users + 1, dtype=np.int64) * K
        rank = np.tile(np.arange(1, K + 1, dtype=np.int32), users)
        lists.append(Recommendations(numbered(users), numbered(ITEMS), starts, listed, rank))
    value = rng.choice([0.0, 0.5, 1.0, 2.0], rows, p=[0.15, 0.2, 0.45, 0.2])
    value[0] = 1.0
    return Held(
        hashes=numbered(users).hashes,
        indptr=np.searchsorted(owner, np.arange(users + 1)).astype(np.int64),
        item=item,
        value=value,
        lists=tuple(lists),
        propensity=rng.choice([0.1, 0.25, 0.5, 0.8, 1.0], rows),
        relevant=rng.integers(8, 20, users).astype(np.float64),
        candidates=np.full(users, 10.0),
        relative=relative,
    )


@dataclass(frozen=True, eq=False)
class Brute:
    """One cell of a small log, by plain loops.

    Args:
        d: of each row, how much more model a makes of it than b.
        inverse, fixed: weights lie in ``fixed + (inverse − fixed)·[1/Γ, Γ]``.
        difference: estimate of a minus estimate of b for given weights.
    """

    held: Held
    cell: tuple[str, str]
    d: Floats
    inverse: Floats
    fixed: float
    strata: Ints64

    @classmethod
    def of(cls, held: Held, cell: tuple[str, str]) -> Brute:
        assert held.propensity is not None
        estimator = cell[0]
        worth = [_worths(found, held) for found in held.lists]
        inverse = 1.0 / held.propensity
        if estimator.startswith("clipped"):
            floor = plan_of(held, (cell,)).arms[0].estimator.floor  # type: ignore[attr-defined]
            inverse = np.array([1.0 / max(p, floor) for p in held.propensity])
        if estimator == "naive":
            inverse = np.ones(len(held.value))
        strata = np.zeros(len(held.value), dtype=np.int64)
        if estimator == GS:
            (edge,) = plan_of(held, (cell,)).arms[0].estimator.strata.edges  # type: ignore[attr-defined]
            strata = (held.propensity >= edge).astype(np.int64)
        fixed = 0.0 if held.relative or estimator == "naive" else 1.0
        return cls(held, cell, worth[0] - worth[1], inverse, fixed, strata)

    def rows(self, user: int) -> range:
        return range(self.held.indptr[user], self.held.indptr[user + 1])

    def bounds(self, gamma: float) -> tuple[Floats, Floats]:
        return self.fixed + (self.inverse - self.fixed) / gamma, self.fixed + (self.inverse - self.fixed) * gamma

    def used(self, weight: Floats) -> Floats:
        """The weights that multiply y·d: those of gs are means over the user's stratum, weighted by y."""
        if self.cell[0] != GS:
            return weight
        out = np.zeros_like(weight)
        for user in range(self.held.users):
            for stratum in (0, 1):
                group = [row for row in self.rows(user) if self.strata[row] == stratum]
                mass = sum(self.held.value[row] for row in group)
                if mass > 0.0:
                    mean = sum(weight[..., row] * self.held.value[row] for row in group) / mass
                    for row in group:
                        out[..., row] = mean
        return out

    def difference(self, weight: Floats) -> Floats:
        """(…, rows) weights → the difference of the two estimates."""
        y = self.held.value
        estimator, target = self.cell
        gains = self.used(weight) * y * self.d
        if target == "per_user_sum":
            total = gains.sum(axis=-1) / self.held.users
            if estimator != "snips":
                return np.asarray(total)
            assert self.held.candidates is not None
            return np.asarray(total * self.held.candidates.sum() / weight.sum(axis=-1))
        if estimator == "ips":
            assert self.held.relevant is not None
            if target == "pooled":
                return np.asarray(gains.sum(axis=-1) / self.held.relevant.sum())
            parts = [
                gains[..., list(self.rows(u))].sum(axis=-1) / self.held.relevant[u] for u in range(self.held.users)
            ]
            return np.asarray(np.mean(parts, axis=0))
        if target == "pooled":
            return np.asarray(gains.sum(axis=-1) / (weight * y).sum(axis=-1))
        parts = []
        for user in range(self.held.users):
            rows = list(self.rows(user))
            if y[rows].sum() > 0.0:
                parts.append(gains[..., rows].sum(axis=-1) / (weight * y)[..., rows].sum(axis=-1))
        return np.asarray(np.mean(parts, axis=0))

    @property
    def lead(self) -> float:
        return float(self.difference(self.inverse))

    def worst(self, gamma: float) -> float:
        """The least lead of the model that is ahead, over all corners (2ⁿ weights at once)."""
        low, high = self.bounds(gamma)
        corners = np.array(list(itertools.product((0.0, 1.0), repeat=len(low))))
        sign = math.copysign(1.0, self.lead)
        return float((sign * self.difference(low + corners * (high - low))).min())


def _worths(lists: Recommendations, held: Held) -> Floats:
    """dcg worth of every row's rank in these lists."""
    out = np.zeros(len(held.value))
    for user in range(held.users):
        entries = range(lists.indptr[user], lists.indptr[user + 1])
        ranks = {int(lists.item[e]): int(lists.rank[e]) for e in entries}
        for row in range(held.indptr[user], held.indptr[user + 1]):
            if int(held.item[row]) in ranks:
                out[row] = 1.0 / math.log2(ranks[int(held.item[row])] + 1.0)
    return out


def verdict(held: Held, cell: tuple[str | Estimator, str], metric: str = "dcg@5") -> Verdict:
    (row,) = answer(held, plan_of(held, (cell,), metric), setting(2)).verdicts
    return row


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("cell", CLOSED, ids=" ".join)
def test_closed_tipping_points_are_where_the_worst_case_turns(cell: tuple[str, str], relative: bool) -> None:
    """just below Γ* no weights undo the lead, just above some do; ∞ where none ever do."""
    kinds = set()
    for seed in range(12):
        held = small(seed, relative=relative)
        brute = Brute.of(held, cell)
        row = verdict(held, cell)
        assert row.difference == pytest.approx(brute.lead, rel=1e-9, abs=1e-15)
        if abs(brute.lead) < 1e-12:
            assert row.tipping is None
            continue
        assert row.tipping is not None and row.tipping > 1.0
        assert row.tipping_kind == ("ratio" if relative or cell[0] == "naive" else "odds")
        assert row.tipping_low is None
        kinds.add(math.isinf(row.tipping))
        if math.isinf(row.tipping):
            assert brute.worst(1e9) >= -1e-8
        else:
            assert brute.worst(row.tipping * (1.0 - 1e-6)) > 0.0 > brute.worst(row.tipping * (1.0 + 1e-6))
    assert False in kinds


@pytest.mark.parametrize("cell", [*CLOSED, *RATIOS], ids=" ".join)
def test_corners_are_the_worst_weights(cell: tuple[str, str]) -> None:
    """Random weights inside the box never do worse than its worst corner."""
    rng = np.random.default_rng(8)
    for seed in range(4):
        brute = Brute.of(small(seed, relative=False), cell)
        low, high = brute.bounds(1.7)
        inside = low + rng.random((2_000, len(low))) * (high - low)
        assert (math.copysign(1.0, brute.lead) * brute.difference(inside)).min() >= brute.worst(1.7) - 1e-12


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("cell", RATIOS, ids=" ".join)
def test_worst_ratios_inside_users_are_those_of_all_corners(cell: tuple[str, str], relative: bool) -> None:
    """Per-user snips, gs and naive: the mean over users of the least ratio, at every Γ of the grid."""
    for seed in range(8):
        held = small(seed, relative=relative)
        brute = Brute.of(held, cell)
        arm = plan_of(held, (cell,)).arms[0]
        sign = math.copysign(1.0, brute.lead)
        totals, none = tilt(held, [Pull(arm, 0, 0, 1, sign, True, 0, 0)], threads=1)
        assert none is None
        counting = sum(held.value[list(brute.rows(u))].sum() > 0.0 for u in range(held.users))
        expected = [brute.worst(gamma) for gamma in GRID]
        np.testing.assert_allclose(totals / counting, expected, rtol=1e-9, atol=1e-12)
        assert (np.diff(totals) <= 1e-12).all()


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("cell", RATIOS, ids=" ".join)
def test_grid_tipping_points_are_interpolated_between_neighbours(cell: tuple[str, str], relative: bool) -> None:
    """The true crossing lies between the same neighbours of the grid; inside, log Γ is interpolated linearly."""
    finite = 0
    for seed in range(20):
        held = small(seed, relative=relative)
        brute = Brute.of(held, cell)
        if abs(brute.lead) < 1e-12:
            continue
        row = verdict(held, cell)
        assert row.tipping_kind == ("ratio" if relative or cell[0] == "naive" else "odds")
        worst = [brute.worst(gamma) for gamma in GRID]
        after = next((j for j, value in enumerate(worst) if value <= 0.0), None)
        if after is None:
            assert row.tipping == math.inf
            continue
        finite += 1
        part = worst[after - 1] / (worst[after - 1] - worst[after])
        expected = math.exp((1.0 - part) * math.log(GRID[after - 1]) + part * math.log(GRID[after]))
        assert row.tipping == pytest.approx(expected, rel=1e-9)
        true = _crossing(brute.worst, GRID[after - 1], GRID[after])
        assert row.tipping is not None
        assert GRID[after - 1] <= row.tipping <= GRID[after]
        assert row.tipping == pytest.approx(true, rel=0.1)
    assert finite >= 5


def _crossing(worst: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if worst(middle) > 0.0 else (low, middle)
    return high


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("cell", [*CLOSED, *RATIOS], ids=" ".join)
def test_swapping_the_models_keeps_the_tipping_point(cell: tuple[str, str], relative: bool) -> None:
    """Γ* belongs to the pair: naming the models the other way round changes the sign of the difference only."""
    for seed in range(10):
        held = small(seed, relative=relative)
        row, mirrored = verdict(held, cell), verdict(replace(held, lists=held.lists[::-1]), cell)
        assert mirrored.difference == pytest.approx(-row.difference, rel=1e-9, abs=1e-15)
        if abs(row.difference) > 1e-12:
            assert mirrored.tipping == pytest.approx(row.tipping, rel=1e-9)


def test_closed_forms_with_nothing_against_the_leader() -> None:
    """B1 = 0: the lead falls as A1/Γ only, so Γ* = A1/(B0 − A0) where B0 > A0, and there is none otherwise."""
    assert closed(np.array([1.0, 5.0, 3.0, 0.0]), 1.0) == pytest.approx(2.5)
    assert closed(np.array([3.0, 0.0, 1.0, 5.0]), -1.0) == pytest.approx(2.5)
    assert closed(np.array([3.0, 5.0, 1.0, 0.0]), 1.0) == math.inf
    assert closed(np.array([1.0, 5.0, 1.0, 0.0]), 1.0) == math.inf
    assert closed(np.array([0.0, 5.0, 0.0, 0.0]), 1.0) == math.inf


def test_closed_forms_follow_maths() -> None:
    """Γ* = [(A0−B0) + √((A0−B0)² + 4 A1 B1)] / (2 B1), √(A1/B1) for relative propensities; 1 where already behind."""
    rng = np.random.default_rng(2)
    for a0, a1, b0, b1 in rng.uniform(0.1, 3.0, (50, 4)):
        lead = a0 - b0
        expected = (lead + math.sqrt(lead**2 + 4.0 * a1 * b1)) / (2.0 * b1) if lead + a1 - b1 > 0.0 else 1.0
        assert closed(np.array([a0, a1, b0, b1]), 1.0) == pytest.approx(expected)
        assert closed(np.array([b0, b1, a0, a1]), -1.0) == pytest.approx(expected)
        assert closed(np.array([0.0, a1, 0.0, b1]), 1.0) == pytest.approx(max(math.sqrt(a1 / b1), 1.0))
        for q in (-0.3, 0.4):  # settled: for the first model, so for the leader only where that is the first
            lead = a0 - b0 + q
            expected = (lead + math.sqrt(lead**2 + 4.0 * a1 * b1)) / (2.0 * b1) if lead + a1 - b1 > 0.0 else 1.0
            assert closed(np.array([a0, a1, b0, b1]), 1.0, q) == pytest.approx(expected)
            assert closed(np.array([b0, b1, a0, a1]), -1.0, -q) == pytest.approx(expected)
    batch, settled = rng.uniform(0.1, 3.0, (7, 4)), rng.normal(size=7)
    np.testing.assert_array_equal(closed(batch, 1.0), [closed(row, 1.0) for row in batch])
    each = [closed(row, 1.0, q) for row, q in zip(batch, settled, strict=True)]
    np.testing.assert_array_equal(closed(batch, 1.0, settled), each)
    assert closed(np.zeros(4), 1.0) == 1.0


def test_closed_forms_keep_their_digits_when_hardly_anything_may_vary() -> None:
    """B1 → 0 (rows against the leader seen almost surely) goes over into the case B1 = 0 without a jump."""
    for b1 in (1e-6, 1e-9, 1e-12, 1e-15, 1e-18):
        gamma = closed(np.array([1.0, 5.0, 3.0, b1]), 1.0)
        assert gamma == pytest.approx(2.5, rel=1e-6 + 10.0 * b1)


def test_sure_rows_against_the_leader_cannot_be_bent() -> None:
    """Absolute propensities of 1 leave odds nothing to multiply: B1 = 0 in a log, against brute force."""
    seen = set()
    for seed in range(40):
        held = small(seed, relative=False)
        brute = Brute.of(held, ("snips", "pooled"))
        against = brute.d < 0.0 if brute.lead > 0.0 else brute.d > 0.0
        assert held.propensity is not None
        held = replace(held, propensity=np.where(against, 1.0, held.propensity))
        brute = Brute.of(held, ("snips", "pooled"))
        if abs(brute.lead) < 1e-12:
            continue
        tipping = verdict(held, ("snips", "pooled")).tipping
        assert tipping is not None
        seen.add(math.isinf(tipping))
        if math.isinf(tipping):
            assert brute.worst(1e9) >= -1e-8
        else:
            assert brute.worst(tipping * (1.0 - 1e-6)) > 0.0 > brute.worst(tipping * (1.0 + 1e-6))
    assert seen == {True, False}


def test_the_grid_is_interpolated_in_log_gamma() -> None:
    """A crossing half-way lies at the geometric mean; at a node it is the node; before the first it is 1."""
    worst = np.where(GRID < 1.75, 1.0, -1.0)
    assert on_grid(worst) == pytest.approx(math.sqrt(1.5 * 1.75))
    worst = np.where(GRID < 1.75, 3.0, -1.0)
    assert on_grid(worst) == pytest.approx(1.5**0.25 * 1.75**0.75)
    worst = np.maximum(2.0 - GRID, 0.0)
    assert on_grid(worst) == pytest.approx(2.0)
    assert on_grid(np.ones_like(GRID)) == math.inf
    assert on_grid(np.zeros_like(GRID)) == 1.0
    assert on_grid(-np.ones_like(GRID)) == 1.0
    end = np.ones_like(GRID)
    end[-1] = -1.0
    assert on_grid(end) == pytest.approx(math.sqrt(GRID[-2] * GRID[-1]))
    batch = np.stack([worst, np.ones_like(GRID), -np.ones_like(GRID), end])
    np.testing.assert_array_equal(on_grid(batch), [on_grid(row) for row in batch])


def test_the_grid_starts_at_one_and_rises() -> None:
    """Γ = 1 is the estimate itself, so the first worst case has the sign of the lead."""
    assert GRID[0] == 1.0
    assert (np.diff(GRID) > 0.0).all()


@pytest.mark.parametrize("metric", ["ndcg@5", "map@5"])
@pytest.mark.parametrize("estimator", ["naive", "snips", GS])
def test_metrics_that_are_no_sums_have_no_tipping_point(metric: str, estimator: str) -> None:
    """none for ndcg and map, whose divisor moves with the weights."""
    held = draw(41, 200, (0.3, 1.5)).held(relative=True)
    row = verdict(held, (estimator, "per_user"), metric)
    assert row.difference != 0.0
    assert row.tipping is None and row.tipping_low is None and row.tipping_kind is None


def test_stratified_has_no_tipping_point() -> None:
    """stratified weighs by given shares, so wrong propensities are not its trouble."""
    held = draw(41, 200, (0.3, 1.5)).held(relative=True)
    shares = {str(v): 0.2 for v in range(1, 6)}
    row = verdict(held, (Stratified(shares=shares), "per_user"))
    assert row.difference != 0.0
    assert row.tipping is None and row.tipping_kind is None


def test_many_models_are_compared_with_the_leader_only() -> None:
    """Beyond twelve models only pairs with the leader get a tipping point; up to twelve all pairs do."""
    for models in (12, 13):
        held = draw(42, 300, np.linspace(0.2, 1.5, models).tolist()).held(relative=True)
        found = answer(held, plan_of(held, (("snips", "pooled"),)), setting(models))
        leader = max(found.estimates, key=lambda row: row.value).model
        for row in found.verdicts:
            expected = row.difference != 0.0 and (models <= 12 or leader in (row.a, row.b))
            assert (row.tipping is not None) == expected


@pytest.mark.parametrize("quality", [(0.5, 0.5), (0.5, 2.0)], ids=["close", "clear"])
def test_tipping_low_is_the_lower_quantile_of_the_replicates(quality: tuple[float, float]) -> None:
    """docs/estimators.md with sampling error: Γ* in every replicate, √(Σω·for / Σω·against), and its 5 % quantile."""
    held = draw(43, 400, quality).held(relative=True)
    plan = plan_of(held, (("snips", "pooled"),))
    (row,) = answer(held, plan, setting(2, replicates=300, seed=6)).verdicts
    sign = math.copysign(1.0, row.difference)
    assert held.propensity is not None
    pulls = sign * (_worths(held.lists[0], held) - _worths(held.lists[1], held)) * held.value / held.propensity
    user = np.repeat(np.arange(400), np.diff(held.indptr))
    ahead = np.bincount(user, np.maximum(pulls, 0.0), minlength=400)
    behind = np.bincount(user, np.maximum(-pulls, 0.0), minlength=400)
    drawn = replicate_sums(np.column_stack([ahead, behind]), held.hashes, 6, 300)
    gammas = np.sort(np.maximum(np.sqrt(drawn[:, 0] / drawn[:, 1]), 1.0))
    assert row.tipping == pytest.approx(math.sqrt(ahead.sum() / behind.sum()), rel=1e-9)
    assert row.tipping_low == pytest.approx(gammas[math.floor(0.05 * 299)], rel=1e-9)
    assert row.tipping is not None and row.tipping_low is not None
    assert 1.0 <= row.tipping_low < row.tipping
    assert (row.tipping_low > 1.0) == (quality == (0.5, 2.0))


@pytest.mark.parametrize("cell", [("snips", "per_user"), (GS, "per_user"), ("ips", "per_user")], ids=" ".join)
def test_tipping_low_lies_below_the_tipping_point(cell: tuple[str, str]) -> None:
    """The quantile that holds at the level is below the point itself, for grids and closed forms, and at least 1."""
    for seed in range(44, 52):
        held = draw(seed, 500, (0.5, 0.8)).held()
        (row,) = answer(held, plan_of(held, (cell,)), setting(2, replicates=200)).verdicts
        assert row.tipping is not None and row.tipping_low is not None
        assert 1.0 <= row.tipping_low <= row.tipping
        if row.p > 0.2:
            assert row.tipping_low == 1.0


def test_replicates_without_a_divisor_do_not_lower_the_tipping_point() -> None:
    """Dropped replicates have no Γ*: a leader that is ahead for every clicker is ahead in all others."""
    users, clickers = 200, 3
    held = draw(53, users, (0.5, 0.5)).held(relative=True)
    best, other = (found.item.reshape(users, 5) for found in held.lists)
    item = np.array([next(i for i in best[u] if i not in other[u]) for u in range(clickers)], dtype=np.int32)
    held = replace(
        held,
        indptr=np.minimum(np.arange(users + 1), clickers).astype(np.int64),
        item=item,
        value=np.ones(clickers),
        propensity=np.full(clickers, 0.5),
    )
    for cell in (("snips", "pooled"), ("snips", "per_user")):
        found = answer(held, plan_of(held, (cell,)), setting(2, replicates=1_000, seed=4, level=0.98))
        assert found.lost_replicates > 20
        assert found.verdicts[0].tipping == math.inf
        assert found.verdicts[0].tipping_low == math.inf


def test_the_second_pass_does_not_depend_on_threads_or_blocks() -> None:
    """Sums for tipping points: the same bits for any number of threads, 1e-12 for any block size."""
    held = draw(54, 900, (0.5, 0.9)).held(relative=True)
    plan = plan_of(held, (("snips", "pooled"), ("snips", "per_user")))
    values = [m.values for m in estimate(held, plan.arms, plan.cells).moments]
    pulls = [
        Pull(plan.arms[0], 0, 0, 1, float(np.sign(values[0][0] - values[0][1])), False, 0, 0),
        Pull(plan.arms[1], 0, 0, 1, float(np.sign(values[1][0] - values[1][1])), True, 4, 1),
    ]

    def run(threads: int, block: int) -> tuple[Floats, Floats]:
        totals, drawn = tilt(held, pulls, replicates=20, seed=1, threads=threads, block=block)
        assert drawn is not None
        return totals, drawn

    first = run(1, 100)
    for left, right in zip(run(3, 100), first, strict=True):
        np.testing.assert_array_equal(left, right)
    for left, right in zip(run(1, 4096), first, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)
