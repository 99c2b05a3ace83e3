"""One short sentence per verdict: why it was withheld, or what should make a reader doubt it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from unskew.core.notice import codes
from unskew.engine.data import EvaluationData
from unskew.inference.trust import MAX_GAP, MAX_SHARE, MIN_ESS, MIN_USERS, doubts

from .worlds import answer, draw, plan_of, setting

FINE: dict[str, Any] = {"users": 1_000, "ess": 500.0, "max_weight_share": 0.01, "support_gap": None}
BOUNDS = {
    "low-ess": ("ess", MIN_ESS, -1.0), "few-users": ("users", MIN_USERS, -1),
    "heavy-row": ("max_weight_share", MAX_SHARE, 0.01), "gap-in-support": ("support_gap", MAX_GAP, 0.01),
}  # fmt: skip


def test_each_doubt_begins_at_its_bound() -> None:
    """At the bound itself nothing is said, just beyond it one thing is; at most two are, with their numbers."""
    for code, (name, bound, step) in BOUNDS.items():
        assert doubts(**FINE | {name: bound}) == ""
        assert codes([doubts(**FINE | {name: bound + step})]) == (code,)
    both = doubts(users=49, ess=12.4, max_weight_share=0.3, support_gap=0.37)
    assert codes([both]) == ("low-ess", "few-users") and " 12 " in both and " 49 " in both
    assert codes([doubts(**FINE | {"ess": None})]) == ("not-corrected",)


@pytest.fixture(scope="module")
def held() -> EvaluationData:
    return draw(61, 1_500, (0.5, 1.0)).held()


CELLS = (
    *((e, t) for e in ("naive", "snips") for t in ("per_user", "pooled", "per_user_sum")),
    ("gs(strata=5)", "per_user"), ("gs(strata=5)", "pooled"), ("ips", "per_user"), ("ips", "per_user_sum"),
    ("clipped(snips, quantile=0.1)", "per_user"), ("clipped(ips, quantile=0.1)", "per_user"),
)  # fmt: skip


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_doubts_depend_on_what_an_estimator_uses(held: EvaluationData, cell: tuple[str, str]) -> None:
    """Support matters only to weights, single clicks only to ratios of weights inside users."""
    plan = plan_of(held, (cell,))
    estimator, target = cell
    (quiet,) = answer(held, plan, setting(2, support_gap=0.05, single_clicks=0.2)).verdicts
    assert quiet.trust == ""
    assert quiet.verdict == ("worse" if estimator in ("snips", "ips") else "behind")
    (gap,) = answer(held, plan, setting(2, support_gap=0.2)).verdicts
    assert codes([gap.trust]) == (() if estimator == "naive" else ("gap-in-support",))
    (single,) = answer(held, plan, setting(2, single_clicks=0.3)).verdicts
    inside = target == "per_user" and estimator not in ("naive", "ips", "clipped(ips, quantile=0.1)")
    assert (single.verdict == "undecided") == ("single-clicks" in codes([single.trust])) == inside
    assert np.isnan(single.low) == inside


def test_too_few_users_are_said(held: EvaluationData) -> None:
    """Only users that count are counted: 49 clickers among 1,500 users are too few, 60 are not."""
    clickers = np.flatnonzero(np.add.reduceat(np.append(held.value, 0.0), held.indptr[:-1])[: held.users] > 0.0)
    doubted = []
    for count in (49, 60):
        value = held.value.copy()
        value[held.indptr[clickers[count]] :] = 0.0
        some = replace(held, value=value)
        for cell in (("naive", "per_user"), ("naive", "pooled")):
            (row,) = answer(some, plan_of(some, (cell,)), setting(2, level=0.2)).verdicts
            assert row.verdict != "undecided"
            doubted.append("few-users" in codes([row.trust]))
    assert doubted == [True, True, False, False]


def test_one_heavy_weight_decides_nothing(held: EvaluationData) -> None:
    """A single pair with a tiny propensity carries a pooled value: no verdict; naive does not see it."""
    assert held.propensity is not None
    propensity = held.propensity.copy()
    propensity[int(np.argmax(held.value > 0.0))] = 1e-5
    heavy = replace(held, propensity=propensity)
    cells = (("snips", "pooled"), ("naive", "pooled"))
    weighted, naive = answer(heavy, plan_of(heavy, cells), setting(2)).verdicts
    assert weighted.verdict == "undecided"
    assert naive.verdict == "behind" and naive.trust == ""
