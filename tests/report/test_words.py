"""What verdicts are said to be: which kind of sentence, of whom, and with which numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.said import only
from unskew.core.notice import codes
from unskew.result import Result, Verdict

from .made_up import estimate, verdict, withheld
from .reading import first, heading, names, told


def pair(*verdicts: Verdict, models: str = "ab") -> Result:
    """A result of models a and b with these verdicts."""
    cells = dict.fromkeys((v.metric, v.estimator, v.target, v.segment) for v in verdicts)
    rows = [
        estimate(m, 0.1, metric=metric, estimator=name, target=target, segment=segment)
        for metric, name, target, segment in cells
        for m in models
    ]
    return Result(tuple(rows), verdicts, (), {}, ())


LEAD, BEHIND, UNSURE = verdict("a", "b", 0.03), verdict("a", "b", -0.03), verdict("a", "b", 0.001)
GS: dict[str, Any] = {"estimator": "gs(strata=5)"}
INSIDE: dict[str, Any] = {"target": "per_user"}


def test_a_decided_pair_has_its_numbers_and_what_naive_would_have_said(two: Result) -> None:
    """Difference, interval, p and tipping point."""
    said = first(two)
    assert names(said) == ["challenger", "popular"] and told(said) == ("better", "naive-reverses")
    for number in ("recall@10", "+0.031 [0.020, 0.042]", "p = 0.0004", "1.52"):
        assert number in str(said)


def test_missing_numbers_are_said_to_be_missing(nothing_known: Result) -> None:
    """Without an estimate there is no verdict, and no NaN in the sentence."""
    said = first(nothing_known)
    assert told(said) == ("no-difference",) and "nan" not in str(said).lower() and not heading(nothing_known)[1]


@pytest.mark.parametrize("target", ["per_user", "pooled"])
def test_a_tipping_point_that_does_not_exist_is_no_praise(target: str) -> None:
    """Γ = ∞ says that one family of errors cannot undo the lead, and wrong verdicts have had it: no word about it."""
    never, none = (verdict("a", "b", 0.03, target=target, tipping=t, tipping_low=t) for t in (math.inf, None))
    assert str(first(pair(never))) == str(first(pair(none)))


def test_the_least_tipping_point_of_the_debiased_estimators_is_quoted() -> None:
    """The lower limit, the least over estimators and targets; naive's, and those of another kind, are another matter.

    Where a debiased estimator names the other model the lead is undone already, and no factor is quoted.
    """
    mine = verdict("a", "b", 0.03, tipping=3.0, tipping_low=2.5)
    others = [
        verdict("a", "b", 0.03, tipping=1.9, tipping_low=1.31, **GS),
        verdict("a", "b", 0.03, tipping=math.inf, tipping_low=math.inf, **INSIDE),
        verdict("a", "b", 0.03, estimator="naive", tipping=1.2, tipping_low=1.1),
        verdict("a", "b", 0.03, estimator="clipped(snips, quantile=0.01)", tipping_kind="odds", tipping_low=1.01),
        verdict("a", "b", 0.03, metric="dcg@10", tipping_low=1.02),
        verdict("a", "b", 0.03, segment="DE", tipping_low=1.03),
    ]
    against = verdict("a", "b", -0.03, tipping_low=1.4, **INSIDE)
    for verdicts, least in (((mine, *others), 1.31), ((mine, *others, against), None)):
        only("better", (span.text for span in first(pair(*verdicts)).spans), tipping=least)


@pytest.mark.parametrize(
    ("mine", "others", "code", "named"),
    [
        (LEAD, [], "", []),
        (LEAD, [verdict("a", "b", -0.03, estimator="naive")], "", []),
        (LEAD, [verdict("a", "b", -0.03, metric="dcg@10"), verdict("a", "b", -0.03, segment="DE")], "", []),
        (LEAD, [verdict("a", "b", 0.02, **INSIDE)], "agree", []),
        (LEAD, [verdict("a", "b", 0.02, **INSIDE), verdict("a", "b", -0.03, **GS)], "disagree", ["gs(strata=5)"]),
        (
            LEAD,
            [verdict("a", "b", 0.001, **INSIDE), verdict("a", "b", -0.03, **GS)],
            "disagree",
            ["snips (per_user)", "gs(strata=5) (pooled)"],
        ),
        (UNSURE, [verdict("a", "b", -0.03, **GS)], "disagree", ["gs(strata=5) (pooled)"]),
        (UNSURE, [verdict("a", "b", 0.001, **INSIDE)], "none-ahead", []),
        (LEAD, [verdict("a", "b", 0.3, **GS)], "other-size", ["gs(strata=5) (pooled)", "0.289", "0.311", "0.019"]),
        (LEAD, [verdict("a", "b", 0.3, **GS | INSIDE)], "agree", []),
    ],
)
def test_agreement_names_who_disagrees(mine: Verdict, others: list[Verdict], code: str, named: list[str]) -> None:
    """Debiased estimators and targets of the same metric: all agree, or who says what instead.

    On the size only intervals of the same target that do not overlap disagree: other targets measure something else.
    """
    said = pair(mine, *others).headline()["agreement"]
    assert codes([said]) == ((code,) if code else ()) and all(name in said for name in named)


def test_the_strongest_promise_of_the_first_metric_makes_the_headline(many: Result) -> None:
    """Pooled snips speaks before gs and before ratios inside users, whatever the order."""
    for result in (many, replace(many, estimates=many.estimates[::-1], verdicts_=many.verdicts_[::-1])):
        found = result.headline()
        assert (found["target"], found["estimator"]) == ("pooled", "snips")


STRONG = [("snips", "pooled"), ("ips", "pooled"), ("dr", "per_user_sum"), ("ips", "per_user")]
WEAK = [
    ("gs(strata=5)", "pooled"),
    ("clipped(snips, quantile=0.01)", "pooled"),
    ("snips", "per_user"),
    ("gs(strata=5)", "per_user"),
    ("switch(tau=5)", "per_user_sum"),
    ("naive", "pooled"),
    ("direct", "per_user_sum"),
]


@pytest.mark.parametrize("weak", WEAK, ids=map(str, WEAK))
@pytest.mark.parametrize("strong", STRONG, ids=map(str, STRONG))
def test_what_leans_or_is_biased_on_purpose_makes_no_headline(strong: tuple[str, str], weak: tuple[str, str]) -> None:
    """Clips, strata, ratios inside users, models alone and naive are looked at beside what promises more."""
    cells = [verdict("a", "b", d, estimator=e, target=t) for d, (e, t) in ((0.03, strong), (-0.03, weak))]
    for result in (pair(*cells), pair(*cells[::-1])):
        found = result.headline()
        assert (found["estimator"], found["target"]) == strong and names(first(result)) == ["a", "b"]
    alone = pair(cells[1]).headline()
    assert (alone["estimator"], alone["target"]) == weak


@pytest.mark.parametrize("metric", ["ndcg@10", "map@10"])
def test_metrics_that_are_no_sums_never_headline_beside_one_that_is(metric: str) -> None:
    """ndcg and map promise nothing once weighed; recall speaks, also where it was asked for last and leans."""
    ratio = verdict("a", "b", 0.03, metric=metric, target="per_user")
    for target in ("pooled", "per_user"):
        found = pair(ratio, verdict("a", "b", -0.03, target=target)).headline()
        assert (found["metric"], found["target"]) == ("recall@10", target)
    only_ratios = pair(ratio, replace(ratio, estimator="naive")).headline()
    assert only_ratios["metric"] == metric and only_ratios["estimator"] == "snips"


def test_all_users_come_before_segments(segmented: Result) -> None:
    """The headline speaks of all users, wherever the segments stand; one level spans them all."""
    turned = replace(segmented, estimates=segmented.estimates[::-1], verdicts_=segmented.verdicts_[::-1])
    whole = replace(turned, verdicts_=tuple(v for v in turned.verdicts_ if v.segment is None))
    assert turned.headline()["title"] == whole.headline()["title"]
    only("better", (span.text for span in first(segmented).spans), comparisons=4)


def test_trust_is_said_once_and_names_its_pairs() -> None:
    """A sentence about all pairs stands alone; one about some pairs names them."""
    pairs = (verdict("a", "b", 0.03, trust="Thin."), verdict("a", "c", 0.03, trust="Thin."))
    for more, found in (
        ((), "Thin."),
        ((verdict("b", "c", 0.001),), "a and b; a and c: Thin."),
        ((withheld("b", "c", 0.03),), "a and b; a and c: Thin."),
    ):
        assert pair(*pairs, *more, models="abc").headline()["trust"] == [found]
