"""Files of factors (.npz): honest ones in every form, and bytes that changed on the way.

What is wrong with arrays, headers and archives has rows of its own in ``tests/models/test_hostile_files.py`` and
``tests/models/test_given_factors.py``.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.hostile.cases import Case
from tests.hostile.drafts import Draft, frame_of
from tests.hostile.oracle import CLICKS, read, recalls
from tests.hostile.sheets import of_frame
from tests.hostile.worlds import CUTS, World, draw

Arrays = dict[str, Any]
HONEST: dict[str, Callable[[Arrays], Arrays]] = {
    "as it is": lambda arrays: arrays,
    "Fortran order": lambda arrays: {**arrays, "user_factors": np.asfortranarray(arrays["user_factors"])},
    "offsets of 0": lambda arrays: {**arrays, "item_offsets": np.zeros(len(arrays["items"]))},
    "big-endian": lambda arrays: {**arrays, "item_factors": arrays["item_factors"].astype(">f8")},
    "an equal constant of users": lambda arrays: {**arrays, "user_offsets": np.ones(len(arrays["users"]))},
}


class _Harm:
    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("harm-was-done"),))


def _poked(data: bytes, rng: Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 3, 20))):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


READABLE = ("some bytes changed", "a comment behind it")
BYTES: dict[str, Callable[[bytes, Random], bytes]] = {
    "some bytes changed": _poked,
    "a comment behind it": lambda data, rng: data[:-2] + b"\x05\x00hello",
    "cut off": lambda data, rng: data[: rng.randrange(len(data))],
    "zeros": lambda data, rng: bytes(len(data)),
    "a text": lambda data, rng: b"user,item,rank\n1,2,3\n",
    "a pickle": lambda data, rng: pickle.dumps(_Harm()),
}


def factors_case(rng: Random, folder: Path) -> Case:
    """The numbers of a loop, or one clear error."""
    world, generator = draw(rng), np.random.default_rng(rng.randrange(2**32))
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
    case.what = rng.choice([*HONEST, *BYTES])
    np.savez(path, **HONEST.get(case.what, HONEST["as it is"])(arrays))
    case.refusable = case.what in BYTES
    if case.what in BYTES:
        path.write_bytes(BYTES[case.what](path.read_bytes(), rng))
        case.answerable = case.what in READABLE
    case.numbers = _numbers(world, arrays) if case.answerable else None
    return case


def _numbers(world: World, arrays: Arrays) -> dict[str, float]:
    scores = arrays["user_factors"] @ arrays["item_factors"].T
    rank: dict[tuple[str, str], int] = {}
    for u, user in enumerate(world.users):
        order = sorted(range(len(world.items)), key=lambda i: -scores[u, i])
        rank |= {(str(user), str(world.items[i])): place for place, i in enumerate(order, start=1)}
    return recalls(read(of_frame(frame_of(world.log)), CLICKS, False), {"factors": rank})
