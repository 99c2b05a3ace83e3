"""Verdicts in plain words."""

from __future__ import annotations

import math
from dataclasses import replace

from unskew.report import sentences
from unskew.report.view import Facet, View
from unskew.report.words import headline_sentences, say, title, trust
from unskew.result import Result

from .made_up import NAN, estimate, verdict


def test_better_says_by_how_much_how_surely_and_how_robustly(two: Result) -> None:
    """The sentence of a decided pair holds difference, interval, p, tipping point, and what naive would have said."""
    assert sentences(two) == [
        "challenger is better than popular on recall@10: +0.031 [0.020, 0.042], p = 0.0004. It stays ahead unless the "
        "propensities are wrong by more than a factor of 1.80 (1.52 with sampling error). "
        "Naive would have said the opposite."
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
    same = verdict("a", "b", 0.0, se=0.0, low=0.0, high=0.0, p=1.0, p_adjusted=1.0, users_needed=None)
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
    assert str(say(open_, behind)).endswith("Naive would have called b better.")
    assert "Naive" not in str(say(ahead, ahead))


def test_tipping_points_in_words() -> None:
    """Odds are called odds, and infinity is not printed as a number."""
    assert "unless the odds of being seen are wrong" in str(say(verdict("a", "b", 0.03, tipping_kind="odds")))
    assert "Reweighing inside users" in str(say(verdict("a", "b", 0.03, tipping=math.inf)))
    assert "Uneven exposure by a factor" in str(say(replace(verdict("a", "b", 0.03), estimator="naive")))
    pooled = replace(verdict("a", "b", 0.03, tipping=math.inf), target="pooled")
    assert "No error in the propensities" in str(say(pooled))


def test_the_last_debiased_estimator_and_the_first_metric_make_the_headline(many: Result) -> None:
    """Estimator, metric and target of the headline follow from the order of the result."""
    view = View.of(many)
    headline = Facet("recall@10", "per_user", None)
    assert view.headline == headline
    assert view.carrier(headline) == "gs(strata=5)"
    assert all("recall@10" in said for said in sentences(many))


def test_what_is_biased_on_purpose_makes_no_headline(many: Result) -> None:
    """A clip or switch that was asked for last is looked at beside the others, and counts where it is alone."""
    headline = Facet("recall@10", "per_user", None)
    for name in ("switch(tau=5)", "clipped(snips, at=0.1)"):
        last = tuple(replace(e, estimator=name) for e in many.estimates if e.estimator == "gs(strata=5)")
        assert View.of(replace(many, estimates=many.estimates + last)).carrier(headline) == "gs(strata=5)"
        assert View.of(replace(many, estimates=last)).carrier(headline) == name


def test_naive_alone_carries_the_headline(many: Result) -> None:
    """Where nothing is debiased, naive speaks, and is not compared with itself."""
    only = replace(many, verdicts_=tuple(v for v in many.verdicts_ if v.estimator == "naive"))
    only = replace(only, estimates=tuple(e for e in many.estimates if e.estimator == "naive"))
    assert len(sentences(only)) == 6
    assert not any("Naive" in said for said in sentences(only))


def test_all_users_come_before_segments(segmented: Result) -> None:
    """The headline speaks of all users, wherever the segments stand."""
    turned = replace(segmented, estimates=segmented.estimates[::-1], verdicts_=segmented.verdicts_[::-1])
    headline = View.of(turned).headline
    assert headline is not None and headline.segment is None


def test_titles_name_the_model_that_is_ahead(many: Result, two: Result, undecided: Result) -> None:
    """A page's headline says who wins, or that nobody does."""
    assert str(title(View.of(many))) == "challenger is better than all 3 others on recall@10"
    assert str(title(View.of(two))) == "challenger is better than popular on recall@10"
    assert str(title(View.of(undecided))) == "This log cannot decide between a and b on recall@10"


def test_titles_do_not_overstate() -> None:
    """A model that beats one of two others and is tied with the third is not called better than all."""
    pairs = (verdict("a", "b", 0.03), verdict("a", "c", 0.001), verdict("b", "c", 0.001))
    result = Result(tuple(estimate(m, 0.1) for m in "abc"), pairs, (), {}, ())
    assert str(title(View.of(result))) == "a and c are not beaten by any other model on recall@10"


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
    assert sentences(Result((), (), (), {}, ())) == ["The result holds no estimates."]


def test_brief_sentences_keep_the_numbers(many: Result) -> None:
    """Many pairs are told briefly, the winner's first, with the same numbers."""
    said = [str(sentence) for sentence in headline_sentences(View.of(many), brief=True)]
    assert said[0] == (
        "challenger is better than popular: +0.033 [0.023, 0.043], p = 0.0004, Γ 1.80. "
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
