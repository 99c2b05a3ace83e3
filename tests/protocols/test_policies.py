"""Every policy's part by itself: who is in it, which folds, what is tested, and how often it is wrong."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.protocols.policy_worlds import world
from tests.report.every_output import shown
from tests.said import refuses
from unskew.protocols.policy_parts import policy_parts
from unskew.report import document_of

MODELS = ("most_popular", "item_knn(neighbours=15)")
LEAVE = "leave_one_out(repeats=2)"


@pytest.fixture(scope="module")
def strong() -> us.PolicyImpact:
    """One policy shows what is popular, the other what users like."""
    return us.policy_impact(world(1, strength=1.5), MODELS, LEAVE, refits=4)


def test_parts_are_disjoint_users_of_one_policy_and_equally_many() -> None:
    rows = world(3, users=300)
    moved = rows.with_columns(
        policy=pl.when((pl.col("user") < 20) & (pl.col("item") % 2 == 0)).then(pl.lit("policy 9")).otherwise("policy")
    ).filter(pl.col("policy") != "policy 9")
    both = pl.concat(
        [moved, pl.DataFrame({"user": [25, 26], "item": [59, 59], "time": [1, 1], "policy": ["other"] * 2})]
    )
    with refuses("shared-users", policy="other"):
        policy_parts(us.Log.from_frame(both), equal=True, seed=0)
    mixed = rows.with_columns(
        policy=pl.when((pl.col("user") == 7) & (pl.int_range(pl.len()).over("user") == 0))
        .then(pl.lit("policy 0"))
        .when(pl.col("user") == 7)
        .then(pl.lit("policy 1"))
        .otherwise("policy")
    )
    log = us.Log.from_frame(mixed)
    parts = policy_parts(log, equal=True, seed=0)
    assert (parts.shared_users, parts.shared_rows) == (1, 7)
    users = [set(part.users.values[np.unique(part.user)]) for part in parts.logs]
    assert not users[0] & users[1]
    assert 7 not in users[0] | users[1]
    assert len(users[0]) == len(users[1]) == parts.groups[0].users == parts.groups[1].users
    for part, group in zip(parts.logs, parts.groups, strict=True):
        assert part.policy is not None
        assert set(part.policy) == {group.policy}
    every = policy_parts(log, equal=False, seed=0)
    assert sum(group.users for group in every.groups) == 299
    assert sum(g.users + g.left_out for g in parts.groups) == 299


def test_values_are_those_of_each_part(strong: us.PolicyImpact) -> None:
    """As a cross-validation of the policy's rows alone; and ratios between policies are those of values."""
    log = us.Log.from_frame(world(1, strength=1.5))
    parts = policy_parts(log, equal=True, seed=0)
    found = {(v.policy, v.model): v.value for v in strong.values_}
    for part, group in zip(parts.logs, parts.groups, strict=True):
        alone = us.cross_validate(part.to_frame(), MODELS, split=LEAVE, estimators=["naive"])
        for row in alone.rows():
            assert found[group.policy, row.model] == pytest.approx(row.macro)
    for d in strong.differences_:
        if d.kind == "value":
            assert d.ratio == pytest.approx(found[d.policy, d.model] / found[str(d.other), d.model])
        if d.kind == "ratio":
            ratios = [found[p, d.model] / found[p, str(d.against)] for p in (d.policy, str(d.other))]
            assert d.ratio == pytest.approx(ratios[0] / ratios[1])
        assert d.differs == (d.low is not None and d.high is not None and not d.low <= 1.0 <= d.high)
        assert d.differs == (d.p_adjusted < 0.05)


def test_a_strong_policy_is_found_and_named(strong: us.PolicyImpact) -> None:
    """The policy that shows popular items favours the model that lists them, and values differ."""
    favours = {(d.policy, d.model): d for d in strong.differences_ if d.kind == "favour"}
    liked = favours["policy 0", "most_popular"]
    assert liked.differs
    assert liked.ratio is not None
    assert liked.ratio > 1.0
    assert any("most_popular" in str(s) for s in document_of(strong).summary[1].items)  # type: ignore[union-attr]


def test_policies_that_do_not_matter_are_rarely_said_to_differ() -> None:
    """6 worlds; at a level of 95 % more than 2 have a probability of 2 per mille. Studies draw hundreds."""
    wrong = sum(us.policy_impact(world(seed, users=300), MODELS, LEAVE, refits=4).differ for seed in range(100, 106))
    assert wrong <= 2


def test_propensities_are_compared_with_naive() -> None:
    """Weighed favours stand beside naive ones, and what goes away is their ratio."""
    found = us.policy_impact(
        world(1, strength=1.5), MODELS, "holdout(share=0.3)", propensity="popularity(gamma=1)", refits=4
    )
    assert {c.estimator for c in found.corrections_} == {"snips"}
    favours = {(d.estimator, d.policy, d.model): d.ratio for d in found.differences_ if d.kind == "favour"}
    for c in found.corrections_:
        assert (c.naive, c.corrected) == (favours["naive", c.policy, c.model], favours["snips", c.policy, c.model])
        assert c.naive is not None
        assert c.corrected is not None
        assert c.goes_away == pytest.approx(c.naive / c.corrected)
        nearer = abs(math.log(c.corrected)) < abs(math.log(c.naive))
        assert c.change in ("open", "smaller" if nearer else "larger")


FEW = world(0, 14, 30, 5)
ROWS = world(6, users=100)


@pytest.mark.parametrize(
    ("code", "rows", "splits", "options"),
    [
        ("missing-column", ROWS.drop("policy"), LEAVE, {}),
        ("one-policy", ROWS.with_columns(policy=pl.lit("a")), LEAVE, {}),
        ("odd-number", ROWS, LEAVE, {"refits": 3}),
        ("too-few-rows", FEW, "sliding_window(width=1w, folds=4, min_users=1)", {"refits": 4, "min_users": 1}),
        ("wrong-type", ROWS, [LEAVE, LEAVE], {}),
    ],
)
def test_bad_input(code: str, rows: pl.DataFrame, splits: Any, options: dict[str, int]) -> None:
    """No policies, one of them, refits that are not even, halves without a row to judge, splitters that come twice."""
    with refuses(code):
        us.policy_impact(rows, MODELS, splits, **options)  # type: ignore[arg-type]


def test_every_output_is_made(strong: us.PolicyImpact, tmp_path: Path) -> None:
    """Terminal, notebook, tables, files and the page."""
    assert "Rankings" in shown(strong, tmp_path)
