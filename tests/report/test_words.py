"""What verdicts are said to be: which kind of sentence, of whom, and with which numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.said import only
from unskew.notice import codes
from unskew.report import sentences
from unskew.report.agreement_words import agreement, agreement_role
from unskew.report.view import Facet, View, unique
from unskew.report.words import headline_sentences, least_tipping, say, trust
from unskew.result import Result, Verdict

from .made_up import ASSUMED, NAN, WITHHELD, estimate, grid, verdict, withheld
from .reading import first, heading, names, told


def pair(*verdicts: Verdict, models: str = "ab") -> Result:
    """A result of models a and b with these verdicts."""
    cells = unique((v.metric, v.estimator, v.target, v.segment) for v in verdicts)
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


def test_worse_is_told_from_the_side_of_the_winner() -> None:
    """A verdict of worse names the other model first, with signs turned; a correction counts its comparisons."""
    said = say(verdict("a", "b", -0.031, tipping=None), comparisons=3)
    assert names(said) == ["b", "a"] and "+0.031 [0.020, 0.042], p = 0.0004" in str(said)
    only("better", (span.text for span in said.spans), comparisons=3)


@pytest.mark.parametrize(
    ("said", "options", "code", "numbers"),
    [
        (verdict("a", "b", 0.002, 0.006), {"needed": 41_237}, "users-needed", ["+0.002 [−0.004, 0.008]", "41,000"]),
        (withheld("a", "b", 0.0, se=NAN), {}, "same-scores", []),
        (verdict("a", "b", 0.0002, 0.0041, users_needed=None), {"scale": 0.1}, "practically-equal", ["0.0043"]),
        (verdict("a", "b", 0.0001, 0.09, users_needed=None), {"scale": 0.1}, "far-more-users", []),
        (
            verdict("a", "b", 0.031, low=-math.inf, high=math.inf, verdict="undecided", users_needed=110),
            {},
            "few-users",
            ["+0.03100 [−∞, ∞]"],
        ),
        (withheld("a", "b", 0.031), {}, "withheld", ["+0.03100", WITHHELD]),
        (verdict("a", "b", 0.002, 0.006), {}, "undecided", ["+0.002 [−0.004, 0.008]"]),
    ],
)
def test_open_pairs_say_why(said: Verdict, options: dict[str, Any], code: str, numbers: list[str]) -> None:
    """Users that would decide it, equality that was shown, or a check; near 0 by chance is not equal."""
    for brief in (False, True):
        shown = say(said, brief=brief, **options)
        assert told(shown) == (code,) and names(shown) == ["a", "b"]
        assert all(number in str(shown) for number in numbers)


def test_no_number_of_users_that_are_there_already(undecided: Result) -> None:
    assert told(first(undecided)) == ("users-needed",)
    assert told(first(pair(verdict("a", "b", 0.002, 0.006, users_needed=1_700)))) == ("undecided",), "1,800 are there"


def test_missing_numbers_are_said_to_be_missing(nothing_known: Result) -> None:
    """Without an estimate there is no verdict, and no NaN in the sentence."""
    (said,) = headline_sentences(View.of(nothing_known))
    assert told(said) == ("no-difference",) and "nan" not in str(said).lower() and not heading(nothing_known)[1]


@pytest.mark.parametrize(
    ("mine", "naive", "code"),
    [
        (LEAD, BEHIND, "naive-reverses"),
        (LEAD, UNSURE, "naive-undecided"),
        (UNSURE, BEHIND, "naive-decides"),
        (LEAD, LEAD, ""),
    ],
)
def test_what_naive_would_have_said(mine: Verdict, naive: Verdict, code: str) -> None:
    """Opposite, open or too sure: each disagreement with naive has its words, agreement has none."""
    assert codes(span.text for span in say(mine, naive).spans if span.kind == "flag") == ((code,) if code else ())


def test_tipping_points_in_words() -> None:
    """Odds are called odds; what a tiny error undoes is told apart; naive speaks of exposure."""
    naive = verdict("a", "b", 0.03, estimator="naive")
    cases = (
        (verdict("a", "b", 0.03, tipping_kind="odds"), 1.52),
        (LEAD, 1.52),
        (LEAD, 1.004),
        (naive, 1.52),
        (naive, 1.0),
    )
    said = [str(say(v, least=least)) for v, least in cases]
    assert len({text[str(say(v)).rindex(".") :] for text, (v, _) in zip(said, cases, strict=True)}) == len(said)
    assert ["1.52" in text for text in said] == [True, True, False, True, False]


@pytest.mark.parametrize("target", ["per_user", "pooled"])
@pytest.mark.parametrize("brief", [False, True])
def test_a_tipping_point_that_does_not_exist_is_no_praise(target: str, brief: bool) -> None:
    """Γ = ∞ says that one family of errors cannot undo the lead, and wrong verdicts have had it: no word about it."""
    never = verdict("a", "b", 0.03, target=target, tipping=math.inf, tipping_low=math.inf)
    assert str(say(never, least=math.inf, brief=brief)) == str(say(never, brief=brief))


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
        assert least_tipping(View.of(pair(*verdicts)), mine) == least
        only("better", (span.text for span in first(pair(*verdicts)).spans), tipping=least)


def test_assumptions_are_named_where_a_verdict_rests_on_them() -> None:
    """Assumed propensities put a model ahead, if …; known ones make it better, without an if."""
    assumed = verdict("a", "b", 0.03, assumed=ASSUMED)
    for said in (say(assumed), say(verdict("a", "b", -0.03, assumed=ASSUMED), brief=True)):
        assert told(said) == ("ahead",) and str(said).index(ASSUMED) < str(said).index("+0.030")
    assert told(say(LEAD)) == ("better",)
    assert heading(pair(assumed)) == ("ahead", ["a", "b"]) and heading(pair(LEAD)) == ("better", ["a", "b"])


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
    said = agreement(View.of(pair(mine, *others)))
    assert codes([said]) == ((code,) if code else ()) and all(name in said for name in named)
    assert (agreement_role(said) == "disagreement") == bool(named)


def test_many_that_disagree_are_counted() -> None:
    """Three estimators are named and two pairs of each; the others are counted."""
    estimators = ["snips", "gs(strata=2)", "gs(strata=3)", "gs(strata=4)", "gs(strata=5)"]
    result = grid(["a", "b", "c", "d"], ["recall@10"], estimators)
    turned = tuple(
        v
        if v.estimator == "snips"
        else replace(v, verdict={"ahead": "behind", "behind": "ahead"}.get(v.verdict, v.verdict))
        for v in result.verdicts_
    )
    said = only("disagree", [agreement(View.of(replace(result, verdicts_=turned)))], pairs=24)
    assert said.fields["estimators"] == tuple(f"{name} (pooled)" for name in estimators[1:])
    assert said.count("(pooled)") == 3 and said.count(" 4 ") == 3


def test_the_strongest_promise_of_the_first_metric_makes_the_headline(many: Result) -> None:
    """Pooled snips speaks before gs and before ratios inside users, whatever the order."""
    for result in (many, replace(many, estimates=many.estimates[::-1], verdicts_=many.verdicts_[::-1])):
        view = View.of(result)
        assert view.headline is not None and view.headline.target == "pooled"
        assert view.carrier(view.headline) == "snips"
    assert all("recall@10" in said for said in sentences(many))


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
        assert View.of(pair(ratio, verdict("a", "b", -0.03, target=target))).headline == Facet(
            "recall@10", target, None
        )
    only_ratios = pair(ratio, replace(ratio, estimator="naive")).headline()
    assert only_ratios["metric"] == metric and only_ratios["estimator"] == "snips"


def test_naive_alone_carries_the_headline(many: Result) -> None:
    """Where nothing is debiased, naive speaks, with what it assumes, and is not compared with itself."""
    alone = replace(many, verdicts_=tuple(v for v in many.verdicts_ if v.estimator == "naive"))
    alone = replace(alone, estimates=tuple(e for e in many.estimates if e.estimator == "naive"))
    said = headline_sentences(View.of(alone))
    assert len(said) == 6 and all(told(each) == ("ahead",) for each in said)
    assert all(alone.verdicts_[0].assumption in str(each) for each in said)


def test_all_users_come_before_segments(segmented: Result) -> None:
    """The headline speaks of all users, wherever the segments stand; one level spans them all."""
    turned = replace(segmented, estimates=segmented.estimates[::-1], verdicts_=segmented.verdicts_[::-1])
    headline = View.of(turned).headline
    assert headline is not None and headline.segment is None
    only("better", (span.text for span in first(segmented).spans), comparisons=4)


def test_titles_name_the_models_that_are_not_beaten(many: Result, two: Result, undecided: Result) -> None:
    """One that beats one of two others and is tied with the third is not called better than all."""
    three = (LEAD, verdict("a", "c", 0.001), verdict("b", "c", 0.001))
    for result, found in (
        (many, ("better", ["challenger"])),
        (two, ("better", ["challenger", "popular"])),
        (undecided, ("undecided", ["a", "b"])),
        (pair(*three, models="abc"), ("undecided", ["a", "c"])),
        (pair(*three[:2], verdict("b", "c", 0.03), models="abc"), ("undecided", ["a"])),
    ):
        assert heading(result) == found


def test_no_metric_is_taken_for_granted_to_be_better_when_higher() -> None:
    """A loss is better when lower: the verdict's word counts, not the sign."""
    said = say(verdict("a", "b", -0.03, verdict="better"))
    assert names(said) == ["a", "b"] and "−0.030" in str(said)


