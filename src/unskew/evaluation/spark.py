"""An evaluation of DataFrames of Spark: Spark brings the rows of users together, workers add them up.

    check and deal out rows → look through the inputs → count training rows → align → sum → tipping points

Each arrow is one job. Rows that were dealt out, and parts that were aligned, are kept by Spark (on the executors' disks
and memory) until the evaluation is over. To the driver come vocabularies of items and sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from unskew.alignment.inputs import Inputs
from unskew.alignment.part import AlignedPart, PartFacts
from unskew.core.errors import InputError
from unskew.engine.spark.dealing import Part, parts_in
from unskew.engine.spark.folding import Partial, rows_of
from unskew.engine.spark.frames import is_frame, local_frame, read_parquet
from unskew.engine.spark.packing import packed, unpacked
from unskew.evaluation.conclude import conclude
from unskew.evaluation.dealt import DealtInputs, as_rows, equipped_workers, mapped, named
from unskew.evaluation.part_inputs import (
    GUESSES,
    MODEL,
    TEST,
    AlignedFacts,
    AskedInput,
    PartMaker,
    asked_inputs,
    bare,
    facts_of,
)
from unskew.evaluation.partitions import refuse_whole_logs, settle_parts
from unskew.evaluation.parts_of_users import AlignedParts, M
from unskew.evaluation.read import Stage
from unskew.evaluation.request import Request
from unskew.evaluation.run import reporter
from unskew.kernels.arrays import present
from unskew.log.batches import Reading
from unskew.result import Result

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

IDS = ("user", "item", "policy")


def evaluate(
    test: Any,
    models: Mapping[str, Any],
    *,
    train: Any = None,
    users: Any = None,
    partitions: int | None = None,
    progress: Stage | None = None,
    **options: Any,
) -> Result:
    """``unskew.evaluate`` on DataFrames of Spark, of any size: the same options, the same result.

    Spark moves the rows, Python workers add them up, and only sums and the items' ids come to the driver. What needs
    the whole log in memory (outcome models that are fitted here, other than means; fitted propensities other than
    popularity and naive_bayes; answers, samples, ``refit``, ``per_user``) is refused. The session of the DataFrames is
    used, and left as it is.

    Args:
        test: the held-out log, a DataFrame.
        models: name → DataFrame of lists, or of predictions for rating metrics.
        train: the training log, a DataFrame.
        users: the population, a DataFrame.
        partitions: into how many parts the users are divided; each must fit into a worker's memory. By default rows
            are counted first, and there is a part for each million.
        progress: called with (stage, done, total).
        options: those of ``unskew.evaluate``. ``items`` and ``mcar`` may be DataFrames of Spark, and are brought to
            the driver. The table of ``outcome="given(FILE)"`` is Parquet that all workers can read.
    """
    for name in ("engine", "memory"):
        if options.get(name) is not None:
            raise InputError(
                f"{name}=… is an option of unskew.evaluate: leave it out, Spark is the engine here.",
                code="unknown-argument",
            )
    given = {name: _here(value) if name in ("items", "mcar") else value for name, value in options.items()}
    request = Request.of(test, models, train=train, users=users, **given)
    return evaluate_rows(request, partitions, progress)


def evaluate_rows(request: Request, partitions: int | None, progress: Stage | None) -> Result:
    """The result of a request whose inputs are DataFrames."""
    say = reporter(progress)
    refuse_whole_logs(request)
    request = replace(request, threads=request.threads or 1)
    with equipped_workers(), SparkPartitions(request, partitions, say) as parts:
        return conclude(settle_parts(parts.request, parts, say))


def _here(given: Any) -> Any:
    return local_frame(given.toArrow()) if given is not None and is_frame(given) else given


@dataclass(frozen=True, eq=False)
class Folding:
    """Carries a function to the inputs of parts.

    Args:
        names: of the inputs.
    """

    names: tuple[str, ...]
    make: PartMaker
    of: Callable[[Inputs], Any]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One partial sum for each part."""
        for part in parts_in(batches):
            yield rows_of([Partial.of(part.number, part.checksum, self._found, part).row])

    def _found(self, part: Part) -> Any:
        inputs = self.make(named(part, self.names).get, lists=False)
        return self.of(inputs) if len(inputs.users) else None


