"""Made-up results: every shape that a report has to show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from unskew.core.notice import Notice
from unskew.result import Result

from .made_up import HOSTILE, INPUTS, NAN, estimate, grid, verdict, weights, withheld


@pytest.fixture
def two() -> Result:
    """Two models, one metric; naive says the opposite of snips."""
    return Result(
        estimates=(
            estimate("challenger", 0.181, 0.006, estimator="naive", ess=5412.0),
            estimate("popular", 0.213, 0.006, estimator="naive", ess=5412.0),
            estimate("challenger", 0.142, 0.0117),
            estimate("popular", 0.111, 0.0093),
        ),
        verdicts_=(
            verdict("challenger", "popular", -0.032, 0.006, estimator="naive"),
            verdict("challenger", "popular", 0.031, 0.011, trust="Little trust: only 41 users count."),
        ),
        weights=(weights("naive"), weights("snips")),
        inputs=INPUTS,
        warnings=(Notice("12 users got no list from challenger; they count as misses.", code="users-without-list"),),
    )


@pytest.fixture
def naive_only(two: Result) -> Result:
    """The same without anything that undoes the skew."""
    return replace(
        two,
        estimates=tuple(e for e in two.estimates if e.estimator == "naive"),
        verdicts_=tuple(v for v in two.verdicts_ if v.estimator == "naive"),
        weights=(weights("naive"),),
    )


@pytest.fixture
def kept_back() -> Result:
    """Three models of which every pair was withheld, for two reasons."""
    pairs = (("a", "b", 0.02), ("a", "c", 0.031), ("b", "c", 0.011))
    single = "Undecided because 41% of the users have a single click, where a ratio inside each user is the naive one."
    return Result(
        estimates=tuple(
            estimate(m, 0.1 + n / 50, estimator=e, target=t, few_clicks=0.004 if t == "per_user" else None)
            for e, t in (("snips", "pooled"), ("snips", "per_user"))
            for n, m in enumerate("cba")
        ),
        verdicts_=tuple(withheld(a, b, d) for a, b, d in pairs)
        + tuple(withheld(a, b, d, single, target="per_user", few_clicks=0.001) for a, b, d in pairs),
        weights=(weights("snips"),),
        inputs=INPUTS,
        warnings=(),
    )


@pytest.fixture
def many() -> Result:
    """Four models, three metrics, three estimators, two targets."""
    return grid(
        ["popular", "item-knn", "als", "challenger"],
        ["recall@10", "dcg@10", "rbp(p=0.9)@20"],
        ["naive", "snips", "gs(strata=5)"],
        ["per_user", "pooled"],
    )


@pytest.fixture
def segmented() -> Result:
    """Two models for all users and for three segments."""
    return grid(
        ["popular", "als"], ["recall@10", "dcg@10"], ["naive", "snips"], segments=[None, "new users", "regulars", "DE"]
    )


@pytest.fixture
def nothing_known() -> Result:
    """Every number is missing."""
    blank: dict[str, Any] = {"se": NAN, "low": NAN, "high": NAN}
    gone: dict[str, Any] = {"ess": NAN, "max_weight_share": NAN, "clipped_share": NAN, "support_gap": None, "users": 0}
    return Result(
        estimates=tuple(estimate(m, NAN, **blank, **gone) for m in ("a", "b")),
        verdicts_=(verdict("a", "b", NAN, **blank, p=NAN, p_adjusted=NAN, verdict="undecided", users_needed=None),),
        weights=(weights("snips", low=(), high=(), count=()),),
        inputs={},
        warnings=(),
    )


@pytest.fixture
def undecided() -> Result:
    """Two models that this log cannot tell apart."""
    return Result(
        estimates=(estimate("a", 0.123), estimate("b", 0.121)), verdicts_=(verdict("a", "b", 0.002, 0.006),),
        weights=(weights("snips"),), inputs=INPUTS, warnings=(),
    )  # fmt: skip


@pytest.fixture
def hostile() -> Result:
    """Names, files, segments and warnings that try to be markup or terminal codes."""
    name = HOSTILE
    return Result(
        estimates=tuple(
            estimate(m, 0.1 + n / 50, segment=s, estimator=e)
            for s in (None, name)
            for e in ("naive", "snips")
            for n, m in enumerate((name, "[bold red]b[/]"))
        ),
        verdicts_=tuple(
            verdict(name, "[bold red]b[/]", -0.02, segment=s, estimator=e, trust=name)
            for s in (None, name)
            for e in ("naive", "snips")
        ),
        weights=(weights("naive"), weights("snips")),
        inputs={"test": {"source": name, "rows": 3, "dropped": {name: 2}}, name: {name: name}},
        warnings=(Notice(name, code="odd"),),
    )
