"""Verdicts: what can be said of one model against another, and what keeps a pair undecided (MATHS §13).

``better`` and ``worse`` are for answers, and for logged propensities that passed every test of them
(``alignment/column.py``); what rests on anything else is ``ahead`` or ``behind``; what holds in some scenarios of what
the log cannot tell ``depends`` on them (``turning.py``). The interval of a difference is the widest that the checks
allow, and a verdict is given where it excludes 0: the two never contradict each other. A check either widens the
interval or withholds the verdict altogether (then there is none).

    few users     fewer than 10 users tell the models apart: withheld
    support       Δ, and Δ as if each list were judged by the places that the log could ever show
    few clicks    Δ, Δ − 2B and Δ − H (B the leave-one-click-out bias of ratios inside users, H the bias where single
                  clicks carry much of a user's weight, which B misses: ``engine/few_clicks.py``)
    few hits      the list behind has won for fewer than ten effective users: withheld, since propensities of seen pairs
                  do not tell whether it could have won more (naive: Δ with three more hits for it)
    heavy hits    Δ, and Δ with three more heavy hits for the list whose hits are the more skewed by its rarely shown
                  places (``engine/support.py``)
    few in folds  Δ, and Δ − 2B (B the leave-one-user-out bias of an average of ratios, each inside a fold)
    thin counts   Δ, and Δ with heavier weights of items that training hardly ever showed (weights from counts)
    mass          pairs that were never seen, by what inverse propensities lack, with the largest cost
    answers       Δ under the rates of relevance that a few answers leave, and with those that nobody answered
                  (``judging/answers.py``)
    consent       what is biased on purpose: withheld unless the estimator that it approximates says the same

Undecided pairs get the number of users that would decide: at the same difference and spread, so many users give a test
at this level a power of 80 %. Where that is more than a hundred times the users there are, the models are practically
equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import NormalDist

from unskew.core.notice import Notice
from unskew.inference import student
from unskew.inference.contrast import FEWEST, Contrast
from unskew.inference.intervals import critical

BEYOND = 100.0  # times the users there are: nobody will collect so many
FEW_WINS = 10.0  # effective users for whom a list must have won before its losses mean something
MORE_HITS = 3  # the rule of three: what was never seen may still be expected three times
SKEWED = 0.25  # skewness of a sum of weighted hits beyond which t tests are wrong too often
ALONE = 1.0  # skewness by the hits of one list alone, whatever the other's: about one heavy hit is expected
SINGLE_CLICKS = 0.25  # of the users: above it, ratios inside users are naive for too many


class Outcome(StrEnum):
    """What can be said of model a against model b."""

    BETTER = "better"
    WORSE = "worse"
    AHEAD = "ahead"
    BEHIND = "behind"
    DEPENDS = "depends"  # on what the log cannot tell
    UNDECIDED = "undecided"

    @property
    def decided(self) -> bool:
        """Whether one of the two is named."""
        return self not in (Outcome.DEPENDS, Outcome.UNDECIDED)

    @property
    def first(self) -> bool:
        """Whether it speaks for model a."""
        return self in (Outcome.BETTER, Outcome.AHEAD)


def opposite(one: str, other: str) -> bool:
    """Whether two verdicts on the same pair name different winners."""
    words = Outcome(one), Outcome(other)
    return all(word.decided for word in words) and words[0].first != words[1].first


@dataclass(frozen=True)
class Checks:
    """What else a difference must survive.

    Args:
        supported: the difference as if each list were judged by its supported places only, where any are not.
        bias: B, the leave-one-click-out bias of the difference, for ratios inside users; ``bias_error`` its standard
            error where only some users were looked at.
        heavy: H, that bias by the clicks that carry much of their user's weight, and ``heavy_error`` its error.
        single_clicks: the share of users with one click, for ratios inside users.
        wins: effective users for whom the model behind is ahead.
        hit: how much one more hit would move the difference, where so many more are tried; else ``None``.
        shift: how far the difference moves if items that training rarely showed weigh more than their counts say.
        lean: −2B of the difference of two averages over folds; infinite where a fold cannot tell.
        slack: how much pairs that were never seen could add to the difference.
        unable: why a list could not have shown what it is worth; empty if both could.
        unsupported: the larger share of worth on places that the log could never show.
        others: further intervals that must agree, each with what to say where it does not.
    """

    supported: Contrast | None = None
    bias: float | None = None
    bias_error: float = 0.0
    heavy: float = 0.0
    heavy_error: float = 0.0
    single_clicks: float | None = None
    wins: float = math.inf
    hit: float | None = None
    shift: float = 0.0
    lean: float = 0.0
    slack: float = 0.0
    unable: str = ""
    unsupported: float = 0.0
    others: tuple[tuple[str, tuple[float, float]], ...] = ()


@dataclass(frozen=True)
class Judgement:
    """The interval that all checks allow, whether it names a winner, and the checks that stood in the way.

    ``no_margin`` says why the interval is no evidence that the two differ by less than some margin; empty where it is.
    Some checks are only made where a winner is named, and that claim needs them as well.
    """

    low: float
    high: float
    decided: bool
    reasons: tuple[str, ...] = field(default=())
    no_margin: str = ""


def judge(difference: Contrast, tail: float, checks: Checks, more: tuple[float, float] | None = None) -> Judgement:
    """Let every check widen the interval or withhold it.

    Args:
        tail: the error probability of this comparison.
        more: another interval that must agree, from a bootstrap.
    """
    reasons: list[str] = []
    if difference.users < FEWEST:
        many = "no user" if difference.users == 0 else f"only {difference.users} user"
        told = f"{many}{'s' if difference.users > 1 else ''} tell{'s' * (difference.users < 2)} the two apart"
        reasons.append(Notice(told, code="few-users", users=difference.users))
    if checks.unsupported >= 1.0 - 1e-9:
        reasons.append(Notice("one of the lists holds nothing that the log could ever show", code="no-support"))
    if checks.single_clicks is not None and checks.single_clicks > SINGLE_CLICKS:
        share = checks.single_clicks
        told = f"{share:.0%} of the users have a single click, where a ratio inside each user is the naive one"
        reasons.append(Notice(told, code="single-clicks", share=share))
    if not math.isfinite(checks.lean):
        reasons.append(Notice("a fold rests on a single user", code="one-user-fold"))
    if checks.unable:
        reasons.append(checks.unable)
    if reasons:
        return Judgement(math.nan, math.nan, False, tuple(reasons))
    plain = difference.interval(tail)
    hull, clear = plain, not _holds_zero(plain)
    for reason, other in _others(difference, tail, checks, more):
        if clear and not (_holds_zero(plain) or _same_side(plain, other)):
            reasons.append(reason)
        hull = min(hull[0], other[0]), max(hull[1], other[1])
    return Judgement(*hull, not _holds_zero(hull), tuple(reasons))


def _others(
    difference: Contrast, tail: float, checks: Checks, more: tuple[float, float] | None
) -> list[tuple[str, tuple[float, float]]]:
    low, high = difference.interval(tail)
    found: list[tuple[str, tuple[float, float]]] = []
    if more is not None and all(map(math.isfinite, more)):
        found.append((Notice("the bootstrap does not bear it out", code="bootstrap-disagrees"), more))
    if checks.supported is not None and checks.supported.exists:
        reason = Notice(
            f"up to {checks.unsupported:.0%} of a list's worth lies on items that the log could never show, and judged "
            "by the others the lead is gone",
            code="unsupported-items",
            share=checks.unsupported,
        )
        found.append((reason, checks.supported.interval(tail)))
    if checks.bias is not None and math.isfinite(checks.bias):
        centre, half = (low + high) / 2.0 - 2.0 * checks.bias, (high - low) / 2.0  # of Δ − 2B
        reach = math.hypot(half, 2.0 * critical(1.0 - tail) * checks.bias_error)
        reason = Notice("users have too few clicks for ratios inside each of them", code="few-clicks")
        found.append((reason, (centre - reach, centre + reach)))
    if checks.heavy or checks.heavy_error:
        centre, half = (low + high) / 2.0 - checks.heavy, (high - low) / 2.0  # of Δ − H
        reach = math.hypot(half, critical(1.0 - tail) * checks.heavy_error)
        reason = Notice(
            "single clicks carry most of the weight of their users, and ratios inside users then lean towards naive: "
            "ask for the average over all pairs instead (target pooled, or snips over all pairs)",
            code="heavy-clicks",
        )
        found.append((reason, (centre - reach, centre + reach)))
    if checks.shift:
        told = "items that training hardly ever showed may weigh more than their counts say, and could undo it"
        reason = Notice(told, code="thin-counts")
        found.append((reason, (low + checks.shift, high + checks.shift)))
    if checks.lean:
        reason = Notice("folds have too few users for ratios inside each of them", code="few-in-folds")
        found.append((reason, (low + checks.lean, high + checks.lean)))
    if checks.slack > 0.0:
        told = "pairs that were hardly ever seen could undo it: inverse propensities do not account for all pairs"
        reason = Notice(told, code="unseen-pairs")
        found.append((reason, (low - checks.slack, high + checks.slack)))
    if checks.hit is not None and checks.wins < FEW_WINS and difference.value != 0.0:
        against = math.copysign(checks.hit, -difference.value)
        lost = difference.with_hits(MORE_HITS, against)
        reason = Notice(f"{MORE_HITS} more hits of the list behind could undo it", code="few-hits")
        found.append((reason, lost.interval(tail)))
    return [*found, *checks.others]


def _holds_zero(interval: tuple[float, float]) -> bool:
    low, high = interval
    return not (low > 0.0 or high < 0.0)


def _same_side(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return (one[0] > 0.0 and other[0] > 0.0) or (one[1] < 0.0 and other[1] < 0.0)


def outcome(difference: float, decided: bool, known: bool) -> Outcome:
    """The word for a difference that favours model a where it is positive."""
    if not decided or difference == 0.0:
        return Outcome.UNDECIDED
    if known:
        return Outcome.BETTER if difference > 0.0 else Outcome.WORSE
    return Outcome.AHEAD if difference > 0.0 else Outcome.BEHIND


def users_needed(difference: Contrast, users: int, tail: float) -> int | None:
    """Users at which a difference like this one would be found with a power of 80 %; ``None`` beyond a hundredfold.

    The test is that of the verdict: Student's t with as many degrees of freedom as there are now.
    """
    if not difference.exists or difference.value == 0.0:
        return None
    reach = student.critical(tail, difference.df) + NormalDist().inv_cdf(0.8)
    needed = users * reach**2 * difference.s00 / difference.value**2
    return math.ceil(needed) if needed <= BEYOND * users else None
