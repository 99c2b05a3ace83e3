"""The interval of one model's value, and what should make a reader doubt it: what was too rare to be seen counts."""

from __future__ import annotations

import math

from unskew.core.notice import Notice, made_of
from unskew.estimators import Need, Target
from unskew.inference.contrast import FEWEST
from unskew.inference.intervals import Interval
from unskew.inference.verdict import FEW_WINS, MORE_HITS
from unskew.judging.answers import WEAK
from unskew.judging.cell_comparisons import CellComparisons
from unskew.judging.measure import Measured, weighted
from unskew.metrics import RankingMetric

FAR_OFF = 0.1  # of a value: what few clicks may do to it before a reader is told
ENOUGH_HITS = 30.0  # effective users with hits: fewer leave room for heavy ones that did not come


def value_interval(measured: Measured, compared: CellComparisons, model: int) -> Interval:
    """The interval of a value: the score test's, with what was too rare to be seen. It is not cut to what can be.

    Few hits say little about heavy ones that did not come: below thirty effective users three more hits of the largest
    weight are allowed for; below ten, where weights are known for seen pairs only, nothing bounds the value from above.
    Pairs that inverse propensities do not account for may cost as much as any pair can.
    """
    one, level = compared.alone(model), 1.0 - compared.tail
    spread = compared.variance(model)
    error = math.sqrt(max(spread, 0.0)) if not math.isnan(spread) else math.nan
    value = one.value
    ranked = isinstance(compared.run.metrics[compared.cell.metric], RankingMetric)
    hits = measured.sums.carried[compared.cell.run].pairs(compared.cell.metric, model)
    answers = compared.answers(model)
    if ranked and one.users == 0 and hits == 0 and value == 0.0 and answers is None:
        if compared.by_seen_pairs or compared.hit is None:
            return Interval(math.nan, 0.0, math.inf)
        return Interval(math.nan, 0.0, MORE_HITS * compared.hit)
    low, high = one.interval(1.0 - level) if one.exists else (value, value)
    if answers is not None:  # what a few answers leave open is known also where all of them are alike
        for _, other in answers.others(1.0 - level, compared.unit(model), (low, high), compared.silent_total):
            low, high = min(low, other[0]), max(high, other[1])
        return Interval(error, low, high)
    if math.isnan(error) or math.isnan(value):
        return Interval(error, math.nan, math.nan)
    if ranked and compared.run.traits.uses_seen_pairs and weighted(compared.run):
        wins = compared.wins(model)
        if wins < FEW_WINS and compared.by_seen_pairs:
            high = math.inf
        elif wins < ENOUGH_HITS and compared.hit is not None:
            high = max(high, one.with_hits(MORE_HITS, compared.hit).interval(1.0 - level)[1])
    for shift in (compared.shift(model), compared.lean(model)):
        low, high = (min(low, low + shift), max(high, high + shift)) if math.isfinite(shift) else (-math.inf, math.inf)
    slack = measured.setting.shortage * compared.span
    return Interval(error, low - slack, high + slack)


def covering(one: Interval, other: Interval) -> Interval:
    """The interval that holds both."""
    return Interval(other.se if math.isnan(other.se) else one.se, min(one.low, other.low), max(one.high, other.high))


def value_doubt(compared: CellComparisons, model: int) -> str:
    """What should make a reader doubt a value; empty if nothing does."""
    ranked = isinstance(compared.run.metrics[compared.cell.metric], RankingMetric)
    if not compared.run.traits.uses_seen_pairs or math.isnan(compared.moments.values[model]):
        return ""
    off, variance = abs(compared.heavy(model)), float(compared.moments.covariance[model, model])
    if off > FAR_OFF * abs(compared.moments.values[model]) and off**2 > variance:
        what, instead = ("clicks", "target pooled") if ranked else ("ratings", "snips over all pairs")
        return Notice(
            f"single {what} carry most of the weight of their users: ratios inside users may be off by {off:.2g}, "
            f"towards naive; {instead} is not.",
            code="heavy-clicks",
        )
    if not ranked:
        return ""
    if (answers := compared.answers(model)) is not None:
        few = f"its value rests on {answers.positive:,} positive of {answers.answers:,} answers about its list"
        number, rate = answers.ahead.number, answers.ahead.rate
        heavy = f", which weigh as much as {number:,.1f} equal ones with {rate * number:,.1f} positive"
        if answers.few or answers.thin:
            return Notice(f"{few}." if answers.few else f"{few}{heavy}.", code="few-answers", answers=answers.answers)
        moves = max(map(abs, compared.silent_total))
        told = f"questions that nobody answered could change the number of relevant pairs by {moves:.0%}."
        return Notice(told, code="unanswered", share=moves) if moves > WEAK else ""
    wins = compared.wins(model)
    lean = compared.lean(model)
    if not lean**2 <= float(compared.moments.covariance[model, model]):
        often = f"by about {abs(lean) / 2.0:.2g}" if math.isfinite(lean) else "by any amount"
        told = f"an average of ratios in folds with few users may be off {often}; pooled is not."
        return Notice(told, code="few-in-folds")
    if wins < ENOUGH_HITS:
        told = f"its value rests on the equivalent of {wins:,.1f} users with hits"
        if wins < FEW_WINS and compared.by_seen_pairs:
            told = f"{told}, and nothing bounds it from above"
        return Notice(f"{told}.", code="few-hits", users=wins)
    share = compared.unsupported(model, model)
    told = f"{share:.0%} of the list's worth lies on items that the log could never show."
    return Notice(told, code="unsupported-items", share=share) if share > 0.05 else ""


def refused_value(compared: CellComparisons, model: int, interval: Interval) -> str:
    """Why there is no value, in words; empty where there is one."""
    return _refused_by_answers(compared, model) or _leaves_all_open(compared, model, interval)


def _leaves_all_open(compared: CellComparisons, model: int, interval: Interval) -> str:
    """Where an interval holds all that the metric can be, from one end to the other: many users make it look precise.

    A value of 0 is shown as a bound from above, a sum without an upper end as one that nothing bounds, and of a handful
    of users nobody expects more.
    """
    run, largest = compared.run, compared.possible(model).high
    share = run.target in (Target.PER_USER, Target.POOLED) and Need.RELEVANT not in run.estimator.needs(run.target)
    ranked = isinstance(run.metrics[compared.cell.metric], RankingMetric)
    if (
        not (share and ranked)
        or compared.alone(model).users < FEWEST
        or interval.low > 0.0
        or not interval.high >= largest
    ):
        return ""
    told = f"a few interactions carry so much of the weight that anything from 0 to {largest:g} is possible"
    return Notice(told, code="anything-possible")


def _refused_by_answers(compared: CellComparisons, model: int) -> str:
    """Why answers give no value; empty where they do, or the value does not rest on answers."""
    found = compared.answers(model)
    if found is None:
        return ""
    others = (compared.answers(model, b) for b in range(len(compared.measured.setting.models)) if b != model)
    lost = next((other.lost for other in others if other is not None and other.lost), "")
    own = found.uncovered.replace("where the lists differ", "in its list")
    return (
        lost
        or compared.learnt(model)
        or compared.weak_total
        or made_of(own.replace("where these lists differ", "about its list"), found.uncovered)
    )
