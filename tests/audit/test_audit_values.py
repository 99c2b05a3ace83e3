"""Values, and a skewed log against one drawn at random."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.said import refuses
from unskew.auditing.contrast import Contrast
from unskew.auditing.values import ClusteredError, SideSums, influence

from . import logs

SEEN = {1.0: 0.02, 2.0: 0.04, 3.0: 0.08, 4.0: 0.16}


def world(seed: int, seen: dict[float, float], users: int = 300, items: int = 80) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A log in which a pair of value y is seen with probability seen[y], and an MCAR log of the same users."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(0.0, 0.6, (users, 1))
    value = np.clip(np.floor(2.5 + taste + rng.normal(0.0, 0.9, (users, items))), 1, 4)
    mnar = rng.random((users, items)) < np.vectorize(seen.__getitem__)(value)
    mcar = rng.random((users, items)) < 0.1
    frames = []
    for rows in (mnar, mcar):
        user, item = np.nonzero(rows)
        frames.append(pl.DataFrame({"user": user, "item": item, "value": value[rows]}))
    return frames[0], frames[1]


def contrasted(seed: int, seen: dict[float, float]) -> Contrast:
    log, mcar = world(seed, seen)
    found = us.audit(log, mcar=mcar, feedback="ratings").mcar
    assert found is not None
    return found


def test_standard_errors_are_clustered_by_user() -> None:
    """The errors of a mean and of a difference equal loops over users."""
    rng = np.random.default_rng(1)
    user_a, user_b = np.sort(rng.integers(0, 9, 50)).astype(np.int32), rng.integers(3, 12, 30).astype(np.int32)
    a, b = rng.normal(size=50) + user_a, rng.normal(size=30)
    e, f = [0.0] * 12, [0.0] * 12
    for y, u in zip(a, user_a, strict=True):
        e[u] += (y - a.mean()) / 50
    for y, u in zip(b, user_b, strict=True):
        f[u] += (y - b.mean()) / 30
    m = len(set(user_a.tolist()))
    mine, theirs = influence(a, SideSums.of(a), user_a, 12), influence(b, SideSums.of(b), user_b, 12)
    rows_a, rows_b = np.bincount(user_a, minlength=12), np.bincount(user_b, minlength=12)
    assert ClusteredError.of(mine, rows_a > 0).se == pytest.approx(math.sqrt(m / (m - 1) * sum(x * x for x in e)))
    both = len(set(user_a.tolist()) | set(user_b.tolist()))
    expected = math.sqrt(both / (both - 1) * sum((x - y) ** 2 for x, y in zip(e, f, strict=True)))
    assert ClusteredError.of(mine - theirs, rows_a + rows_b > 0).se == pytest.approx(expected)


def test_shares_distance_and_overlap_are_those_of_the_tables() -> None:
    """Shares, total variation, smoothed P(seen | value) and common pairs equal counting by hand."""
    log, mcar = world(2, SEEN)
    found = us.audit(log, mcar=mcar).mcar
    assert found is not None
    assert found.overlap == len(log.join(mcar, on=["user", "item"])) and found.rows == len(mcar)
    users, items = (pl.concat([log[c], mcar[c]]).n_unique() for c in ("user", "item"))
    far = 0.0
    for v in found.values:
        n, m = (int((frame["value"] == v.low).sum()) for frame in (log, mcar))
        assert (v.rows, v.rows_mcar) == (n, m)
        smooth = (m + 1) / (len(mcar) + len(found.values))
        assert v.ratio == pytest.approx(n / len(log) / smooth)
        assert v.seen == pytest.approx(n / len(log) * len(log) / (users * items) / smooth)
        far += abs(n / len(log) - m / len(mcar)) / 2
    assert found.distance == pytest.approx(far)


def test_the_chance_of_being_seen_given_the_value_comes_back() -> None:
    """P(seen | value) is right within Monte Carlo error, and its intervals cover in about 95 % of worlds."""
    seen: dict[float, list[float]] = {y: [] for y in SEEN}
    covered = []
    for seed in range(60):
        found = contrasted(seed, SEEN)
        mean = sum(v.share_mcar * SEEN[v.low] for v in found.values)
        for v in found.values:
            assert v.ratio_low is not None and v.ratio_high is not None
            seen[v.low].append(v.seen)
            covered.append(v.ratio_low <= SEEN[v.low] / mean <= v.ratio_high)
    for y, drawn in seen.items():
        assert np.mean(drawn) == pytest.approx(SEEN[y], abs=4 * float(np.std(drawn)) / math.sqrt(60) + 0.01 * SEEN[y])
    assert 0.90 <= np.mean(covered) <= 0.995


def test_equal_distributions_are_rejected_as_often_as_they_should() -> None:
    """Where values do not matter, p falls below 0.05 in about 5 % of worlds; where they do, always."""
    even = dict.fromkeys(SEEN, 0.08)
    ps = [found.p for seed in range(80) if (found := contrasted(seed, even)).p is not None]
    assert len(ps) == 80 and 0.0 < np.mean(np.array(ps) < 0.05) <= 0.12
    assert contrasted(0, SEEN).p == pytest.approx(0.0, abs=1e-9)


def test_an_mcar_log_needs_values_on_both_sides() -> None:
    """Without values there is nothing to compare, and the message says which log lacks them."""
    for mine, theirs, lacks in ((False, True, "log"), (True, False, "mcar")):
        with refuses("missing-column", column="value") as caught:
            us.audit(logs.skewed(value=mine), mcar=logs.skewed(value=theirs))
        assert str(caught.value).startswith(f"{lacks}:")
