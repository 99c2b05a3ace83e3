"""What a verdict, or a value, on answers must survive (MATHS §16).

    coverage    Σ_S |d|/π must be Σ |d| over the pairs outside the log to which the lists give different worth, within
                10 % or four standard errors (three of both sides together): what could not be drawn there, a wrong π,
                or rows that were lost instead of kept without a value, are refused
    few         with fewer than 20 answers, or 10 positive ones, where the lists differ, the difference must hold for
                all rates of relevance that Clopper and Pearson leave on either side:
                Σ_L yd + p₊ Σ_{d>0} d − p₋ Σ_{d<0} |d|
    thin        the same counts, effective ones, on each side: where q sends the questions to one list, a few heavy
                answers stand for the other one, and none of them may be positive by chance; their spread knows nothing
                of it. The difference must hold for the limits of both sides, the farther ends put together as squares
                (Zou and Donner 2008). Values rest in the same way on pairs that all lists hold, which are seldom drawn
    unanswered  whatever nobody answered may be irrelevant where that hurts, and relevant where that does, in the limits
                too; what is taken for it varies by the draw as answers do
    the total   values over relevant pairs divide by D: refused where SE(D)/D > .2, or where candidates outside the
                lists were never drawn. A difference then is in units of a total that is hardly known; its sign is not.
                In the lists, and outside them, fewer than 10 positive answers have an error by Clopper and Pearson: of
                a hundred answers that stand for nearly all pairs none may be positive by chance, and D is then much
                too small with hardly any spread (values were given that were more than twice the truth). As no interval
                of a value knows of it, that error must be below .05 of D. What nobody answered counts in D wherever it
                lies: values and differences are widened by all that it could do to D, and marked beyond .2

    learnt      a list that the questions were not drawn for, and that holds every pair that was answered well (of ten
                or more) and few of the others, or about whose pairs each of twenty answers is positive: such a list was
                made from the answers, and these say nothing of it

A value is looked at like a difference from a list that holds nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.core.notice import Notice
from unskew.engine.answers import AnswerSums, AskedPairs
from unskew.inference.clopper_pearson import limits
from unskew.inference.fixed_users import DrawnErrors
from unskew.inference.intervals import critical
from unskew.inference.moments import Moments
from unskew.kernels.arrays import Bools, Floats

FEWEST_ANSWERS, FEWEST_POSITIVE = 20, 10
OFF, ERRORS = 0.1, 4.0  # how far the drawn worth may be from what is there, as a share and in standard errors
TOGETHER = 3.0  # standard errors of both sides together
FEW_TAIL, WEAK_FEW = 0.05, 0.05  # of exact limits, and what their error may be as a share of D
WEAK = 0.2  # SE(D)/D beyond which a value over relevant pairs means nothing


@dataclass(frozen=True)
class Side:
    """The pairs to which one of two lists gives more worth.

    Args:
        worth: Σ |d| over those that could be asked about.
        answers, positive: how many were answered, and how many of them are relevant.
        number, rate: effective number of answers, and their weighted mean as a share of the largest outcome.
        drawn, error: Σ_S |d|/π as a share of ``worth``, and its standard error.
        silent: the weight of the questions that nobody answered, as a share of all.
        asked: effective number of questions.
    """

    worth: float
    answers: int
    positive: int
    number: float
    rate: float
    drawn: float
    error: float
    silent: float = 0.0
    asked: float = 0.0

    @classmethod
    def of(cls, asked: AskedPairs, d: Floats, there: Bools, worth: float, largest: float) -> Side:
        """The asked pairs with ``there``, whose lists differ by ``d`` ≥ 0."""
        weight, told = (d / asked.propensity)[there], asked.answered[there]
        y, w = asked.value[there][told] / largest, weight[told]
        total, squares = float(w.sum()), float(w @ w)
        spread = float((weight**2) @ (1.0 - asked.propensity[there]))
        every, heavy = float(weight.sum()), float(weight @ weight)
        return cls(
            worth,
            int(np.count_nonzero(told)),
            int(np.count_nonzero(y > 0.0)),
            total**2 / squares if squares > 0.0 else 0.0,
            float(w @ y) / total if total > 0.0 else 0.0,
            every / worth if worth > 0.0 else 1.0,
            math.sqrt(spread) / worth if worth > 0.0 else 0.0,
            1.0 - total / every if every > 0.0 else 0.0,
            every**2 / heavy if heavy > 0.0 else 0.0,
        )

    @property
    def covered(self) -> bool:
        """Whether what was drawn adds up to what is there."""
        off = abs(self.drawn - 1.0)
        return self.worth <= 0.0 or off <= OFF or off <= ERRORS * self.error

    @property
    def thin(self) -> bool:
        """Whether too few answers carry the weight here for an error that their spread tells."""
        return self.worth > 0.0 and (self.number < FEWEST_ANSWERS or self.rate * self.number < FEWEST_POSITIVE)

    def rates(self, tail: float) -> tuple[float, float]:
        """Between which rates relevance lies here, whatever nobody answered."""
        if self.silent <= 0.0:
            return limits(self.rate * self.number, self.number, tail)
        none = self.rate * (1.0 - self.silent)
        found = (limits(rate * self.asked, self.asked, tail) for rate in (none, none + self.silent))
        return next(found)[0], next(found)[1]


@dataclass(frozen=True, eq=False)
class AnswerChecks:
    """The answers of one table.

    Args:
        places: of the metrics in the sums.
        largest: the largest outcome.
        design: how pairs of a user that were drawn depend on each other; empty where that is not known.
    """

    sums: AnswerSums
    places: dict[str, int]
    largest: float
    design: str = ""

    @classmethod
    def of(cls, sums: AnswerSums, metrics: list[str], design: str = "") -> AnswerChecks:
        """From what an engine found, metric by metric."""
        told = sums.asked.value[sums.asked.answered]
        return cls(sums, {name: n for n, name in enumerate(metrics)}, max(1.0, float(told.max(initial=1.0))), design)

    def pair(self, metric: str, worth: Floats, a: int, b: int | None = None) -> PairAnswers:
        """Model a against b, or against nothing; ``worth`` is by rank."""
        sums, place = self.sums, self.places[metric]
        worths = self.worths(worth)
        d = worths[:, a] - (0.0 if b is None else worths[:, b])
        ahead = Side.of(sums.asked, d, d > 1e-12, float(sums.worth[place, a, a if b is None else b]), self.largest)
        behind = Side.of(sums.asked, -d, d < -1e-12, 0.0 if b is None else float(sums.worth[place, b, a]), self.largest)
        logged = float(sums.logged[place, a] - (0.0 if b is None else sums.logged[place, b]))
        return PairAnswers(ahead, behind, logged, self.largest, *self._silent(d))

    def learnt(self, worth: Floats, model: int) -> bool:
        """Whether a list tells positive answers from others as only one that was made from them does."""
        asked = self.sums.asked
        held, yes = self.worths(worth)[:, model] > 0.0, asked.answered & (asked.value > 0.0)
        no, room = asked.answered & ~yes, int(np.count_nonzero(worth > 0.0))
        _, own = np.unique(asked.user[yes], return_counts=True)
        every = int(yes.sum()) >= FEWEST_POSITIVE and np.count_nonzero(held & yes) == np.minimum(own, room).sum()
        few = 2 * np.count_nonzero(held & no) < np.count_nonzero(no)
        right = np.count_nonzero(held & yes) >= FEWEST_ANSWERS and not (held & no).any()
        return bool((every and few) or right)

    def worths(self, worth: Floats) -> Floats:
        """What each asked pair is worth to each model, (rows, models)."""
        rank = self.sums.asked.rank
        return np.where((rank > 0) & (rank < len(worth)), worth[np.minimum(rank, len(worth) - 1)], 0.0)

    @cached_property
    def drawn(self) -> DrawnErrors:
        """The errors of the guesses that were drawn, by user."""
        asked = self.sums.asked
        return DrawnErrors.of(asked.user, asked.propensity, asked.value, asked.q, self.design)

    def _silent(self, d: Floats) -> tuple[int, float, float, float, float]:
        """How many questions nobody answered where lists differ, how far T could move by them, and by which error."""
        asked = self.sums.asked
        silent = ~asked.answered & (np.abs(d) > 1e-12)
        d, q, weight = d[silent], asked.q[silent], 1.0 / asked.propensity[silent]
        none, every = -q * d * weight, (self.largest - q) * d * weight
        user = np.unique(asked.user[silent], return_inverse=True)[1]
        ends = [np.bincount(user, end(none, every)) for end in (np.minimum, np.maximum)]
        (low, lower), (high, higher) = ((float(end.sum()), math.sqrt(float(end @ end))) for end in ends)
        return int(np.count_nonzero(silent)), low, high, lower, higher

    @property
    def total(self) -> Side:
        """All candidates outside the log, which values over relevant pairs rest on."""
        asked = self.sums.asked
        ones = np.ones(len(asked.value))
        return Side.of(asked, ones, ones > 0.0, self.sums.candidates, self.largest)

    @property
    def _few_positive(self) -> float:
        """The error of D where few positive answers tell it, in the lists or outside: half of exact limits / 1.96."""
        asked, sums, found = self.sums.asked, self.sums, 0.0
        inside: Bools = np.asarray((asked.rank > 0).any(axis=1), dtype=np.bool_)
        for there, pairs in ((inside, sums.listed), (~inside, sums.candidates - sums.listed)):
            side = Side.of(asked, np.ones(len(there)), there, pairs, self.largest)
            if side.positive < FEWEST_POSITIVE and pairs > 0.0:
                low, high = side.rates(FEW_TAIL)
                found = math.hypot(found, pairs * self.largest * (high - low) / 2.0 / critical(1.0 - FEW_TAIL))
        return found

    def silent_total(self, moments: Moments) -> tuple[float, float]:
        """How far D could move by what nobody answered, down and up, as shares of it."""
        asked, silent = self.sums.asked, ~self.sums.asked.answered
        below = float(moments.mean[moments.form.places[0][0][1][0]]) * max(moments.users, 1)
        if not silent.any() or not below > 0.0:
            return 0.0, 0.0
        q, weight = asked.q[silent], 1.0 / asked.propensity[silent]
        return -float(q @ weight) / below, float((self.largest - q) @ weight) / below

    def weak_total(self, moments: Moments) -> str:
        """Why D is hardly known, in words; empty where it is known, or nothing is divided by it."""
        below, users = moments.form.places[0][0][1][0], max(moments.users, 1)
        mean = float(moments.mean[below])
        error = math.sqrt(max(float(moments.cross[below, below]), 0.0)) / users
        few = self._few_positive / users
        error = max(error, few * WEAK / WEAK_FEW)  # which no interval of a value has in it
        if not mean > 0.0 or error > WEAK * mean:
            size = f"{error / mean:.0%} of the number" if 0.0 < error < mean else "larger than the number"
            times = (error / (WEAK * mean)) ** 2 if mean > 0.0 else 10.0
            return Notice(
                f"the number of relevant pairs is hardly known, its error is {size} itself: give about {times:.1f} "
                "times as many answers, or ask for per_user_sum",
                code="weak-total",
                times=times,
            )
        if not self.total.covered:
            return Notice(
                f"the answers stand for {self.total.drawn:.0%} of all candidates: where nothing was drawn outside the "
                "lists, the number of relevant pairs is a guess. Draw a quarter of the questions from all candidates, "
                "or ask for per_user_sum",
                code="undrawn-total",
            )
        return ""


@dataclass(frozen=True)
class PairAnswers:
    """What answers say where two lists differ.

    Args:
        logged: Σ_L yd.
        unanswered: how many questions nobody answered there; ``low`` and ``high`` how far T could move by them, and
            ``low_error`` and ``high_error`` the standard errors of that.
    """

    ahead: Side
    behind: Side
    logged: float
    largest: float
    unanswered: int
    low: float
    high: float
    low_error: float = 0.0
    high_error: float = 0.0

    @property
    def answers(self) -> int:
        """How many there are."""
        return self.ahead.answers + self.behind.answers

    @property
    def positive(self) -> int:
        """How many of them are relevant."""
        return self.ahead.positive + self.behind.positive

    @property
    def few(self) -> bool:
        """Whether there are too few for an error that their spread tells."""
        return self.answers < FEWEST_ANSWERS or self.positive < FEWEST_POSITIVE

    @property
    def thin(self) -> bool:
        """Whether that is so on one of the sides."""
        return self.ahead.thin or self.behind.thin

    @property
    def uncovered(self) -> str:
        """Why answers do not speak for the pairs where lists differ, in words; empty where they do."""
        shares = [side.drawn for side in (self.ahead, self.behind) if not side.covered]
        if not shares:
            return self.lost
        return Notice(
            f"the answers stand for {shares[0]:.0%} of what they should where the lists differ: pairs there could not "
            "be drawn, or column 'propensity' is not the probability of being drawn. Ask where these lists differ",
            code="undrawn-pairs",
            share=shares[0],
        )

    @property
    def lost(self) -> str:
        """Why rows seem to be missing on both sides alike, in words; empty where they do not."""
        sides = [side for side in (self.ahead, self.behind) if side.worth > 0.0]
        if len(sides) < 2 or not all(side.covered for side in sides):
            return ""
        worth = sides[0].worth + sides[1].worth
        drawn = sum(side.worth * side.drawn for side in sides) / worth
        error = math.hypot(*(side.worth * side.error for side in sides)) / worth
        if abs(drawn - 1.0) <= max(OFF, TOGETHER * error):
            return ""
        return Notice(
            f"the answers stand for {drawn:.0%} of what they should where the lists differ: rows were lost, or column "
            "'propensity' is not the probability of being drawn. Give all rows that were drawn, those that nobody "
            "answered without a value",
            code="lost-rows",
            share=drawn,
        )

    def possible(self, outcome: float) -> tuple[float, float]:
        """T if all outside the log were relevant on one side, by this outcome, and nothing on the other."""
        return self.logged - outcome * self.behind.worth, self.logged + outcome * self.ahead.worth

    def exact(self, tail: float) -> tuple[float, float]:
        """T under all rates of relevance that the answers leave on either side."""
        (low, high), (lower, higher) = self.ahead.rates(tail / 2.0), self.behind.rates(tail / 2.0)
        plus, minus = self.ahead.worth * self.largest, self.behind.worth * self.largest
        return self.logged + low * plus - higher * minus, self.logged + high * plus - lower * minus

    def sided(self, tail: float) -> tuple[float, float]:
        """T under the rates of relevance that the answers leave on either side, the two put together as squares."""
        sides = (self.ahead, self.ahead.worth * self.largest), (self.behind, -self.behind.worth * self.largest)
        middle, down, up = self.logged, 0.0, 0.0
        for side, worth in sides:
            ends = sorted((rate - side.rate) * worth for rate in side.rates(tail))
            middle, down, up = middle + side.rate * worth, math.hypot(down, ends[0]), math.hypot(up, ends[1])
        return middle - down, middle + up

    def others(
        self, tail: float, unit: float, plain: tuple[float, float], total: tuple[float, float] = (0.0, 0.0)
    ) -> list[tuple[str, tuple[float, float]]]:
        """Intervals that a verdict must survive as well, each with what to say where it does not.

        Args:
            unit: what T is worth in the difference that is judged; ``plain`` its interval.
            total: how far D could move by what nobody answered, as shares of it.
        """
        found: list[tuple[str, tuple[float, float]]] = []
        if self.few:
            reason = Notice(
                f"{_number(self.answers, 'answer')}, {self.positive} of them positive, {_lie(self.answers)} where the "
                f"lists differ, and so few could come out like that by chance: it takes {FEWEST_ANSWERS} with "
                f"{FEWEST_POSITIVE} positive ones there",
                code="few-answers",
                answers=self.answers,
                positive=self.positive,
            )
            low, high = self.exact(tail)
            found.append((reason, (low * unit, high * unit)))
        elif self.thin:
            thin = min((side for side in (self.ahead, self.behind) if side.thin), key=lambda side: side.number)
            reason = Notice(
                f"where the lists differ, the answers on one side weigh as much as {thin.number:.1f} equal ones with "
                f"{thin.rate * thin.number:.1f} positive, and so few could come out like that by chance: it takes "
                f"{FEWEST_ANSWERS} with {FEWEST_POSITIVE} positive ones on either side",
                code="few-answers-on-one-side",
            )
            low, high = self.sided(tail)
            found.append((reason, (low * unit, high * unit)))
        if self.unanswered:
            questions = _number(self.unanswered, "question")
            told = f"{questions} where the lists differ {_were(self.unanswered)} not answered, and could undo it"
            reason = Notice(told, code="unanswered", questions=self.unanswered)
            half, c = (plain[1] - plain[0]) / 2.0, critical(1.0 - tail) * unit
            down, up = (
                math.hypot(half, c * error) - half if math.isfinite(half) else 0.0
                for error in (self.low_error, self.high_error)
            )
            found.append((reason, (plain[0] + self.low * unit - down, plain[1] + self.high * unit + up)))
        if any(total):
            found = [(reason, _divided(ends, total)) for reason, ends in [*found, ("", plain)]]
        return found


def _divided(ends: tuple[float, float], moves: tuple[float, float]) -> tuple[float, float]:
    """An interval whose total could be less or more by such shares: its ends move outwards, and keep their signs."""
    less, more = max(1.0 + moves[0], 1e-9), 1.0 + moves[1]
    return ends[0] / (more if ends[0] > 0.0 else less), ends[1] / (less if ends[1] > 0.0 else more)


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _lie(count: int) -> str:
    return "lies" if count == 1 else "lie"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
