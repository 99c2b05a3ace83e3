"""What workers find in parts of the users, merged in a tree: at most a few sums reach the driver.

    n parts → √n merged sums → … → at most ``FEW``, which are merged here

Every partial sum carries the numbers of its parts, with a checksum of their rows. Merging refuses a part that is there
twice, and the end result must hold every part: a task that ran again counts once, or the evaluation fails. Rows that
changed because Spark computed a lost partition anew, from a DataFrame that is not the same each time, are refused too.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

from unskew.core.errors import InputError, UnskewError
from unskew.engine.spark.problems import Problem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = "part bigint, piece int, data binary"
FEW = 16


@dataclass(frozen=True, eq=False)
class Partial:
    """What was found in some parts.

    Args:
        parts: number → checksum of the rows.
        value: merged; ``None`` where no part has users.
        problem: what was refused, if anything was.
    """

    parts: Mapping[int, int]
    value: Any = None
    problem: Problem | None = field(default=None)

    @classmethod
    def of(cls, number: int, checksum: int, find: Callable[[Any], Any], part: Any) -> Partial:
        """What a function finds in one part."""
        try:
            return cls({number: checksum}, find(part))
        except UnskewError as error:
            return cls({number: checksum}, None, Problem.of(error, (number,)))

    def merge(self, other: Partial) -> Partial:
        """Both sets of parts, which have none in common."""
        if twice := self.parts.keys() & other.parts.keys():
            raise AssertionError(f"parts were counted twice: {sorted(twice)}")
        problems = [each.problem for each in (self, other) if each.problem is not None]
        values = [each.value for each in (self, other) if each.value is not None]
        value = values[0].merge(values[1]) if len(values) == 2 else values[0] if values else None
        return Partial({**self.parts, **other.parts}, value, min(problems, default=None))

    @property
    def row(self) -> tuple[int, int, bytes]:
        """As a row of Spark."""
        return min(self.parts), 0, pickle.dumps(self)


def fold(partials: DataFrame, number: int, expected: Mapping[int, int] | None) -> Partial:
    """All partial sums merged.

    Args:
        partials: rows of partial sums, about ``number`` of them.
        expected: the parts that there are, with their checksums, where that is known.
    """
    while number > FEW:
        number = math.ceil(math.sqrt(number))
        partials = partials.repartition(number, "part").mapInArrow(_merge_rows, COLUMNS)
    found = partials.select("part", "data").toArrow()
    whole = merged(found["part"].to_pylist(), found["data"].to_pylist())
    if whole.problem is not None:
        raise whole.problem.error()
    if expected is not None and whole.parts != expected:
        raise changed() if whole.parts.keys() == expected.keys() else AssertionError("parts are missing")
    return whole


def merged(numbers: list[int], data: list[bytes]) -> Partial:
    """Partial sums merged by ascending number, so that no digit depends on the order in which they arrive."""
    partials = [pickle.loads(each) for _, each in sorted(zip(numbers, data, strict=True), key=lambda pair: pair[0])]
    return reduce(Partial.merge, partials, Partial({}))


def changed() -> InputError:
    """Rows that are not the same each time they are computed."""
    return InputError(
        "the rows of a DataFrame changed while they were evaluated: Spark computed some of them again, after a worker "
        "was lost, and they came out otherwise.\nWrite the DataFrame out (df.write.parquet(…)), read it back, and "
        "evaluate that; random numbers and limits in its query are the usual reason.",
        code="changed-rows",
    )


def rows_of(rows: Iterable[tuple[int, int, bytes]]) -> Any:
    """Rows for Spark."""
    import pyarrow as pa

    numbers, pieces, data = zip(*rows, strict=True)
    arrays = [pa.array(numbers, pa.int64()), pa.array(pieces, pa.int32()), pa.array(data, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["part", "piece", "data"])


def _merge_rows(batches: Iterable[Any]) -> Iterator[Any]:
    numbers: list[int] = []
    data: list[bytes] = []
    for batch in batches:
        numbers += batch.column("part").to_pylist()
        data += batch.column("data").to_pylist()
    if numbers:
        yield rows_of([merged(numbers, data).row])
