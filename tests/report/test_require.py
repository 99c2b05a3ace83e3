"""Statements that a pipeline requires: how they are read, and that they never say more than the verdict does."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import metrics
from unskew.cross_validation.result import CrossValidation
from unskew.errors import InputError
from unskew.evaluation.comparison import PropensityComparison
from unskew.requirement import Requirement, Statement
from unskew.result import Result

from .made_up import INPUTS, NAN, estimate, grid, traits, verdict, withheld
from .over_scenarios import AHEAD, BOX, TURNS, Line, over

METRICS = ["recall@10", "rmse"]


def read(text: str, models: tuple[str, ...] = ("new", "old"), segments: tuple[str, ...] | None = ()) -> Statement:
    return Statement.parse(text, models, METRICS, metrics.make, segments)


def pair(difference: float, half: float, metric: str = "recall@10", **changes: object) -> Result:
    """Two models, new at 0.2 + difference and old at 0.2 ± 0.02."""
    rows = estimate("new", 0.2 + difference, metric=metric), estimate("old", 0.2, 0.02, metric=metric)
    found = verdict("new", "old", difference, half, metric=metric, **changes)  # type: ignore[arg-type]
    return Result(rows, (found,), (), INPUTS, (), traits=traits([metric]))


def answer(result: Result, text: str) -> str:
    (found,) = result.require(text)
    return found.answer


def test_a_statement_is_read() -> None:
    assert read("new better than old on recall@10") == Statement(
        "new better than old on recall@10", "new", "old", METRICS[0]
    )
    share = read("  new  is not worse than old by 2 % on recall ")
    assert (share.margin, share.relative, share.metric) == (0.02, True, "recall@10")
    plain = read("new not worse than old by .01 on rmse")
    assert (plain.margin, plain.relative) == (0.01, False)
    assert read("new better than old on recall@10 in DE", segments=("DE",)).segment == "DE"
    assert read("new better than old on recall@10 in DE", segments=None).segment == "DE"


@given(st.lists(st.text("ab on", min_size=1).map(lambda t: " ".join(t.split())).filter(bool), min_size=2, unique=True))
def test_names_with_blanks_are_read_or_refused(names: list[str]) -> None:
    """A name may hold the words of a statement: what can be read in two ways is an error, never a guess."""
    a, b = names[:2]
    try:
        found = read(f"{a} better than {b} on recall@10", tuple(names))
    except InputError as error:
        assert "two ways" in str(error)
    else:
        assert (found.a, found.b) == (a, b)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("newer better than old on recall@10", "begin with the name of a model"),
        ("new better than older on recall@10", "a model should follow"),
        ("new not worse than old on recall@10", "names no margin"),
        ("new better than old by 5 % on recall@10", "takes no margin"),
        ("new better than old", "names no metric"),
        ("new better than old on recall@20", "recall@20"),
        ("new not worse than old by 0 % on recall@10", "above 0"),
        ("new not worse than old by 100 % on recall@10", "below 100 %"),
        ("new better than new on recall@10", "with itself"),
        ("new better than old on recall@10 in DE", "no segment"),
        ("", "begin with the name of a model"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_why(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read(text)


def test_the_statements_of_the_guide_can_be_read() -> None:
    """Those of its table, of its commands and of its workflow."""
    page = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text()
    found = set(re.findall(r"new (?:better|not worse) than old(?: by [\d.]+(?: %)?)? on [\w@]+(?: in \w+)?", page))
    assert len(found) >= 4
    for text in found:
        assert Statement.parse(text, ("new", "old"), ["recall@10", "dcg@10"], metrics.make, None).text == text


def test_better_is_what_the_verdict_says() -> None:
    for difference, half, said in ((0.05, 0.01, "yes"), (-0.05, 0.01, "no"), (0.05, 0.06, "undecided")):
        assert answer(pair(difference, half), "new better than old on recall@10") == said
    assumed = pair(0.05, 0.01, assumed="exposure explains all of popularity")
    (found,) = assumed.require("new better than old on recall@10")
    assert found.answer == "yes" and "if exposure explains all of popularity" in found.reason
    (found,) = pair(0.05, 0.01, trust="Little trust: only 41 users count.").require("new better than old on recall@10")
    assert "only 41 users" in found.reason


@given(st.floats(-0.1, 0.1), st.floats(0.001, 0.1), st.integers(1, 100).map(lambda n: n / 1000))
def test_a_margin_is_held_against_the_interval(difference: float, half: float, margin: float) -> None:
    """The whole interval lies above the margin, or below it, or neither; from the other side it is the mirror."""
    result = pair(difference, half)
    low, high = difference - half, difference + half
    for text, down, up in (("new not worse than old", low, high), ("old not worse than new", -high, -low)):
        expected = "yes" if down > -margin else "no" if up < -margin else "undecided"
        assert answer(result, f"{text} by {margin} on recall@10") == expected


@given(st.floats(-0.1, 0.1), st.floats(0.001, 0.1), st.integers(1, 40))
def test_a_relative_margin_allows_for_the_error_of_its_base(difference: float, half: float, percent: int) -> None:
    """A share of 0.18 for a yes, of 0.22 for a no: old lies between them."""
    expected = "undecided"
    if difference - half > -percent / 100 * 0.18:
        expected = "yes"
    elif difference + half < -percent / 100 * (0.2 + 0.02):
        expected = "no"
    assert answer(pair(difference, half), f"new not worse than old by {percent} % on recall@10") == expected


def test_of_errors_lower_is_better() -> None:
    worse = pair(0.01, 0.02, "rmse")
    worse = replace(worse, verdicts_=(replace(worse.verdicts_[0], verdict="undecided"),))
    assert answer(worse, "new not worse than old by 0.04 on rmse") == "yes"
    assert answer(worse, "new not worse than old by 0.02 on rmse") == "undecided"
    assert answer(worse, "old not worse than new by 0.02 on rmse") == "yes"


def test_what_is_withheld_refused_or_not_debiased_is_undecided() -> None:
    """Whatever the margin is."""
    held_back = Result((estimate("new", 0.2), estimate("old", 0.2)), (withheld("new", "old", 0.01),), (), {}, ())
    checked = pair(0.0, 0.001, no_margin="old beat new for too few users")
    naive = pair(0.05, 0.01, estimator="naive")
    naive = replace(
        naive,
        estimates=tuple(replace(e, estimator="naive", standing=naive.verdicts_[0].standing) for e in naive.estimates),
    )
    gone = pair(0.0, 0.001)
    gone = replace(gone, estimates=(gone.estimates[0], replace(gone.estimates[1], value=NAN, low=NAN, high=NAN)))
    for result, why in ((held_back, "7 users"), (checked, "too few users"), (naive, "skew"), (gone, "")):
        (found,) = result.require("new not worse than old by 50 % on recall@10")
        assert found.answer == "undecided" and why in found.reason
    assert answer(naive, "new better than old on recall@10") == "undecided"
    alone = Result((estimate("new", 0.2), estimate("old", 0.2)), (), (), {}, ())
    assert answer(alone, "new better than old on recall@10") == "undecided"


def test_a_metric_that_was_refused_is_undecided_with_its_reason() -> None:
    refused = [{"metric": "dcg@10", "estimator": "snips", "target": "pooled", "reason": "no propensities."}]
    inputs = {"settings": {"metrics": ["recall@10", "dcg@10"]}, "refused": refused}
    (found,) = replace(pair(0.05, 0.01), inputs=inputs).require("new better than old on dcg@10")
    assert (found.answer, found.reason) == ("undecided", "no propensities.")


def test_over_scenarios_only_what_holds_in_all_of_them_is_said() -> None:
    assert answer(over(AHEAD), "als better than popular on recall@10") == "yes"
    turning = over(TURNS)
    (found,) = turning.require("als better than popular on recall@10")
    assert found.answer == "undecided" and "40 %" in found.reason
    assert answer(turning, "als not worse than popular by 0.01 on recall@10") == "undecided"
    lead = max(v.high for v in turning.verdicts_) + 0.001
    assert answer(turning, f"popular not worse than als by {lead:.4f} on recall@10") == "yes"


WORSE = {"old": (0.30, 0.03), "new": (0.19, 0.019)}  # by 37 % all over, where values differ by a factor of ten
PATH: dict[str, Any] = {"half": 0.0004}


def margin(lines: dict[str, Line], text: str, **options: Any) -> Requirement:
    (found,) = over(lines, **(PATH | options)).require(f"{text} on {options.get('metric', 'recall@10')}")
    return found


def test_a_relative_margin_is_one_of_the_value_in_the_same_scenario() -> None:
    """2 % of the lowest value over all scenarios says nothing of the scenario with the highest."""
    found = margin(WORSE, "new not worse than old by 2 %")
    assert found.answer == "no" and found.high < found.bound == pytest.approx(-0.02 * 0.0304)
    assert (found.low, found.high) == pytest.approx((-0.0114, -0.0106)), "at 100 %, where the least is lost"
    assert margin(WORSE, "new not worse than old by 40 %").answer == "yes"
    assert margin(WORSE, "old not worse than new by 2 %").answer == "yes"


def test_the_same_of_a_model_that_is_better() -> None:
    """The mirror image, whichever model is named first, and of errors."""
    better = {"old": WORSE["new"], "new": WORSE["old"]}
    for lines in (better, dict(reversed(better.items()))):
        assert margin(lines, "new not worse than old by 2 %").answer == "yes"
        assert margin(lines, "old not worse than new by 2 %").answer == "no"
        assert margin(lines, "old not worse than new by 40 %").answer == "yes"
    for lines in (WORSE, dict(reversed(WORSE.items()))):
        for text, said in (("new not worse than old", "no"), ("old not worse than new", "yes")):
            assert margin(lines, f"{text} by 2 %").answer == said
            worse_is_better = "yes" if said == "no" else "no"
            assert margin(lines, f"{text} by 2 %", metric="rmse").answer == worse_is_better


def test_a_margin_that_holds_at_some_shares_only_is_undecided_and_says_at_which() -> None:
    """By 10 %: 25 % are lost at one end, nothing at the other."""
    lines = {"old": (0.20, 0.20), "new": (0.15, 0.20)}
    found = margin(lines, "new not worse than old by 10 %")
    assert found.answer == "undecided"
    assert (
        found.reason
        == "it fails at exposure 0 % to 50 %, it is open at exposure 60 %, it holds at exposure 70 % to 100 %."
    )
    assert (found.low, found.high, found.bound) == pytest.approx((-0.0504, -0.0496, -0.1 * 0.1996)), "at 0 %"
    found = margin(lines, "old not worse than new by 10 %")
    assert found.answer == "yes" and found.bound < found.low, "nowhere it is behind"


def test_a_margin_on_two_axes_must_hold_on_both() -> None:
    found = margin({"old": (0.20, 0.20), "new": (0.15, 0.22)}, "new not worse than old by 10 %", points=BOX)
    assert found.answer == "undecided" and found.reason.startswith("it fails at odds 1 to 1.41, ")


def test_a_scenario_without_a_value_leaves_a_share_of_it_open() -> None:
    """What holds elsewhere may not hold there."""
    result = over(WORSE, **PATH)
    (table,) = result.scenarios
    gone = [
        replace(row, value=(*row.value[:-1], NAN), low=(*row.low[:-1], NAN), high=(*row.high[:-1], NAN))
        for row in table.values
    ]
    result = replace(result, scenarios=(replace(table, values=tuple(gone)),))
    for text in ("new not worse than old by 2 %", "new not worse than old by 40 %"):
        (found,) = result.require(f"{text} on recall@10")
        assert found.answer == "undecided" and "it is open at exposure 100 %" in found.reason
    assert answer(result, "new not worse than old by 0.2 on recall@10") == "yes", "a margin that is no share of it"


def test_only_scenarios_that_answers_leave_are_judged() -> None:
    lines = {"old": (0.20, 0.20), "new": (0.15, 0.20)}
    result = over(lines, **PATH)
    (table,) = result.scenarios
    for left, said in (((0.0, 0.5), "no"), ((0.7, 1.0), "yes"), ((0.4, 0.8), "undecided")):
        narrow = replace(result, scenarios=(replace(table, left=left),))
        verdicts = tuple(
            replace(v, low=0.001, high=0.0504) if v.estimator == table.estimator else v for v in result.verdicts_
        )
        assert answer(replace(narrow, verdicts_=verdicts), "new not worse than old by 10 % on recall@10") == said


def test_a_no_stands_unless_scenarios_of_another_estimator_contradict_it() -> None:
    """A verdict that they contradict has an interval that holds theirs."""
    result = over(WORSE, **PATH)
    contradicted = tuple(replace(v, low=-0.05, high=0.12, verdict="depends") for v in result.verdicts_)
    assert answer(replace(result, verdicts_=contradicted), "new not worse than old by 2 % on recall@10") == "undecided"


def test_several_statements_hold_together() -> None:
    result = pair(0.05, 0.01)
    yes, no, unsure = (
        "new better than old on recall@10",
        "old better than new on recall@10",
        "old not worse than new by 0.05 on recall@10",
    )
    for texts, code in (((yes,), 0), ((yes, yes), 0), ((yes, unsure), 3), ((unsure, no), 1), ((no,), 1)):
        found = result.require(*texts)
        assert found.exit_code == code and bool(found) == (code == 0) and len(found) == len(texts)
    assert str(result.require(yes)).startswith("yes: new better than old on recall@10: new is better")


def test_under_several_propensities_all_must_agree() -> None:
    ahead, behind, unsure = pair(0.05, 0.01), pair(-0.05, 0.01), pair(0.0, 0.01)
    for results, said in (
        ((ahead, ahead), "yes"),
        ((ahead, unsure), "undecided"),
        ((behind, behind), "no"),
        ((ahead, behind), "undecided"),
    ):
        compared = PropensityComparison({f"p{n}": result for n, result in enumerate(results)})
        assert compared.require("new better than old on recall@10").answer == said


def test_a_cross_validation_answers_by_its_average(many: Result) -> None:
    folds = CrossValidation("k_fold(2)", many, many, (), ())
    text = "challenger better than popular on recall@10"
    assert folds.require(text).items == many.require(text).items
    assert folds.leaderboard().equals(many.leaderboard())


def test_segments_have_answers_of_their_own(segmented: Result) -> None:
    found = segmented.require("als better than popular on dcg@10 in DE")
    assert found.items[0].segment == "DE" and found.answer == "yes"
    (said,) = [v for v in segmented.verdicts_ if (v.segment, v.metric, v.estimator) == ("DE", "dcg@10", "snips")]
    assert found.items[0].difference == -said.difference


def test_the_estimator_that_counts_answers() -> None:
    """naive and snips name different winners; the page's headline is that of snips."""
    result = grid(["old", "new"], ["recall@10"], ["naive", "snips"])
    (found,) = result.require("new not worse than old by 0.02 on recall@10")
    (verdict_,) = [v for v in result.verdicts_ if v.estimator == "snips"]
    assert (found.estimator, found.low, found.high) == ("snips", -verdict_.high, -verdict_.low)


