"""Is the level of the propensities right? Where a log knows how much there is, inverse propensities must add up to it.

    E[ Σ_O 1/P ] = Σ_u |C_u|       all seen pairs, also those that brought nothing (conversions, ratings)
    E[ Σ_O y/P ] = Σ_u n_u         where the numbers of relevant items are known

    ratio ρ = Σ_u t_u / Σ_u c_u,   SE² = n/(n − 1) Σ_u (t_u − ρ c_u)² / (Σ_u c_u)²,   z = (ρ − 1) / SE

with t_u a user's sum on the left and c_u the number on the right, so that all of it is sums over users; SE is at
least that of independent pairs with these propensities, √(Σ_O (1 − P)/P²) / Σ c_u. A level that is wrong by more than
10 %, beyond four standard errors, makes ips and dr wrong by as much, whatever their intervals say. A forgotten share,
numbers of relevant items counted on another log, and another population are the usual causes.

(In 1,440 worlds of 24 kinds with right propensities five were refused, all with too small a sum: pairs with small
propensities happened to be seen too seldom, and ips was too small as well.)

Propensities that were fitted add up by construction and cannot be checked like that; nor can a handful of weights.

A log does not show the items that nobody saw, so that over *its* items Σ 1/P is too large although every P is right.
Sums over lists do not mind: for them each half of the users is checked on the items that the other half saw. Averages
over pairs divide by the number of candidates, and are checked on all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from unskew.alignment.inputs import Rules
from unskew.alignment.row_facts import RowFacts
from unskew.alignment.rows import has_level, share_of
from unskew.engine.data import EvaluationData
from unskew.inference.merging import Mergeable
from unskew.kernels.arrays import Bools, Floats, Ints64, present
from unskew.kernels.levels import count_halves, count_in_other, inverse_sums
from unskew.log import Feedback, Log
from unskew.propensity import Propensity, Scope, part_propensity

ERRORS = 4.0  # standard errors by which the sum must be off
OFF = 0.1  # and the part of the level that this must be
ENOUGH = 50.0  # effective number of weights that a check rests on
SHORT = 0.005  # a share of all pairs that is too small to matter
FEW = 10  # users with rows below which a standard error says nothing


@dataclass(frozen=True)
class LevelSums(Mergeable):
    """Sums over some users of which a ratio is made; those of other users are added.

    Args:
        users, active: how many users there are, and with any weight.
        weight, square, alone: Σ w, Σ w² and Σ (1 − P) w² over their rows.
        wanted: Σ c_u.
        tt, tc, cc: Σ t_u², Σ t_u c_u and Σ c_u².
    """

    users: int
    active: int
    weight: float
    square: float
    alone: float
    wanted: float
    tt: float
    tc: float
    cc: float

    @classmethod
    def over_all(cls, held: EvaluationData, p: Floats, gain: Floats, wanted: Floats, items: int) -> LevelSums:
        """Of rows on all items."""
        return cls.of(held, p, gain, wanted, _Halves.all_items(held, items))

    @classmethod
    def of(cls, held: EvaluationData, p: Floats, gain: Floats | None, wanted: Floats, halves: _Halves) -> LevelSums:
        """Of rows with weights gain/p on the items of ``halves``, and the number that each user should have."""
        sums, gains = np.empty(held.users), np.empty(0) if gain is None else gain
        weight, square, alone = inverse_sums(held.indptr, held.item, p, gains, halves.half, halves.seen, sums)
        return cls(
            held.users,
            int(np.count_nonzero(sums)),
            weight,
            square,
            alone,
            float(wanted.sum()),
            float(sums @ sums),
            float(sums @ wanted),
            float(wanted @ wanted),
        )


class Ratio(NamedTuple):
    """What inverse propensities add up to, as a share of what they should.

    Args:
        value, error: ρ and its standard error.
        ess: the effective number of weights.
        users: that have any row.
    """

    value: float
    error: float
    ess: float
    users: int

    @classmethod
    def of(cls, sums: LevelSums) -> Ratio:
        """From the sums over all users."""
        if sums.wanted <= 0.0 or sums.square <= 0.0:
            return cls(math.nan, math.nan, 0.0, 0)
        value = sums.weight / sums.wanted
        spread = max(sums.tt - 2.0 * value * sums.tc + value * value * sums.cc, 0.0)
        clustered = sums.users / max(sums.users - 1, 1) * spread
        error = math.sqrt(max(clustered, sums.alone)) / sums.wanted
        return cls(value, error, sums.weight**2 / sums.square, sums.active)

    @property
    def known(self) -> bool:
        """Whether it rests on enough weights."""
        return self.ess >= ENOUGH and self.users >= FEW

    @property
    def errors(self) -> float:
        """By how many standard errors it is off."""
        return abs(self.value - 1.0) / self.error if self.error > 0.0 else math.inf

    @property
    def wrong(self) -> bool:
        """Whether the level is off, beyond chance."""
        return self.known and abs(self.value - 1.0) > OFF and self.errors > ERRORS

    @property
    def right(self) -> bool:
        """Whether it is what it should be, within chance or a little."""
        return abs(self.value - 1.0) <= max(OFF, ERRORS * self.error)


class _Halves(NamedTuple):
    """A half, 0 or 1, of every user, and the items on which the *other* half is checked."""

    half: npt.NDArray[np.int8]
    seen: Bools

    @classmethod
    def all_items(cls, held: EvaluationData, items: int) -> _Halves:
        """Everybody is checked on every item."""
        return cls(np.zeros(held.users, dtype=np.int8), np.ones((2, items), dtype=np.bool_))

    @classmethod
    def of(cls, held: EvaluationData, seen: Bools) -> _Halves:
        """By a bit of the hash of a user's id, whatever the order of users; ``seen`` are the items of both halves."""
        return cls(half_of(held), seen)

    def candidates(self, excluded: Log | None) -> Floats:
        """How many of these items each user has as candidates."""
        sizes = np.count_nonzero(self.seen, axis=1).astype(np.float64)
        found: Floats = sizes[1 - self.half]
        if excluded is not None:
            count_in_other(excluded.indptr, excluded.item, self.half, self.seen, found)
        return found


