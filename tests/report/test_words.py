"""Verdicts in plain words."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from unskew.report import sentences
from unskew.report.agreement_words import agreement, agreement_role
from unskew.report.view import Facet, View, unique
from unskew.report.words import headline_sentences, least_tipping, say, title, trust
from unskew.result import Result, Verdict

from .made_up import ASSUMED, NAN, WITHHELD, estimate, grid, verdict, withheld


def test_better_says_by_how_much_how_surely_and_how_robustly(two: Result) -> None:
    """The sentence of a decided pair holds difference, interval, p, tipping point, and what naive would have said."""
    assert sentences(two) == [
        "challenger is better than popular on recall@10: +0.031 [0.020, 0.042], p = 0.0004. This could reverse if "
        "propensities were wrong by a factor of 1.52 in the worst direction. Naive would have said the opposite."
    ]


def test_worse_is_told_from_the_side_of_the_winner() -> None:
    """A verdict of worse names the other model first, with signs turned."""
    said = str(say(verdict("a", "b", -0.031, tipping=None), comparisons=3))
    assert (
        said == "b is better than a on recall@10: +0.031 [0.020, 0.042], p = 0.0004 after correction for 3 comparisons."
    )


def test_undecided_says_how_many_users_would_decide(undecided: Result) -> None:
    """The sentence of an open pair names the users needed."""
    assert sentences(undecided) == [
        "This log cannot decide between a and b on recall@10: +0.002 [−0.004, 0.008]. "
        "About 41,000 users would be needed at this difference."
    ]


def test_identical_models_are_called_equal() -> None:
    """No difference and no error is not an open question."""
    why = "The two models score the same for every user."
    same = withheld("a", "b", 0.0, why, se=NAN, p=1.0, p_adjusted=1.0, users_needed=None)
    assert str(say(same)) == "a equals b on recall@10: they score the same for every user."


def test_missing_numbers_are_said_to_be_missing(nothing_known: Result) -> None:
    """Without an estimate there is no verdict, and no NaN in the sentence."""
    said = sentences(nothing_known)
    assert said == ["a and b cannot be compared on recall@10: there is no estimate of their difference."]
    assert str(title(View.of(nothing_known))) == "No comparison on recall@10"


def test_what_naive_would_have_said() -> None:
    """Opposite, open or too sure: each disagreement with naive has its words, agreement has none."""
    ahead, behind, open_ = verdict("a", "b", 0.03), verdict("a", "b", -0.03), verdict("a", "b", 0.001)
    assert str(say(ahead, behind)).endswith("Naive would have said the opposite.")
    assert str(say(ahead, open_)).endswith("Naive could not have decided.")
    assert str(say(open_, behind)).endswith("Naive puts b ahead, which is neither confirmed nor refuted here.")
    assert "Naive" not in str(say(ahead, ahead))


def test_tipping_points_in_words() -> None:
    """Odds are called odds; what a tiny error undoes is said to be so; naive speaks of exposure."""
    odds, ratio = verdict("a", "b", 0.03, tipping_kind="odds"), verdict("a", "b", 0.03)
    assert "if the odds of being seen were wrong by a factor of 1.52 in the worst" in str(say(odds, least=1.52))
    assert "if propensities were only slightly wrong" in str(say(ratio, least=1.004))
    assert "Uneven exposure by a factor of 1.52 could undo it." in str(
        say(verdict("a", "b", 0.03, estimator="naive"), least=1.52)
    )
    assert "Slightly uneven exposure could undo it." in str(say(verdict("a", "b", 0.03, estimator="naive"), least=1.0))


@pytest.mark.parametrize("target", ["per_user", "pooled"])
@pytest.mark.parametrize("brief", [False, True])
def test_a_tipping_point_that_does_not_exist_is_no_praise(target: str, brief: bool) -> None:
    """Γ = ∞ says that one family of errors cannot undo the lead, and wrong verdicts have had it: no word about it."""
    never = verdict("a", "b", 0.03, target=target, tipping=math.inf, tipping_low=math.inf)
    said = str(say(never, least=math.inf, brief=brief))
    assert said.endswith("p = 0.0004.") and "Γ" not in said and "∞" not in said


def pair(*verdicts: Verdict) -> Result:
    """A result of models a and b with these verdicts."""
    cells = unique((v.metric, v.estimator, v.target, v.segment) for v in verdicts)
    rows = [
        estimate(m, 0.1, metric=metric, estimator=name, target=target, segment=segment)
        for metric, name, target, segment in cells
        for m in ("a", "b")
    ]
    return Result(tuple(rows), verdicts, (), {}, ())


def test_the_least_tipping_point_of_the_debiased_estimators_is_quoted() -> None:
    """The lower limit, the least over estimators and targets; naive's, and those of another kind, are another matter.

    Where a debiased estimator names the other model the lead is undone already, and no factor is quoted.
    """
    mine = verdict("a", "b", 0.03, tipping=3.0, tipping_low=2.5)
    others = [
        verdict("a", "b", 0.03, estimator="gs(strata=5)", tipping=1.9, tipping_low=1.31),
        verdict("a", "b", 0.03, target="per_user", tipping=math.inf, tipping_low=math.inf),
        verdict("a", "b", 0.03, estimator="naive", tipping=1.2, tipping_low=1.1),
        verdict("a", "b", 0.03, estimator="clipped(snips, quantile=0.01)", tipping_kind="odds", tipping_low=1.01),
        verdict("a", "b", 0.03, metric="dcg@10", tipping_low=1.02),
        verdict("a", "b", 0.03, segment="DE", tipping_low=1.03),
    ]
    assert least_tipping(View.of(pair(mine, *others)), mine) == 1.31
    assert "wrong by a factor of 1.31" in sentences(pair(mine, *others))[0]
    against = verdict("a", "b", -0.03, target="per_user", tipping_low=1.4)
    assert least_tipping(View.of(pair(mine, *others, against)), mine) is None
    assert "factor" not in sentences(pair(mine, *others, against))[0]


def test_assumptions_are_named_where_a_verdict_rests_on_them() -> None:
    """Assumed propensities put a model ahead, if …; known ones make it better, without an if."""
    said = str(say(verdict("a", "b", 0.03, assumed=ASSUMED)))
    assert said.startswith("a is ahead of b on recall@10, if exposure explains all of popularity: +0.030")
    said = str(say(verdict("a", "b", -0.03, assumed=ASSUMED), brief=True))
    assert said.startswith("b is ahead of a, if exposure explains all of popularity: +0.030")
    assert str(say(verdict("a", "b", 0.03))).startswith("a is better than b on recall@10: +0.030")
    assert str(title(View.of(pair(verdict("a", "b", 0.03, assumed=ASSUMED))))) == "a is ahead of b on recall@10"


def test_beyond_a_hundred_times_the_users_models_are_practically_equal() -> None:
    """No number of users that nobody has: how far apart the models can be, rounded up."""
    close = verdict("a", "b", 0.0002, 0.0041, users_needed=None)
    said = "On recall@10 a and b are practically equal: less than 0.0043 apart, +0.0002 [−0.0039, 0.0043]."
    assert str(say(close)) == said
    assert sentences(pair(close)) == [said]
    assert "a and b are practically equal: less than 0.0043 apart" in str(say(close, brief=True))


def test_few_users_do_not_make_models_equal() -> None:
    """A difference near 0 between values of 0.1 that may be 0.09 apart: not equal, only open."""
    wide = verdict("a", "b", 0.0001, 0.09, users_needed=None)
    (said,) = sentences(pair(wide))
    assert said.startswith("This log cannot decide between a and b") and "equal" not in said
    assert said.endswith("More than a hundred times the users would be needed at this difference.")


def test_an_interval_without_ends_is_said_to_have_none() -> None:
    """Where a few users carry the difference, no number of users is named: it would be counted as if all were alike."""
    open_ = verdict("a", "b", 0.031, low=-math.inf, high=math.inf, verdict="undecided", users_needed=110)
    said = str(say(open_))
    assert said.endswith("+0.03100 [−∞, ∞]. Too few users carry the difference to bound it.")
    short = verdict("a", "b", 0.002, 0.006, users_needed=1_700)
    assert sentences(pair(short))[0].endswith("+0.002 [−0.004, 0.008].")  # 1,800 users are there


@pytest.mark.parametrize("brief", [False, True])
def test_withheld_verdicts_say_why_in_their_sentence(brief: bool) -> None:
    """No interval, the reason instead of a number of users, in long and in short."""
    said = str(say(withheld("a", "b", 0.031), brief=brief))
    assert said.endswith(f"+0.03100 (no interval). {WITHHELD}") and "needed" not in said


def test_agreement_names_who_disagrees() -> None:
    """Debiased estimators and targets of the same metric: all agree, or who says what instead."""
    mine = verdict("a", "b", 0.03)
    assert agreement(View.of(pair(mine))) == ""
    assert agreement(View.of(pair(mine, verdict("a", "b", -0.03, estimator="naive")))) == ""
    alike = verdict("a", "b", 0.02, target="per_user")
    ahead = "The other debiased estimators and targets agree on who is ahead."
    assert agreement(View.of(pair(mine, alike))) == ahead
    other = verdict("a", "b", -0.03, estimator="gs(strata=5)")
    open_ = verdict("a", "b", 0.001, target="per_user")
    assert agreement(View.of(pair(mine, alike, other))) == (
        "Not all debiased estimators and targets agree: gs(strata=5) (pooled) puts b ahead of a."
    )
    assert agreement(View.of(pair(mine, open_, other))) == (
        "Not all debiased estimators and targets agree: snips (per_user) does not decide between a and b; "
        "gs(strata=5) (pooled) puts b ahead of a."
    )
    models = Result(tuple(estimate(m, 0.1, target=t) for t in ("pooled", "per_user") for m in "abc"), (), (), {}, ())
    pairs = (verdict("a", "b", 0.03), verdict("a", "c", 0.03))
    turned = tuple(replace(v, target="per_user", verdict="worse") for v in pairs)
    assert agreement(View.of(replace(models, verdicts_=pairs + turned))) == (
        "Not all debiased estimators and targets agree: snips (per_user) puts b ahead of a and puts c ahead of a."
    )
    undecided = verdict("a", "b", 0.001)
    assert agreement(View.of(pair(undecided, other))).endswith("gs(strata=5) (pooled) puts b ahead of a.")
    neither = "The other debiased estimators and targets put no model ahead either."
    assert agreement(View.of(pair(undecided, open_))) == neither
    elsewhere = (verdict("a", "b", -0.03, metric="dcg@10"), verdict("a", "b", -0.03, segment="DE"))
    assert agreement(View.of(pair(mine, *elsewhere))) == ""


def test_agreement_on_who_is_ahead_is_none_on_the_size() -> None:
    """Intervals of the same target that do not overlap are told; other targets measure something else."""
    mine, larger = verdict("a", "b", 0.03), verdict("a", "b", 0.3, estimator="gs(strata=5)")
    said = agreement(View.of(pair(mine, larger)))
    assert said == (
        "The other debiased estimators and targets agree on who is ahead, but not on by how much: "
        "gs(strata=5) (pooled) says 0.289 to 0.311 for a − b, not 0.019 to 0.041."
    )
    assert agreement_role(said) == "disagreement"
    elsewhere = replace(larger, target="per_user")
    said = agreement(View.of(pair(mine, elsewhere)))
    assert said.endswith("agree on who is ahead.") and agreement_role(said) == "agreement"


def test_many_that_disagree_are_counted() -> None:
    """Three estimators are named and two pairs of each; the others are counted."""
    models = ["a", "b", "c", "d"]
    names = ["snips", "gs(strata=2)", "gs(strata=3)", "gs(strata=4)", "gs(strata=5)"]
    result = grid(models, ["recall@10"], names)
    turned = tuple(
        v
        if v.estimator == "snips"
        else replace(v, verdict={"ahead": "behind", "behind": "ahead"}.get(v.verdict, v.verdict))
        for v in result.verdicts_
    )
    said = agreement(View.of(replace(result, verdicts_=turned)))
    assert said.count("(pooled)") == 3 and said.count("more pairs") == 3 and said.endswith("; 1 more disagree.")


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
        assert (found["estimator"], found["target"]) == strong
        assert found["sentences"][0].startswith("a is better than b")
    alone = pair(cells[1]).headline()
    assert (alone["estimator"], alone["target"]) == weak


@pytest.mark.parametrize("metric", ["ndcg@10", "map@10"])
def test_metrics_that_are_no_sums_never_headline_beside_one_that_is(metric: str) -> None:
    """ndcg and map promise nothing once weighed; recall speaks, also where it was asked for last and leans."""
    first = verdict("a", "b", 0.03, metric=metric, target="per_user")
    for target in ("pooled", "per_user"):
        second = verdict("a", "b", -0.03, target=target)
        headline = View.of(pair(first, second)).headline
        assert headline == Facet("recall@10", target, None)
    only = pair(first, verdict("a", "b", 0.03, metric=metric, target="per_user", estimator="naive"))
    assert only.headline()["metric"] == metric and only.headline()["estimator"] == "snips"


def test_naive_alone_carries_the_headline(many: Result) -> None:
    """Where nothing is debiased, naive speaks, and is not compared with itself."""
    only = replace(many, verdicts_=tuple(v for v in many.verdicts_ if v.estimator == "naive"))
    only = replace(only, estimates=tuple(e for e in many.estimates if e.estimator == "naive"))
    assert len(sentences(only)) == 6
    assert not any("Naive" in said for said in sentences(only))
    assert all("if every relevant pair was equally likely to be seen" in said for said in sentences(only))


def test_a_correction_counts_segments_too(segmented: Result) -> None:
    """One level spans the pairs of models in the whole and in three segments."""
    assert "after correction for 4 comparisons" in sentences(segmented)[0]


def test_all_users_come_before_segments(segmented: Result) -> None:
    """The headline speaks of all users, wherever the segments stand."""
    turned = replace(segmented, estimates=segmented.estimates[::-1], verdicts_=segmented.verdicts_[::-1])
    headline = View.of(turned).headline
    assert headline is not None and headline.segment is None


def test_titles_name_the_model_that_is_ahead(many: Result, two: Result, undecided: Result) -> None:
    """A page's headline says who wins, or that nobody does."""
    assert str(title(View.of(many))) == "challenger is better than all 3 others on recall@10"
    three = grid(["x", "y", "z"], ["recall@10"], ["naive", "snips"])
    assert str(title(View.of(three))) == "z is better than both others on recall@10"
    assert str(title(View.of(two))) == "challenger is better than popular on recall@10"
    assert str(title(View.of(undecided))) == "This log cannot decide between a and b on recall@10"


