"""Inputs of Spark in parts of the users: rows are checked and dealt out once, looked through, and asked about.

What is known of every input is merged from the tasks that checked its rows and the parts that hold them. Rows that
were dealt out are kept by Spark until all is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import polars as pl

from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.engine.spark.dealing import Dealing, Part, Piece, dealt, part_numbers, parts_in
from unskew.engine.spark.folding import COLUMNS, Partial, fold, rows_of
from unskew.engine.spark.frames import PARTS, SparkRows, is_frame, usual_parts
from unskew.engine.spark.problems import Problem
from unskew.evaluation.part_inputs import LookedThrough
from unskew.evaluation.read import Stage
from unskew.inference.merging import added_counts
from unskew.log import Account, Feedback, Ids
from unskew.log.batches import Reading, common_type, id_type
from unskew.log.extremes import Extremes, extremes_in, merged_extremes
from unskew.log.lists import RANKED
from unskew.log.match import differing
from unskew.log.said import say_columns
from unskew.log.user_parts import UserParts, refuse_padded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

IDS = ("user", "item", "policy")
Worker = Callable[[Iterable[Any]], Iterator[Any]]


def as_rows(name: str, given: Any) -> SparkRows:
    """An input that must be a DataFrame."""
    if isinstance(given, SparkRows):
        return given
    if not is_frame(given):
        raise InputError(
            f"unskew.spark takes DataFrames of Spark, and {name} is a {type(given).__name__}.\nRead it with Spark "
            "(spark.read.parquet(…), spark.createDataFrame(…)), or use unskew.evaluate or unskew.audit, in memory.",
            code="wrong-type",
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
    def of(cls, rows: SparkRows, how: Reading) -> SparkInput:
        """Which columns are used is decided here, and types that will not do are refused."""
        names, types = how.names(rows.source, rows.columns), rows.types
        used = pl.Schema({ours: types[theirs] for ours, theirs in names.items()})
        say_columns(rows.source, names, *([RANKED] if "score" in names else ()))
        how = replace(how, columns=names, said=how.columns)  # by which tasks name columns
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
    notes: tuple[Notice, ...] = ()
    said: tuple[Feedback | None, pl.DataType | None, pl.Schema] | None = None
    extremes: Mapping[str, Extremes] = field(default_factory=dict)
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
        return cls(extremes=extremes_in(frame), items=frame["item"].unique() if "item" in frame.columns else None)

    def merge(self, other: Found) -> Found:
        """Of both."""
        if self.said is not None and other.said is not None and self.said != other.said:
            raise InputError(
                "column 'time' must be all numbers, or all dates written alike.\nWrite all times in one way.",
                code="mixed-times",
            )
        items = [each.items for each in (self, other) if each.items is not None]
        return Found(
            self.rows + other.rows,
            self.kept + other.kept,
            added_counts(self.dropped or {}, other.dropped or {}),
            tuple(dict.fromkeys((*self.notes, *other.notes))),
            self.said if self.said is not None else other.said,
            merged_extremes(self.extremes, other.extremes),
            pl.concat(items).unique() if items else None,
        )

    def looked_through(self, given: SparkInput) -> LookedThrough:
        """All rows of an input together; there must be some."""
        how, types, dropped = given.reading, given.types, self.dropped or {}
        if not self.kept or self.said is None:
            reasons = ", ".join(f"{rows:,} × {reason}" for reason, rows in dropped.items())
            why = f"no rows are left; {reasons} were dropped" if reasons else "there are no rows"
            raise InputError(f"{how.source}: {why}.\nGive an input with at least one good row.", code="no-rows")
        feedback, clock, schema = self.said
        nothing = pl.Series("id", [], types.get("item", pl.Int64()))
        items = Ids.of(nothing if self.items is None else self.items.rename("id"))
        refuse_padded(how, "item", items, _somewhere)
        account = Account(how.source, self.rows, dropped, self.notes, differing(how.columns))
        return LookedThrough.of(account, self.extremes, UserParts(how, items, schema, feedback, clock, _somewhere))


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


def named(part: Part, names: tuple[str, ...]) -> dict[str, pl.DataFrame]:
    """The rows of a part by the names of the inputs."""
    return {names[place]: frame for place, frame in part.frames.items()}


def mapped(frame: DataFrame, worker: Worker) -> DataFrame:
    """What a worker makes of every partition: rows of partial sums."""
    return frame.mapInArrow(lambda batches: worker(batches), COLUMNS)


@contextmanager
def equipped_workers() -> Iterator[None]:
    """Workers without the package become one clear error."""
    try:
        yield
    except Exception as problem:
        if "No module named 'unskew'" in str(problem):
            raise InputError(
                "Spark's workers run a Python without unskew.\nSet PYSPARK_PYTHON to one that has it before the "
                "session starts (on one machine: this one), or ship the package to the workers: docs/spark.md.",
                code="worker-without-unskew",
            ) from problem
        raise


class DealtInputs:
    """Inputs whose rows Spark brings together by user.

    Args:
        inputs: by name, the rows and how they are read.
        partitions: how many parts there are; counted from the rows by default.

    Attributes:
        names: of the inputs, in order.
        looked: what is known of each, once all rows were dealt out.
    """

    def __init__(self, inputs: Mapping[str, tuple[SparkRows, Reading]], partitions: int | None, say: Stage) -> None:
        if partitions is not None:
            PARTS.of(partitions, "partitions")
        self._say = say
        self._kept: list[DataFrame] = []
        found = {name: SparkInput.of(rows, how) for name, (rows, how) in inputs.items()}
        common = common_type([each.types["user"] for each in found.values()])
        self._inputs = {name: each._replace(types={**each.types, "user": common}) for name, each in found.items()}
        self.names = tuple(found)
        self._session: SparkSession = next(iter(found.values())).frame.sparkSession
        if partitions is None:
            say("counting rows", 0, 1)
            partitions = usual_parts(self._session, (rows for rows, _ in inputs.values()))
        self._count = partitions
        self._parts: Mapping[int, int] | None = None

    def __enter__(self) -> Self:
        """Deal the rows out, and look through them."""
        self._say("reading", 0, 1)
        numbers = part_numbers(self._session, self._count)
        dealings = (
            (each.frame, Dealing(place, each.reading, each.types, numbers))
            for place, each in enumerate(self._inputs.values())
        )
        self._cells = self.keep(dealt(self._session, dealings, self._count))
        try:
            found = fold(mapped(self._cells, LookingThrough()), self._count, None)
            self._parts = found.parts
            seen: FoundInputs = found.value or FoundInputs({})
            self.looked = {
                name: seen.inputs.get(place, Found()).looked_through(each)
                for place, (name, each) in enumerate(self._inputs.items())
            }
        except BaseException:
            self.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    @property
    def makers(self) -> dict[str, UserParts]:
        """What makes the logs, lists and tables of some users, by input."""
        return {name: each.parts for name, each in self.looked.items()}

    def fold(self, worker: Worker) -> Any:
        """What a worker finds in every part, merged."""
        return self.merged(mapped(self._cells, worker))

    def mapped(self, worker: Worker) -> DataFrame:
        """What a worker makes of every part, kept until all is done."""
        return self.keep(mapped(self._cells, worker))

    def merged(self, partials: DataFrame) -> Any:
        """Partial sums of all parts, merged."""
        return fold(partials, self._count, self._parts).value

    def release(self) -> None:
        """Spark need not keep anything any more."""
        while self._kept:
            self._kept.pop().unpersist()

    def keep(self, frame: DataFrame) -> DataFrame:
        """Rows that Spark keeps until all is done."""
        from pyspark import StorageLevel

        self._kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return self._kept[-1]