class LevelCheck(NamedTuple):
    """What was found about the level of the propensities; a wrong one in words, with its likely cause.

    Args:
        ratio: over the pairs that sums need, or over relevant items; ``None`` where it was not computed.
        wrong: what is wrong with the level itself, which all estimators that need one rest on.
        wrong_pairs: ... with the number of candidate pairs, which averages over pairs are divided by.
        wrong_relevant: ... with the numbers of relevant items.
        unknown: why the level cannot be checked; empty if it was, or if there is none.
        hint: what would be wrong most likely.
    """

    ratio: Ratio | None = None
    wrong: str = ""
    wrong_pairs: str = ""
    wrong_relevant: str = ""
    unknown: str = ""
    hint: str = ""

    @property
    def high(self) -> bool:
        """Whether inverse propensities add up to too much, as they do where users without rows are missing."""
        return bool(self.wrong) and self.ratio is not None and self.ratio.value > 1.0

    @property
    def shortage(self) -> float:
        """The share of all pairs that seen ones do not account for, beyond two standard errors.

        Pairs that hardly ever are seen leave no other trace: whatever is averaged over seen pairs lacks them.
        """
        if self.ratio is None or not self.ratio.users or not math.isfinite(self.ratio.value):
            return 0.0
        missing = 1.0 - self.ratio.value
        return missing if missing > max(SHORT, 2.0 * self.ratio.error) else 0.0


def half_of(held: EvaluationData) -> npt.NDArray[np.int8]:
    """A half, 0 or 1, of every user, by the hash of the id."""
    return ((held.hashes >> np.uint64(17)) & np.uint64(1)).astype(np.int8)


class LevelPart(NamedTuple):
    """Some users, as checks of propensities look at them.

    Args:
        rows: the judged rows.
        held: the same with P in the test part, |C_u| and n_u.
        known: the users' training rows.
        items: how many items there are.
    """

    rows: Log
    held: EvaluationData
    known: Log | None
    items: int


M_co = TypeVar("M_co", covariant=True)
M = TypeVar("M")


class PartQuestion(Protocol[M_co]):
    """What is asked of some users; answers merge."""

    def of(self, part: LevelPart) -> M_co:
        """Their answer."""


class AskParts(Protocol):
    """Asks all users, wherever they are."""

    def __call__(self, question: PartQuestion[M]) -> M:
        """The merged answer."""


@dataclass(frozen=True, eq=False)
class SeenItems(Mergeable):
    """How often each half of the users has each item, (2, items)."""

    counts: Ints64

    @property
    def seen(self) -> Bools:
        """Whether any of them has it."""
        return self.counts > 0


