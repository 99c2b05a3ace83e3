"""Propensities judged by answers: do the log's weights reproduce what was answered?

    values        Σ h 1{y = v}/P / Σ h/P        where the log shows zeros     against the same by the answers
    popularity    Σ h y 1{i ∈ g}/P / Σ h y/P    g: thirds of the log by the items' training rows
    level         Σ h y/P                       where P is absolute           as a share of the answers' sum

Each is compared by ``inference/profiles.py``. A statistic fails where it is off by more than 10 % and chance explains
that in less than 1 % of all checks (Bonferroni over the statistics). Propensities that fail are no evidence: verdicts
that weigh by them are withheld, and values are marked.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unskew.core.notice import Notice, made_of
from unskew.inference.profiles import Gap, gap
from unskew.judging.log_and_answers import LogAndAnswers
from unskew.kernels.arrays import Floats, Ints64, present

OFF, ERROR = 0.1, 0.01
FEWEST = 20.0  # effective positive answers
ENOUGH = 50.0  # effective weights of the log, as for its level (alignment/level.py)
MOST_VALUES = 10
LEVEL = "level"
THIRDS = ("least popular", "middle", "most popular")


@dataclass(frozen=True)
class Statistic:
    """One of the quantities that weights should reproduce.

    Args:
        name: as in "most popular".
        what: in words that go on after "weights put".
        log, answers, error: both sides, and the standard error of the difference.
    """

    name: str
    what: str
    log: float
    answers: float
    error: float
    df: float
    p: float

    @classmethod
    def of(cls, name: str, what: str, found: Gap) -> Statistic:
        """From the comparison of the two sides."""
        return cls(name, what, found.log, found.answers, found.error, found.df, found.p)

    def fails(self, several: int) -> bool:
        """Whether it is off beyond chance, one of so many."""
        return self.p * several < ERROR and abs(self.log - self.answers) > OFF * abs(self.answers)


@dataclass(frozen=True)
class PropensityCheck:
    """What answers say of the propensities of the log.

    Args:
        unasked: why nothing can be said; empty where something is.
    """

    propensity: str
    statistics: tuple[Statistic, ...] = ()
    unasked: str = ""

    def worst(self, *, level: bool = True) -> Statistic | None:
        """The statistic that fails most clearly; without the ``level`` for estimators that do not need it."""
        failing = [
            each for each in self.statistics if each.fails(len(self.statistics)) and (level or each.name != LEVEL)
        ]
        return min(failing, key=lambda each: each.p) if failing else None

    def contradiction(self, *, level: bool = True) -> str:
        """What is wrong, in words that go on after "the answers contradict"; empty where nothing is."""
        worst = self.worst(level=level)
        if worst is None:
            return ""
        told = f"{worst.what} {_shown(worst.log)} by these weights and {_shown(worst.answers)} by the answers"
        return Notice(told, code="contradicted-propensity", statistic=worst.name)

    @property
    def sentence(self) -> str:
        """What a reader should know."""
        named = f"the propensities ({self.propensity})"
        if self.unasked:
            return made_of(f"Answers cannot judge {named}: {self.unasked}.", self.unasked)
        if worst := self.worst(level=False) or self.worst():
            level = worst.name == LEVEL
            who = "estimators that need their level" if level else "all estimators that weigh by them"
            wrong = self.contradiction(level=level)
            return made_of(
                f"The answers contradict {named}: {wrong} (standard error {worst.error:.2g}). Verdicts of {who} are "
                "withheld, and their values are no evidence.",
                wrong,
            )
        several = f"{len(self.statistics)} statistic{'s' * (len(self.statistics) != 1)}"
        told = f"The answers do not contradict {named} in {several} of values, popularity and level."
        return Notice(told, code="uncontradicted-propensity")

    def plain(self) -> dict[str, Any]:
        """As plain values for the result."""
        rows = {
            each.name: {
                name: value for name, value in asdict(each).items() if name not in ("name", "what")
            } | {"fails": each.fails(len(self.statistics))}
            for each in self.statistics
        }  # fmt: skip
        return {"propensity": self.propensity, "said": self.sentence, "statistics": rows}


def check_propensity(
    name: str, both: LogAndAnswers, counts: Floats | None, strata: Ints64 | None, *, absolute: bool
) -> PropensityCheck:
    """Hold propensities against the answers.

    Args:
        name: what the propensities are called.
        counts: training rows of each item; popularity is not looked at without them.
        strata: groups of users, where propensities leave out how much each user is shown.
    """
    if both.positive() < FEWEST:
        few = f"{both.positive():.1f} positive ones count, and it takes {FEWEST:.0f}"
        return PropensityCheck(name, unasked=Notice(f"an effective {few}", code="few-answers"))
    inverse = 1.0 / present(both.propensity)
    carried = _effective(both.weight * inverse * both.value)
    if carried < ENOUGH:
        few = f"an effective {carried:.1f} relevant rows of the log carry its weights, and it takes {ENOUGH:.0f}"
        return PropensityCheck(name, unasked=Notice(few, code="too-few-rows"))
    users = np.zeros(both.users, dtype=np.int64) if strata is None else strata
    found = [*_values(both, inverse, users), *_popularity(both, inverse, counts, users)]
    if absolute:
        found.append(_level(both, inverse))
    kept = tuple(each for each in found if math.isfinite(each.error))
    if not kept:
        told = "without zeros, a training log or a level, weights say nothing that answers say too"
        return PropensityCheck(name, unasked=Notice(told, code="nothing-to-compare"))
    return PropensityCheck(name, kept)


def _values(both: LogAndAnswers, inverse: Floats, users: Ints64) -> list[Statistic]:
    """The shares of the values; of two the larger one says all."""
    if not both.zeros:
        return []
    levels = np.unique(both.asked_value)[1:]
    if len(levels) > MOST_VALUES:
        sides = both.of_log(inverse, both.value), both.of_answers(np.ones(len(both.asked_value)), both.asked_value)
        return [Statistic.of("mean value", "the mean value is", gap(*sides, users))]
    ones, found = np.ones(len(both.asked_value)), []
    for level in levels:
        sides = (
            both.of_log(inverse, (both.value == level).astype(np.float64)),
            both.of_answers(ones, (both.asked_value == level).astype(np.float64)),
        )
        what = "the share of relevant pairs is" if len(levels) == 1 else f"the share of value {level:g} is"
        found.append(Statistic.of(f"value {level:g}", what, gap(*sides, users)))
    return found


def _popularity(both: LogAndAnswers, inverse: Floats, counts: Floats | None, users: Ints64) -> list[Statistic]:
    """The shares of relevant pairs by how popular the item is."""
    if counts is None:
        return []
    edges = np.quantile(counts[both.item[both.value > 0.0]], (1 / 3, 2 / 3))
    mine, theirs = (np.searchsorted(edges, counts[item], side="left") for item in (both.item, both.asked_item))
    found = []
    for g, name in enumerate(THIRDS):
        sides = (
            both.of_log(inverse * both.value, (mine == g).astype(np.float64)),
            both.of_answers(both.asked_value, (theirs == g).astype(np.float64)),
        )
        if (mine == g).any():
            what = f"the share of relevant pairs on items of the {name} third of the log is"
            found.append(Statistic.of(name, what, gap(*sides, users)))
    return found


def _level(both: LogAndAnswers, inverse: Floats) -> Statistic:
    """The number of relevant pairs, as a share of what the answers make it: ρ = A/B, e_u = (A_u − B_u) / B."""
    mine = np.bincount(both.user, both.weight * inverse * both.value, both.users)
    theirs = np.bincount(both.asked_user, both.asked_weight * both.asked_value, both.users)
    ratio = float(mine.sum() / theirs.sum())
    e = (mine - theirs) / theirs.sum()
    squares, m = e * e, int(np.count_nonzero(e))
    total = float(squares.sum())
    df = min(float(m), total**2 / float((squares * squares).sum())) - 1.0 if total > 0.0 else 0.0
    error = math.sqrt(m / (m - 1.0) * total) if m > 1 else math.nan
    what = "the number of relevant pairs, as a share of what answers make it, is"
    return Statistic.of(LEVEL, what, Gap(ratio, 1.0, error, df))


def _effective(weight: Floats) -> float:
    squares = float(weight @ weight)
    return float(weight.sum()) ** 2 / squares if squares > 0.0 else 0.0


def _shown(value: float) -> str:
    return f"{value:.0%}" if value < 10.0 else f"{value:.3g}"
