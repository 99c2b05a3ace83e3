"""What every estimator is: a weight per seen interaction, and a divisor.

    estimate = over users:  Σ over seen items  weight · y · worth(rank)  /  divisor

An estimator knows nothing of metrics, ranks, files, threads, intervals or reports. It says what it needs
(``needs``), takes what must be settled before any batch of users (``prepare``), and gives its ``terms``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from unskew.core.parts import Part
from unskew.estimators.scenarios import Scenarios
from unskew.estimators.summary import Summary
from unskew.estimators.target import Target
from unskew.kernels.arrays import Bools, Floats, Ints32, Ints64, present

if TYPE_CHECKING:
    from unskew.engine.census import CensusBlock
    from unskew.engine.data import JoinedBlock


class Need(StrEnum):
    """What an estimator asks of the log, beyond the rows themselves."""

    PROPENSITY = "propensity"  # how likely each pair was to be seen
    ABSOLUTE = "absolute"  # ... and its level must mean something
    RELEVANT = "relevant"  # n_u, the number of relevant items, seen or not
    CANDIDATES = "candidates"  # |C_u|, the number of candidate items
    ZEROS = "zeros"  # the seen pairs that brought nothing
    SHARES = "shares"  # P(v), measured outside the positives of a skewed log
    OUTCOME = "outcome"  # q, what an unseen pair would have yielded
    LISTS = "lists"  # the lists themselves, not only the ranks of seen items
    COUNTS = "counts"  # how often each item was seen in training
    ANSWERS = "answers"  # pairs that were drawn with known probabilities, shown and answered
    CENSUS = "census"  # a model of all pairs, fitted to the held-out rows, whose error is told


class Standing(StrEnum):
    """What may be claimed of an estimator under a target, the strongest first: headlines go by it."""

    ANSWERED = "rests on answers"  # that were asked for with known probabilities, whatever the log
    UNBIASED = "unbiased"  # whatever the number of users
    CONSISTENT = "consistent"  # as users grow
    LEANS = "leans towards naive"  # consistent only as clicks per user grow
    SCENARIOS = "holds over scenarios"  # in whichever of them is right
    BIASED = "biased on purpose"  # trades bias for spread, or promises nothing
    MODEL = "rests on a model"  # nothing that was seen corrects it
    NAIVE = "not debiased"

    @property
    def place(self) -> int:
        """0 for the strongest."""
        return list(Standing).index(self)

    @property
    def debiased(self) -> bool:
        """Whether it tries to undo the skew of the log at all."""
        return self is not Standing.NAIVE


@dataclass(frozen=True, eq=False)
class Batch:
    """Whole users, also those without rows; everything an estimator may look at.

    Args:
        indptr: rows of user u are ``indptr[u] … indptr[u + 1] − 1``.
        value: y of each row (1 for implicit feedback), as a gain.
        rating: y of each row as it came, which predictions are compared with.
        propensity: P of each row, before any clipping.
        labels: per-row codes of columns that strata may use.
        relevant: n_u of each user.
        candidates: |C_u| of each user.
        q: what an outcome model says of each row.
        q_total: Σ q over all candidates of each user.
        floor: the least propensity that weights may use (a clip).
        counted: a code of how often each row's item was seen in training (``Summary.counts`` says how often).
        census: what a census model says of the users' rows and candidates.
        joined: the same users with the rows of the log and the answers, where there are any.
    """

    indptr: Ints64
    value: Floats
    propensity: Floats | None = None
    labels: Mapping[str, Ints32] = field(default_factory=dict)
    relevant: Floats | None = None
    candidates: Floats | None = None
    rating: Floats | None = None
    q: Floats | None = None
    q_total: Floats | None = None
    floor: float = 0.0
    counted: Ints32 | None = None
    census: CensusBlock | None = None
    joined: JoinedBlock | None = None

    @property
    def users(self) -> int:
        """How many users the batch holds."""
        return len(self.indptr) - 1

    def of_rows(self, rows: Ints64 | Bools, indptr: Ints64) -> Self:
        """Some of the rows; ``indptr`` says whose they are."""
        return replace(
            self,
            indptr=indptr,
            value=self.value[rows],
            propensity=None if self.propensity is None else self.propensity[rows],
            labels={name: codes[rows] for name, codes in self.labels.items()},
            rating=None if self.rating is None else self.rating[rows],
            q=None if self.q is None else self.q[rows],
            counted=None if self.counted is None else self.counted[rows],
        )

    @property
    def inverse(self) -> Floats:
        """1/P, the raw material of weights, after the clip."""
        return 1.0 / np.maximum(present(self.propensity), self.floor)


class Normaliser(StrEnum):
    """What a term is divided by."""

    OWN = "own"  # the target's own: n_u, |C_u|, or 1
    PAIRS = "pairs"  # Σ of a weight over the user's seen pairs
    USERS = "users"  # a number per user
    LISTED = "listed"  # Σ of a weight times the worth of the rank, over the user's seen pairs


class Over(StrEnum):
    """Over what an average over pairs is normalised before it is averaged again."""

    PAIRS = "pairs"  # one divisor for all
    USER = "user"  # one per user; the users' ratios are averaged
    ITEM = "item"  # one per item; the items' ratios are averaged
    LIST = "list"  # of sums: the seen pairs of the list only


@dataclass(frozen=True, eq=False)
class Divisor:
    """The divisor of a term: its kind and, unless it is the target's own, the numbers."""

    kind: Normaliser
    numbers: Floats | None = None