class SeenQuestion:
    """Which items does each half of the users have?"""

    def of(self, part: LevelPart) -> SeenItems:
        """Of some users."""
        counts = np.zeros((2, part.items), dtype=np.int64)
        count_halves(part.held.indptr, part.held.item, half_of(part.held), counts)
        return SeenItems(counts)


@dataclass(frozen=True, eq=False)
class LevelQuestion:
    """Which inverse propensities are added up, against which numbers.

    Args:
        raw: take P as the model says it, not as it is used.
        share: ... and scaled to a test part of this share.
        relevant: Σ y/P against n_u, not Σ 1/P against |C_u|.
        untrained: take a user's training rows off n_u.
        seen: of Σ 1/P, check each half of the users on the items of the other half; ``None`` for all items.
    """

    model: Propensity
    unseen: bool
    raw: bool = False
    share: float | None = None
    relevant: bool = False
    untrained: bool = False
    seen: Bools | None = None

    def of(self, part: LevelPart) -> LevelSums:
        """The sums of some users."""
        held = part.held
        p = self.model.of(part.rows).rows if self.raw else present(held.propensity)
        p = p if self.share is None else part_propensity(p, self.share, unseen=self.unseen)
        if self.relevant:
            wanted = present(held.relevant)
            if self.untrained:
                wanted = np.maximum(wanted - np.diff(present(part.known).indptr), 0.0)
            return LevelSums.of(held, p, held.value, wanted, _Halves.all_items(held, part.items))
        if self.seen is None:
            return LevelSums.of(held, p, None, present(held.candidates), _Halves.all_items(held, part.items))
        halves = _Halves.of(held, self.seen)
        return LevelSums.of(held, p, None, halves.candidates(part.known if self.unseen else None), halves)


class LevelInputs(NamedTuple):
    """What a check looks at.

    Args:
        model: the propensity.
        rows: a log with the marks of the judged rows (their share, whether time cut them off), with or without rows.
        facts: how many judged rows and training rows there are, and whether any brought nothing.
        named: whether the catalogue was named; ``population`` whether that was.
        ask: asks all users.
    """

    model: Propensity
    rows: Log
    rules: Rules
    facts: RowFacts
    relevant: bool
    trained: bool
    named: bool
    population: bool
    ask: AskParts


def check_level(given: LevelInputs) -> LevelCheck:
    """Compare what inverse propensities add up to with what is known, before anything is planned."""
    model, rules = given.model, given.rules
    if not has_level(model, given.rows, rules):
        return LevelCheck()
    if model.estimated:
        return LevelCheck(unknown="they are fitted, and add up on the log that they are fitted to, right or wrong")
    zeros, counts = shows_zeros(given), rules.ranks and given.relevant
    if not zeros and not counts:
        return LevelCheck(
            unknown="a log of positives does not show how many pairs there were, and column 'relevant' of users=…, "
            "the numbers of relevant items, is not given",
            hint=_hint(given),
        )
    relevant = _over_relevant(given) if counts else None
    miscounted = "" if relevant is None else _miscounted(given, relevant)
    unclear = "" if relevant is None or miscounted else _unclear(relevant)
    if not zeros:
        return LevelCheck(relevant, wrong=unclear, wrong_relevant=miscounted, unknown=_few(present(relevant)))
    level, pairs = _over_pairs(given), _over_pairs(given, every=True)
    said = _off(level, "Σ 1/P over the seen pairs", "the number of candidate pairs")
    return LevelCheck(
        level,
        wrong=f"The level of the propensities is wrong: {said}. {_cause(given, level)}" if level.wrong else "",
        wrong_pairs=_of_catalogue(pairs) if pairs.wrong else "",
        wrong_relevant=miscounted or unclear,
        unknown=_few(level),
    )


def _hint(given: LevelInputs) -> str:
    """A share that may have been forgotten: nothing says how the test log was divided from training."""
    rows, rules, facts = given.rows, given.rules, given.facts
    if not facts.known or rules.by_users or rules.later or given.model.refers(rows) is not Scope.TEST:
        return ""
    if getattr(given.model, "part", None) is not None or "propensity" not in given.model.reads:
        return ""
    share = facts.rows / (facts.rows + facts.known)
    return (
        " The column is taken to describe the test log alone. If it describes the log that was divided at random into "
        f"training and test, of whose rows {share:.2g} are test rows, say share={share:.2g}."
    )


