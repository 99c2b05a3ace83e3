"""Factors that make screening hard, and all scores of them in the order in which they are summed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from unskew.kernels.panels import PANEL
from unskew.kernels.screened import TILE
from unskew.log.ids import Codes, Hashes
from unskew.log.log import Floats, Integers
from unskew.log.order import starts_of
from unskew.models.packed import finite

USERS, ITEMS = 37, 2 * TILE * PANEL + 5
KINDS = ("normal", "duplicates", "whole", "nearly equal", "scales", "zero", "huge", "tiny", "few long", "alike")


class World(NamedTuple):
    """Users with and without factors, items, and what every user has seen."""

    rows: Codes
    left: Floats
    right: Floats
    offsets: Floats
    hashes: tuple[Hashes, Hashes]
    indptr: Integers
    excluded: Codes

    @property
    def scores(self) -> Floats:
        """((b + v_1 w_1) + v_2 w_2) + … of all pairs; b alone for users without factors."""
        scores = np.repeat(self.offsets[None], len(self.rows), axis=0)
        for j in range(self.right.shape[1]):
            own = np.where(self.rows >= 0, self.left[self.rows, j], 0.0)
            scores = scores + own[:, None] * self.right[None, :, j]
        return scores


def factors(kind: str, rng: np.random.Generator, rows: int, dim: int) -> Floats:
    """Ties, near ties, scales far apart."""
    normal = rng.standard_normal((rows, dim))
    if kind == "duplicates":
        return normal[rng.integers(0, max(1, rows // 9), rows)]
    if kind == "alike":  # groups that single precision can tell apart, but not put in order
        return normal[rng.integers(0, max(1, rows // 9), rows)] * (1.0 + 1e-7 * normal)
    if kind == "whole":
        return rng.integers(-1, 2, (rows, dim)).astype(np.float64)
    if kind == "nearly equal":
        return 1.0 + normal * 1e-9
    if kind == "scales":
        return normal * 10.0 ** rng.integers(-40, 40, (rows, 1))
    if kind == "few long":
        return normal * np.where(rng.random((rows, 1)) < 0.03, 50.0, 0.1)
    return normal * {"zero": 0.0, "huge": 1e150, "tiny": 1e-160, "normal": 1.0}[kind]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Any kinds of factors of users, items and offsets whose scores are numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind, dim = draw(st.tuples(*[st.sampled_from(KINDS)] * 3)), draw(st.integers(1, 9))
    left, right = factors(kind[0], rng, USERS, dim), factors(kind[1], rng, ITEMS, dim)
    offsets = factors(kind[2], rng, ITEMS, 1)[:, 0].copy()
    assert finite(left, right, offsets)
    rows = np.where(rng.random(USERS) < 0.1, -1, np.arange(USERS)).astype(np.int32)
    users, items = (rng.integers(0, 2**63, many).astype(np.uint64) for many in (USERS, ITEMS))
    seen = [np.flatnonzero(rng.random(ITEMS) < rng.choice([0.0, 0.01, 0.97])) for _ in range(USERS)]
    indptr, excluded = starts_of(np.array([len(s) for s in seen])), np.concatenate(seen).astype(np.int32)
    return World(rows, left, right, offsets, (users, items), indptr, excluded)
