"""What keeps answers from naming a model: each refusal says what would be needed, and none stands without its cause."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

import unskew as us
from tests.said import only
from unskew.core.notice import codes
from unskew.inference.clopper_pearson import limits
from unskew.judging import answers
from unskew.log.fingerprints import fingerprint
from unskew.report.words import headline
from unskew.result import Result

USERS, ITEMS, K = 80, 12, 3


def ask(
    questions: float = 0.8,
    rates: tuple[float, float] = (0.7, 0.2),
    silent: float = 0.0,
    of_lists: tuple[int, ...] = (1, 2),
    outside: float = 0.5,
    scale: float = 1.0,
    design: str = "",
    lost: float = 0.0,
    drawn_for: bool = True,
    **more: Any,
) -> Result:
    """Two models whose lists hold relevant pairs at two rates; a share of the pairs of the lists is asked about.

    Args:
        silent: the share of questions that nobody answers.
        of_lists: whose pairs may be drawn; ``outside``: the share of other pairs that is.
        scale: by which the probabilities are wrong.
        design: what the answers say of how they were drawn.
        lost: the share of relevant answers whose rows are missing.
        drawn_for: whether the answers say that they were drawn for these lists.
    """
    rng = np.random.default_rng(5)
    listed = np.zeros((USERS, ITEMS), dtype=np.int64)
    listed[:, :K], listed[:, K : 2 * K] = 1, 2
    lists = {}
    for n, name in enumerate(("one", "other")):
        user, item = np.nonzero(listed == n + 1)
        lists[name] = pl.DataFrame({"user": user, "item": item, "rank": item % K + 1})
    y = rng.random((USERS, ITEMS)) < np.choose(listed, [0.3, *rates])
    seen = rng.random((USERS, ITEMS)) < 0.15
    pi = np.where(np.isin(listed, of_lists) & (listed > 0), questions, np.where(listed == 0, outside, 0.0))
    asked = ~seen & (rng.random((USERS, ITEMS)) < pi)
    values = np.where(rng.random((USERS, ITEMS)) < silent, np.nan, y.astype(float))
    if lost:
        asked &= ~(y & (rng.random((USERS, ITEMS)) < lost))
    u, i = np.nonzero(asked)
    where: dict[str, Any] = dict(zip(("user", "item"), np.nonzero(seen), strict=True))
    answers_ = pl.DataFrame({"user": u, "item": i, "value": values[u, i], "propensity": scale * pi[u, i]})
    if drawn_for:
        told = " ".join(fingerprint(us.Recommendations.from_frame(each), K) for each in lists.values())
        answers_ = answers_.with_columns(drawn_for=pl.lit(told))
    return us.evaluate(
        pl.DataFrame(where | {"value": y[seen].astype(int)}), lists, metrics=[f"recall@{K}"], feedback="conversions",
        answers=answers_.with_columns(design=pl.lit(design)) if design else answers_,
        users=pl.DataFrame({"user": np.arange(USERS)}), items=pl.DataFrame({"item": np.arange(ITEMS)}),
        **({"target": "per_user_sum"} | more),
    )  # fmt: skip


def verdict(result: Result) -> Any:
    return next(v for v in result.verdicts_ if v.estimator == "anchored")


def test_enough_answers_decide_and_say_what_they_rest_on() -> None:
    """Known inclusion probabilities: better, not ahead, whichever is named first; the headline is anchored, and the
    sentence has its conditions."""
    result = ask()
    assert verdict(result).verdict == "better" and verdict(ask(rates=(0.2, 0.7))).verdict == "worse"
    said = headline(result)
    assert said["estimator"] == "anchored" and verdict(result).assumption in said["sentences"][0]


@pytest.mark.parametrize("given", [{"of_lists": (1,)}, {"questions": 0.8, "scale": 0.1}])
def test_answers_that_cannot_have_been_drawn_so_are_noticed(given: dict[str, Any]) -> None:
    """One list was never asked about, so that what q says is no evidence; probabilities that do not add up."""
    found = verdict(ask(**given))
    assert found.verdict == "undecided" and codes([found.trust]) == ("undrawn-pairs",) and math.isnan(found.low)


def test_few_positive_answers_need_an_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six positive answers: their spread would name a model, exact limits do not, and the reason says what it takes."""
    few = verdict(ask(rates=(0.05, 0.0), questions=0.5))
    assert few.verdict == "undecided"
    assert few.low < 0.0 < few.high
    only("few-answers", [few.trust], answers=206, positive=6)
    monkeypatch.setattr(answers, "FEWEST_POSITIVE", 0)
    assert verdict(ask(rates=(0.05, 0.0), questions=0.5)).verdict == "better"


