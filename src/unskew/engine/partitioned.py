"""The engine for rows that lie elsewhere: parts of the users are brought here one by one, or summed where they are.

Every question is answered by the engine in memory for each part, and the answers are merged. Where the rows are, and in
which order parts come, is known to ``walk`` alone; it may answer parts side by side, in other processes or on other
machines, as long as the answer of each part counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np

from unskew.core.errors import InputError
from unskew.engine.answers import AnswerSums
from unskew.engine.data import EvaluationData
from unskew.engine.engine import Engine
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.few_clicks import FewClicks
from unskew.engine.items import ItemSums
from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import EvaluationPlan
from unskew.engine.sampled_users import ListsOfSome, lists_of_some, sample_limit
from unskew.engine.sensitivity import ModelPair
from unskew.engine.sums import Sums, TippingSums
from unskew.engine.support import DifferingWorth, ItemWeights, ListedWorth, WeightSums, differing_lists
from unskew.inference.tally import Tally
from unskew.kernels.arrays import Floats, Ints64

Question = Callable[[Engine], Any]


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of some users to several questions; those of other users are added."""

    values: tuple[Any, ...]

    def merge(self, other: Answers) -> Answers:
        """The answers of both sets of users; those of nobody are empty."""
        if not self.values or not other.values:
            return self if self.values else other
        return Answers(tuple(_added(a, b) for a, b in zip(self.values, other.values, strict=True)))


