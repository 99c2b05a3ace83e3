"""Hashes of numbers against those of their texts."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.kernels.hashing import hash_number
from unskew.log.ids import hash_texts


@settings(deadline=None)
@given(st.integers(-(2**63), 2**63 - 1) | st.integers(-1000, 1000))
def test_the_hash_of_a_number_is_that_of_its_text(number: int) -> None:
    assert np.uint64(hash_number(np.int64(number))) == hash_texts(pl.Series([str(number)]))[0]
