"""Statements that a pipeline requires: how they are read, and that they never say more than the verdict does."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation import shop
from tests.said import refuses
from unskew.core.errors import InputError
from unskew.core.notice import Notice, codes
from unskew.cross_validation import CrossValidation
from unskew.estimators import Standing
from unskew.evaluation import PropensityComparison
from unskew.requirement import Requirement
from unskew.result import Result

from .made_up import INPUTS, NAN, estimate, traits, verdict, withheld
from .over_scenarios import AHEAD, TURNS, Line, over

YES, NO, OPEN = "yes", "no", "undecided"


def better(a: str = "new", b: str = "old", on: str = "recall@10") -> str:
    return shop.better(a, b, on)


def kept(by: str, a: str = "new", b: str = "old", on: str = "recall@10") -> str:
    return shop.kept(a, b, by, on)


def pair(difference: float, half: float, metric: str = "recall@10", **changes: Any) -> Result:
    """Two models, new at 0.2 + difference and old at 0.2 ± 0.02."""
    rows = estimate("new", 0.2 + difference, metric=metric), estimate("old", 0.2, 0.02, metric=metric)
    found = verdict("new", "old", difference, half, metric=metric, **changes)
    return Result(rows, (found,), (), INPUTS, (), traits=traits([metric]))


def found(result: Result, text: str) -> Requirement:
    (one,) = result.require(text)
    return one


def answer(result: Result, text: str) -> tuple[str, str]:
    """What is answered, and the code of the reason."""
    one = found(result, text)
    return one.answer, codes([one.reason])[0]


def test_a_statement_is_read() -> None:
    """However it is spaced, with any spelling of the metric, margins as shares or as they are."""
    result = pair(0.05, 0.01)
    one = found(result, "  new  is " + kept("2 %").removeprefix("new ").removesuffix("@10") + " ")
    assert (one.a, one.b, one.margin, one.relative, one.metric) == ("new", "old", 0.02, True, "recall@10")
    one = found(result, kept(".01"))
    assert (one.margin, one.relative, one.segment) == (0.01, False, None)


@given(st.lists(st.text("ab on", min_size=1).map(lambda t: " ".join(t.split())).filter(bool), min_size=2, unique=True))
def test_names_with_blanks_are_read_or_refused(names: list[str]) -> None:
    """A name may hold the words of a statement: what can be read in two ways is an error, never a guess."""
    pairs = tuple(verdict(a, b, 0.1) for a, b in itertools.combinations(names, 2))
    rows = tuple(estimate(name, 0.2) for name in names[::-1])
    result = Result(rows, pairs, (), INPUTS, (), traits=traits(["recall@10"]))
    try:
        one = found(result, better(*names[:2]))
    except InputError as error:
        assert error.code == "ambiguous-requirement"
    else:
        assert [one.a, one.b] == names[:2]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (better("newer"), "unknown-model"),
        (better("new", "older"), "unknown-model"),
        (kept("").replace(" by", ""), "missing-margin"),
        (better("new", "old by 5 %"), "unexpected-margin"),
        (better().partition(" on ")[0], "missing-metric"),
        (better(on="recall@20"), "unknown-name"),
        (kept("0 %"), "out-of-range"),
        (kept("100 %"), "out-of-range"),
        (better("new", "new"), "same-model"),
        (f"{better()} in DE", "unknown-segment"),
        ("", "unknown-model"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_why(text: str, code: str) -> None:
    with refuses(code):
        pair(0.05, 0.01).require(text)


@given(st.floats(-0.1, 0.1), st.floats(0.001, 0.1), st.integers(1, 100).map(lambda n: n / 1000))
def test_a_margin_is_held_against_the_interval(difference: float, half: float, margin: float) -> None:
    """The whole interval lies above the margin, or below it, or neither; from the other side it is the mirror."""
    result = pair(difference, half)
    low, high = difference - half, difference + half
    for names, down, up in ((("new", "old"), low, high), (("old", "new"), -high, -low)):
        expected = YES if down > -margin else NO if up < -margin else OPEN
        assert found(result, kept(f"{margin}", *names)).answer == expected


@given(st.floats(-0.1, 0.1), st.floats(0.001, 0.1), st.integers(1, 40))
def test_a_relative_margin_allows_for_the_error_of_its_base(difference: float, half: float, percent: int) -> None:
    """A share of 0.18 for a yes, of 0.22 for a no: old lies between them."""
    expected = OPEN
    if difference - half > -percent / 100 * 0.18:
        expected = YES
    elif difference + half < -percent / 100 * (0.2 + 0.02):
        expected = NO
    assert found(pair(difference, half), kept(f"{percent} %")).answer == expected


def test_of_errors_lower_is_better() -> None:
    worse = pair(0.01, 0.02, "rmse")
    worse = replace(worse, verdicts_=(replace(worse.verdicts_[0], verdict="undecided"),))
    assert answer(worse, kept("0.04", on="rmse")) == (YES, "within-margin")
    assert answer(worse, kept("0.02", on="rmse")) == (OPEN, "margin-in-interval")
    assert answer(worse, kept("0.02", "old", "new", on="rmse")) == (YES, "within-margin")


def test_what_is_withheld_refused_or_not_debiased_is_undecided() -> None:
    """Whatever the margin is."""
    few = Notice("7 users only.", code="few-users")
    pairs = estimate("new", 0.2), estimate("old", 0.2)
    held_back = Result(pairs, (withheld("new", "old", 0.01, few),), (), {}, ())
    checked = pair(0.0, 0.001, no_margin=few)
    naive = pair(0.05, 0.01, estimator="naive")
    naive = replace(
        naive,
        estimates=tuple(replace(e, estimator="naive", standing=naive.verdicts_[0].standing) for e in naive.estimates),
    )
    gone = pair(0.0, 0.001)
    gone = replace(gone, estimates=(gone.estimates[0], replace(gone.estimates[1], value=NAN, low=NAN, high=NAN)))
    for result, code in ((held_back, "few-users"), (checked, "few-users"), (naive, "not-debiased"), (gone, "may-be-0")):
        assert answer(result, kept("50 %")) == (OPEN, code)
    assert answer(naive, better()) == (OPEN, "not-debiased")
    assert answer(Result(pairs, (), (), {}, ()), better()) == (OPEN, "no-interval")


def test_over_scenarios_only_what_holds_in_all_of_them_is_said() -> None:
    both = ("als", "popular")
    assert answer(over(AHEAD), better(*both)) == (YES, "decided")
    turning = over(TURNS)
    assert answer(turning, better(*both)) == (OPEN, "depends")
    assert answer(turning, kept("0.01", *both)) == (OPEN, "by-scenario")
    lead = max(v.high for v in turning.verdicts_) + 0.001
    assert answer(turning, kept(f"{lead:.4f}", *both[::-1])) == (YES, "within-margin")


WORSE = {"old": (0.30, 0.03), "new": (0.19, 0.019)}  # by 37 % all over, where values differ by a factor of ten
PATH: dict[str, Any] = {"half": 0.0004}
CLOSER = {"old": (0.20, 0.20), "new": (0.15, 0.20)}  # 25 % are lost at one end, nothing at the other


def margin(lines: dict[str, Line], by: str, a: str = "new", b: str = "old", **options: Any) -> Requirement:
    return found(over(lines, **(PATH | options)), kept(by, a, b, options.get("metric", "recall@10")))


def test_a_relative_margin_is_one_of_the_value_in_the_same_scenario() -> None:
    """2 % of the lowest value over all scenarios says nothing of the scenario with the highest."""
    one = margin(WORSE, "2 %")
    assert one.answer == NO and one.high < one.bound == pytest.approx(-0.02 * 0.0304)
    assert (one.low, one.high) == pytest.approx((-0.0114, -0.0106)), "at 100 %, where the least is lost"
    assert margin(WORSE, "40 %").answer == margin(WORSE, "2 %", "old", "new").answer == YES


def test_a_margin_that_holds_at_some_shares_only_is_undecided_and_says_at_which() -> None:
    one = margin(CLOSER, "10 %")
    assert one.answer == OPEN and isinstance(one.reason, Notice)
    assert one.reason.fields["places"] == [(NO, 0.0, 0.5), (OPEN, 0.6, 0.6), (YES, 0.7, 1.0)]
    assert re.findall(r"\d+ %", one.reason) == ["0 %", "50 %", "60 %", "70 %", "100 %"]
    assert (one.low, one.high, one.bound) == pytest.approx((-0.0504, -0.0496, -0.1 * 0.1996)), "at 0 %"
    mirrored = margin(CLOSER, "10 %", "old", "new")
    assert mirrored.answer == YES and mirrored.bound < mirrored.low, "nowhere it is behind"


def test_only_scenarios_that_answers_leave_are_judged() -> None:
    result = over(CLOSER, **PATH)
    (table,) = result.scenarios
    verdicts = tuple(
        replace(v, low=0.001, high=0.0504) if v.estimator == table.estimator else v for v in result.verdicts_
    )
    for left, said in (((0.0, 0.5), NO), ((0.7, 1.0), YES), ((0.4, 0.8), OPEN)):
        narrow = replace(result, scenarios=(replace(table, left=left),), verdicts_=verdicts)
        assert found(narrow, kept("10 %")).answer == said


def test_several_statements_hold_together() -> None:
    result = pair(0.05, 0.01)
    yes, no, unsure = better(), better("old", "new"), kept("0.05", "old", "new")
    for texts, code in (((yes,), 0), ((yes, yes), 0), ((yes, unsure), 3), ((unsure, no), 1), ((no,), 1)):
        several = result.require(*texts)
        assert several.exit_code == code and bool(several) == (code == 0) and len(several) == len(texts)
    (one,) = several = result.require(yes)
    assert str(several) == f"{YES}: {yes}: {one.reason}"


@pytest.mark.parametrize(
    ("leads", "said"), [((0.05, 0.05), YES), ((0.05, 0.0), OPEN), ((-0.05, -0.05), NO), ((0.05, -0.05), OPEN)]
)
def test_under_several_propensities_all_must_agree(leads: tuple[float, ...], said: str) -> None:
    compared = PropensityComparison({f"p{n}": pair(lead, 0.01) for n, lead in enumerate(leads)})
    assert compared.require(better()).answer == said


def test_a_cross_validation_answers_by_its_average(many: Result) -> None:
    folds = CrossValidation("k_fold(2)", many, many, (), ())
    text = better("challenger", "popular")
    assert folds.require(text).items == many.require(text).items
    assert folds.leaderboard().equals(many.leaderboard())


def test_segments_have_answers_of_their_own(segmented: Result) -> None:
    one = found(segmented, better("als", "popular", "dcg@10 in DE"))
    assert (one.segment, one.answer) == ("DE", YES)
    (said,) = [v for v in segmented.verdicts_ if (v.segment, v.metric, v.estimator) == ("DE", "dcg@10", "snips")]
    assert one.difference == -said.difference


GS = "gs(strata=5)"


def beside(mine: Result, difference: float, half: float, **cell: Any) -> Result:
    """The same with another estimator or target, by which old scores 0.4 ± 0.02."""
    cell = cell or {"estimator": GS}
    rows = estimate("new", 0.4 + difference, **cell), estimate("old", 0.4, 0.02, **cell)
    said = verdict("new", "old", difference, half, **cell)
    return replace(mine, estimates=(*rows, *mine.estimates), verdicts_=(said, *mine.verdicts_))


@pytest.mark.parametrize(
    ("difference", "half", "cell", "said"),
    [
        (-0.05, 0.01, {"estimator": GS}, OPEN),
        (0.0, 0.02, {"estimator": GS}, OPEN),
        (0.0, 0.009, {"estimator": GS}, YES),
        (0.05, 0.01, {"estimator": GS}, YES),
        (-0.05, 0.01, {"estimator": "snips", "target": "per_user"}, OPEN),
        (-0.05, 0.01, {"estimator": "direct", "target": "per_user_sum"}, YES),
        (-0.05, 0.01, {"estimator": "naive"}, YES),
    ],
)
def test_every_debiased_estimator_confirms_a_margin(
    difference: float, half: float, cell: dict[str, str], said: str
) -> None:
    """Also those of other targets unless their scale is another one; naive debiases nothing and does not count."""
    mine, text = pair(-0.004, 0.003), kept("0.01")
    assert found(mine, text).answer == YES
    one = found(beside(mine, difference, half, **cell), text)
    assert (one.answer, one.estimator, one.target) == (said, "snips", "pooled")
    if said == OPEN:
        assert isinstance(one.reason, Notice) and one.reason.code == "not-confirmed"
        assert one.reason.fields["estimator"] == cell["estimator"]


def test_a_share_is_one_of_the_estimators_own_value() -> None:
    """10 % of 0.38 are enough for the other one, though 10 % of 0.18 would not be; 4 % are not."""
    both = beside(pair(-0.004, 0.003), -0.02, 0.01)
    assert found(both, kept("10 %")).answer == YES
    one = found(both, kept("6 %"))
    assert one.answer == OPEN and isinstance(one.reason, Notice)
    assert one.reason.fields["margin"] == pytest.approx(0.06 * 0.38) and "−0.02280" in one.reason


@pytest.mark.parametrize("names", [("new", "old"), ("old", "new")])
def test_an_estimator_that_decides_the_opposite_leaves_it_undecided(names: tuple[str, str]) -> None:
    for difference in (0.05, -0.05):
        mine = pair(difference, 0.01)
        one = found(beside(mine, -difference, 0.01), better(*names))
        assert one.answer == OPEN and codes([one.reason]) == ("contradicted",) and f"{GS} (pooled)" in one.reason
        for agreed in (difference, 0.0):  # alike, or open
            assert answer(beside(mine, agreed, 0.01), better(*names)) == answer(mine, better(*names))


@pytest.mark.parametrize(("difference", "said"), [(-0.05, NO), (-0.02, NO), (0.0, OPEN)])
def test_a_no_to_a_margin_has_nobody_who_says_yes(difference: float, said: str) -> None:
    assert found(beside(pair(-0.05, 0.01), difference, 0.01), kept("0.02")).answer == said


def test_what_rests_on_answers_needs_no_estimator_of_the_log() -> None:
    """Answers hold whatever the log is, and the page's headline goes by them."""
    mine = pair(0.05, 0.01, standing=Standing.ANSWERED)
    mine = replace(mine, estimates=tuple(replace(e, standing=Standing.ANSWERED) for e in mine.estimates))
    assert found(beside(mine, -0.05, 0.01), better()).answer == YES


@pytest.mark.parametrize(("by", "meant"), [("2", True), ("0.22", True), ("0.21", None), ("200", False)])
def test_a_margin_that_nothing_could_miss_is_an_error(by: str, meant: bool | None) -> None:
    """old scores at most 0.22: a margin as large would be kept by a model without any hit; 2 may mean 2 %."""
    result = pair(-0.05, 0.01)
    if meant is None:
        assert found(result, kept(by)).answer == YES
        return
    with refuses("vacuous-margin", margin=float(by), highest=0.22, meant=meant):
        result.require(kept(by))