def beside(mine: Result, difference: float, half: float, **cell: Any) -> Result:
    """The same with another estimator or target, by which old scores 0.4 ± 0.02."""
    rows = estimate("new", 0.4 + difference, **cell), estimate("old", 0.4, 0.02, **cell)
    found = verdict("new", "old", difference, half, **cell)
    return replace(mine, estimates=(*rows, *mine.estimates), verdicts_=(found, *mine.verdicts_))


@pytest.mark.parametrize(
    ("difference", "half", "cell", "said"),
    [
        (-0.05, 0.01, {"estimator": "gs(strata=5)"}, "undecided"),
        (0.0, 0.02, {"estimator": "gs(strata=5)"}, "undecided"),
        (0.0, 0.009, {"estimator": "gs(strata=5)"}, "yes"),
        (0.05, 0.01, {"estimator": "gs(strata=5)"}, "yes"),
        (-0.05, 0.01, {"estimator": "snips", "target": "per_user"}, "undecided"),
        (-0.05, 0.01, {"estimator": "direct", "target": "per_user_sum"}, "yes"),
        (-0.05, 0.01, {"estimator": "naive"}, "yes"),
    ],
)
def test_every_debiased_estimator_confirms_a_margin(
    difference: float, half: float, cell: dict[str, str], said: str
) -> None:
    """Also those of other targets unless their scale is another one; naive debiases nothing and does not count."""
    mine = pair(-0.004, 0.003)
    text = "new not worse than old by 0.01 on recall@10"
    assert answer(mine, text) == "yes"
    (found,) = beside(mine, difference, half, **cell).require(text)
    assert (found.answer, found.estimator, found.target) == (said, "snips", "pooled")
    if said == "undecided":
        assert f"but {cell['estimator']} (" in found.reason and "does not confirm it: [" in found.reason


