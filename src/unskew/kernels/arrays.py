"""Arrays by what they hold, and what to write for an optional one that must be there by now."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
Ints32 = npt.NDArray[np.int32]
Ints64 = npt.NDArray[np.int64]

T = TypeVar("T")


def present(value: T | None) -> T:
    """What is optional in general, where the plan has made sure that it is there."""
    assert value is not None
    return value
