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
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import polars as pl

from unskew.alignment.inputs import Inputs
from unskew.alignment.part import AlignedPart, PartFacts
from unskew.engine.spark.dealing import Dealing, Part, Piece, dealt, part_numbers, parts_in
from unskew.engine.spark.folding import COLUMNS, Partial, fold, rows_of
from unskew.engine.spark.frames import PARTS, SparkRows, is_frame, local_frame, usual_parts
from unskew.engine.spark.packing import packed, unpacked
from unskew.engine.spark.problems import Problem
from unskew.errors import InputError
from unskew.evaluation.conclude import conclude
from unskew.evaluation.part_inputs import (
    MODEL,
    AlignedFacts,
    AskedInput,
    LookedThrough,
    PartMaker,
    asked_inputs,
    bare,
    facts_of,
)
from unskew.evaluation.partitions import AlignedParts, M, refuse_whole_logs, settle_parts
from unskew.evaluation.read import Stage
from unskew.evaluation.request import Request
from unskew.evaluation.run import reporter
from unskew.inference.merging import added_counts
from unskew.log import Account, Feedback, Ids
from unskew.log.batches import Reading, common_type, id_type
from unskew.log.lists import RANKED
from unskew.log.log import WEIGHT
from unskew.log.match import differing
from unskew.log.said import say_columns
from unskew.log.user_parts import UserParts, refuse_padded
from unskew.result import Result

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
    the whole log in memory (outcome models, fitted propensities other than popularity and naive_bayes, answers,
    samples, ``refit``, ``per_user``) is refused. The session of the DataFrames is used, and left as it is.

    Args:
        test: the held-out log, a DataFrame.
        models: name → DataFrame of lists, or of predictions for rating metrics.
        train: the training log, a DataFrame.
        users: the population, a DataFrame.
        partitions: into how many parts the users are divided; each must fit into a worker's memory. By default rows
            are counted first, and there is a part for each million.
        progress: called with (stage, done, total).
        options: those of ``unskew.evaluate``. ``items`` and ``mcar`` may be DataFrames of Spark, and are brought to
            the driver.
    """
    for name in ("engine", "memory"):
        if options.get(name) is not None:
            raise InputError(f"{name}=… is an option of unskew.evaluate: leave it out, Spark is the engine here.")
    given = {name: _here(value) if name in ("items", "mcar") else value for name, value in options.items()}
    request = Request.of(test, models, train=train, users=users, **given)
    return evaluate_rows(request, partitions, progress)


def evaluate_rows(request: Request, partitions: int | None, progress: Stage | None) -> Result:
    """The result of a request whose inputs are DataFrames."""
    say = reporter(progress)
    if partitions is not None:
        PARTS.of(partitions, "partitions")
    refuse_whole_logs(request)
    try:
        with SparkPartitions(replace(request, threads=request.threads or 1), partitions, say) as parts:
            return conclude(settle_parts(parts.request, parts, say))
    except Exception as problem:
        if "No module named 'unskew'" in str(problem):
            raise InputError(
                "Spark's workers run a Python without unskew.\nSet PYSPARK_PYTHON to one that has it before the "
                "session starts (on one machine: this one), or ship the package to the workers: docs/spark.md."
            ) from problem
        raise


def _here(given: Any) -> Any:
    return local_frame(given.toArrow()) if given is not None and is_frame(given) else given


def _rows(name: str, given: Any) -> SparkRows:
    """An input that must be a DataFrame."""
    if isinstance(given, SparkRows):
        return given
    if not is_frame(given):
        raise InputError(
            f"unskew.spark takes DataFrames of Spark, and {name} is a {type(given).__name__}.\nRead it with Spark "
            "(spark.read.parquet(…), spark.createDataFrame(…)), or use unskew.evaluate, which works in memory."
        )
    return SparkRows(given, name)


def _somewhere(rows: Any) -> str:
    return "a row" if len(rows) == 1 else "two rows"


class SparkInput(NamedTuple):
    """One input, ready to be read by tasks: its used columns, and the types of its ids."""

    frame: DataFrame
    reading: Reading
    types: Mapping[str, pl.DataType]

    @classmethod
    def of(cls, rows: SparkRows, asked: AskedInput, request: Request) -> SparkInput:
        """Which columns are used is decided here, and types that will not do are refused."""
        log = asked.kind == "log"
        how = Reading(
            asked.kind,
            rows.source,
            asked.columns,
            asked.keep,
            request.invalid == "drop",
            request.feedback if log else None,
            request.duplicates if log else None,
        )
        names, types = how.names(rows.source, rows.columns), rows.types
        used = pl.Schema({ours: types[theirs] for ours, theirs in names.items()})
        say_columns(rows.source, names, *([RANKED] if "score" in names else ()))
        how = replace(how, columns=names)  # by which tasks name columns
        how.check(pl.DataFrame(schema=used), rows.source, 0, {})
        return cls(rows.used(names), how, {name: id_type(dtype) for name, dtype in used.items() if name in IDS})


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of one input after a look at some of its rows; that of others is added.

    Args:
        rows: how many came; ``kept`` how many are clean.
        said: feedback, type of the times and columns: alike in all pieces.
        items: the different ones.
    """

    rows: int = 0
    kept: int = 0
    dropped: Mapping[str, int] | None = None
    notes: tuple[str, ...] = ()
    said: tuple[Feedback | None, pl.DataType | None, pl.Schema] | None = None
    weights: tuple[float, float] | None = None
    items: pl.Series | None = None

    @classmethod
    def of_piece(cls, piece: Piece) -> Found:
        """What the task that checked the rows says."""
        checked = piece.checked
        said = (checked.feedback, checked.clock, piece.schema)
        return cls(piece.rows, piece.kept, checked.dropped, checked.notes, said)

    @classmethod
    def of_rows(cls, frame: pl.DataFrame) -> Found:
        """What the rows of a part say."""
        weights = None
        if WEIGHT in frame.columns:
            numbers = frame[WEIGHT].cast(pl.Float64).to_numpy()
            weights = float(numbers.min()), float(numbers.max())
        return cls(weights=weights, items=frame["item"].unique() if "item" in frame.columns else None)

    def merge(self, other: Found) -> Found:
        """Of both."""
        if self.said is not None and other.said is not None and self.said != other.said:
            raise InputError(
                "column 'time' must be all numbers, or all dates written alike.\nWrite all times in one way."
            )
        weights = [each.weights for each in (self, other) if each.weights is not None]
        items = [each.items for each in (self, other) if each.items is not None]
        return Found(
            self.rows + other.rows,
            self.kept + other.kept,
            added_counts(self.dropped or {}, other.dropped or {}),
            tuple(dict.fromkeys((*self.notes, *other.notes))),
            self.said if self.said is not None else other.said,
            (min(low for low, _ in weights), max(high for _, high in weights)) if weights else None,
            pl.concat(items).unique() if items else None,
        )

    def looked_through(self, given: SparkInput) -> LookedThrough:
        """All rows of an input together; there must be some."""
        how, types, dropped = given.reading, given.types, self.dropped or {}
        if not self.kept or self.said is None:
            reasons = ", ".join(f"{rows:,} × {reason}" for reason, rows in dropped.items())
            why = f"no rows are left; {reasons} were dropped" if reasons else "there are no rows"
            raise InputError(f"{how.source}: {why}.\nGive an input with at least one good row.")
        feedback, clock, schema = self.said
        nothing = pl.Series("id", [], types.get("item", pl.Int64()))
        items = Ids.of(nothing if self.items is None else self.items.rename("id"))
        refuse_padded(how, "item", items, _somewhere)
        account = Account(how.source, self.rows, dropped, self.notes, differing(how.columns))
        return LookedThrough(account, self.weights, UserParts(how, items, schema, feedback, clock, _somewhere))


