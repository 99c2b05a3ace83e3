"""Tipping points of every pair, decided or not: small worlds decide nothing, and brute force needs small worlds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations

import pytest

from unskew.judging import answer
from unskew.judging.measure import Measured
from unskew.judging.tipping_points import TippingPoint, tipping_points


@contextmanager
def of_every_pair() -> Iterator[None]:
    """Verdicts carry a tipping point wherever one exists."""

    def every(measured: Measured, decided: set[tuple[int, int, int]]) -> dict[tuple[int, int, int], TippingPoint]:
        pairs = list(combinations(range(len(measured.setting.models)), 2))
        return tipping_points(measured, {(cell, *pair) for cell in range(len(measured.plan.cells)) for pair in pairs})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answer, "tipping_points", every)
        yield
