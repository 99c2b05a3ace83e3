"""Fairer samples of a DataFrame: the rows that ``unskew.sample`` draws of the same log in memory.

    weights by counts → key of a row = a hash of (seed, user, item, time), scaled by its weight → the m least keys

A weight is a function of how often a user (an item) occurs, so that the driver sees each pair of counts once, never the
users. The m-th least key is bracketed by approximate quantiles, and the few keys inside the bracket are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unskew.core.bounds import SEED
from unskew.core.errors import InputError
from unskew.engine.spark.frames import SparkRows, local_frame
from unskew.log.batches import Kind, Reading, id_type
from unskew.log.column_maps import MODELS, ColumnMap, InputColumns
from unskew.log.ids import hash_texts
from unskew.log.log import WEIGHT
from unskew.log.position import none as no_position
from unskew.sampling import Sampler, make
from unskew.sampling.base import Counts, checked
from unskew.sampling.draw import NONE, row_hashes, row_keys, times_of
from unskew.sampling.size import Size, checked_size, number_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

IDS = ("user", "item")
KEY, TRAINED, RANDOM, OF_USER = "_unskew_key", "_unskew_train", "_unskew_random", "_unskew_user"
SLACK, ACCURACY = 4e-4, 10_000  # of the bracket, and of the quantiles that make it: errors of at most 1/accuracy
_NO_SAMPLE = "this DataFrame is a sample already, and a sample of a sample has weights that nobody knows"


def sample(
    log: DataFrame,
    strategy: str | Sampler = "wtd_h",
    *,
    train: DataFrame | None = None,
    size: Size = None,
    seed: int = 0,
    mcar: DataFrame | None = None,
    columns: Mapping[str, str] | None = None,
) -> DataFrame:
    """Draw rows of a DataFrame without replacement, so that users and items are less skewed: see ``unskew.sample``.

    Every pair of user and item must be there once. The sample has all columns, and ``sampling_weight``; where all rows
    were equally likely, a column ``propensity`` is multiplied by the share drawn.

    Args:
        log, train, mcar: DataFrames with ``user, item``; the log may have ``time`` and further columns.
        strategy, size, seed: as in ``unskew.sample``.
        columns: our column names (``user``, ``item``, ``time``) → theirs.
    """
    from pyspark.sql import functions as sql

    sampler, seed = make(strategy), int(SEED.of(seed, "the seed"))
    asked = checked_size(size, sampler)
    others = {"train": train, "mcar": mcar}
    _require(sampler, others)
    if WEIGHT in log.columns:
        raise InputError(f"log: {_NO_SAMPLE}.\nSample the whole log.", code="sampled-already")
    known = ("user", "item", "value", "time", "policy", "propensity")
    inputs = ("log", *(name for name, frame in others.items() if frame is not None))
    said = ColumnMap(columns, known, inputs, {"test": known, "train": IDS, "mcar": IDS, MODELS: ()})
    names = Reading(Kind.LOG, "log", no_position(said.of("log", *known))).names("log", log.columns)
    how = Reading(Kind.LOG, "log", names)
    rows = SparkRows(log, "log").used({name: names[name] for name in IDS})
    counted = {
        name: None if frame is None else SparkRows(frame, name).used(_ids(frame, name, said.of(name, *IDS)))
        for name, frame in others.items()
    }
    total = rows.count()
    if wrong := rows.where("user is null or item is null").count():
        raise InputError(
            f"log: {wrong:,} rows have no user or no item.\nRemove them: df.dropna(subset=[…]).", code="missing-id"
        )
    number = number_of(asked, total, "log")
    found = log
    for name in ("user", "item"):
        weighed = _weighed(rows, counted, name, total, sampler)
        found = found.join(weighed.withColumnRenamed(name, names[name]), names[name])
    weight = sql.col(f"{OF_USER}_user") * sql.col(f"{OF_USER}_item")
    found = found.select(*log.columns, weight.alias(WEIGHT))
    if number < total:
        found = _least(found, how, names, seed, number, total)
    if sampler.equal and (theirs := names.get("propensity")) is not None:
        found = found.withColumn(theirs, sql.col(theirs) * (number / total))
    return found


def _require(sampler: Sampler, others: Mapping[str, Any]) -> None:
    for name, needed in (("train", sampler.needs_train), ("mcar", sampler.needs_random)):
        if needed and others[name] is None:
            raise InputError(
                f"'{sampler}' counts the rows of users and items in {name}=…, and there is none.",
                code="missing-argument",
            )


def _ids(frame: DataFrame, name: str, columns: InputColumns) -> dict[str, str]:
    names = Reading(Kind.LOG, name, columns).names(name, frame.columns)
    return {ours: names[ours] for ours in IDS}


def _weighed(
    rows: DataFrame, others: Mapping[str, DataFrame | None], name: str, total: int, sampler: Sampler
) -> DataFrame:
    """Every user (item) of the log with its weight."""
    from pyspark.sql import functions as sql

    train, random = others["train"], others["mcar"]
    seen = rows if train is None else train
    found = rows.select(name).distinct()
    number = found.union(seen.select(name)).distinct().count()
    for frame, column in ((seen, TRAINED), (random, RANDOM)):
        if frame is not None:
            found = found.join(frame.groupBy(name).agg(sql.count("*").alias(column)), name, "left")
        else:
            found = found.withColumn(column, sql.lit(0))
    found = found.fillna(0, [TRAINED, RANDOM])
    levels = local_frame(found.select(TRAINED, RANDOM).distinct().toArrow()).sort(TRAINED, RANDOM)
    counts = Counts(
        train=levels[TRAINED].to_numpy().astype(np.float64),
        train_rows=total if train is None else train.count(),
        random=None if random is None else levels[RANDOM].to_numpy().astype(np.float64),
        random_rows=0 if random is None else random.count(),
        number=number,
    )
    give: Callable[[Counts], Any] = sampler.user_weight if name == "user" else sampler.item_weight
    weights = pl.Series(f"{OF_USER}_{name}", checked(give(counts), sampler, name, len(levels)))
    table = rows.sparkSession.createDataFrame(levels.with_columns(weights).to_arrow())
    return found.join(sql.broadcast(table), [TRAINED, RANDOM]).select(name, weights.name)


def _least(rows: DataFrame, how: Reading, names: Mapping[str, str], seed: int, number: int, total: int) -> DataFrame:
    """The rows with the least keys."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import DoubleType, StructField, StructType

    schema = StructType([*rows.schema.fields, StructField(KEY, DoubleType())])
    used = {ours: theirs for ours, theirs in names.items() if ours in ("user", "item", "time")}
    keyed = rows.mapInArrow(lambda batches: _with_keys(batches, how, used, seed), schema)
    share = number / total
    ends = [min(max(share + step, 0.0), 1.0) for step in (-SLACK, SLACK)]
    low, high = keyed.select(sql.percentile_approx(KEY, ends, ACCURACY)).collect()[0][0]
    low, high = (-np.inf if ends[0] == 0.0 else low), (np.inf if ends[1] == 1.0 else high)
    below = keyed.where(sql.col(KEY) < float(low)).count()
    inside = np.sort(local_frame(keyed.where(sql.col(KEY).between(float(low), float(high))).select(KEY).toArrow())[KEY])
    if not below < number <= below + len(inside):
        raise AssertionError("the quantiles do not bracket the least keys")
    bound = inside[number - below - 1]
    if number - below < len(inside) and inside[number - below] == bound:
        raise InputError(
            "log: rows repeat a pair of user and item (and its time), and cannot be told apart.\nRemove them first: "
            "df.dropDuplicates([…]).",
            code="repeated-pair",
        )
    return keyed.where(sql.col(KEY) <= float(bound)).drop(KEY)


def _with_keys(batches: Iterable[Any], how: Reading, names: Mapping[str, str], seed: int) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        frame = local_frame(batch.select(list(names.values()))).rename({theirs: ours for ours, theirs in names.items()})
        types = {name: id_type(frame.schema[name]) for name in ("user", "item")}
        clean = how.check(frame, "log", 0, types).frame
        time = times_of(clean) if "time" in clean.columns else NONE
        hashes = row_hashes(seed, hash_texts(clean["user"]), hash_texts(clean["item"]), time)
        weight = batch.column(WEIGHT).to_numpy(zero_copy_only=False)
        keys = row_keys(hashes, NONE, np.ascontiguousarray(weight, dtype=np.float64))
        yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(keys)], names=[*batch.schema.names, KEY])