def test_lost_rows_refuse_values_too() -> None:
    """A third of the relevant answers is gone without a trace but their number."""
    result = ask(questions=0.5, rates=(0.4, 0.4), lost=0.35)
    assert codes([verdict(result).trust]) == ("lost-rows",)
    values = [e for e in result.estimates if e.estimator == "anchored"]
    assert all(math.isnan(e.value) and codes([e.trust]) == ("lost-rows",) for e in values)


def test_what_nobody_answered_may_hurt() -> None:
    """A few silent questions widen the interval, many undo the verdict; both are counted."""
    all_told, some, many = (ask(silent=share) for share in (0.0, 0.02, 0.5))
    widths = [verdict(r).high - verdict(r).low for r in (all_told, some, many)]
    assert widths[0] < widths[1] < widths[2]
    assert verdict(some).verdict == "better"
    assert verdict(many).verdict == "undecided"
    only("unanswered", [verdict(many).trust])
    assert many.inputs["answers"]["unanswered"] > 100 and "asked-and-answered" in codes(many.warnings)


def test_values_without_a_total_are_refused_and_verdicts_are_not() -> None:
    """Drawn from the lists alone, the number of relevant pairs is a guess: no pooled value, but a winner."""
    result = ask(outside=0.0, target="pooled")
    values = [e for e in result.estimates if e.estimator == "anchored"]
    assert all(math.isnan(e.value) and codes([e.trust]) == ("weak-total",) for e in values)
    assert verdict(result).verdict == "better"
    assert headline(result)["estimator"] == "anchored"


