"""A short name for data: units that depend on some arrays carry their digest in the key."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.log import Log


def digest(*arrays: npt.NDArray[Any]) -> str:
    """SHA-256 of the type, shape and content of all arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype.str} {array.shape} ".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def digest_of(log: Log) -> str:
    """Of a log's ids, pairs, values and propensities."""
    columns = (log.users.hashes, log.items.hashes, log.indptr, log.item, log.value, log.propensity)
    return digest(*(np.empty(0) if column is None else column for column in columns))