@dataclass(frozen=True, eq=False)
class FoundInputs:
    """What is known of all inputs, by their place."""

    inputs: Mapping[int, Found]

    @classmethod
    def of(cls, part: Part) -> FoundInputs:
        """Of one part; a problem that a task sent along is raised."""
        problems = [fact for _, fact in part.facts if isinstance(fact, Problem)]
        if problems:
            raise min(problems).error()
        found = {place: Found.of_rows(frame) for place, frame in part.frames.items()}
        for place, fact in part.facts:
            assert isinstance(fact, Piece)
            found[place] = found.get(place, Found()).merge(Found.of_piece(fact))
        return cls(found)

    def merge(self, other: FoundInputs) -> FoundInputs:
        """Of both."""
        places = dict.fromkeys((*self.inputs, *other.inputs))
        nothing = Found()
        return FoundInputs(
            {place: self.inputs.get(place, nothing).merge(other.inputs.get(place, nothing)) for place in places}
        )


@dataclass(frozen=True, eq=False)
class LookingThrough:
    """The first look of a worker at the parts in its partition."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One partial sum for each part."""
        for part in parts_in(batches):
            yield rows_of([Partial.of(part.number, part.checksum, FoundInputs.of, part).row])


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
        inputs = self.make(_named(part, self.names), lists=False)
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
            aligned = bare(kept[0]) if kept else None
            for piece, chunk in enumerate(packed((part.checksum, aligned), self.shared), 1):
                yield rows_of([(part.number, piece, chunk)])

    def _facts(self, part: Part, kept: list[AlignedPart]) -> AlignedFacts:
        """What is known of a part, which is kept where it has users; lists of nobody else are counted too."""
        inputs = self.make(_named(part, self.names), lists=True)
        aligned = self.of(inputs)
        kept += [aligned] if len(inputs.users) else []
        return AlignedFacts(aligned.facts, self.also(inputs))