def shows_zeros(given: LevelInputs) -> bool:
    """Whether the seen pairs that brought nothing are there."""
    if given.rules.feedback is not Feedback.CONVERSIONS:
        return given.rules.feedback is Feedback.RATINGS
    return bool(given.facts.zeros if given.rows.value is None else given.facts.logged_zeros)


def _over_pairs(given: LevelInputs, *, every: bool = False, raw: bool = False, share: float | None = None) -> Ratio:
    """Σ 1/P against the candidate pairs: of all items, or of those that the other half of the users saw."""
    seen = None if every or given.named else given.ask(SeenQuestion()).seen
    question = LevelQuestion(given.model, given.rules.unseen, raw=raw, share=share, seen=seen)
    return Ratio.of(given.ask(question))


def _over_relevant(given: LevelInputs, *, untrained: bool = False) -> Ratio:
    """Σ y/P against numbers of relevant items."""
    question = LevelQuestion(given.model, given.rules.unseen, relevant=True, untrained=untrained)
    return Ratio.of(given.ask(question))


def _few(ratio: Ratio) -> str:
    if ratio.known:
        return ""
    return f"too little was seen: {ratio.users:,} users, an effective {ratio.ess:.0f} weights"


def _off(ratio: Ratio, what: str, should: str) -> str:
    return (
        f"{what} is {ratio.value:.3g} of {should} ({ratio.errors:.0f} standard errors off), which it would equal on "
        "average if the propensities were those of this log"
    )


def _cause(given: LevelInputs, ratio: Ratio) -> str:
    """Which mistake would explain it, by undoing each."""
    model, rows, rules, facts = given.model, given.rows, given.rules, given.facts
    share = share_of(model, rows, rules)
    column = "The column" if "propensity" in model.reads else f"'{model}'"
    own = model.refers(rows) is Scope.TEST and "propensity" in model.reads and not rules.by_users
    if own and given.trained:
        part = facts.rows / (facts.rows + facts.known)
        if part < 1.0 and _over_pairs(given, raw=True, share=part).right:
            return (
                f"{column} seems to describe a whole log, of which the test log is a random {part:.2g}: if so, say "
                f"share={part:.2g}."
            )
    if not own and share is not None and not rules.by_users and _over_pairs(given, raw=True).right:
        return f"{column} seems to describe the test log itself: if so, leave the share out, or use known(part=test)."
    if not given.population and ratio.value > 1.0:
        return (
            "Users without any row are missing from the population, or the propensities are of another log: give the "
            "whole population with users=…."
        )
    if own and ratio.value < 1.0:
        return f"If the test log is a random part of the log that the column describes, say share=…. {_BY_CHANCE}"
    return (
        "The propensities may be those of other users, items or times, or of something else than being in this log "
        f"(of one impression, say): check users=…, items=… and share=….{f' {_BY_CHANCE}' if ratio.value < 1.0 else ''}"
    )


_BY_CHANCE = "If pairs with small propensities were seldom seen by chance, the log is too small for this."


def _of_catalogue(ratio: Ratio) -> str:
    said = _off(ratio, "Σ 1/P over the seen pairs", "the number of candidate pairs")
    return (
        f"The number of pairs to divide by is wrong: {said}. Items that nobody saw, or users, may be missing: name all "
        "with items=… and users=…."
    )


def _relevant_off(ratio: Ratio) -> str:
    return _off(ratio, "Σ 1/P over the seen relevant items", "the numbers of relevant items")


def _miscounted(given: LevelInputs, ratio: Ratio) -> str:
    """Numbers of relevant items that fit once those of training are taken off; empty otherwise."""
    if not ratio.wrong or not given.rules.unseen or not given.trained:
        return ""
    if not _over_relevant(given, untrained=True).right:
        return ""
    return (
        f"The numbers of relevant items are wrong: {_relevant_off(ratio)}. They seem to count training items too: "
        "count those outside training, or use candidates='all'."
    )


def _unclear(ratio: Ratio) -> str:
    """A sum that does not fit, where nothing says which side is wrong."""
    if not ratio.wrong:
        return ""
    return (
        f"The level of the propensities or the numbers of relevant items are wrong: {_relevant_off(ratio)}. A "
        "forgotten share=…, or numbers that were counted on another log, would explain it."
    )