def _added(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return None
    if isinstance(a, tuple):
        return tuple(_added(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and a.ndim == 1 and len(a) != len(b):  # numbers by item, up to the last that occurs
        short, long = sorted((a, b), key=len)
        return long + np.pad(short, (0, len(long) - len(short)))
    return a.merge(b) if hasattr(a, "merge") else a + b


@dataclass(frozen=True, eq=False)
class Ask:
    """What is done with every part: its engine in memory answers the questions, and gives the lists of sampled users.

    Args:
        limit: of the hashes of the users whose lists are kept; ``None`` for everybody.
        lists: whether they are.
    """

    questions: tuple[Question, ...]
    threads: int | None = None
    limit: np.uint64 | None = None
    lists: bool = False

    def __call__(self, held: EvaluationData) -> Answers:
        """The answers of a part, and the lists behind them."""
        engine = MemoryEngine(held, self.threads)
        kept = lists_of_some(held, self.limit) if self.lists else None
        return Answers((*(question(engine) for question in self.questions), kept))


class Basics(NamedTuple):
    """What is known of the users before their rows are summed: their number, clicks, and relevant rows by item."""

    users: int
    click_counts: Ints64
    item_counts: Ints64


Walk = Callable[[Ask], Answers]  # asks every part that has users, and merges the answers


@dataclass(frozen=True, eq=False)
class PartitionedEngine:
    """Held-out rows in parts of the users.

    Args:
        walk: asks all parts.
        relative: whether propensities are known up to a factor only.
        threads: of each part.
        known: what is known of the users already.
    """

    walk: Walk
    relative: bool
    threads: int | None = None
    known: Basics | None = None
    _kept: dict[str, tuple[ListsOfSome, ...]] = field(default_factory=dict)

    @cached_property
    def _basics(self) -> Basics:
        if self.known is not None:
            return self.known
        questions: tuple[Question, ...] = (_users, _click_counts, _item_counts)
        return Basics(*self.walk(Ask(questions, self.threads)).values[:-1])

    @property
    def users(self) -> int:
        """How many users there are."""
        return self._basics.users

    def together(self, *questions: Question) -> tuple[Any, ...]:
        """The answers to several questions, in one walk; lists of sampled users are kept for ``differing_worth``."""
        wanted = "lists" not in self._kept
        limit = sample_limit(self.users) if wanted else None
        *answers, lists = self.walk(Ask(questions, self.threads, limit, wanted)).values
        if wanted:
            self._kept["lists"] = lists
        return tuple(answers)

    def first_pass(self, plan: EvaluationPlan, *, replicates: int = 0, seed: int = 0, keep: bool = False) -> Sums:
        """Everything that estimates and intervals are made of."""
        if keep:
            self._refuse("columns of every user")
        found: Sums = self._ask(lambda rows: rows.first_pass(plan, replicates=replicates, seed=seed))
        return found

    def second_pass(self, pairs: Sequence[ModelPair], *, replicates: int = 0, seed: int = 0) -> TippingSums:
        """Everything that tipping points are made of."""
        found: TippingSums = self._ask(lambda rows: rows.second_pass(pairs, replicates=replicates, seed=seed))
        return found

    def item_counts(self) -> Ints64:
        """How many relevant held-out pairs every item has."""
        return self._basics.item_counts

    def click_counts(self) -> Ints64:
        """How many users have 1, 2, 3–5, 6+ seen relevant items."""
        return self._basics.click_counts

    def few_clicks(self, run: EstimatorRun, limit: np.uint64 | None = None) -> FewClicks:
        """How far ratios inside users move when a click is left out."""
        found: FewClicks = self._ask(lambda rows: rows.few_clicks(run, limit))
        return found

    def listed_worth(self, table: Floats) -> ListedWorth | None:
        """How much of the lists' worth the log could never show."""
        found: ListedWorth | None = self._ask(lambda rows: rows.listed_worth(table))
        return found

    def differing_worth(
        self, a: int, b: int, weights: ItemWeights, worth: Floats, limit: np.uint64 | None
    ) -> DifferingWorth:
        """Where the lists of two models differ, for the sampled users."""
        if "lists" not in self._kept:
            self.together()
        lists = self._kept["lists"]
        users = np.arange(len(lists[a].lengths), dtype=np.int64)
        weights = weights.of_codes(1 + max(int(lists[model].item.max(initial=-1)) for model in (a, b)))
        return differing_lists(lists[a], lists[b], users, weights, worth)

    def lists_apart(self, a: int, b: int, worth: Floats) -> float:
        """By how much worth the lists of two models differ, over all users."""
        found: float = self._ask(lambda rows: rows.lists_apart(a, b, worth))
        return found

    def weight_sums(self) -> WeightSums:
        """What the weights of every item's seen relevant pairs are."""
        found: WeightSums = self._ask(lambda rows: rows.weight_sums())
        return found

    def answer_sums(self, worths: Floats) -> AnswerSums | None:
        """Where answers lie."""
        found: AnswerSums | None = self._ask(lambda rows: rows.answer_sums(worths))
        return found

    def item_worths(self, worths: Floats) -> ItemSums:
        """Σ y·worth by metric, model and item, and Σ y by item."""
        found: ItemSums = self._ask(lambda rows: rows.item_worths(worths))
        return found

    def item_sums(self, run: EstimatorRun) -> ItemSums:
        """Sums per item."""
        found: ItemSums = self._ask(lambda rows: rows.item_sums(run))
        return found

    def item_tally(self, run: EstimatorRun, weights: Floats) -> Tally:
        """The tally of the weights in ratios per item."""
        found: Tally = self._ask(lambda rows: rows.item_tally(run, weights))
        return found

    def with_propensities(self, rows: Floats) -> PartitionedEngine:
        """Refused: propensities of all rows at once would have to be in memory."""
        self._refuse("propensities of every row")

    def weighted_sums(self, plan: EvaluationPlan, *, seed: int = 0, replicate: int | None = None) -> Floats:
        """Column sums with the users' weights in a bootstrap replicate, or with everybody once."""
        found: Floats = self._ask(lambda rows: rows.weighted_sums(plan, seed=seed, replicate=replicate))
        return found

    def _ask(self, question: Question) -> Any:
        return self.together(question)[0]

    def _refuse(self, what: str) -> NoReturn:
        raise InputError(f"{what} would have to be in memory at once: use engine='memory'.", code="needs-whole-log")


def _users(rows: Engine) -> int:
    return rows.users


def _click_counts(rows: Engine) -> Ints64:
    return rows.click_counts()


def _item_counts(rows: Engine) -> Ints64:
    return rows.item_counts()
