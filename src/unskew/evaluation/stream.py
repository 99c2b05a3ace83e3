"""An evaluation of Parquet files that exceed memory: users in parts, each of which fits.

open → look at the users → check every row once, collect items (and bring rows together on disk) → parts
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew.alignment.inputs import Inputs
from unskew.alignment.part import AlignedPart, PartFacts
from unskew.core.errors import InputError, RefusedError
from unskew.core.notice import Notice
from unskew.core.threads import ahead
from unskew.engine.stream.cuts import Cuts, Order, look_at_users
from unskew.engine.stream.files import Source, columns_in
from unskew.engine.stream.kept import Kept
from unskew.engine.stream.sizes import Sizes
from unskew.engine.stream.spill import Spill
from unskew.evaluation.part_inputs import (
    GUESSES,
    MODEL,
    TEST,
    TRAIN,
    USERS,
    AlignedFacts,
    LookedThrough,
    PartMaker,
    bare,
    divided_table,
    facts_of,
)
from unskew.evaluation.parts_of_users import AlignedParts, M
from unskew.evaluation.read import Stage
from unskew.evaluation.request import Request
from unskew.inference.merging import added_counts
from unskew.kernels.arrays import present
from unskew.kernels.coding import note
from unskew.log import Account, Feedback, Ids
from unskew.log.batches import Kind, Reading, common_type
from unskew.log.column_maps import alternatives, choose
from unskew.log.extremes import Extremes, extremes_in, merged_extremes
from unskew.log.key_counts import RangeTable
from unskew.log.log import WEIGHT
from unskew.log.match import differing
from unskew.log.paths import is_path, shown
from unskew.log.user_parts import UserParts, refuse_padded


def open_sources(request: Request) -> dict[str, Source]:
    """All inputs that have rows of users, unread; others than Parquet files are refused."""
    names, drop = request.columns, request.invalid == "drop"
    found: dict[str, Source] = {}

    def opened(name: str, given: Any, kind: Kind, columns: Mapping[str, str], keep: tuple[str, ...] = ()) -> None:
        if not is_path(given):
            raise RefusedError(
                f"engine='stream' reads Parquet files, and {name.removeprefix(MODEL)} is a {type(given).__name__} in "
                "memory.\nWrite it to a file and give its path, or use engine='memory'.",
                code="parquet-only",
            )
        log = kind is Kind.LOG
        how = Reading(
            kind,
            shown(given),
            columns,
            keep,
            drop,
            request.feedback if log else None,
            request.duplicates if log else None,
        )
        found[name] = Source.open(given, how)

    if request.users is not None:
        opened(USERS, request.users, Kind.PEOPLE, names.of_users, tuple(request.segment_column))
    by_user = USERS in found and request.by in _columns(found[USERS])
    keep = [*request.strata_columns(), *([] if by_user else request.segment_column)]
    keep += [WEIGHT] * (is_path(request.test) and _has(request.test, WEIGHT))
    opened(TEST, request.test, Kind.LOG, names.of_test, tuple(dict.fromkeys(keep)))
    if request.train is not None:
        theirs = names.of_train_with_propensity if request.trains_shares else names.of_train
        time = names.time_of_train
        if time is not None and "time" not in theirs and (not time or _has(request.train, time)):
            theirs = theirs.joined({"time": time})
        opened(TRAIN, request.train, Kind.LOG, theirs, tuple(request.strata_columns(training=True)))
    kind, columns = (Kind.PREDICTIONS, names.of_predictions) if request.rates else (Kind.LISTS, names.of_lists)
    for name, given in request.models.items():
        opened(MODEL + name, given, kind, columns(name))
    if (table := divided_table(request)) is not None:
        opened(GUESSES, table, Kind.PREDICTIONS, names.of_guesses)
    common = common_type([source.types["user"] for source in found.values()])
    return {name: source.with_types(user=common) for name, source in found.items()}


def _columns(source: Source) -> list[str]:
    return source.files[0].lazy.collect_schema().names()


def _has(given: Any, column: str) -> bool:
    """Whether files have a column; whatever else is wrong with them is said when they are opened."""
    try:
        return choose(column, columns_in(given, alternatives(column))) is not None
    except InputError:
        return False


def row_counts(sources: Mapping[str, Source]) -> dict[Kind, int]:
    """How many rows there are of each kind."""
    found: dict[Kind, int] = {}
    for source in sources.values():
        found[source.reading.kind] = found.get(source.reading.kind, 0) + source.rows
    return found


class _Items:
    """The different items of one input, piece by piece."""

    def __init__(self) -> None:
        self._range = RangeTable(np.bool_)
        self._others: list[pl.Series] = []

    def add(self, items: pl.Series) -> None:
        """Some more rows."""
        if not len(items):
            return
        numbers = self._range.numbers(items)
        if numbers is not None:
            note(numbers, self._range.low, self._range.table)
            return
        self._others = [pl.concat([*self._others, items.unique()]).unique()]

    def ids(self, dtype: pl.DataType) -> Ids:
        """All of them."""
        ranged = pl.Series(np.flatnonzero(self._range.table) + self._range.low).cast(dtype)
        return Ids.of(*(each.cast(dtype) for each in (ranged, *self._others)))


@dataclass
class Scanned:
    """What is known of one input when all its rows were checked once."""

    source: Source
    dropped: dict[str, int] = field(default_factory=dict)
    notes: tuple[Notice, ...] = ()
    feedback: Feedback | None = None
    clock: pl.DataType | None = None
    schema: pl.Schema | None = None
    spill: Spill | None = None
    extremes: Mapping[str, Extremes] = field(default_factory=dict)
    parts: UserParts | None = None

    @property
    def account(self) -> Account:
        """What became of the rows so far."""
        columns = differing(self.source.files[0].names)
        return Account(self.source.reading.source, self.source.rows, self.dropped, self.notes, columns)

    @property
    def made(self) -> UserParts:
        """Makes the logs, lists and tables of some users."""
        assert self.parts is not None
        return self.parts


def scan(source: Source, spill: Spill | None, progress: Callable[[int], None]) -> Scanned:
    """Check every row once; collect the items, and put rows where those of their users are."""
    found, items, done = Scanned(source, spill=spill), _Items(), 0
    for piece in ahead(source.pieces()):
        if found.schema is not None and (piece.clock, piece.feedback) != (found.clock, found.feedback):
            raise InputError(
                f"{source.reading.source}: column 'time' must be all numbers, or all dates written alike.\n"
                "Write all times in one way.",
                code="mixed-times",
            )
        found.schema, found.clock, found.feedback = piece.frame.schema, piece.clock, piece.feedback
        found.dropped = added_counts(found.dropped, piece.dropped)
        found.notes = tuple(dict.fromkeys((*found.notes, *piece.notes)))
        if "item" in piece.frame.columns:
            items.add(piece.frame["item"])
        found.extremes = merged_extremes(found.extremes, extremes_in(piece.frame))
        if spill is not None:
            spill.add(piece.frame)
        done += len(piece.frame)
        progress(done)
    if spill is not None:
        spill.write()
    if not done:
        reasons = ", ".join(f"{rows:,} × {reason}" for reason, rows in found.dropped.items())
        raise InputError(
            f"{source.reading.source}: no rows are left; {reasons} were dropped.\n"
            "Give an input with at least one good row.",
            code="no-rows",
        )
    assert found.schema is not None
    own = items.ids(source.types["item"]) if "item" in source.types else Ids(pl.Series("id", [], pl.Int64))
    refuse_padded(source.reading, "item", own, source.locate)
    found.parts = UserParts(source.reading, own, found.schema, found.feedback, found.clock, source.locate)
    return found


class StreamPartitions:
    """The inputs of an evaluation in parts of the users, from Parquet files."""

    def __init__(self, request: Request, sources: Mapping[str, Source], sizes: Sizes, folder: Path, say: Stage) -> None:
        self._request, self._folder, self._say = request, folder, say
        say("looking at users", 0, 1)
        self._order: Order = look_at_users(list(sources.values())) if sizes.parts > 1 else Order.unknown()
        self._cuts: Cuts = self._order.cuts(sizes.parts)
        total, before = sum(source.rows for source in sources.values()), 0
        self._scanned: dict[str, Scanned] = {}
        for place, (name, source) in enumerate(sources.items()):
            spill = Spill(folder, f"rows-{place}", self._cuts, sizes.chunk) if self._order.files is None else None
            read = replace(source, piece=sizes.piece)
            self._scanned[name] = scan(read, spill, partial(self._read, before, total))
            self._share_items(name)
            before += source.rows
        self._slices = None if self._order.files is None else self._find_slices()
        looked = {
            name: LookedThrough.of(each.account, each.extremes, each.made) for name, each in self._scanned.items()
        }
        self.facts = facts_of(request, looked)
        self._make = PartMaker({name: each.parts for name, each in looked.items()}, self.facts, request.rates)

    def _share_items(self, name: str) -> None:
        """An input with the same items as another one has its vocabulary, so that codes need not be translated."""
        own = self._scanned[name].made
        for other in self._vocabularies():
            if other is not own.items and len(other) == len(own.items) and other.values.equals(own.items.values):
                self._scanned[name].parts = replace(own, items=other)
                return

    @property
    def people(self) -> tuple[str, ...]:
        """The columns of the population."""
        return self._make.people

    def _read(self, before: int, total: int, done: int) -> None:
        self._say("reading", before + done, total)

    def fold(self, of: Callable[[Inputs], M], stage: str) -> M:
        """What a function finds in every part that has users, of logs and population only."""
        return self._merged(self._inputs(lists=False), of, stage)

    def align(
        self, of: Callable[[Inputs], AlignedPart], also: Callable[[Inputs], M]
    ) -> tuple[AlignedParts, PartFacts, M]:
        """Align every part and keep it on disk."""
        shared = [value for value in (*_shared(of), *self._vocabularies()) if value is not None]
        kept = Kept(self._folder, shared, only=self._cuts.count == 1)

        def one(inputs: Inputs) -> AlignedFacts:
            part = of(inputs)
            if len(inputs.users):
                kept.add(bare(part))
            return AlignedFacts(present(part.facts), also(inputs))

        found = self._merged(self._inputs(lists=True), one, "aligning")
        for scanned in self._scanned.values():
            if scanned.spill is not None:
                scanned.spill.remove()
        return KeptParts(kept, self._say), found.facts, found.also

    def _merged(self, inputs: Iterator[Inputs], of: Callable[[Inputs], M], stage: str) -> M:
        def found() -> Iterator[M]:
            for number, part in enumerate(ahead(inputs)):
                self._say(stage, number, self._cuts.count)
                yield of(part)

        return reduce(lambda a, b: a.merge(b), found())

    def _inputs(self, *, lists: bool) -> Iterator[Inputs]:
        """The parts that have users; with lists all parts, since lists of users whom nobody knows are counted too."""
        for number in range(self._cuts.count):
            part = self._part(number, lists=lists)
            if lists or len(part.users):
                yield part

    def _part(self, number: int, *, lists: bool) -> Inputs:
        return self._make(partial(self._frame, number), lists=lists)

    def _frame(self, number: int, name: str) -> pl.DataFrame:
        scanned = self._scanned[name]
        if scanned.spill is not None:
            return scanned.spill.part(number)
        assert self._slices is not None
        assert scanned.schema is not None
        slices = [pl.DataFrame(schema=scanned.schema)]
        for file, rows in zip(scanned.source.files, self._slices[name], strict=True):
            if rows[number + 1] > rows[number]:
                slices.append(scanned.source.checked(file, rows[number], rows[number + 1] - rows[number]))
        return pl.concat(slices)

    def _find_slices(self) -> dict[str, list[list[int]]]:
        """By input and file, the row at which every part begins."""
        assert self._order.files is not None
        bounds = [] if self._cuts.bounds is None else self._cuts.bounds.tolist()
        return {
            name: [[0, *(file.row_of(bound) for bound in bounds), file.file.rows] for file in files]
            for name, files in zip(self._scanned, self._order.files, strict=True)
        }

    def _vocabularies(self) -> Iterator[Ids]:
        return (scanned.made.items for scanned in self._scanned.values())


def _shared(of: Any) -> tuple[Any, ...]:
    """The vocabulary that aligned parts are coded over."""
    return tuple(getattr(of, "vocabulary", ()))


class KeptParts:
    """Aligned parts on disk."""

    def __init__(self, kept: Kept, say: Stage) -> None:
        self._kept, self._say = kept, say

    def fold(self, of: Callable[[AlignedPart], M], stage: str) -> M:
        """What a function finds in every part, merged."""
        return reduce(lambda a, b: a.merge(b), (of(part) for _, part in self._numbered(stage)))

    def remade(self, of: Callable[[AlignedPart], tuple[AlignedPart, M]], stage: str) -> tuple[AlignedParts, M]:
        """The parts as a function makes them anew, in place of what is on disk."""

        def found() -> Iterator[M]:
            for number, part in self._numbered(stage):
                made, told = of(part)
                self._kept.put(number, made)
                yield told

        return self, reduce(lambda a, b: a.merge(b), found())

    def _numbered(self, stage: str) -> Iterator[tuple[int, AlignedPart]]:
        for number, part in enumerate(ahead(iter(self._kept))):
            self._say(stage, number, len(self._kept))
            yield number, part