def test_a_share_is_one_of_the_estimators_own_value() -> None:
    """10 % of 0.38 are enough for the other one, though 10 % of 0.18 would not be; 4 % are not."""
    both = beside(pair(-0.004, 0.003), -0.02, 0.01, estimator="gs(strata=5)")
    assert answer(both, "new not worse than old by 10 % on recall@10") == "yes"
    (found,) = both.require("new not worse than old by 6 % on recall@10")
    assert found.answer == "undecided" and found.reason.endswith(
        "(its margin: −0.02280, 6 % of old's lowest value 0.380)."
    )


@pytest.mark.parametrize("text", ["new better than old on recall@10", "old better than new on recall@10"])
def test_an_estimator_that_decides_the_opposite_leaves_it_undecided(text: str) -> None:
    for difference in (0.05, -0.05):
        mine = pair(difference, 0.01)
        (found,) = beside(mine, -difference, 0.01, estimator="gs(strata=5)").require(text)
        assert found.answer == "undecided" and "but gs(strata=5) (pooled) puts" in found.reason
        for agreed, half in ((difference, 0.01), (0.0, 0.01)):  # alike, or open
            assert answer(beside(mine, agreed, half, estimator="gs(strata=5)"), text) == answer(mine, text)


def test_a_no_to_a_margin_has_nobody_who_says_yes() -> None:
    text = "new not worse than old by 0.02 on recall@10"
    mine = pair(-0.05, 0.01)
    for difference, half, said in ((-0.05, 0.01, "no"), (-0.02, 0.01, "no"), (0.0, 0.01, "undecided")):
        assert answer(beside(mine, difference, half, estimator="gs(strata=5)"), text) == said


