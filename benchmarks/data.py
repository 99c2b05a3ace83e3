"""The data that every library is measured on: a log in two parts and the top lists of two models.

    test.parquet    user, item          10 held-out items per user, in the order of a log (not sorted)
    train.parquet   user, item          20 items per user, drawn by popularity, likewise unsorted
    a.parquet       user, item, rank    top-100 lists; finds popular and rare items alike
    b.parquet       user, item, rank    top-100 lists; driven by popularity

Ids are integers with gaps, so that no library can take an id for an array index. Lists are written user by
user in order of rank and never hold items of the same user's training part.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

FOLDER = Path(__file__).parent / ".data"
CHUNK = 10_000

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Size:
    """How much data; the defaults are the size that is reported."""

    users: int = 100_000
    items: int = 20_000
    length: int = 100
    test: int = 10
    train: int = 20
    seed: int = 0

    @property
    def folder(self) -> Path:
        """Where the files of this size are kept."""
        return FOLDER / f"{self.users}x{self.items}"


QUICK = Size(users=2_000, items=1_000)


def ensure(size: Size) -> Path:
    """Write the files of this size unless they are there, and return their folder."""
    stamp = size.folder / "size.json"
    if not (stamp.exists() and json.loads(stamp.read_text()) == asdict(size)):
        size.folder.mkdir(parents=True, exist_ok=True)
        for name, frame in generate(size).items():
            frame.write_parquet(size.folder / f"{name}.parquet")
        stamp.write_text(json.dumps(asdict(size)))
    return size.folder


def generate(size: Size) -> dict[str, pl.DataFrame]:
    """Draw the log and the lists of both models."""
    rng = np.random.default_rng(size.seed)
    users = np.sort(rng.choice(10 * size.users, size.users, replace=False))
    items = rng.choice(10 * size.items, size.items, replace=False)
    popularity = np.asarray(1.0 / (np.arange(size.items) + 20.0) ** 0.8, dtype=np.float64)
    popularity /= popularity.sum()

    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in ("test", "train", "a", "b")}
    for start in range(0, size.users, CHUNK):
        chunk = users[start : start + CHUNK]
        log = distinct(rng, popularity, len(chunk), size.test + size.train, taken=None)
        test, train = log[:, : size.test], log[:, size.test :]
        parts["test"].append(log_frame(chunk, items[test]))
        parts["train"].append(log_frame(chunk, items[train]))

        even = np.full(test.shape, 0.25)
        skewed = np.clip(0.12 * (popularity[test] / popularity.mean()) ** 0.6, 0.0, 0.9)
        for name, chance, tilt in (("a", even, 0.3), ("b", skewed, 1.0)):
            filler = popularity**tilt / np.sum(popularity**tilt)
            ranked = lists(rng, test, rng.random(test.shape) < chance, log, filler, size.length)
            parts[name].append(list_frame(chunk, items[ranked]))

    frames = {name: pl.concat(chunks) for name, chunks in parts.items()}
    for name in ("test", "train"):
        frames[name] = frames[name].sample(fraction=1.0, shuffle=True, seed=size.seed)
    return frames


def distinct(rng: np.random.Generator, chance: Floats, rows: int, width: int, taken: Ints | None) -> Ints:
    """Draw ``width`` different items per row, by popularity, none of those already taken by the row."""
    edges = np.cumsum(chance)
    edges[-1] = 1.0
    draws = 2 * width + 40
    while True:
        drawn = np.searchsorted(edges, rng.random((rows, draws)), side="right")
        fixed = np.empty((rows, 0), dtype=np.int64) if taken is None else taken
        fresh = first_of_its_kind(np.hstack([fixed, drawn]))[:, fixed.shape[1] :]
        if fresh.sum(axis=1).min() >= width:
            order = np.argsort(~fresh, axis=1, kind="stable")[:, :width]
            return np.take_along_axis(drawn, order, axis=1)
        draws *= 2


def first_of_its_kind(rows: Ints) -> Bools:
    """True where an item stands in its row for the first time."""
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    fresh = np.ones(rows.shape, dtype=bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    result = np.empty_like(fresh)
    np.put_along_axis(result, order, fresh, axis=1)
    return result


def lists(rng: np.random.Generator, test: Ints, hit: Bools, log: Ints, chance: Floats, length: int) -> Ints:
    """Rank the hits, which gather near the top, among other items that the user has nothing to do with."""
    others = distinct(rng, chance, len(test), length, taken=log)
    depth_of_hits = np.where(hit, rng.beta(0.8, 2.0, hit.shape), 2.0)
    depth_of_others = rng.random(others.shape)
    keep = length - hit.sum(axis=1, keepdims=True)
    depth_of_others = np.where(np.arange(length) < keep, depth_of_others, 2.0)
    order = np.argsort(np.hstack([depth_of_hits, depth_of_others]), axis=1)[:, :length]
    return np.take_along_axis(np.hstack([test, others]), order, axis=1)


def log_frame(users: Ints, items: Ints) -> pl.DataFrame:
    return pl.DataFrame({"user": np.repeat(users, items.shape[1]), "item": items.ravel()})


def list_frame(users: Ints, items: Ints) -> pl.DataFrame:
    rank = np.tile(np.arange(1, items.shape[1] + 1, dtype=np.int64), len(users))
    return log_frame(users, items).with_columns(pl.Series("rank", rank))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--users", type=int, default=Size.users)
    parser.add_argument("--items", type=int, default=Size.items)
    arguments = parser.parse_args()
    print(ensure(Size(users=arguments.users, items=arguments.items)))


if __name__ == "__main__":
    main()