def test_one_model_gets_its_scores_in_words() -> None:
    """Without pairs the sentences give the estimates; without estimates they say so."""
    for e, numbers in (
        (estimate("als", 0.123), "0.123 [0.113, 0.133]"),
        (estimate("als", 0.0, hits=0, se=NAN, low=0.0, high=0.0123), "0.000 (≤ 0.012)"),
    ):
        (said,) = sentences(Result((e,), (), (), {}, ()))
        assert numbers in said
    gone = Result((estimate("als", NAN, low=NAN, high=NAN),), (), (), {}, ())
    assert told(first(gone)) == ("no-estimate",) and told(first(Result((), (), (), {}, ()))) == ("no-estimates",)


def test_brief_sentences_keep_the_numbers(many: Result) -> None:
    """Many pairs are told briefly, the winner's first, with the same numbers."""
    said = headline_sentences(View.of(many), brief=True)
    assert "+0.030 [0.020, 0.040], p = 0.0004, Γ 1.52." in str(said[0]) and "naive-reverses" in told(said[0])
    assert all(names(each)[0] == "challenger" for each in said[:3])


def test_trust_is_said_once_and_names_its_pairs() -> None:
    """A sentence about all pairs stands alone; one about some pairs names them."""
    pairs = (verdict("a", "b", 0.03, trust="Thin."), verdict("a", "c", 0.03, trust="Thin."))
    for more, found in (
        ((), "Thin."),
        ((verdict("b", "c", 0.001),), "a and b; a and c: Thin."),
        ((withheld("b", "c", 0.03),), "a and b; a and c: Thin."),
    ):
        assert trust(View.of(pair(*pairs, *more, models="abc"))) == [found]
