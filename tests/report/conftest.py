"""Made-up results: every shape that a report has to show."""

from __future__ import annotations

from typing import Any

import pytest

from unskew.result import Result

from .made_up import HOSTILE, INPUTS, NAN, estimate, grid, verdict, weights


@pytest.fixture
def two() -> Result:
    """Two models, one metric; naive says the opposite of snips."""
    return Result(
        estimates=(
            estimate("challenger", 0.181, 0.006, estimator="naive", propensity=None, ess=5412.0),
            estimate("popular", 0.213, 0.006, estimator="naive", propensity=None, ess=5412.0),
            estimate("challenger", 0.142, 0.0117),
            estimate("popular", 0.111, 0.0093),
        ),
        verdicts_=(
            verdict("challenger", "popular", -0.032, 0.006, estimator="naive"),
            verdict("challenger", "popular", 0.031, 0.011, trust="Most users have few clicks; pooled has less bias."),
        ),
        weights=(weights("naive"), weights("snips")),
        inputs=INPUTS,
        warnings=("12 users got no list from challenger; they count as misses.",),
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
        estimates=(estimate("a", 0.123), estimate("b", 0.121)),
        verdicts_=(verdict("a", "b", 0.002, 0.006),),
        weights=(weights("snips"),),
        inputs=INPUTS,
        warnings=(),
    )


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
        warnings=(name,),
    )
