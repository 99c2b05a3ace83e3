"""A sample of files that may exceed memory, written to a file, in passes over their rows.

    count users and items → mark repeated rows → count keys by bin → find the m-th least key → write the rows up to it

Memory grows with the number of users and items, not with the rows, but for a bit of each row (``least.py``), and before
that 2 to 4 bytes of each row while repeated rows are looked for (``repeats.py``). The rows written are those that were
read, all columns, in their order, and their weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from unskew.atomic import atomic
from unskew.bounds import SEED
from unskew.errors import InputError
from unskew.kernels.arrays import Floats, Hashes, Ints32, Ints64
from unskew.log.ids import changed
from unskew.log.log import WEIGHT
from unskew.log.paths import shown
from unskew.log.sources import reading
from unskew.log.stream import Stream, StreamFile
from unskew.outputs import refuse_same
from unskew.plain import plain_path
from unskew.sampling.base import Sampler
from unskew.sampling.draw import row_hashes, row_keys
from unskew.sampling.evenness import sides
from unskew.sampling.least import LeastKeys
from unskew.sampling.record import SampleSummary
from unskew.sampling.repeats import Repeats
from unskew.sampling.size import Size, checked_size, number_of
from unskew.sampling.tallies import Tallies, Tally, Weights

Stage = Callable[[str, int, int], None]
Files = str | PathLike[str]
PAIR = ("user", "item")
PROPENSITY = "propensity"
_ENDINGS = (".parquet", ".pq", ".csv")


def sample_file(
    log: Files,
    out: str | Path,
    strategy: str | Sampler = "wtd_h",
    *,
    train: Files | None = None,
    size: Size = None,
    seed: int = 0,
    mcar: Files | None = None,
    columns: Mapping[str, str] | None = None,
    progress: Stage | None = None,
) -> SampleSummary:
    """Draw rows of files without replacement and write them to a file; see ``sample``.

    Rows that repeat a pair all stay in the running: they are told apart by their time, then by their order.

    Args:
        log: a file (.parquet, .csv, .tsv), a folder of them, or a pattern; ``user, item[, time]`` and further columns.
        out: the file to write, .parquet or .csv; all columns of the input, and ``sampling_weight``.
        strategy, size, seed: as in ``sample``.
        train, mcar: files with ``user, item``.
        columns: our column names (``user``, ``item``, ``time``) → theirs, in all files.
        progress: called with (stage, done, total).
    """
    from unskew.sampling import make

    say = progress or (lambda stage, done, total: None)
    sampler, seed = make(strategy), int(SEED.of(seed, "the seed"))
    asked, final = checked_size(size, sampler), Path(out)
    if final.suffix.lower() not in _ENDINGS:
        raise InputError(f"{plain_path(final)}: the name of a sample's file should end in .parquet or .csv.")
    stream = Stream.open(log, PAIR, columns, optional=("time",))
    pairs = None if columns is None else {ours: theirs for ours, theirs in columns.items() if ours in PAIR}
    others = [None if path is None else Stream.open(path, PAIR, pairs) for path in (train, mcar)]
    read = [file.opened.file for each in (stream, *others) if each is not None for file in each.files]
    refuse_same([(plain_path(final), final)], read)
    schema = _schema(stream)
    before = _counted(stream, "counting users and items", say)
    seen, random = (None if each is None else _counted(each, f"counting {each.source}", say) for each in others)
    number = number_of(asked, before.total, before.source)
    share = number / before.total
    passes = _Passes(stream, before, Weights.by(sampler, before, seen, random), seed, number, say)
    passes.search()
    after = passes.write(final, schema, share if sampler.equal else 1.0)
    return SampleSummary(
        source=before.source,
        out=shown(final),
        strategy=str(sampler),
        seed=seed,
        rows=before.total,
        kept=number,
        share=share if sampler.equal else None,
        repeated=passes.repeats.rows,
        train=None if seen is None else seen.source,
        mcar=None if random is None else random.source,
        **sides(before, after, seen, random, sampler.zero),
        notes=_notes(schema, sampler, share),
    )


@dataclass(eq=False)
class _Piece:
    """Some rows of a file: where they stand in it, the codes of their ids, and their times."""

    file: StreamFile
    start: int
    user: Ints32
    item: Ints32
    time: Ints64 | None


class _Passes:
    """The passes over the rows: ``search`` for the m-th least key, then ``write``."""

    def __init__(self, stream: Stream, before: Tallies, weights: Weights, seed: int, number: int, say: Stage) -> None:
        self._stream, self._before, self._weights, self._seed, self._say = stream, before, weights, seed, say
        self._all = number == before.total
        self._least = LeastKeys(number)
        self.repeats = Repeats(before.total)

    def search(self) -> None:
        """Find the m-th least key; where all rows are kept, there is nothing to find."""
        if self._all:
            return
        for piece in self._pieces("looking for repeated rows"):
            self.repeats.mark(self._hashes(piece))
        for stage, step in (("drawing", self._least.count), ("finding the last row drawn", self._least.look)):
            self.repeats.begin()
            for piece in self._pieces(stage):
                step(self._keys(piece))
        self._least.settle()

    def write(self, out: Path, schema: pl.Schema, share: float) -> Tallies:
        """Write the rows drawn, and count them; their propensities are multiplied by the share."""
        users, items = self._before.users.ids, self._before.items.ids
        counts = np.zeros(len(users), dtype=np.int64), np.zeros(len(items), dtype=np.int64)
        known = schema.get(PROPENSITY)
        scaled = [(pl.col(PROPENSITY) * share).cast(known)] if known is not None and known.is_float() else []

        def rows(*_: object) -> Iterator[pl.DataFrame]:
            for n, piece in enumerate(self._pieces("writing")):
                taken = np.ones(len(piece.user), dtype=np.bool_) if self._all else self._least.taken(n)
                if len(taken) != len(piece.user):
                    raise changed()
                user, item = piece.user[taken], piece.item[taken]
                for count, codes in zip(counts, (user, item), strict=True):
                    count += np.bincount(codes, minlength=len(count))
                weight = pl.Series(WEIGHT, self._weights.user[user] * self._weights.item[item])
                yield _columns(piece).filter(pl.Series(taken)).with_columns(weight, *scaled)

        with atomic(out) as temporary, temporary.open("wb") as file:  # polars knows no folder whose name is no UTF-8
            drawn = register_io_source(rows, schema=schema)
            if out.suffix.lower() == ".csv":
                drawn.sink_csv(file)
            else:
                drawn.sink_parquet(file)
        return Tallies(Tally(users, counts[0]), Tally(items, counts[1]), shown(out))

    def _hashes(self, piece: _Piece) -> Hashes:
        users, items = self._before.users.ids, self._before.items.ids
        return row_hashes(self._seed, users, items, piece.user, piece.item, piece.time)

    def _keys(self, piece: _Piece) -> Floats:
        hashes = self._hashes(piece)
        return row_keys(hashes, self.repeats.numbers(hashes), piece.user, piece.item, self._weights)

    def _pieces(self, stage: str) -> Iterator[_Piece]:
        """All rows, a piece at a time; they must be those that were counted."""
        users, items, total = self._before.users.ids, self._before.items.ids, self._before.total
        done, start, last = 0, 0, None
        for file, piece in self._stream.pieces():
            self._say(stage, done, total)
            start = start if file is last else 0
            user, item = users.encode(piece["user"]), items.encode(piece["item"])
            if min(user.min(initial=0), item.min(initial=0)) < 0:
                raise changed()
            time = piece["time"].to_numpy() if "time" in piece.columns else None
            yield _Piece(file, start, user, item, time)
            done, start, last = done + len(piece), start + len(piece), file
        if done != total:
            raise changed()


def _counted(stream: Stream, stage: str, say: Stage) -> Tallies:
    say(stage, 0, 1)
    return Tallies.of_stream(stream)


def _schema(stream: Stream) -> pl.Schema:
    """The columns of the sample: those of all files, which must agree, and the weight."""
    first = stream.files[0]
    for file in stream.files:
        if len(set(file.opened.names)) < len(file.opened.names):
            raise InputError(f"{file.source}: two columns have the same name.\nRename or remove one of them.")
        if WEIGHT in file.opened.names:
            raise InputError(
                f"{file.source}: there is a column '{WEIGHT}': this file is a sample already, and a sample of a sample "
                "has weights that nobody knows.\nSample the whole log."
            )
        if file.opened.types != first.opened.types:
            raise InputError(
                f"{stream.source}: the columns of '{file.source}' are not those of '{first.source}'.\n"
                "Give files with the same columns and types."
            )
    return pl.Schema([*first.opened.types, (WEIGHT, pl.Float64())])


def _columns(piece: _Piece) -> pl.DataFrame:
    """All columns of some rows, as they are in the file."""
    opened = piece.file.opened
    with reading(piece.file.source, opened.text):
        lazy, _ = opened.scan({name: name for name in opened.names})
        frame = lazy.slice(piece.start, len(piece.user)).collect(engine="streaming")
    if len(frame) != len(piece.user):
        raise changed()
    return frame


def _notes(schema: pl.Schema, sampler: Sampler, share: float) -> tuple[str, ...]:
    """What became of propensities."""
    if PROPENSITY not in schema:
        return ()
    if not sampler.equal:
        return ("The column 'propensity' speaks of the log that was sampled: do not weigh this sample by it.",)
    if schema[PROPENSITY].is_float():
        return (f"The column 'propensity' was multiplied by {share:.6g}, the chance of a row to be drawn.",)
    return (f"The column 'propensity' is no column of floats: multiply it by {share:.6g}, the chance of a row, first.",)
