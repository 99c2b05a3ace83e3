"""Sentences of reports: each kind once, in whole."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.report.made_up import ASSUMED, NAN, estimate, grid, verdict, withheld
from tests.report.over_scenarios import AHEAD, OPEN, TURNS, over
from unskew.report import sentences
from unskew.report.agreement_words import agreement
from unskew.report.view import View
from unskew.report.words import say, title
from unskew.result import Result, Verdict

DECIDED, BEHIND, UNSURE = verdict("a", "b", 0.03), verdict("a", "b", -0.03), verdict("a", "b", 0.001)
LEAD = "a is better than b on recall@10: +0.030 [0.019, 0.041], p = 0.0004"
ODDS = verdict("a", "b", 0.03, tipping_kind="odds")
NAIVE = verdict("a", "b", 0.03, estimator="naive")
REVERSE = "This could reverse if"


def pair(*verdicts: Verdict, models: str = "ab") -> Result:
    rows = tuple(estimate(m, 0.1, estimator=v.estimator, target=v.target) for v in verdicts for m in models)
    return Result(rows, verdicts, (), {}, ())


@pytest.mark.parametrize(
    ("said", "options", "words"),
    [
        (DECIDED, {}, f"{LEAD}."),
        (
            BEHIND,
            {"comparisons": 3},
            "b is better than a on recall@10: +0.030 [0.019, 0.041], p = 0.0004 after correction for 3",
        ),
        (DECIDED, {"naive": BEHIND}, f"{LEAD}. Naive would have said the opposite."),
        (DECIDED, {"naive": UNSURE}, f"{LEAD}. Naive could not have decided."),
        (ODDS, {"least": 1.52}, f"{REVERSE} the odds of being seen were wrong by a factor of 1.52 in the worst"),
        (DECIDED, {"least": 1.52}, f"{REVERSE} propensities were wrong by a factor of 1.52 in the worst direction."),
        (DECIDED, {"least": 1.004}, f"{REVERSE} propensities were only slightly wrong."),
        (NAIVE, {"least": 1.52}, "Uneven exposure by a factor of 1.52 could undo it."),
        (NAIVE, {"least": 1.0}, "Slightly uneven exposure could undo it."),
        (verdict("a", "b", 0.03, assumed=ASSUMED), {}, f"a is ahead of b on recall@10, if {ASSUMED}: +0.030"),
        (verdict("a", "b", 0.03, assumed=ASSUMED), {"brief": True}, f"a is ahead of b, if {ASSUMED}: +0.030"),
        (UNSURE, {"naive": BEHIND}, "Naive puts b ahead, which is neither confirmed nor refuted here."),
        (
            verdict("a", "b", 0.002, 0.006),
            {"needed": 41_237},
            "This log cannot decide between a and b on recall@10: +0.002 [−0.004, 0.008]. "
            "About 41,000 users would be needed at this difference.",
        ),
        (
            verdict("a", "b", 0.0001, 0.09, users_needed=None),
            {"scale": 0.1},
            "More than a hundred times the users would be needed at this difference.",
        ),
        (
            verdict("a", "b", 0.031, low=-math.inf, high=math.inf, verdict="undecided"),
            {},
            "+0.03100 [−∞, ∞]. Too few users carry the difference to bound it.",
        ),
        (
            verdict("a", "b", 0.0002, 0.0041, users_needed=None),
            {"scale": 0.1},
            "On recall@10 a and b are practically equal: less than 0.0043 apart, +0.0002 [−0.0039, 0.0043].",
        ),
        (withheld("a", "b", 0.031, "Too few."), {}, "+0.03100 (no interval). Too few."),
        (withheld("a", "b", 0.0, se=NAN), {}, "a equals b on recall@10: they score the same for every user."),
        (verdict("a", "b", NAN), {}, "a and b cannot be compared on recall@10: there is no estimate of their"),
    ],
)
def test_a_pair(said: Verdict, options: dict[str, Any], words: str) -> None:
    assert words in str(say(said, **options))


SHARE = "the share of popularity that comes from exposure"


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (pair(DECIDED), "a is better than b on recall@10"),
        (pair(verdict("a", "b", 0.03, assumed=ASSUMED)), "a is ahead of b on recall@10"),
        (pair(NAIVE), "Not debiased: a is ahead of b on recall@10"),
        (pair(UNSURE), "This log cannot decide between a and b on recall@10"),
        (pair(verdict("a", "b", NAN)), "No comparison on recall@10"),
        (grid(["x", "y", "z"], ["recall@10"], ["naive", "snips"]), "z is better than both others on recall@10"),
        (grid(["w", "x", "y", "z"], ["recall@10"], ["naive", "snips"]), "z is better than all 3 others on recall@10"),
        (
            pair(DECIDED, verdict("a", "c", 0.001), verdict("b", "c", 0.001), models="abc"),
            "a and c are not beaten by any other model on recall@10",
        ),
        (Result((estimate("als", 0.1, estimator="naive"),), (), (), {}, ()), "Not debiased: estimates on recall@10"),
        (over(TURNS), f"Whether als or popular is ahead on recall@10 depends on {SHARE}"),
        (over({**TURNS, "last": (0.1, 0.1)}), f"als and popular may come first on recall@10: that depends on {SHARE}"),
        (over(AHEAD), "als is ahead of popular on recall@10"),
        (
            over({**OPEN, "last": (0.1, 0.05)}),
            "als is ahead of both others on recall@10 in some scenarios at least, and behind in none",
        ),
    ],
)
def test_a_title(shown: Result, words: str) -> None:
    assert str(title(View.of(shown))) == words


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (estimate("als", 0.123), "als scores 0.123 [0.113, 0.133] on recall@10 (snips)."),
        (estimate("als", NAN, low=NAN, high=NAN), "als has no estimate on recall@10."),
        (estimate("als", 0.0, hits=0, low=0.0, high=0.0123), "als scores 0.000 (≤ 0.012) on recall@10 (snips)."),
    ],
)
def test_one_model(shown: Any, words: str) -> None:
    assert sentences(Result((shown,), (), (), {}, ())) == [words]


GS: dict[str, Any] = {"estimator": "gs(strata=5)"}
INSIDE: dict[str, Any] = {"target": "per_user"}


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([verdict("a", "b", 0.02, **INSIDE)], "estimators and targets agree on who is ahead."),
        ([verdict("a", "b", 0.3, **GS)], "by how much: gs(strata=5) (pooled) says 0.289 to 0.311 for a − b, not 0.019"),
        (
            [verdict("a", "b", 0.001, **INSIDE), verdict("a", "b", -0.03, **GS)],
            "agree: snips (per_user) does not decide between a and b; gs(strata=5) (pooled) puts b ahead of a.",
        ),
    ],
)
def test_other_estimators(others: list[Verdict], words: str) -> None:
    assert words in agreement(View.of(pair(DECIDED, *others)))


def test_scenarios() -> None:
    (turning,), (ahead,), (one,) = (sentences(over(lines)) for lines in (TURNS, AHEAD, {"als": (0.31, 0.16)}))
    assert turning.startswith("Between als and popular on recall@10 it depends: popular is ahead as long as less than")
    assert "between +0.04 and +0.14 over all scenarios, +0.09 on average, p ≤ 0.0004 in each" in ahead
    assert "exposure differed by a factor of 1.30, in the worst direction, from the scenario where that takes" in ahead
    assert one.startswith("als scores between 0.150 and 0.320 over all scenarios, 0.235 on average on recall@10")
