"""A sample of files that may exceed memory, written to a file, in passes over their rows.

    count users and items, mark rows that may be repeated → draw: find the m-th least key → write the rows up to it

Memory grows with the number of users and items, not with the rows, but for a bit of each row (``least.py``), and before
that 2 to 4 bytes of each row while repeated rows are looked for (``repeats.py``). The rows written are those that were
read, all columns, in their order, and their weight. The next rows are read while the last ones are worked on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
from polars.io.plugins import register_io_source

from unskew.core.atomic import atomic_file
from unskew.core.bounds import SEED
from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.outputs import refuse_same
from unskew.core.text import plain, plain_path
from unskew.core.threads import ahead
from unskew.kernels.arrays import Ints32
from unskew.log.column_maps import MODELS, ColumnMap, InputColumns
from unskew.log.ids import changed
from unskew.log.log import WEIGHT
from unskew.log.match import match_columns
from unskew.log.paths import shown
from unskew.log.stream import Stream, StreamFile
from unskew.sampling.base import Sampler
from unskew.sampling.draw import blocks, placed_keys, row_hashes, times_of
from unskew.sampling.evenness import sides
from unskew.sampling.first_pass import FirstPass
from unskew.sampling.least import LeastKeys, Placed, joined
from unskew.sampling.pilot import MARGIN, WIDER
from unskew.sampling.record import SampleSummary
from unskew.sampling.size import Size, checked_size, number_of
from unskew.sampling.tallies import Tallies, Tally, Weights

Stage = Callable[[str, int, int], None]
Files = str | PathLike[str]
PAIR = ("user", "item")
PROPENSITY = "propensity"
ASKED = {"test": (*PAIR, "time", PROPENSITY), "train": PAIR, "mcar": PAIR, MODELS: ()}
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
    columns: Mapping[str, Any] | None = None,
    progress: Stage | None = None,
) -> SampleSummary:
    """Draw rows of files without replacement and write them to a file; see ``sample``.

    Rows that repeat a pair all stay in the running: they are told apart by their time, then by their order.

    Args:
        log: a file (.parquet, .csv, .tsv), a folder of them, or a pattern; ``user, item[, time]`` and further columns.
        out: the file to write, .parquet or .csv; all columns of the input, and ``sampling_weight``.
        strategy, size, seed: as in ``sample``.
        train, mcar: files with ``user, item``.
        columns: our column names (``user``, ``item``, ``time``, ``propensity``) → theirs, in all files or in one of
            them: ``{'train:user': 'guest'}`` (docs/files.md).
        progress: called with (stage, done, total).
    """
    from unskew.sampling import make

    say = progress or (lambda stage, done, total: None)
    sampler, seed = make(strategy), int(SEED.of(seed, "the seed"))
    asked, final = checked_size(size, sampler), Path(out)
    if final.suffix.lower() not in _ENDINGS:
        raise InputError(
            f"{plain_path(final)}: the name of a sample's file should end in .parquet or .csv.", code="wrong-extension"
        )
    others = {name: path for name, path in (("train", train), ("mcar", mcar)) if path is not None}
    said = ColumnMap(columns, (*PAIR, "time", PROPENSITY), ("log", *others), ASKED)
    stream = Stream.open(log, PAIR, said.of("log", *PAIR, "time"), optional=("time",))
    propensity = _propensity(stream, said.of("log", PROPENSITY))
    counted = {name: Stream.open(path, PAIR, said.of(name, *PAIR)) for name, path in others.items()}
    read = [file.opened.file for each in (stream, *counted.values()) for file in each.files]
    refuse_same([(plain_path(final), final)], read)
    schema = _schema(stream)
    say("counting users and items", 0, 1)
    first = None if sampler.keeps_all else FirstPass(stream, seed)
    before = Tallies.of_stream(stream) if first is None else first.tallies
    tallies = {name: _counted(each, f"counting {each.source}", say) for name, each in counted.items()}
    seen, random = tallies.get("train"), tallies.get("mcar")
    number = number_of(asked, before.total, before.source)
    share = number / before.total
    passes = _Passes(stream, before, Weights.by(sampler, before, seen, random), seed, number, say)
    if first is not None:
        passes.search(first)
    after = passes.write(final, schema, propensity, share if sampler.equal else 1.0)
    return SampleSummary(
        source=before.source,
        out=shown(final),
        strategy=str(sampler),
        seed=seed,
        rows=before.total,
        kept=number,
        share=share if sampler.equal else None,
        repeated=0 if first is None else first.repeats.rows,
        train=None if seen is None else seen.source,
        mcar=None if random is None else random.source,
        **sides(before, after, seen, random, sampler.zero),
        notes=_notes(schema, propensity, sampler, share),
    )


class _Passes:
    """The passes over the rows: ``search`` for the m-th least key, then ``write``."""

    def __init__(self, stream: Stream, before: Tallies, weights: Weights, seed: int, number: int, say: Stage) -> None:
        self._stream, self._before, self._weights, self._seed, self._say = stream, before, weights, seed, say
        self._number = number
        self._least: LeastKeys | None = None  # where all rows are kept

    def search(self, first: FirstPass) -> None:
        """Find the m-th least key; where all rows are kept, there is nothing to find."""
        margin, settled = MARGIN, self._number == self._before.total
        first.users.weights(self._before.users, self._weights.user)
        first.items.weights(self._before.items, self._weights.item)
        while not settled:
            self._least = LeastKeys(self._number)
            share = self._number / self._before.total
            bracket = first.pilot.bracket(self._before, self._weights, share, margin)
            first.repeats.begin()
            for _, piece in self._counted(self._stream.pieces(), "drawing"):
                self._least.look(self._placed(piece, first, bracket))
            settled, margin = self._least.settle(), WIDER * margin
            if not settled and bracket == (0.0, np.inf):
                raise changed()

    def write(self, out: Path, schema: pl.Schema, propensity: str, share: float) -> Tallies:
        """Write the rows drawn, and count them; their propensities are multiplied by the share."""
        users, items = self._before.users.ids, self._before.items.ids
        counts = np.zeros(len(users), dtype=np.int64), np.zeros(len(items), dtype=np.int64)
        known, types = schema.get(propensity), self._stream.types
        scaled = [(cs.by_name(propensity) * share).cast(known)] if known is not None and known.is_float() else []

        def rows(*_: object) -> Iterator[pl.DataFrame]:
            for n, (file, whole) in enumerate(self._counted(self._stream.whole_pieces(), "writing")):
                if self._least is not None:
                    taken = self._least.taken(n)
                    if len(taken) != len(whole):
                        raise changed()
                    whole = whole.filter(pl.Series(taken))
                user, item = self._encoded(file.ids(whole, types))
                for count, codes in zip(counts, (user, item), strict=True):
                    count += np.bincount(codes, minlength=len(count))
                weight = pl.Series(WEIGHT, self._weights.user[user] * self._weights.item[item])
                yield whole.with_columns(weight, *scaled)

        # Polars knows no folder whose name is no UTF-8.
        with atomic_file(out) as temporary, temporary.open("wb") as file:
            drawn = register_io_source(rows, schema=schema)
            if out.suffix.lower() == ".csv":
                drawn.sink_csv(file)
            else:
                drawn.sink_parquet(file, compression="zstd", compression_level=1)  # no larger here than by level 3
        return Tallies(Tally(users, counts[0]), Tally(items, counts[1]), shown(out))

    def _placed(self, piece: pl.DataFrame, first: FirstPass, bracket: tuple[float, float]) -> Placed:
        """The keys of some rows beside a bracket."""
        user, item, time, found = first.users.find(piece["user"]), first.items.find(piece["item"]), times_of(piece), []
        for part in blocks(len(piece)):
            weight = np.ones(part.stop - part.start)
            hashes = row_hashes(self._seed, user.weigh(part, weight), item.weigh(part, weight), time[part])
            found.append(placed_keys(hashes, first.repeats.numbers(hashes), weight, bracket))
        return joined(found)

    def _encoded(self, piece: pl.DataFrame) -> tuple[Ints32, Ints32]:
        """The codes of users and items, which must be those that were counted."""
        user, item = self._before.users.ids.encode(piece["user"]), self._before.items.ids.encode(piece["item"])
        if min(user.min(initial=0), item.min(initial=0)) < 0:
            raise changed()
        return user, item

    def _counted(
        self, pieces: Iterator[tuple[StreamFile, pl.DataFrame]], stage: str
    ) -> Iterator[tuple[StreamFile, pl.DataFrame]]:
        """The same pieces; they must have as many rows as were counted."""
        done, total = 0, self._before.total
        for file, piece in ahead(pieces):
            self._say(stage, done, total)
            yield file, piece
            done += len(piece)
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
            raise InputError(
                f"{file.source}: two columns have the same name.\nRename or remove one of them.",
                code="duplicate-column",
            )
        if WEIGHT in file.opened.names:
            raise InputError(
                f"{file.source}: there is a column '{WEIGHT}': this file is a sample already, and a sample of a sample "
                "has weights that nobody knows.\nSample the whole log.",
                code="sampled-already",
            )
        if file.opened.types != first.opened.types:
            raise InputError(
                f"{stream.source}: the columns of '{file.source}' are not those of '{first.source}'.\n"
                "Give files with the same columns and types.",
                code="other-columns",
                file=file.source,
            )
    return pl.Schema([*first.opened.types, (WEIGHT, pl.Float64())])


def _propensity(stream: Stream, said: InputColumns) -> str:
    """The column of propensities that whoever reads the sample will find; empty where there is none."""
    first = stream.files[0]
    return match_columns(first.source, first.opened.names, (), (PROPENSITY,), said, ()).get(PROPENSITY, "")


def _notes(schema: pl.Schema, propensity: str, sampler: Sampler, share: float) -> tuple[str, ...]:
    """What became of propensities."""
    if not propensity:
        return ()
    column = f"The column '{plain(propensity)}'"
    if not sampler.equal:
        return (
            Notice(
                f"{column} speaks of the log that was sampled: do not weigh this sample by it.",
                code="propensity-of-log",
            ),
        )
    if schema[propensity].is_float():
        return (
            Notice(
                f"{column} was multiplied by {share:.6g}, the chance of a row to be drawn.", code="propensity-scaled"
            ),
        )
    return (
        Notice(
            f"{column} is no column of floats: multiply it by {share:.6g}, the chance of a row, first.",
            code="propensity-not-scaled",
        ),
    )