@dataclass(frozen=True, eq=False)
class Asking:
    """Carries a function to aligned parts."""

    of: Callable[[AlignedPart], Any]
    shared: tuple[object, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One partial sum for each part."""
        rows: dict[int, dict[int, bytes]] = {}
        for batch in batches:
            for row in batch.to_pylist():
                if row["piece"]:
                    rows.setdefault(row["part"], {})[row["piece"]] = row["data"]
        for number in sorted(rows):
            pieces = rows.pop(number)
            checksum, part = unpacked([pieces[piece] for piece in sorted(pieces)], self.shared)
            yield rows_of([Partial.of(number, checksum, self._found, part).row])

    def _found(self, part: AlignedPart | None) -> Any:
        return None if part is None else self.of(part)


def _named(part: Part, names: tuple[str, ...]) -> dict[str, pl.DataFrame]:
    return {names[place]: frame for place, frame in part.frames.items()}


class SparkPartitions:
    """The inputs of an evaluation in parts of the users, on the executors of Spark."""

    def __init__(self, request: Request, partitions: int | None, say: Stage) -> None:
        self.request, self._say = request, say
        self._kept: list[DataFrame] = []
        rows = {
            name: (_rows(name.removeprefix(MODEL), asked.given), asked)
            for name, asked in asked_inputs(request, lambda name, given: _rows(name, given).columns)
        }
        inputs = {name: SparkInput.of(given, asked, request) for name, (given, asked) in rows.items()}
        common = common_type([each.types["user"] for each in inputs.values()])
        self._inputs = {name: each._replace(types={**each.types, "user": common}) for name, each in inputs.items()}
        self._names = tuple(inputs)
        self._session: SparkSession = next(iter(inputs.values())).frame.sparkSession
        if partitions is None:
            say("counting rows", 0, 1)
            partitions = usual_parts(self._session, (given for given, _ in rows.values()))
        self._count = partitions

    def __enter__(self) -> Self:
        """Deal the rows out, and look through them."""
        self._say("reading", 0, 1)
        numbers = part_numbers(self._session, self._count)
        dealings = (
            (each.frame, Dealing(place, each.reading, each.types, numbers))
            for place, each in enumerate(self._inputs.values())
        )
        self._cells = self._keep(dealt(self._session, dealings, self._count))
        try:
            found = fold(_mapped(self._cells, LookingThrough()), self._count, None)
            self._parts = found.parts
            seen: FoundInputs = found.value or FoundInputs({})
            looked = {
                name: seen.inputs.get(place, Found()).looked_through(each)
                for place, (name, each) in enumerate(self._inputs.items())
            }
            self.facts = facts_of(self.request, looked)
        except BaseException:
            self._release()
            raise
        makers = {name: each.parts for name, each in looked.items()}
        self._make = PartMaker(makers, self.facts, self.request.rates)
        self._shared: tuple[object, ...] = tuple(each.items for each in makers.values())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    @property
    def people(self) -> tuple[str, ...]:
        """The columns of the population."""
        return self._make.people

    def fold(self, of: Callable[[Inputs], M], stage: str) -> M:
        """What a function finds in every part that has users, of logs and population only."""
        self._say(stage, 0, 1)
        worker = Folding(self._names, self._make, of)
        found: M = fold(_mapped(self._cells, worker), self._count, self._parts).value
        return found

    def align(
        self, of: Callable[[Inputs], AlignedPart], also: Callable[[Inputs], M]
    ) -> tuple[AlignedParts, PartFacts, M]:
        """Align every part and keep it on the executors."""
        self._say("aligning", 0, 1)
        shared = (*self._shared, *(ids for ids in getattr(of, "vocabulary", ()) if ids is not None))
        worker = Aligner(self._names, self._make, of, also, shared)
        rows = self._keep(_mapped(self._cells, worker))
        found: AlignedFacts = fold(rows.where("piece = 0"), self._count, self._parts).value
        return SparkParts(rows, shared, self._count, self._parts, self._say), found.facts, found.also

    def _keep(self, frame: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        self._kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return self._kept[-1]

    def _release(self) -> None:
        while self._kept:
            self._kept.pop().unpersist()


class SparkParts:
    """Aligned parts, kept by Spark."""

    def __init__(
        self, rows: DataFrame, shared: tuple[object, ...], count: int, parts: Mapping[int, int], say: Stage
    ) -> None:
        self._rows, self._shared, self._count, self._parts, self._say = rows, shared, count, parts, say

    def fold(self, of: Callable[[AlignedPart], M], stage: str) -> M:
        """What a function finds in every part, merged."""
        self._say(stage, 0, 1)
        found: M = fold(_mapped(self._rows, Asking(of, self._shared)), self._count, self._parts).value
        return found


def _mapped(frame: DataFrame, worker: Callable[[Iterable[Any]], Iterator[Any]]) -> DataFrame:
    return frame.mapInArrow(lambda batches: worker(batches), COLUMNS)
