"""The jobs of ``quick.py``: a small workload of ours, and a reference of about its kind that our own environment has.

A reference need not give the same numbers; it must cost the same as long as its library and the machine stay the same,
and use the machine alike (joins beside joins, products beside products), so that a ratio changes only if ours does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

import unskew as us
from data import Size, generate
from growth import Size as GrowthSize
from growth import inputs
from peers import common, peer_polars
from unskew.log import Feedback, Ids, Log

ITEMS, DIM, SEED = 4_000, 32, 0
FULL: dict[str, Any] = {
    "metrics": list(common.METRICS),
    "estimators": ["naive", "snips", "gs(strata=5)"],
    "propensity": "popularity(gamma=2)",
    "target": "per_user",
}


@dataclass(frozen=True)
class Pair:
    """Two jobs to be timed in turn; ``beside`` names the second."""

    ours: Callable[[], object]
    reference: Callable[[], object]
    beside: str


class World:
    """The data of all jobs, made when they are first needed."""

    def __init__(self, folder: Path, users: int) -> None:
        self.folder, self.users = folder, users

    @cached_property
    def frames(self) -> dict[str, pl.DataFrame]:
        """A log in two parts and lists of two models, also as files."""
        made = generate(Size(users=self.users, items=ITEMS))
        for name, frame in made.items():
            frame.write_parquet(self.folder / f"{name}.parquet")
        return made

    @cached_property
    def paths(self) -> dict[str, Path]:
        """The files."""
        return {name: self.folder / f"{name}.parquet" for name in self.frames}

    @cached_property
    def train(self) -> Log:
        """The training part as a log."""
        return Log.from_frame(self.frames["train"])

    @cached_property
    def matrix(self) -> sparse.csr_matrix:
        """The training part as a sparse matrix of ones."""
        ones = np.ones(len(self.train), dtype=np.float64)
        shape = (len(self.train.users), len(self.train.items))
        return sparse.csr_matrix((ones, self.train.item, self.train.indptr), shape)


def metrics_from_arrays(world: World) -> Pair:
    """Naive metrics of one model."""
    from kernel import prepare

    test, lists = world.frames["test"], world.frames["a"]
    return Pair(prepare(world.folder), lambda: peer_polars.metrics(test, lists), "polars joins and groups")


def full_table(world: World) -> Pair:
    """Three estimators of two models from Parquet files."""
    paths = world.paths
    models = {name: paths[name] for name in common.MODELS}

    def reference() -> None:
        test = peer_polars.test(world.folder)
        for name in common.MODELS:
            peer_polars.metrics(test, peer_polars.listed(world.folder, name))

    return Pair(
        lambda: us.evaluate(paths["test"], models, train=paths["train"], **FULL),
        reference,
        "polars reads, joins and groups",
    )


def bootstrap(world: World) -> Pair:
    """A thousand replicates of the naive metrics of one model, from frames."""
    frames, rng = world.frames, np.random.default_rng(SEED)
    columns = rng.random((world.users, len(common.METRICS)))
    options: dict[str, Any] = {"metrics": list(common.METRICS), "estimators": ["naive"], "target": "per_user"}
    options |= {"interval": "bootstrap", "replicates": 1_000}

    def reference() -> None:
        for _ in range(20):
            rng.poisson(1.0, (5, world.users)) @ columns

    return Pair(
        lambda: us.evaluate(frames["test"], {"a": frames["a"]}, **options), reference, "numpy draws Poisson weights"
    )


def lists_from_factors(world: World) -> Pair:
    """The best hundred items, seen ones left out."""
    rng = np.random.default_rng(SEED)
    users, items = (rng.standard_normal((n, 64), dtype=np.float32) for n in (world.users // 8, ITEMS))
    people, things = (Ids(pl.Series("id", np.arange(len(side)))) for side in (users, items))
    step = rng.integers(1, ITEMS // 50, len(users))
    seen = (np.arange(50)[None, :] * step[:, None]).astype(np.int32)
    past = Log(people, things, np.arange(0, seen.size + 1, 50), seen.ravel(), feedback=Feedback.IMPLICIT)
    model = us.models.GivenFactors(people, things, users, items)

    def reference() -> None:
        for start in range(0, len(users), 500):
            np.argpartition(users[start : start + 500] @ items.T, -100, axis=1)

    return Pair(lambda: model.recommend(people, 100, seen=past), reference, "numpy argpartition")


def item_knn(world: World) -> Pair:
    """Neighbours of all items."""
    matrix = world.matrix
    return Pair(lambda: us.models.ItemKNN(50).fit(world.train).similar(), lambda: matrix.T @ matrix, "scipy multiplies")


def svd(matrix: Any, rounds: int) -> Callable[[], object]:
    """The reference of models with factors."""
    return lambda: TruncatedSVD(DIM, n_iter=rounds, random_state=0).fit(matrix)


def wmf(world: World) -> Pair:
    """Sweeps of alternating least squares over positives."""
    model = us.models.WMF(DIM, rounds=4)
    return Pair(lambda: model.fit(world.train), svd(world.matrix, 4), "scikit-learn TruncatedSVD")


def mf_ips(world: World) -> Pair:
    """Rounds of weighted ratings."""
    log, rng = world.train, np.random.default_rng(SEED)
    value, propensity = rng.integers(1, 6, len(log)).astype(np.float64), rng.uniform(0.05, 1.0, len(log))
    rated = Log(
        log.users,
        log.items,
        log.indptr,
        log.item,
        value=value,
        propensity=propensity,
        feedback=Feedback.RATINGS,
    )
    model = us.models.MF(20, 1.0, propensity="known", rounds=3, tolerance=0.0)

    def ours() -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*rounds were spent")
            model.fit(rated)

    return Pair(ours, svd(world.matrix, 4), "scikit-learn TruncatedSVD")


def doubly_robust(world: World) -> Pair:
    """naive, ips and dr of five models, guesses cross-fitted on the way."""
    log, lists = inputs(GrowthSize(users=world.users, items=ITEMS, models=5))
    value = (np.random.default_rng(SEED).random(len(log)) < 0.1).astype(np.float64)
    clicked = Log(
        log.users,
        log.items,
        log.indptr,
        log.item,
        value=value,
        propensity=np.full(len(log), 10 / ITEMS),  # one item of each tenth of the catalogue was seen
        feedback=Feedback.CONVERSIONS,
    )
    options: dict[str, Any] = {"metrics": ["dcg@10"], "propensity": "known", "outcome": "means(shrink=10)"}

    def reference() -> None:
        for one in lists.values():
            np.unique(one.item.astype(np.int64) * world.users)

    return Pair(
        lambda: us.evaluate(clicked, lists, estimators=["naive", "ips", "dr"], **options), reference, "numpy sorts"
    )


def audit(world: World) -> Pair:
    """How skewed a log is, from a frame."""
    frame = world.frames["train"]
    by = [pl.col("user"), pl.col("item")]
    return Pair(
        lambda: us.audit(frame), lambda: [frame.group_by(c).len().sort("len") for c in by], "polars counts and sorts"
    )


def sampling(world: World) -> Pair:
    """Half of the rows of a file."""
    out, plain = world.folder / "sample.parquet", world.folder / "plain.parquet"
    source = world.paths["a"]
    return Pair(
        lambda: us.sampling.sample_file(source, out, strategy="reg", size=0.5),
        lambda: pl.scan_parquet(source).sink_parquet(plain),
        "polars reads and writes",
    )


def splits(world: World) -> Pair:
    """Thirty daily windows, and both logs of each."""
    from splits import log_of, split_and_make

    log = log_of(100 * world.users)
    assert log.time is not None
    times = log.time
    return Pair(split_and_make(log), lambda: np.argsort(times, kind="stable"), "numpy sorts by time")


def stream(world: World) -> Pair:
    """Two models from files, in a limit of memory."""
    paths = world.paths
    models = {name: paths[name] for name in common.MODELS}
    asked: dict[str, Any] = {"engine": "stream", "memory": "1GiB", "metrics": ["recall@10"], "estimators": ["naive"]}

    def reference() -> None:
        for path in models.values():
            test, lists = (pl.scan_parquet(one) for one in (paths["test"], path))
            joined = test.join(lists, on=["user", "item"], how="left")
            joined.group_by("user").agg((pl.col("rank") <= 10).sum()).collect(engine="streaming")

    return Pair(lambda: us.evaluate(paths["test"], models, **asked), reference, "polars' streaming join")


def texts(world: World) -> Pair:
    """The naive metrics of one model whose ids are texts, from files."""
    paths = {}
    for name in ("test", "a"):
        paths[name] = world.folder / f"texts-{name}.parquet"
        ids = [pl.format("{}-{}", pl.lit(side), pl.col(side)).alias(side) for side in ("user", "item")]
        world.frames[name].with_columns(ids).write_parquet(paths[name])
    options: dict[str, Any] = {"metrics": list(common.METRICS), "estimators": ["naive"], "target": "per_user"}
    return Pair(
        lambda: us.evaluate(paths["test"], {"a": paths["a"]}, **options),
        lambda: peer_polars.metrics(pl.read_parquet(paths["test"]), pl.read_parquet(paths["a"])),
        "polars reads and joins texts",
    )


def reading(world: World) -> Pair:
    """A CSV file, checked."""
    path = world.folder / "log.csv"
    world.frames["train"].write_csv(path)
    return Pair(lambda: us.read_log(path), lambda: pl.read_csv(path).sort("user", "item"), "polars reads and sorts")


def plan(world: World) -> Pair:
    """Which answers of whom decide between three lists."""
    from plan import ids, lists_of, log_of

    users = world.users // 2
    people, things = ids(users), ids(100_000)
    models = {f"m{m}": lists_of(users, people, things, m) for m in range(3)}
    seen, log = log_of(users, people, things, 0, 10), log_of(users, people, things, 12, 5)
    pairs = [pl.Series(one.item) for one in models.values()]
    return Pair(
        lambda: us.plan(models, log=log, seen=seen, detect="5%"),
        lambda: [pl.concat(pairs).sort() for _ in range(5)],
        "polars sorts",
    )


def folds(world: World) -> Pair:
    """Five windows and two models."""
    from splits import log_of

    log = log_of(10 * world.users)
    frame = pl.DataFrame({"user": log.user, "item": log.item, "time": log.time})
    options: dict[str, Any] = {"split": "sliding_window(width=1d, folds=5)", "metrics": ["recall@10"]}
    options |= {"estimators": ["naive"], "target": "per_user"}
    return Pair(
        lambda: us.cross_validate(frame, ["most_popular", "recently_popular(days=7)"], **options),
        lambda: frame.sort("user", "time", "item"),
        "polars sorts",
    )


JOBS: dict[str, Callable[[World], Pair]] = {
    "metrics from arrays": metrics_from_arrays,
    "full table from Parquet": full_table,
    "bootstrap": bootstrap,
    "lists from factors": lists_from_factors,
    "item_knn": item_knn,
    "wmf": wmf,
    "MF-IPS": mf_ips,
    "doubly robust": doubly_robust,
    "audit": audit,
    "sampling a file": sampling,
    "splits": splits,
    "stream": stream,
    "texts as ids": texts,
    "reading CSV": reading,
    "plan": plan,
    "cross-validation": folds,
}
