"""Packed parts are what they were, to the bit, with the very objects that all parts share."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from unskew.engine.packing import MANY, pack, unpack

ARRAYS = {
    "ranks": np.tile(np.arange(1, 11, dtype=np.int32), MANY),
    "codes": np.arange(-1, 40_000, dtype=np.int32),
    "starts": np.arange(0, 2**40, 2**31),
    "lengths": np.arange(0, 3 * MANY, dtype=np.int64),
    "gains": np.ones(MANY),
    "nothing": np.tile([0.0, -0.0], MANY),
    "unknown": np.full(MANY, np.nan),
    "scores": np.linspace(-1.0, 1.0, MANY),
    "hashes": np.arange(MANY, dtype=np.uint64) << np.uint64(40),
    "marks": np.arange(MANY) % 3 == 0,
    "table": np.ones((MANY, 2)),
    "few": np.ones(3, dtype=np.int64),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_come_back_to_the_bit(name: str) -> None:
    array = ARRAYS[name]
    found = _again(array)
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_numbers_take_the_room_they_need() -> None:
    out = io.BytesIO()
    pack((ARRAYS["ranks"], ARRAYS["gains"]), (), out)
    assert len(out.getvalue()) < len(ARRAYS["ranks"]) + 600


def test_what_is_shared_is_the_very_object_and_packed_nowhere() -> None:
    shared = [object(), ARRAYS["scores"]]
    found = _again({"a": shared[1], "twice": [ARRAYS["ranks"], ARRAYS["ranks"]]}, shared)
    assert found["a"] is shared[1]
    assert found["twice"][0] is found["twice"][1]


def _again(part: Any, shared: Any = ()) -> Any:
    out = io.BytesIO()
    pack(part, shared, out)
    return unpack(io.BytesIO(out.getvalue()), shared)
