"""Files of factors (.npz): arrays that a model of somebody else left, honest or not."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.hostile.cases import Case
from tests.hostile.drafts import Draft, frame_of
from tests.hostile.mutations_places import PLACES
from tests.hostile.oracle import CLICKS, read, recalls
from tests.hostile.sheets import of_frame
from tests.hostile.worlds import CUTS, World, draw

Arrays = dict[str, Any]
Spoil = Callable[[Arrays, Random], Arrays]


def _changed(name: str, change: Callable[[Any], Any]) -> Spoil:
    return lambda arrays, rng: {**arrays, name: change(arrays[name])}


def _without(name: str) -> Spoil:
    return lambda arrays, rng: {key: value for key, value in arrays.items() if key != name}


def _poked(name: str, value: float) -> Spoil:
    def spoil(arrays: Arrays, rng: Random) -> Arrays:
        changed = np.array(arrays[name], dtype=np.float64)
        changed[rng.randrange(len(changed)), 0] = value
        return {**arrays, name: changed}

    return spoil


BENIGN: dict[str, Spoil] = {
    "as it is": lambda arrays, rng: arrays,
    "Fortran order": _changed("user_factors", np.asfortranarray),
    "offsets of 0": lambda arrays, rng: {**arrays, "item_offsets": np.zeros(len(arrays["items"]))},
    "big-endian": _changed("item_factors", lambda a: a.astype(">f8")),
    "an equal constant of users": lambda arrays, rng: {**arrays, "user_offsets": np.ones(len(arrays["users"]))},
}
WRONG: dict[str, Spoil] = {
    "an array is missing": _without("items"),
    "no factors of users": _without("user_factors"),
    "an array too many": lambda arrays, rng: {**arrays, "extra": np.zeros(3)},
    "nan": _poked("user_factors", float("nan")),
    "infinite": _poked("item_factors", float("inf")),
    "1e308": _poked("item_factors", 1e308),
    "transposed": _changed("user_factors", np.transpose),
    "one id twice": _changed("users", lambda a: np.concatenate([a[:1], a[:-1]])),
    "no users": lambda arrays, rng: {
        **arrays,
        "users": arrays["users"][:0],
        "user_factors": arrays["user_factors"][:0],
    },
    "another width": _changed("item_factors", lambda a: a[:, :1]),
    "texts as factors": _changed("item_factors", lambda a: a.astype(str)),
    "complex": _changed("item_factors", lambda a: a.astype(complex)),
    "three dimensions": _changed("item_factors", lambda a: a[None]),
    "a scalar": _changed("items", lambda a: np.array(3)),
    "ids that are no numbers": _changed("users", lambda a: np.full(len(a), np.nan)),
    "dates as ids of 2 users": _changed("users", lambda a: np.zeros(len(a), dtype="datetime64[s]")),
    "structured": _changed("users", lambda a: np.zeros(len(a), dtype=[("a", "i4"), ("b", "f8")])),
    "truth values as ids": _changed("users", lambda a: np.zeros(len(a), dtype=bool)),
}


def factors_case(rng: Random, folder: Path) -> Case:
    """A file of factors is spoilt: its arrays, or its bytes."""
    world = draw(rng)
    generator = np.random.default_rng(rng.randrange(2**32))
    arrays: Arrays = {
        "users": np.array(world.users),
        "items": np.array(world.items),
        "user_factors": generator.normal(size=(len(world.users), 3)),
        "item_factors": generator.normal(size=(len(world.items), 3)),
    }
    Draft("log", world.log).write(folder)
    argv = ["evaluate", "log.csv", "--model=factors=factors.npz", *(f"--metric=recall@{k}" for k in CUTS)]
    argv += ["--estimator=naive", "--estimator=snips", "--propensity=known", "--target=pooled", "--target=per_user"]
    case = Case("", [*argv, "--json=out.json"], ["factors.npz", "log.csv"], ["out.json"])
    path = folder / "factors.npz"
    choice = rng.random()
    if choice < 0.25:
        case.what = rng.choice(list(BENIGN))
        np.savez(path, **BENIGN[case.what](arrays, rng))
        case.numbers, case.refusable = _numbers(world, arrays), False
    elif choice < 0.6:
        case.what = rng.choice(list(WRONG))
        np.savez(path, **WRONG[case.what](arrays, rng))
        case.answerable = False
    else:
        case.what = rng.choice(list(BYTES))
        BYTES[case.what](path, arrays, rng)
        case.answerable = case.what in ("some bytes changed", "compressed", "a comment behind it")
        case.numbers = _numbers(world, arrays) if case.answerable else None
    return case


def _numbers(world: World, arrays: Arrays) -> dict[str, float]:
    scores = arrays["user_factors"] @ arrays["item_factors"].T
    rank: dict[tuple[str, str], int] = {}
    for u, user in enumerate(world.users):
        order = sorted(range(len(world.items)), key=lambda i: -scores[u, i])
        rank |= {(str(user), str(world.items[i])): place for place, i in enumerate(order, start=1)}
    return recalls(read(of_frame(frame_of(world.log)), CLICKS, False), {"factors": rank})


class _Harm:
    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("harm-was-done"),))


def _npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin-1", "replace")
    size = struct.pack("<H", min(len(text), 65535)) if version == b"\x01\x00" else struct.pack("<I", len(text))
    return b"\x93NUMPY" + version + size + text + data


def _zipped(path: Path, entries: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in entries.items():
            packed.writestr(name, data)


def _with_users(path: Path, arrays: Arrays, users: bytes, name: str = "users.npy") -> None:
    """Honest arrays, but for one entry that is written byte by byte."""
    entries = {name: users}
    for key in ("items", "user_factors", "item_factors"):
        file = io.BytesIO()
        np.save(file, arrays[key])
        entries[f"{key}.npy"] = file.getvalue()
    _zipped(path, entries)


def _pickled(path: Path, arrays: Arrays, rng: Random) -> None:
    users = np.array([_Harm() for _ in arrays["users"]], dtype=object)
    np.savez(path, **{**arrays, "users": users}, allow_pickle=True)


def _lying(path: Path, arrays: Arrays, rng: Random) -> None:
    shape = rng.choice(
        (
            "(1000000000000,)",
            "(100000000,)",
            "(-1,)",
            "(2, 3, 4)",
            "(True,)",
            "(9" + "9" * 5000 + ",)",
        )
    )
    _with_users(path, arrays, _npy(f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n", bytes(64)))


def _odd_header(path: Path, arrays: Arrays, rng: Random) -> None:
    words = (
        "{" * 200, "(" * 3000, "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}",
        "__import__('os').abort()", "{'descr': '<i8'}", "",
        "{'descr': [('a', '<i8', (10**9,))], 'fortran_order': False, 'shape': (1,)}", "\x00" * 50,
    )  # fmt: skip
    _with_users(path, arrays, _npy(rng.choice(words), bytes(64)))


def _bomb(path: Path, arrays: Arrays, rng: Random) -> None:
    path.write_bytes(_packed_zeros())


@cache
def _packed_zeros() -> bytes:
    """A few MB on disk, 1 GB when unpacked."""
    many, file = 1 << 27, io.BytesIO()
    header = _npy(f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({many},), }}\n")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name in ("users", "items", "user_factors", "item_factors"):
            with packed.open(f"{name}.npy", "w") as entry:
                entry.write(header)
                if name == "users":
                    for _ in range(8 * many >> 24):
                        entry.write(bytes(1 << 24))
    return file.getvalue()


def _bytes(change: Callable[[bytes, Random], bytes]) -> Callable[[Path, Arrays, Random], None]:
    def write(path: Path, arrays: Arrays, rng: Random) -> None:
        np.savez(path, **arrays)
        path.write_bytes(change(path.read_bytes(), rng))

    return write


def _header(path: Path, arrays: Arrays, rng: Random) -> None:
    """Pretends to be a saved model of ours."""
    words: list[Any] = [
        {"format": "unskew factors", "version": 1}, {"format": "unskew mf", "version": 10**400}, [], None, 7,
        {"format": ["unskew factors"]}, {"format": "unskew givenfactors", "version": 1},
    ]  # fmt: skip
    text = rng.choice([json.dumps(rng.choice(words)), "[" * 100_000, "{", "\x00", "NaN"])
    np.savez(path, **{**arrays, "header": np.frombuffer(text.encode(), dtype=np.uint8)})


def _place(path: Path, arrays: Arrays, rng: Random) -> None:
    PLACES[rng.choice(list(PLACES))](path)


BYTES: dict[str, Callable[[Path, Arrays, Random], None]] = {
    "compressed": lambda path, arrays, rng: np.savez_compressed(path, **arrays),
    "some bytes changed": _bytes(lambda data, rng: _poke(data, rng)),
    "a comment behind it": _bytes(lambda data, rng: data[:-2] + b"\x05\x00hello"),
    "cut off": _bytes(lambda data, rng: data[: rng.randrange(len(data))]),
    "zeros": _bytes(lambda data, rng: bytes(len(data))),
    "twice": lambda path, arrays, rng: _zipped(path, {"users.npy": b"", "users": b"", "../users.npy": b"x"}),
    "a text": _bytes(lambda data, rng: b"user,item,rank\n1,2,3\n"),
    "a pickle": _bytes(lambda data, rng: pickle.dumps(_Harm())),
    "pickled ids": _pickled,
    "a shape that lies": _lying,
    "a strange header of an array": _odd_header,
    "a bomb": _bomb,
    "a header of ours": _header,
    "no file": _place,
    "an empty archive": lambda path, arrays, rng: _zipped(path, {}),
    "an entry that is no array": lambda path, arrays, rng: _with_users(path, arrays, b"hello"),
}


def _poke(data: bytes, rng: Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 3, 20))):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)
