"""A toy of a distributed engine: users are dealt out to partitions, which are pickled and summed in other processes."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from unskew.engine.answers import AnswerSums
from unskew.engine.data import EvaluationData
from unskew.engine.engine import Engine
from unskew.engine.estimator_run import EstimatorRun
from unskew.engine.few_clicks import FewClicks
from unskew.engine.items import ItemSums
from unskew.engine.memory import MemoryEngine
from unskew.engine.plan import EvaluationPlan
from unskew.engine.sensitivity import ModelPair
from unskew.engine.sums import Sums, TippingSums
from unskew.engine.support import DifferingWorth, ItemWeights, ListedWorth, WeightSums
from unskew.inference.tally import Tally
from unskew.kernels.arrays import Floats, Ints64


def work(job: bytes) -> bytes:
    """What one process does: sum its users as the engine in memory does."""
    data, method, given, options = pickle.loads(job)
    return pickle.dumps(getattr(MemoryEngine(data, threads=1), method)(*given, **options))


@dataclass(frozen=True)
class PartitionEngine:
    """Users in partitions; what they bring is merged in a shuffled order.

    Args:
        rows: of every partition, the places of its rows in the whole log.
    """

    parts: tuple[EvaluationData, ...]
    rows: tuple[Ints64, ...]
    pool: ProcessPoolExecutor
    seed: int = 0

    @classmethod
    def of(cls, data: EvaluationData, parts: int, pool: ProcessPoolExecutor, seed: int = 0) -> PartitionEngine:
        """Deal the users out at random."""
        order = np.random.default_rng(seed).permutation(data.users).astype(np.int32)
        dealt = [order[n::parts] for n in range(parts)]
        rows = [np.concatenate([np.arange(data.indptr[u], data.indptr[u + 1]) for u in some]) for some in dealt]
        return cls(tuple(data.of_users(some) for some in dealt), tuple(rows), pool, seed)

    def _merged(self, method: str, *given: Any, **options: Any) -> Any:
        jobs = [pickle.dumps((part, method, given, options)) for part in self.parts]
        found = [pickle.loads(answer) for answer in self.pool.map(work, jobs)]
        np.random.default_rng(self.seed + 1).shuffle(found)
        return reduce(lambda a, b: None if a is None else a.merge(b) if hasattr(a, "merge") else a + b, found)

    @property
    def users(self) -> int:
        return sum(part.users for part in self.parts)

    @property
    def relative(self) -> bool:
        return self.parts[0].relative

    def first_pass(self, plan: EvaluationPlan, *, replicates: int = 0, seed: int = 0, keep: bool = False) -> Sums:
        assert not keep, "columns per user are for small logs"
        found: Sums = self._merged("first_pass", plan, replicates=replicates, seed=seed)
        return found

    def second_pass(self, pairs: Sequence[ModelPair], *, replicates: int = 0, seed: int = 0) -> TippingSums:
        found: TippingSums = self._merged("second_pass", pairs, replicates=replicates, seed=seed)
        return found

    def item_counts(self) -> Ints64:
        found = [MemoryEngine(part).item_counts() for part in self.parts]
        out = np.zeros(max(map(len, found)), dtype=np.int64)
        for counts in found:
            out[: len(counts)] += counts
        return out

    def together(self, *questions: Callable[[Engine], Any]) -> tuple[Any, ...]:
        return tuple(question(self) for question in questions)

    def click_counts(self) -> Ints64:
        return np.asarray(np.sum([part.click_counts for part in self.parts], axis=0))

    def few_clicks(self, run: EstimatorRun, limit: np.uint64 | None = None) -> FewClicks:
        found: FewClicks = self._merged("few_clicks", run, limit)
        return found

    def listed_worth(self, table: Floats) -> ListedWorth | None:
        found: ListedWorth | None = self._merged("listed_worth", table)
        return found

    def differing_worth(
        self, a: int, b: int, weights: ItemWeights, worth: Floats, limit: np.uint64 | None
    ) -> DifferingWorth:
        found: DifferingWorth = self._merged("differing_worth", a, b, weights, worth, limit)
        return found

    def lists_apart(self, a: int, b: int, worth: Floats) -> float:
        found: float = self._merged("lists_apart", a, b, worth)
        return found

    def weight_sums(self) -> WeightSums:
        found: WeightSums = self._merged("weight_sums")
        return found

    def answer_sums(self, worths: Floats) -> AnswerSums | None:
        found: AnswerSums | None = self._merged("answer_sums", worths)
        return found

    def item_worths(self, worths: Floats) -> ItemSums:
        found: ItemSums = self._merged("item_worths", worths)
        return found

    def item_sums(self, run: EstimatorRun) -> ItemSums:
        found: ItemSums = self._merged("item_sums", run)
        return found

    def item_tally(self, run: EstimatorRun, weights: Floats) -> Tally:
        found: Tally = self._merged("item_tally", run, weights)
        return found

    def with_propensities(self, rows: Floats) -> PartitionEngine:
        parts = tuple(replace(part, propensity=rows[own]) for part, own in zip(self.parts, self.rows, strict=True))
        return replace(self, parts=parts)

    def weighted_sums(self, plan: EvaluationPlan, *, seed: int = 0, replicate: int | None = None) -> Floats:
        found: Floats = self._merged("weighted_sums", plan, seed=seed, replicate=replicate)
        return found


def processes() -> ProcessPoolExecutor:
    """Two processes that share nothing with this one."""
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