@dataclass(frozen=True, eq=False)
class Aligner:
    """Aligns parts: the first row of a part has the facts, the others the part itself.

    Args:
        shared: vocabularies, which are not kept with every part.
    """

    names: tuple[str, ...]
    make: PartMaker
    of: Callable[[Inputs], AlignedPart]
    also: Callable[[Inputs], Any]
    shared: tuple[object, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The rows of each part."""
        for part in parts_in(batches):
            kept: list[AlignedPart] = []
            yield rows_of([Partial.of(part.number, part.checksum, partial(self._facts, kept=kept), part).row])
            yield from kept_rows(part.number, part.checksum, bare(kept[0]) if kept else None, self.shared)

    def _facts(self, part: Part, kept: list[AlignedPart]) -> AlignedFacts:
        """What is known of a part, which is kept where it has users; lists of nobody else are counted too."""
        inputs = self.make(named(part, self.names).get, lists=True)
        aligned = self.of(inputs)
        kept += [aligned] if len(inputs.users) else []
        return AlignedFacts(present(aligned.facts), self.also(inputs))


def kept_rows(number: int, checksum: int, part: AlignedPart | None, shared: tuple[object, ...]) -> Iterator[Any]:
    """The rows in which Spark keeps an aligned part; their pieces are counted from 1."""
    for piece, chunk in enumerate(packed((checksum, part), shared), 1):
        yield rows_of([(number, piece, chunk)])


def aligned_in(batches: Iterable[Any], shared: tuple[object, ...]) -> Iterator[tuple[int, int, AlignedPart | None]]:
    """The aligned parts in such rows, with their numbers and checksums."""
    rows: dict[int, dict[int, bytes]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            if row["piece"]:
                rows.setdefault(row["part"], {})[row["piece"]] = row["data"]
    for number in sorted(rows):
        pieces = rows.pop(number)
        checksum, part = unpacked([pieces[piece] for piece in sorted(pieces)], shared)
        yield number, checksum, part


@dataclass(frozen=True, eq=False)
class Asking:
    """Carries a function to aligned parts."""

    of: Callable[[AlignedPart], Any]
    shared: tuple[object, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One partial sum for each part."""
        for number, checksum, part in aligned_in(batches, self.shared):
            yield rows_of([Partial.of(number, checksum, self._found, part).row])

    def _found(self, part: AlignedPart | None) -> Any:
        return None if part is None else self.of(part)


@dataclass(frozen=True, eq=False)
class Remaking:
    """Carries a function to aligned parts that makes them anew; rows as those of ``Aligner``."""

    of: Callable[[AlignedPart], tuple[AlignedPart, Any]]
    shared: tuple[object, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The rows of each part."""
        for number, checksum, part in aligned_in(batches, self.shared):
            made: list[AlignedPart] = []
            yield rows_of([Partial.of(number, checksum, partial(self._found, made=made), part).row])
            yield from kept_rows(number, checksum, made[0] if made else None, self.shared)

    def _found(self, part: AlignedPart | None, made: list[AlignedPart]) -> Any:
        if part is None:
            return None
        again, found = self.of(part)
        made.append(again)
        return found


class SparkPartitions:
    """The inputs of an evaluation in parts of the users, on the executors of Spark."""

    def __init__(self, request: Request, partitions: int | None, say: Stage) -> None:
        self.request, self._say = request, say
        asked = asked_inputs(request, lambda name, given: as_rows(name, given).columns)
        inputs = {}
        for name, each in asked:
            if name == GUESSES:
                rows = read_parquet(as_rows(TEST, request.test).frame.sparkSession, each.given)
            else:
                rows = as_rows(name.removeprefix(MODEL), each.given)
            inputs[name] = rows, _reading(each, rows.source, request)
        self._dealt = DealtInputs(inputs, partitions, say)

    def __enter__(self) -> Self:
        """Deal the rows out, and look through them."""
        self._dealt.__enter__()
        try:
            self.facts = facts_of(self.request, self._dealt.looked)
        except BaseException:
            self._dealt.release()
            raise
        self._make = PartMaker(self._dealt.makers, self.facts, self.request.rates)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._dealt.release()

    @property
    def people(self) -> tuple[str, ...]:
        """The columns of the population."""
        return self._make.people

    def fold(self, of: Callable[[Inputs], M], stage: str) -> M:
        """What a function finds in every part that has users, of logs and population only."""
        self._say(stage, 0, 1)
        found: M = self._dealt.fold(Folding(self._dealt.names, self._make, of))
        return found

    def align(
        self, of: Callable[[Inputs], AlignedPart], also: Callable[[Inputs], M]
    ) -> tuple[AlignedParts, PartFacts, M]:
        """Align every part and keep it on the executors."""
        self._say("aligning", 0, 1)
        own = (maker.items for maker in self._dealt.makers.values())
        shared = (*own, *(ids for ids in getattr(of, "vocabulary", ()) if ids is not None))
        worker = Aligner(self._dealt.names, self._make, of, also, shared)
        rows = self._dealt.mapped(worker)
        found: AlignedFacts = self._dealt.merged(rows.where("piece = 0"))
        return SparkParts(self._dealt, rows, shared, self._say), found.facts, found.also


class SparkParts:
    """Aligned parts, kept by Spark."""

    def __init__(self, dealt: DealtInputs, rows: DataFrame, shared: tuple[object, ...], say: Stage) -> None:
        self._dealt, self._rows, self._shared, self._say = dealt, rows, shared, say

    def fold(self, of: Callable[[AlignedPart], M], stage: str) -> M:
        """What a function finds in every part, merged."""
        self._say(stage, 0, 1)
        found: M = self._dealt.merged(mapped(self._rows, Asking(of, self._shared)))
        return found

    def remade(self, of: Callable[[AlignedPart], tuple[AlignedPart, M]], stage: str) -> tuple[AlignedParts, M]:
        """The parts as a function makes them anew, kept by Spark in place of these."""
        self._say(stage, 0, 1)
        rows = self._dealt.keep(mapped(self._rows, Remaking(of, self._shared)))
        found: M = self._dealt.merged(rows.where("piece = 0"))
        self._rows.unpersist()
        return SparkParts(self._dealt, rows, self._shared, self._say), found


def _reading(asked: AskedInput, source: str, request: Request) -> Reading:
    """How an input is read."""
    log = asked.kind == "log"
    return Reading(
        asked.kind,
        source,
        asked.columns,
        asked.keep,
        request.invalid == "drop",
        request.feedback if log else None,
        request.duplicates if log else None,
    )
