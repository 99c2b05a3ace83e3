"""Arrays by what they hold, and what to write for something optional that must be there by now."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints32 = npt.NDArray[np.int32]
Ints64 = npt.NDArray[np.int64]
Codes = Ints32

T = TypeVar("T")


def present(value: T | None) -> T:
    """What is optional in general, where the experiment has made sure that it is there."""
    assert value is not None
    return value


def starts_of(counts: npt.NDArray[np.int64] | Bools) -> Ints64:
    """Where each group begins, followed by the end of the last one."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