def test_what_rests_on_answers_needs_no_estimator_of_the_log() -> None:
    """Answers hold whatever the log is, and the page's headline goes by them."""
    mine = pair(0.05, 0.01)
    asked = replace(
        mine,
        estimates=tuple(replace(e, standing="rests on answers") for e in mine.estimates),
        verdicts_=tuple(replace(v, standing="rests on answers") for v in mine.verdicts_),
    )
    text = "new better than old on recall@10"
    assert answer(beside(asked, -0.05, 0.01, estimator="gs(strata=5)"), text) == "yes"


@pytest.mark.parametrize(("margin", "refused"), [("2", True), ("0.22", True), ("0.21", False), ("200", True)])
def test_a_margin_that_nothing_could_miss_is_an_error(margin: str, refused: bool) -> None:
    """old scores at most 0.22: a margin as large would be kept by a model without any hit."""
    text = f"new not worse than old by {margin} on recall@10"
    if not refused:
        assert answer(pair(-0.05, 0.01), text) == "yes"
        return
    with pytest.raises(InputError, match=r"scores at most 0\.2200 on recall@10: it would hold whatever") as caught:
        pair(-0.05, 0.01).require(text)
    assert str(caught.value).endswith("Did you mean 2 %?") == (margin == "2")
    assert ("Did you mean" in str(caught.value)) == (margin != "200")