def test_titles_do_not_overstate() -> None:
    """A model that beats one of two others and is tied with the third is not called better than all."""
    pairs = (verdict("a", "b", 0.03), verdict("a", "c", 0.001), verdict("b", "c", 0.001))
    result = Result(tuple(estimate(m, 0.1) for m in "abc"), pairs, (), {}, ())
    assert str(title(View.of(result))) == "a and c are not beaten by any other model on recall@10"
    chain = replace(result, verdicts_=(pairs[0], pairs[1], verdict("b", "c", 0.03)))
    assert str(title(View.of(chain))) == "a is not beaten by any other model on recall@10"


def test_no_metric_is_taken_for_granted_to_be_better_when_higher() -> None:
    """A loss is better when lower: the verdict's word counts, not the sign."""
    lower = verdict("a", "b", -0.03, verdict="better")
    assert str(say(lower)).startswith("a is better than b on recall@10: −0.030")


def test_one_model_gets_its_scores_in_words() -> None:
    """Without pairs the sentences give the estimates; without estimates they say so."""
    result = Result((estimate("als", 0.123),), (), (), {}, ())
    assert sentences(result) == ["als scores 0.123 [0.113, 0.133] on recall@10 (snips)."]
    gone = Result((estimate("als", NAN, low=NAN, high=NAN),), (), (), {}, ())
    assert sentences(gone) == ["als has no estimate on recall@10."]
    none = Result((estimate("als", 0.0, hits=0, se=NAN, low=0.0, high=0.0123),), (), (), {}, ())
    assert sentences(none) == ["als scores 0.000 (≤ 0.012) on recall@10 (snips)."]
    assert sentences(Result((), (), (), {}, ())) == ["The result holds no estimates."]


def test_brief_sentences_keep_the_numbers(many: Result) -> None:
    """Many pairs are told briefly, the winner's first, with the same numbers."""
    said = [str(sentence) for sentence in headline_sentences(View.of(many), brief=True)]
    assert said[0] == (
        "challenger is better than popular: +0.030 [0.020, 0.040], p = 0.0004, Γ 1.52. "
        "Naive would have said the opposite."
    )
    assert all(sentence.startswith("challenger") for sentence in said[:3])


def test_trust_is_said_once_and_names_its_pairs() -> None:
    """A sentence about all pairs stands alone; one about some pairs names them."""
    pairs = (verdict("a", "b", 0.03, trust="Thin."), verdict("a", "c", 0.03, trust="Thin."))
    result = Result(tuple(estimate(m, 0.1) for m in "abc"), pairs, (), {}, ())
    assert trust(View.of(result)) == ["Thin."]
    some = replace(result, verdicts_=(*pairs, verdict("b", "c", 0.001)))
    assert trust(View.of(some)) == ["a and b; a and c: Thin."]
    open_ = replace(result, verdicts_=(*pairs, withheld("b", "c", 0.03)))
    assert trust(View.of(open_)) == ["a and b; a and c: Thin."]  # its own sentence says why it is open