OWN = Divisor(Normaliser.OWN)


def pairs(weight: Floats) -> Divisor:
    """Divide by the sum of this weight over seen pairs (times y where the target averages over relevant items)."""
    return Divisor(Normaliser.PAIRS, weight)


def users(number: Floats) -> Divisor:
    """Divide by a number per user; users with 0 do not count."""
    return Divisor(Normaliser.USERS, number)


def listed(weight: Floats) -> Divisor:
    """Divide by the sum of this weight times the worth of the rank, over the seen pairs of the list."""
    return Divisor(Normaliser.LISTED, weight)


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """What a tipping point varies: the inverse propensities, and the groups over which weights are shared.

    The weights of the term are these inverse propensities, averaged over groups where there are any, and a divisor
    by pairs is their sum.

    Args:
        inverse: the r that may be wrong.
        relative: whether r may be wrong by a factor (relative propensities) or by its odds (absolute ones).
        groups: with weights averaged over groups (gs), the group of each row and how many there are.
    """

    inverse: Floats
    relative: bool | None = None
    groups: tuple[Ints32, int] | None = None


@dataclass(frozen=True, eq=False)
class Term:
    """One summand of an estimate.

    Args:
        seen: a weight per seen pair, without y; ``None`` where seen pairs do not enter.
        divisor: what the sum is divided by.
        raised: how many pairs a clip raised, or switch left out.
        sensitivity: what a tipping point varies; ``None`` where weights do not come from propensities.
        residual: the weight is that of y − q instead of y.
        listed: the outcome model's q of all listed pairs is added, under per_pair that of all candidates.
    """

    seen: Floats | None
    divisor: Divisor
    raised: int = 0
    sensitivity: Sensitivity | None = None
    residual: bool = False
    listed: bool = False

    def counted(self, batch: Batch, target: Target) -> Floats:
        """What every seen pair counts besides its weight."""
        if target is Target.PER_PAIR:
            return np.ones(len(batch.value))  # the cost of a pair holds its value
        return batch.value - present(batch.q) if self.residual else batch.value


class Estimator(Part, ABC):
    """One way of making a weight out of a propensity.

    What an estimator needs and may claim is an attribute where it is the same under every target; else it has methods
    ``needs``, ``promise`` and ``standing`` of its own.
    """

    valid: ClassVar[frozenset[Target]] = frozenset(Target)
    always_needs: ClassVar[frozenset[Need]] = frozenset({Need.PROPENSITY})
    claim: ClassVar[tuple[Standing, str]] = (Standing.BIASED, "no promise")

    @property
    def normalised(self) -> Over:
        """Over what an average over pairs is normalised."""
        return Over.PAIRS

    @property
    def innermost(self) -> Estimator:
        """The estimator inside all clips."""
        return self

    @property
    def unclippable(self) -> str:
        """Why its weights cannot be clipped, in words that go on after its name; empty where they can."""
        weighs = Need.PROPENSITY in self.needs(Target.PER_USER_SUM)
        return "" if weighs else "does not weigh by propensities: there is nothing to clip."

    @property
    def needs_level_because(self) -> str:
        """Why only absolute propensities will do, where that is a matter of an option; empty where it is not."""
        return ""

    @property
    def assumption(self) -> str:
        """What its own weights rest on, in words that go on after "if"; empty where propensities are given."""
        return ""

    def scenarios(self, target: Target) -> Scenarios | None:
        """The scenarios in which it is computed; ``None`` where nothing is left open."""
        return None

    @property
    def tilt(self) -> tuple[float, float] | None:
        """δ and κ by which a census model's predictions are tilted; ``None`` where it is not asked."""
        return None

    def item_propensity(self, counts: Floats) -> Floats | None:
        """P, up to a factor, of items that were seen so often in training; ``None`` where counts are not used."""
        return None

    @property
    def counted_error(self) -> Callable[[Floats], tuple[Floats, Floats]] | None:
        """From items' training counts: Var(log weight), and how much more they may weigh; ``None`` without counts."""
        return None

    def similar(self) -> Iterable[Estimator]:
        """Estimators of nearly the same meaning that serve more often, for advice."""
        return ()

    @property
    def with_table(self) -> tuple[Self, str] | None:
        """The same with a table of the user's own instead of what the log cannot tell, and how to give it."""
        return None

    def needs(self, target: Target) -> frozenset[Need]:
        """What must be known for this target."""
        return self.always_needs

    def promise(self, target: Target) -> str:
        """What may be claimed of its value, in a few words."""
        cut = self.claim[0] is Standing.UNBIASED and target is Target.SUM_PER_USER
        return "no promise: a ratio inside each user, cut to [0, 1]" if cut else self.claim[1]

    def standing(self, target: Target) -> Standing:
        """How strong that claim is; ratios of unbiased sums are consistent, and cut ratios promise nothing."""
        if self.claim[0] is Standing.UNBIASED and target.normalised:
            return Standing.CONSISTENT if target is Target.SUM_POOLED else Standing.BIASED
        return self.claim[0]

    def prepare(self, summary: Summary) -> Self:
        """Settle what depends on the whole log (strata edges, clips), once, before any batch."""
        return self

    def prepare_probe(self, summary: Summary) -> Self:
        """Settle the same on a made-up log, whose terms show what the estimator is; nothing may be read from files."""
        return self.prepare(summary)

    @abstractmethod
    def terms(self, batch: Batch, target: Target) -> tuple[Term, ...]:
        """The weights and divisors of a batch of users."""
