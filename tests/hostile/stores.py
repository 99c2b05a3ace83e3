"""Damaged stores of finished units: a unit is read whole, or made again; never half of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import unskew as us
from tests.hostile.classify import Class, Outcome
from tests.hostile.drafts import frame_of
from tests.hostile.processes import Trial
from tests.hostile.worlds import draw
from unskew.core.errors import InputError
from unskew.core.store import Store


def store_trial(rng: Random, folder: Path) -> Trial:
    """Units are written, damaged, and asked for again."""
    keys = [{"unit": number, "name": "é\x1b"} for number in range(6)]
    way = rng.choice(list(WAYS))

    def make(key: Any) -> dict[str, Any]:
        return {"square": key["unit"] ** 2, "array": np.arange(key["unit"] + 3, dtype=np.float64)}

    def run() -> Outcome:
        told: list[str] = []
        store = Store(folder / "store", tell=told.append)
        store.map(keys, make)
        for key in rng.sample(keys, 3):
            WAYS[way](store.path(key), rng)
        try:
            records = Store(folder / "store", tell=told.append).map(keys, make)
        except InputError as problem:
            return (Class.CLEAN, "") if "store" in str(problem) else (Class.UNCLEAR, str(problem))
        except Exception as problem:
            return Class.TRACEBACK, f"{way}: {type(problem).__name__}: {problem}"
        for key, record in zip(keys, records, strict=True):
            wanted = make(key)
            if record["square"] != wanted["square"] or not np.array_equal(record["array"], wanted["array"]):
                return Class.SILENT, f"{way}: unit {key['unit']} is {record}"
        left = [path.name for path in (folder / "store").rglob("*") if path.name.endswith(".tmp")]
        return (Class.LEFT, f"{way}: {left}") if left else (Class.RIGHT, "")

    return Trial(f"units: {way}", run)


def folds_trial(rng: Random, folder: Path) -> Trial:
    """A cross-validation whose finished folds are damaged: the same numbers, or one clear error."""
    way, log = rng.choice(list(WAYS)), frame_of(draw(rng).log)

    def run() -> Outcome:
        def found() -> Any:
            return us.cross_validate(
                log, ["most_popular", "random"], split="k_fold(folds=3)", estimators=["naive"], workers=1,
                store=folder / "folds",
            ).to_dict()  # fmt: skip

        wanted = found()
        units = sorted((folder / "folds").rglob("*.unit"))
        for unit in rng.sample(units, 2):
            WAYS[way](unit, rng)
        try:
            again = found()
        except InputError as problem:
            return (Class.CLEAN, "") if "folds" in str(problem) else (Class.UNCLEAR, str(problem))
        except Exception as problem:
            return Class.TRACEBACK, f"{way}: {type(problem).__name__}: {problem}"
        return (Class.RIGHT, "") if again == wanted else (Class.SILENT, f"{way}: other numbers")

    return Trial(f"folds: {way}", run)


def _poked(path: Path, rng: Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 5))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def _cut(path: Path, rng: Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def _folder(path: Path, rng: Random) -> None:
    path.unlink()
    path.mkdir()


def _loop(path: Path, rng: Random) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _holding(content: Callable[[int], bytes]) -> Callable[[Path, Random], None]:
    """Other bytes, made of the number of those before."""

    def spoil(path: Path, rng: Random) -> None:
        path.write_bytes(content(path.stat().st_size))

    return spoil


def _another(path: Path, rng: Random) -> None:
    others = [other for other in path.parents[1].rglob("*.unit") if other != path and other.is_file()]
    path.write_bytes(rng.choice(others).read_bytes())


WAYS: dict[str, Callable[[Path, Random], None]] = {
    "some bits changed": _poked,
    "cut off": _cut,
    "emptied": _holding(lambda size: b""),
    "zeros": _holding(bytes),
    "of another unit": _another,
    "a folder": _folder,
    "a loop of links": _loop,
    "deep JSON": _holding(lambda size: b"unskew-unit 1 " + b"0" * 64 + b"\n" + b"[" * 100_000),
}