@pytest.mark.parametrize("outside", [0.01, 0.02, 0.03])
def test_few_positive_answers_outside_the_lists_give_no_total(outside: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A handful of answers stands for most pairs: their spread may be small, and D far off. Verdicts need no D."""
    result = ask(outside=outside, target="pooled")
    values = [e for e in result.estimates if e.estimator == "anchored"]
    assert all(math.isnan(e.value) and codes([e.trust]) == ("weak-total",) for e in values)
    assert verdict(result).verdict == "better"
    monkeypatch.setattr(answers, "FEWEST_POSITIVE", 0)
    again = ask(outside=outside, target="pooled")
    assert not any(math.isnan(e.value) for e in again.estimates)


def test_rounds_divide_the_level() -> None:
    """Five declared rounds at 0.95 are one look at 0.99, of values and verdicts; adjusted p is five times as large."""
    once, five, narrow = ask(level=0.99), ask(rounds=5), ask()
    for one, other in zip(once.verdicts_, five.verdicts_, strict=True):
        if one.estimator == "anchored":
            assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)
    values = [[e for e in r.estimates if e.estimator == "anchored"] for r in (once, five, narrow)]
    for a, b, c in zip(*values, strict=True):
        assert (a.low, a.high) == pytest.approx((b.low, b.high), rel=1e-9)
        assert b.high - b.low > c.high - c.low
    assert verdict(five).p_adjusted == pytest.approx(5.0 * verdict(narrow).p_adjusted, rel=1e-9)
    assert "5 " in only("asked-and-answered", five.warnings)
    assert five.inputs["answers"]["rounds"] == 5
    others = [[e for e in r.estimates if e.estimator != "anchored"] for r in (five, narrow)]
    assert [(e.low, e.high) for e in others[0]] == [(e.low, e.high) for e in others[1]]  # the log is looked at once


@given(n=st.integers(1, 60), share=st.floats(0, 1), tail=st.floats(0.001, 0.3))
def test_limits_are_clopper_and_pearsons(n: int, share: float, tail: float) -> None:
    """Quantiles of the beta distribution, as scipy has them."""
    k = round(share * n)
    low = beta.ppf(tail / 2.0, k, n - k + 1) if k > 0 else 0.0
    high = beta.isf(tail / 2.0, k + 1, n - k) if k < n else 1.0
    assert limits(k, n, tail) == pytest.approx((low, high), abs=1e-7)


def heavy(positive: float, number: float = 8.0, **more: Any) -> answers.Side:
    """A list of 1,000 pairs, for which a few answers stand."""
    return replace(answers.Side(1000.0, 8, 0, number, positive / number, 1.0, 0.3), **more)


def test_few_answers_for_one_list_need_limits_of_their_own() -> None:
    """Questions went to the other list: of eight heavy answers none is positive, which a rate of 0.2 makes likely."""
    light = answers.Side(1000.0, 150, 30, 150.0, 0.2, 1.0, 0.08)
    pair = answers.PairAnswers(light, heavy(0.0), 0.0, 1.0, 0, 0.0, 0.0)
    assert not pair.few
    ((reason, (low, high)),) = pair.others(0.05, 1.0, (120.0, 280.0))
    assert low < 0.0 < 120.0 < high
    assert "8.0 " in only("few-answers-on-one-side", [reason])
    mirrored = replace(pair, ahead=pair.behind, behind=pair.ahead).sided(0.05)
    assert mirrored == pytest.approx((-pair.sided(0.05)[1], -pair.sided(0.05)[0]))
    assert not replace(pair, behind=light).others(0.05, 1.0, (-100.0, 100.0))
    assert not replace(pair, behind=replace(heavy(0.0), worth=0.0)).thin  # a value, or lists that differ on one side


def test_the_worst_of_what_nobody_answered_varies_too() -> None:
    """All relevant pairs of one list are silent: put in, they vary as the answers of the other list do."""
    side = answers.Side(1000.0, 150, 30, 150.0, 0.2, 1.0, 0.08)
    pair = answers.PairAnswers(side, side, 0.0, 1.0, 30, -200.0, 0.0, 36.5, 0.0)
    ((_, (low, high)),) = pair.others(0.05, 1.0, (129.0, 271.0))
    assert low == pytest.approx(0.0 - 1.96 * math.hypot(71.0 / 1.96, 36.5), abs=0.1)
    assert high == pytest.approx(271.0)


def test_silence_outside_the_lists_moves_the_total() -> None:
    """Averages over relevant pairs: what nobody answered anywhere widens values, and much of it marks them."""
    none, some, many = (ask(silent=share, target="pooled", outside=0.9) for share in (0.0, 0.03, 0.4))
    value, wider, widest = (next(e for e in r.estimates if e.estimator == "anchored") for r in (none, some, many))
    assert value.high - value.low < wider.high - wider.low < widest.high - widest.low
    only("unanswered", [widest.trust])
    assert not wider.trust


def test_pairs_that_could_not_be_asked_about_are_said() -> None:
    """A plan that may not show an item writes how many differing pairs that bars, and verdicts rest on it."""
    users = pl.DataFrame({"user": range(30)})
    log = pl.DataFrame({"user": range(30), "item": [9] * 30, "value": [0, 1] * 15})
    lists = {name: users.with_columns(item=pl.lit(n), rank=pl.lit(1)) for n, name in enumerate(("one", "other"))}
    given: dict[str, Any] = {"log": log, "feedback": "conversions", "metric": "recall@1", "detect": "10%"}
    given |= {"items": pl.DataFrame({"item": range(10)})}
    assert "barred" not in us.plan(lists, **given).draw(20).frame.columns
    for rounds in (1, 2):
        frame = us.plan(lists, **given, not_items=pl.DataFrame({"item": [1]}), rounds=rounds).draw(20).frame
        assert frame["barred"].unique().to_list() == [30]
    answered = frame.drop("round", "rounds").with_columns(value=pl.col("user") % 2)
    result = us.evaluate(log, lists, metrics=["recall@1"], feedback="conversions", answers=answered,
                         target="per_user_sum", items=given["items"])  # fmt: skip
    assert "30 " in verdict(result).assumption and "30 " in only("asked-and-answered", result.warnings)