def test_by_another_estimator_a_margin_can_be_missed() -> None:
    """0.3 is more than 0.22 and less than 0.42."""
    both = beside(pair(-0.05, 0.01), -0.35, 0.01, estimator="gs(strata=5)")
    assert answer(both, "new not worse than old by 0.3 on recall@10") == "undecided"
    worse = pair(0.01, 0.02, "rmse")
    assert answer(worse, "new not worse than old by 2 on rmse") == "yes"  # errors have no upper end


def test_a_relative_margin_says_of_what_it_is_a_share() -> None:
    for percent, said in (
        ("2", "[−0.010, 0.010] does not exclude −0.003600, 2 % of old's lowest value 0.180."),
        ("10", "[−0.010, 0.010] lies above −0.01800, 10 % of old's lowest value 0.180."),
    ):
        (found,) = pair(0.0, 0.01).require(f"new not worse than old by {percent} % on recall@10")
        assert found.reason == said
    (found,) = pair(-0.05, 0.01).require("new not worse than old by 2 % on recall@10")
    assert found.reason == "[−0.060, −0.040] lies below −0.004400, 2 % of old's highest value 0.220."


@pytest.mark.parametrize(
    ("assumption", "said"),
    [
        ("exposure is known", "if exposure is known"),
        ("so " * 100 + "on", f"if {'so ' * 100}on"),
        ("so it goes " * 50, "if what snips assumes is true"),
    ],
)
def test_a_long_assumption_is_named_by_its_estimator(assumption: str, said: str) -> None:
    """Its words stand beside the answer, not in every reason."""
    (found,) = pair(0.1, 0.02, assumption=assumption).require("new better than old on recall@10")
    assert found.answer == "yes" and f"{said}." in found.reason
    assert found.assumption == assumption
