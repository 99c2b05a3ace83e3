"""Packed parts are what they were, to the bit, with the very objects that all parts share."""

from __future__ import annotations

import io

import numpy as np

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


def test_parts_come_back_to_the_bit() -> None:
    """Arrays of all kinds, in little room; what is shared is the very object, and what is there twice is one."""
    shared = [object(), ARRAYS["scores"]]
    out = io.BytesIO()
    pack({"arrays": ARRAYS, "shared": shared[1], "twice": [ARRAYS["ranks"]] * 2}, shared, out)
    found = unpack(io.BytesIO(out.getvalue()), shared)
    for name, array in ARRAYS.items():
        other = found["arrays"][name]
        assert (other.dtype, other.shape, other.tobytes()) == (array.dtype, array.shape, array.tobytes()), name
    assert found["shared"] is shared[1] and found["twice"][0] is found["twice"][1]
    out = io.BytesIO()
    pack((ARRAYS["ranks"], ARRAYS["gains"]), (), out)
    assert len(out.getvalue()) < len(ARRAYS["ranks"]) + 600
