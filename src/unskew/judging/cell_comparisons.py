"""Pairs of models in one cell: their differences, and everything that a verdict on them must survive (MATHS §13)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unskew.core.notice import Notice
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.plan import Cell
from unskew.engine.support import DifferingWorth
from unskew.estimators import Need, Standing, Target
from unskew.inference.contrast import Contrast, alone, contrast
from unskew.inference.fixed_users import DrawnErrors
from unskew.inference.intervals import critical, percentile, two_sided_p
from unskew.inference.moments import Moments
from unskew.inference.steps import corrected
from unskew.inference.verdict import ALONE, FEW_WINS, MORE_HITS, SKEWED, Checks, Judgement, judge
from unskew.judging.answers import PairAnswers
from unskew.judging.claims import is_new
from unskew.judging.companions import CompanionCell, confirming_cell, hit_counting_cell
from unskew.judging.measure import Floats, Measured, uses_propensity, weighted
from unskew.judging.possible import Possible
from unskew.metrics import RankingMetric, Shape

MOST_UNCOUNTED = (
    0.25  # of the interactions, on items without training rows: beyond, weights from counts are no evidence
)
MOST_MODELS = 6  # whose margins are judged: each pair takes a look at the lists of many users
FEW_BEYOND = 5.0  # replicates beyond an interval's end; with fewer, a normal curve through all of them says more


@dataclass(frozen=True, eq=False)
class CellComparisons:
    """The models of one cell.

    Args:
        place: of the cell.
        tail: the error probability of each comparison.
        drawn: replicates of the models' estimates.
        moved: whether the replicates lie around a corrected estimate, and so the differences.
    """

    measured: Measured
    place: int
    tail: float
    drawn: Floats | None
    moved: bool

    @cached_property
    def cell(self) -> Cell:
        """The metric, its columns and its form."""
        return self.measured.plan.cells[self.place]

    @cached_property
    def run(self) -> EstimatorRun:
        """The estimator and target."""
        return self.measured.plan.runs[self.cell.run]

    @cached_property
    def moments(self) -> Moments:
        """The sums over users."""
        return self.measured.sums.moments[self.place]

    def difference(self, a: int, b: int) -> Contrast:
        """Model a less model b; the corrected difference where propensities were fitted anew."""
        found = contrast(self.moments, a, b)
        if (drawn := self._drawn) is not None:
            worths = self._worths
            found = _lesser(found, drawn.contrast(found.value, worths[:, a] - worths[:, b], self.unit(0), self._below))
        if self.weak_total:  # the sign needs no total: its size is in units of the one that was estimated
            found = replace(found, s01=0.0, s11=0.0)
        if not (self.moved and self.drawn is not None):
            return found
        gaps = self.drawn[:, a] - self.drawn[:, b]
        centre = corrected(self.drawn)
        return replace(found, value=float(centre[a] - centre[b]), error=percentile(gaps, 0.95).se)

    def alone(self, model: int) -> Contrast:
        """A model's value."""
        found = alone(self.moments, model)
        if (drawn := self._drawn) is None:
            return found
        return _lesser(found, drawn.contrast(found.value, self._worths[:, model], self.unit(model), self._below))

    @property
    def _drawn(self) -> DrawnErrors | None:
        """The chance of the draw alone, where users are fixed and the run rests on answers.

        A total of sampled guesses brings a chance of its own, which the spread over users has.
        """
        setting, found = self.measured.setting, self.measured.answers
        fixed = setting.fixed_users and (self._below is None or not setting.sampled_total)
        metric = self.run.metrics[self.cell.metric]
        return found.drawn if fixed and self.run.joined and found and isinstance(metric, RankingMetric) else None

    @cached_property
    def _worths(self) -> Floats:
        """What each asked pair is worth to each model."""
        metric, found = self.run.metrics[self.cell.metric], self.measured.answers
        assert isinstance(metric, RankingMetric)
        assert found is not None
        return found.worths(metric.table(self.run.depth))

    @property
    def _below(self) -> float | None:
        """What one more relevant pair is as a share of the total, where a sum is divided by it."""
        if self.run.target is Target.PER_USER_SUM:
            return None
        below = float(self.moments.mean[self.moments.form.places[0][0][1][0]]) * self.moments.users
        return 1.0 / below if below > 0.0 else 0.0

    def variance(self, model: int) -> float:
        """Of a model's value, for show."""
        if self._drawn is None:
            return float(self.moments.covariance[model, model])
        return self.alone(model).error ** 2

    def judge(self, a: int, b: int) -> Judgement:
        """The interval that all checks allow, cut to what the metric can be, and whether it names a winner."""
        if self.same_lists(a, b):
            return Judgement(0.0, 0.0, False)
        difference = self.difference(a, b)
        checks = self._checks(a, b, difference)
        checks = replace(checks, others=(*checks.others, *self._rare_hits(a, b, difference)))
        found = judge(difference, self.tail, checks, self._bootstrapped(a, b))
        if found.decided and (unable := self._unable(a, b) or self._unconfirmed(a, b, found.low > 0.0)):
            found = judge(difference, self.tail, replace(checks, unable=unable))
        found = replace(found, no_margin=self._no_margin(a, b, found))
        if math.isnan(found.low):
            return found
        if reason := self.impossible(found.low, found.high, a, b):
            return Judgement(math.nan, math.nan, False, (reason,), reason)
        low, high = self.possible(a, b).cut(found.low, found.high)
        return replace(found, low=low, high=high)

    def same_lists(self, a: int, b: int) -> bool:
        """Whether two models give the same lists; margins, and so this, are judged of a few models only."""
        return len(self.measured.setting.models) <= MOST_MODELS and self.measured.same_lists(self.place, a, b)

    def _no_margin(self, a: int, b: int, found: Judgement) -> str:
        """Why the interval does not show that two models differ by less than a margin; empty where it does.

        Either model could have won more than was seen: both must have won often enough, as only the one behind must for
        a verdict. A winner that a stronger estimate confirms is still no evidence of size where this one is biased.
        """
        if math.isnan(found.low):
            return found.reasons[0] if found.reasons else Notice("there is no interval", code="no-interval")
        if self.weak_total:
            return Notice("only the direction of the difference can be told, not its size", code="direction-only")
        names = self.measured.setting.models
        if len(names) > MOST_MODELS:
            told = f"margins are judged among at most {MOST_MODELS} models: evaluate the two alone"
            return Notice(told, code="too-many-models")
        if self.by_seen_pairs:
            for model, other in ((a, b), (b, a)):
                if (wins := self.wins(model, other)) < FEW_WINS:
                    told = f"{names[model]} beat {names[other]} for too few users (an effective {wins:.1f})"
                    return Notice(told, code="few-wins", model=names[model])
        metric = self.run.metrics[self.cell.metric]
        if confirming_cell(self.run.estimator, self.run.target, metric) is not None:
            return self._promises_little
        return "" if found.decided else self._unable(a, b)

    def _unconfirmed(self, a: int, b: int, first: bool) -> str:
        """Why a cell that promises little stands alone with its verdict; empty where a stronger one says the same."""
        metric = self.run.metrics[self.cell.metric]
        beside = self._companion(confirming_cell(self.run.estimator, self.run.target, metric))
        if beside is None:
            return ""
        asked = (beside.place, a, b, self.tail)
        known = beside.measured.judged
        if asked not in known:
            known[asked] = beside.judge(a, b)
        other = known[asked]
        if other.decided and (other.low > 0.0) == first:
            return ""
        who = f"{beside.run.estimator} ({beside.run.target})"
        little = self._promises_little
        if little.code == "not-additive":
            who = str(beside.run.metrics[beside.cell.metric])
        return Notice(f"{little}, and {who} does not bear it out", code="unconfirmed", also=(little.code,), by=who)

    @property
    def _promises_little(self) -> Notice:
        """Why a stronger cell must say the same."""
        metric = self.run.metrics[self.cell.metric]
        if isinstance(metric, RankingMetric) and metric.shape is not Shape.ADDITIVE:
            return Notice(f"{metric} is not a sum over items that weights could debias", code="not-additive")
        return Notice(f"{self.run.estimator} is biased on purpose", code="biased-on-purpose")

    def _companion(self, wanted: CompanionCell | None) -> CellComparisons | None:
        """The same models in another cell."""
        beside = self.measured.companion
        if wanted is None or beside is None:
            return None
        for place, cell in enumerate(beside.plan.cells):
            run = beside.plan.runs[cell.run]
            if CompanionCell(run.metrics[cell.metric], run.estimator, run.target).key == wanted.key:
                return CellComparisons(beside, place, self.tail, None, False)
        return None

    def possible(self, a: int, b: int | None = None) -> Possible:
        """Between which ends a value can lie, or a difference."""
        metric, listed = self.run.metrics[self.cell.metric], self._listed(a, b)
        if self._naive_gains:
            return Possible(-math.inf, math.inf)
        found = Possible.of(metric, self.run.target, self.run.depth, self._largest_outcome)
        found = found if b is None else found.difference
        divided = self._below is not None  # by a total that is estimated, which limits in its units do not know
        return found if listed is None or divided else found.within(listed)

    @property
    def _naive_gains(self) -> bool:
        """Whether the pairs that were seen stand for all pairs, of which a list then seems to hold too many.

        A share above 1 is refused all the same: everybody sees that it is none.
        """
        naive, metric = self.run.estimator.standing(self.run.target), self.run.metrics[self.cell.metric]
        share = isinstance(metric, RankingMetric) and metric.divided_by_k
        return naive is Standing.NAIVE and self.run.target is Target.PER_PAIR and not share

    def _listed(self, a: int, b: int | None) -> Possible | None:
        """Between which ends the lists themselves put a sum, where answers say what is not known of them."""
        answers, unit = self.answers(a, b), self.unit(a)
        if answers is None or not unit > 0.0:
            return None
        low, high = answers.possible(self._largest_outcome)
        return Possible(unit * low, unit * high)

    def impossible(self, low: float, high: float, a: int, b: int | None = None) -> str:
        """Why a value, or a difference, with this interval cannot be, in words; empty where some of it can.

        Of what rests on answers the sum is looked at, without the total that divides it and by its own error alone:
        what few answers leave open does not explain a sum that no list can have.
        """
        names, listed, possible = self.measured.setting.models, self._listed(a, b), self.possible(a, b)
        why = "other propensities than these" if weighted(self.run) else ""
        if self.run.estimator.standing(self.run.target) is Standing.NAIVE:
            why = "a log that shows some pairs more often than others"
        if listed is not None:
            found, possible, why = self.alone(a), listed, "a model that learnt from the answers"
            found = found if b is None else self.difference(a, b)
            low, high = replace(found, s01=0.0, s11=0.0).interval(self.tail)
        what = names[a] if b is None else f"{names[a]} less {names[b]}"
        return possible.beyond(f"{self.run.metrics[self.cell.metric]} of {what}", low, high, why)

    @property
    def _largest_outcome(self) -> float:
        """The largest that was seen, or answered; at least 1."""
        found, seen = self.measured.answers, self.measured.sums.extent.highest_value
        return max(1.0, seen, found.largest if self.run.joined and found is not None else 1.0)

    def wins(self, model: int, other: int | None = None) -> float:
        """Effective number of users for whom a model was seen to be ahead of another one, or to score at all."""
        found = self._counting_hits.moments.wins
        place = (model, model if other is None else other)
        squares = float(found[(1, *place)])
        return float(found[(0, *place)]) ** 2 / squares if squares > 0.0 else 0.0

    @cached_property
    def _counting_hits(self) -> CellComparisons:
        """The same models in the cell whose sums count positive outcomes."""
        wanted = hit_counting_cell(self.run.estimator, self.run.target, self.run.metrics[self.cell.metric])
        return self._companion(wanted) or self

    @property
    def by_seen_pairs(self) -> bool:
        """Whether weights are known for seen pairs only, so that nobody can tell what a list could have hit."""
        ranked = isinstance(self.run.metrics[self.cell.metric], RankingMetric)
        return ranked and weighted(self.run) and self.run.traits.uses_seen_pairs and not self.by_items

    @cached_property
    def span(self) -> float:
        """How much a pair that was never seen could cost at most, as a share of the pairs: errors of predictions."""
        metric, extent = self.run.metrics[self.cell.metric], self.measured.sums.extent
        if isinstance(metric, RankingMetric) or extent.highest_rating < extent.lowest_rating or not weighted(self.run):
            return 0.0
        ends = np.array([extent.highest_rating]), np.array([extent.lowest_rating])
        largest = max(float(metric.cost(*ends)[0]), float(metric.cost(ends[0], ends[0])[0]))
        values = self.moments.values
        return largest / max(2.0 * float(np.min(values)), 1e-12) if metric.root else largest

    def p(self, a: int, b: int) -> float:
        """The p-value of a pair; of replicates around a corrected estimate, the larger of theirs and the score's."""
        difference = self.difference(a, b)
        if not (self.moved and self.drawn is not None):
            return difference.p
        return max(difference.p, two_sided_p(difference.value, difference.error)) if difference.users else 1.0

    def shift(self, model: int) -> float:
        """How far a value moves if items that training rarely showed weigh more than their counts say."""
        found = self.measured.counts.get(self.place)
        return 0.0 if found is None else float(found.shifts[model])

    def lean(self, model: int) -> float:
        """How far an average over folds may be off because each has few users; infinite where one cannot tell."""
        found = self.measured.leans.get(self.place)
        return 0.0 if found is None else float(found[model])

    @property
    def _uncounted(self) -> str:
        """Why training counts say too little of the held-out items, in words; empty where they say enough."""
        found, gap = self.measured.counts.get(self.place), self.measured.setting.support_gap
        if found is None or gap is None or gap <= MOST_UNCOUNTED or not found.spread.any():
            return ""
        told = f"{gap:.0%} of the held-out interactions are on items that training never showed: nothing counts those"
        return Notice(told, code="gap-in-support", share=gap)

    def ess(self, a: int, b: int) -> float:
        """Effective number of users who tell the two apart: (Σ|d|)² / Σd²."""
        wins = self.moments.wins
        squares = float(wins[1, a, b] + wins[1, b, a])
        return float(wins[0, a, b] + wins[0, b, a]) ** 2 / squares if squares > 0.0 else 0.0

    def bias(self, a: int, b: int) -> float | None:
        """B, the leave-one-click-out bias of the difference; ``None`` where ratios are not taken inside users."""
        found = self.measured.few_clicks.get(self.cell.run)
        return None if found is None else float(found.mean[self.cell.metric, a] - found.mean[self.cell.metric, b])

    def heavy(self, model: int) -> float:
        """H, the bias of a value by clicks that carry much of their user's weight; 0 without ratios inside users."""
        found = self.measured.few_clicks.get(self.cell.run)
        return 0.0 if found is None else float(found.heavy[self.cell.metric, model])

    def unsupported(self, a: int, b: int) -> float:
        """The larger share of worth on places that the log could never show."""
        shares = self._unsupported
        return 0.0 if shares is None else float(max(shares[a], shares[b]))

    @property
    def _unsupported(self) -> Floats | None:
        """Of every model's worth the share on such places; answers speak of all items of a named catalogue."""
        if self.run.joined and self.measured.setting.closed:
            return None
        return self.measured.unsupported.get(self.run.metrics[self.cell.metric])

    @cached_property
    def hit(self) -> float | None:
        """How far one more hit of the largest weight would move a value; ``None`` for errors of predictions."""
        metric, moments = self.run.metrics[self.cell.metric], self.moments
        if not isinstance(metric, RankingMetric) or moments.users == 0:
            return None
        worth = float(metric.table(self.run.depth).max(initial=0.0))
        if metric.shape is not Shape.ADDITIVE or self.run.inside_users or self.run.target is Target.SUM_PER_USER:
            largest = 1.0  # a user's own ratio
        else:
            largest = self.measured.sums.tallies[self.cell.run].largest * worth
        extent = self.measured.sums.extent
        if self.run.target is Target.PER_PAIR and extent.most_candidates > -math.inf:
            largest *= max(extent.most_candidates, 1.0) * max(extent.highest_value, 0.0)
        gradient = moments.form.gradients(moments.mean)
        slopes = np.abs(gradient[np.arange(moments.models), moments.form.places[0][0][0]])
        slopes = slopes[np.isfinite(slopes)]
        return largest * float(slopes.max()) / moments.users if len(slopes) else None

    def _checks(self, a: int, b: int, difference: Contrast) -> Checks:
        shares, supported = self._unsupported, None
        if shares is not None and 0.0 < max(shares[a], shares[b]) < 1.0:
            supported = contrast(self.moments, a, b, 1.0 / (1.0 - shares[a]), 1.0 / (1.0 - shares[b]))
        ahead, behind = (a, b) if difference.value > 0.0 else (b, a)
        wins = self.wins(behind, ahead)
        unable = ""
        if self.by_seen_pairs and wins < FEW_WINS and difference.users:
            names = self.measured.setting.models
            unable = Notice(
                f"{names[behind]} beat {names[ahead]} for too few users (an effective {wins:.1f}) to tell how often it "
                "would if all had been shown",
                code="few-wins",
                model=names[behind],
            )
        unable = unable or self._hitless(a, b)
        answers = self.answers(a, b)
        unable = (
            self.measured.setting.contradiction(self.run)
            or unable
            or self._uncounted
            or ("" if answers is None else answers.uncovered)
            or self.learnt(a)
            or self.learnt(b)
        )
        few = self.measured.few_clicks.get(self.cell.run)
        return Checks(
            supported=supported,
            bias=self.bias(a, b),
            bias_error=self._bias_error(a, b),
            heavy=self.heavy(a) - self.heavy(b),
            heavy_error=0.0 if few is None else _error(few.heavy_covariance[self.cell.metric], a, b),
            single_clicks=None if few is None else self.measured.setting.single_clicks,
            wins=wins,
            hit=None if weighted(self.run) or self.run.joined else self.hit,
            shift=self.shift(a) - self.shift(b),
            lean=self._lean_of(a, b),
            slack=self.measured.setting.shortage * self.span,
            unable=unable,
            unsupported=self.unsupported(a, b),
            others=() if answers is None else self._with_answers(answers, difference),
        )

    def _hitless(self, a: int, b: int) -> str:
        """Which list a census of what was seen says nothing of, since hardly anything relevant was seen in it."""
        if Need.CENSUS not in self.run.estimator.needs(self.run.target) or self.run.joined:
            return ""
        few = [model for model in (a, b) if self.wins(model) < FEW_WINS]
        if not few:
            return ""
        name = self.measured.setting.models[few[0]]
        told = f"{name} had hits for too few users (an effective {self.wins(few[0]):.1f})"
        return Notice(told, code="few-hits", model=name)

    @cached_property
    def weak_total(self) -> str:
        """Why the total that an average over relevant pairs divides by is hardly known; empty where it is known."""
        found = self.measured.answers
        divides = self.run.joined and self.run.target is not Target.PER_USER_SUM
        return found.weak_total(self.moments) if divides and found is not None else ""

    @property
    def silent_total(self) -> tuple[float, float]:
        """How far that total could move by what nobody answered, as shares of it; not where it is hardly known."""
        found = self.measured.answers
        divides = self.run.joined and self.run.target is not Target.PER_USER_SUM and not self.weak_total
        return found.silent_total(self.moments) if divides and found is not None else (0.0, 0.0)

    def answers(self, a: int, b: int | None = None) -> PairAnswers | None:
        """What answers say where two lists differ, or on one list; ``None`` where the run does not rest on answers."""
        metric, found = self.run.metrics[self.cell.metric], self.measured.answers
        if not self.run.joined or found is None or not isinstance(metric, RankingMetric):
            return None
        return found.pair(str(metric), metric.table(self.run.depth), a, b)

    def learnt(self, model: int) -> str:
        """That a list was made from the answers that judge it, in words; empty where nothing shows that."""
        metric, found = self.run.metrics[self.cell.metric], self.measured.answers
        new = self.run.joined and is_new(self.measured, self.run, self.cell.metric, model)
        if not new or found is None or not isinstance(metric, RankingMetric):
            return ""
        if not found.learnt(metric.table(self.run.depth), model):
            return ""
        name = self.measured.setting.models[model]
        told = (
            f"the list of {name} holds what was answered well and leaves out the rest, as only one does that was made "
            "from these answers, and they cannot judge it: ask anew, by a plan for these lists"
        )
        return Notice(told, code="learnt-list", model=name)

    def unit(self, model: int) -> float:
        """How far a value moves by one more unit in the sum over all users."""
        place = self.moments.form.places[0][0][0][model]
        return float(self.moments.gradients[model, place]) / max(self.moments.users, 1)

    def _with_answers(self, answers: PairAnswers, difference: Contrast) -> tuple[tuple[str, tuple[float, float]], ...]:
        return tuple(answers.others(self.tail, self.unit(0), difference.interval(self.tail), self.silent_total))

    def _lean_of(self, a: int, b: int) -> float:
        leans = self.lean(a), self.lean(b)
        return leans[0] - leans[1] if all(map(math.isfinite, leans)) else math.inf

    def _bias_error(self, a: int, b: int) -> float:
        """The standard error of B where it rests on a sample of the users."""
        few = self.measured.few_clicks.get(self.cell.run)
        return 0.0 if few is None or not few.sampled else _error(few.covariance[self.cell.metric], a, b)

    def _bootstrapped(self, a: int, b: int) -> tuple[float, float] | None:
        """The interval of the replicates at this error probability."""
        if self.drawn is None:
            return None
        gaps = self.drawn[:, a] - self.drawn[:, b]
        gaps = gaps[np.isfinite(gaps)]
        if len(gaps) < 2 or self.moments.active < 2:
            return None
        if self.tail / 2.0 * len(gaps) < FEW_BEYOND:
            reach, centre = critical(1.0 - self.tail) * float(np.std(gaps, ddof=1)), float(np.mean(gaps))
            return centre - reach, centre + reach
        found = percentile(gaps, 1.0 - self.tail)
        if not self.moved:
            return found.low, found.high
        reach = critical(1.0 - self.tail) * found.se  # p is that of the replicates' normal curve: so is the interval
        centre = self.difference(a, b).value
        return min(found.low, centre - reach), max(found.high, centre + reach)

    @cached_property
    def by_items(self) -> bool:
        """Whether P of all listed places is known, so that one can tell what hits a list could expect."""
        return self.summed and self.measured.knows_items(self.run)

    @cached_property
    def summed(self) -> bool:
        """Whether the cell adds up what weighted hits are worth, over all users."""
        metric = self.run.metrics[self.cell.metric]
        additive = isinstance(metric, RankingMetric) and metric.shape is Shape.ADDITIVE
        summed = self.run.target in (Target.POOLED, Target.PER_USER_SUM, Target.SUM_POOLED)
        return weighted(self.run) and additive and summed

    def _differing(self, a: int, b: int) -> tuple[DifferingWorth | None, float]:
        """Where two lists differ, and Σ of what their hits weigh."""
        moments, first = self.moments, self.moments.form.places[0][0][0]
        weighed = float(moments.mean[first[a]] + moments.mean[first[b]]) * moments.users
        return (self.measured.differing(self.place, a, b) if weighed > 0.0 else None), weighed

    def _rare_hits(self, a: int, b: int, difference: Contrast) -> list[tuple[str, tuple[float, float]]]:
        """The intervals if heavy hits, which a list could hardly have had, had come; none where they are no matter.

        A few heavy hits that mostly do not come leave no trace in the rows, and the error does not know of them.
        """
        if not (self.summed and uses_propensity(self.run) and difference.exists) or self.run.joined:
            return []
        apart, weighed = self._differing(a, b)
        if apart is None:
            return []
        found: list[tuple[str, tuple[float, float]]] = []
        skewed = apart.skewness(weighed)
        for own, model in enumerate((a, b)):
            if skewed[own] - skewed[1 - own] <= SKEWED and skewed[own] <= ALONE:
                continue
            size = apart.heavy(own) * abs(self.unit(model)) * (1.0 - 2.0 * own)
            name = self.measured.setting.models[model]
            told = f"{MORE_HITS} more hits of {name} at rarely shown places, which could hardly come, could undo it"
            reason = Notice(told, code="heavy-hits", model=name)
            found.append((reason, difference.with_hits(MORE_HITS, size).interval(self.tail)))
        return found

    def _unable(self, a: int, b: int) -> str:
        """Which list could expect too few hits where the two differ, in words."""
        found, weighed = self._differing(a, b) if self.by_items else (None, 0.0)
        if found is None:
            return ""
        for model, ess in zip((a, b), found.expected_ess(weighed), strict=True):
            if ess < FEW_WINS:
                name = self.measured.setting.models[model]
                told = f"{name} had too little chance of a hit in this log: {ess:.1f} expected where the two differ"
                return Notice(told, code="little-chance", model=name)
        return ""


def _error(covariance: Floats, a: int, b: int) -> float:
    """The standard error of a difference."""
    return math.sqrt(max(float(covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]), 0.0))


def _lesser(sampled: Contrast, fixed: Contrast) -> Contrast:
    """The smaller of two errors: users that count as a sample of users bring no less chance than the draw does."""
    return fixed if not sampled.exists or fixed.s00 <= sampled.s00 else sampled
