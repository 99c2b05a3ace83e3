"""The k-th least of a column whose rows lie in parts: exact, by counting leading digits, then the digits behind them.

Numbers are turned into whole ones of 64 bits in the same order, and taken from the least of them on. A round counts
rows by their leading 20 bits; the next one looks at the few buckets in which the wanted places lie, 20 bits further,
until a bucket is a number: four rounds at most. In one part nothing is counted, and the rows are partitioned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unskew.auditing.looks import AuditPart, Look
from unskew.auditing.tally import Tally
from unskew.inference.merging import Mergeable, merged_by
from unskew.kernels.arrays import Hashes

Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]
KeyRange = tuple[int, int, str]  # least and largest key, and the kind of the numbers
DIGIT = 20  # bits
_SIGN = np.uint64(1 << 63)


def column_of(part: AuditPart, name: str) -> Numbers:
    """A column of the log, or the values of the log drawn at random (``mcar``)."""
    found = part.mcar.value if name == "mcar" and part.mcar is not None else getattr(part.log, name)
    return np.asarray(found)


def at_places(places: Mapping[str, Sequence[int]]) -> Look[dict[str, list[float]]]:
    """The numbers at some places (0 is the least) of some columns in ascending order."""
    ends: Ends = yield EndsOf({name: tuple(asked) for name, asked in places.items()})
    if ends.exact is not None:
        return ends.exact
    search = {name: _Search(asked, *ends.ends[name]) for name, asked in places.items()}
    while any(each.shift for each in search.values()):
        counted: Buckets = yield CountBuckets({name: each.next() for name, each in search.items() if each.shift})
        for name, found in counted.buckets.items():
            search[name].narrow(found)
    return {name: each.numbers for name, each in search.items()}


def to_keys(numbers: Numbers) -> Hashes:
    """Whole numbers of 64 bits in the same order."""
    if numbers.dtype.kind == "i":
        return numbers.astype(np.int64).view(np.uint64) ^ _SIGN
    bits = (numbers + 0.0).view(np.uint64)  # −0.0 is 0.0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def from_keys(keys: Hashes, kind: str) -> list[float]:
    """The numbers again."""
    if kind == "i":
        whole: list[float] = (keys ^ _SIGN).view(np.int64).tolist()
        return whole
    found: list[float] = np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64).tolist()
    return found


def _wider(a: Mapping[str, KeyRange], b: Mapping[str, KeyRange]) -> dict[str, KeyRange]:
    both = dict(a) | dict(b)
    for name in a.keys() & b.keys():
        both[name] = min(a[name][0], b[name][0]), max(a[name][1], b[name][1]), a[name][2]
    return both


@dataclass(frozen=True, eq=False)
class Ends(Mergeable):
    """Least and largest key of some columns and what kind of numbers they are; of all rows also what was asked for."""

    ends: Mapping[str, KeyRange] = merged_by(_wider)
    exact: dict[str, list[float]] | None = merged_by(lambda a, b: None)


@dataclass(frozen=True, eq=False)
class EndsOf:
    """Asks for the ends of columns."""

    places: Mapping[str, tuple[int, ...]]

    def __call__(self, part: AuditPart) -> Ends:
        """Of one part."""
        columns = {name: column_of(part, name) for name in self.places}
        if part.whole:
            return Ends({}, {name: _partitioned(columns[name], places) for name, places in self.places.items()})
        return Ends({name: _ends(column) for name, column in columns.items() if len(column)}, None)


def _partitioned(column: Numbers, places: tuple[int, ...]) -> list[float]:
    found: list[float] = np.partition(column, sorted(set(places)))[list(places)].tolist()
    return found


def _ends(column: Numbers) -> KeyRange:
    low, high = to_keys(np.array([column.min(), column.max()])).tolist()
    return low, high, column.dtype.kind


class _Search:
    """Where the wanted places of one column lie, ever more closely.

    Attributes:
        shift: bits of a key that are still open.
    """

    def __init__(self, places: Sequence[int], low: int, high: int, kind: str) -> None:
        self._low, self._kind = low, kind
        self.shift = (high - low).bit_length()
        self._bucket = np.zeros(len(places), dtype=np.uint64)
        self._place = np.array(places, dtype=np.int64)  # inside the bucket

    def next(self) -> tuple[int, int, int, Hashes]:
        """The least key, the bits that stay open before and after the next round, and the buckets to look into."""
        before, self.shift = self.shift, max(self.shift - DIGIT, 0)
        self._step = np.uint64(before - self.shift)
        return self._low, before, self.shift, np.unique(self._bucket)

    def narrow(self, counted: Tally) -> None:
        """Go on to the buckets that hold the places."""
        parents = counted.keys >> self._step
        for at, (bucket, place) in enumerate(zip(self._bucket.tolist(), self._place.tolist(), strict=True)):
            inside = parents == bucket
            ends = np.cumsum(counted.number[inside])
            chosen = int(np.searchsorted(ends, place, side="right"))
            self._bucket[at] = counted.keys[inside][chosen]
            self._place[at] = place - (int(ends[chosen - 1]) if chosen else 0)

    @property
    def numbers(self) -> list[float]:
        """The numbers at the places, once no bit is open."""
        return from_keys(self._bucket + np.uint64(self._low), self._kind)


def _merged(a: Mapping[str, Tally], b: Mapping[str, Tally]) -> dict[str, Tally]:
    both = dict(a) | dict(b)
    return both | {name: a[name].merge(b[name]) for name in a.keys() & b.keys()}


@dataclass(frozen=True, eq=False)
class Buckets(Mergeable):
    """Of some columns, how many rows lie in each bucket."""

    buckets: Mapping[str, Tally] = merged_by(_merged)


@dataclass(frozen=True, eq=False)
class CountBuckets:
    """Counts rows by the next digit of their keys."""

    asked: Mapping[str, tuple[int, int, int, Hashes]]

    def __call__(self, part: AuditPart) -> Buckets:
        """Of one part."""
        return Buckets({name: _counted(column_of(part, name), *asked) for name, asked in self.asked.items()})


def _counted(column: Numbers, low: int, before: int, after: int, wanted: Hashes) -> Tally:
    keys = to_keys(column) - np.uint64(low)
    inside = np.isin(keys >> np.uint64(before), wanted) if before < 64 else np.ones(len(keys), dtype=np.bool_)
    return Tally(*np.unique(keys[inside] >> np.uint64(after), return_counts=True))
