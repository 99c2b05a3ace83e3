"""Inclusion probabilities and the draw: against slow references, by hypothesis, and by how often pairs are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.design.worlds import small_design
from tests.said import refuses
from unskew.core.errors import InputError
from unskew.design.draw import draw
from unskew.design.probabilities import ListDesign, Scale


@st.composite
def designs(draw_: st.DrawFn) -> tuple[ListDesign, dict[str, Any]]:
    """A design of a few users and items with every kind of limit, and what it was made of."""
    users, items = draw_(st.integers(1, 5)), draw_(st.integers(1, 9))
    own = st.dictionaries(st.integers(0, items - 1), st.floats(0.01, 1.0), max_size=items)
    made: dict[str, Any] = {
        "weights": [draw_(own) for _ in range(users)],
        "gone": [draw_(st.sets(st.integers(0, items - 1))) for _ in range(users)],
        "forbidden": draw_(st.sets(st.integers(0, items - 1), max_size=items - 1)),
        "silent": draw_(st.sets(st.integers(0, users - 1), max_size=users - 1)),
        "uniform": draw_(st.sampled_from([0.0, 0.25, 0.8])),
        "per_user": draw_(st.sampled_from([None, 1, 2, 3])),
    }
    return small_design(items=items, **made), made


def matrix(design: ListDesign, scale: Scale) -> np.ndarray:
    """π of every pair, zero for what is no candidate, by asking about each."""
    users, items = len(design.candidates.users), len(design.candidates.items)
    user, item = np.repeat(np.arange(users), items), np.tile(np.arange(items), users)
    return design.of(user, item, scale).reshape(users, items)


def reference(made: dict[str, Any], items: int, t: float, rate: float) -> np.ndarray:
    """π by its definition, each user's limit met by bisection."""
    out = np.zeros((len(made["weights"]), items))
    for u, own in enumerate(made["weights"]):
        may = [i for i in range(items) if i not in made["gone"][u] and i not in made["forbidden"]]
        if u in made["silent"] or not may:
            continue
        w = np.array([np.float32(own.get(i, 0.0)) for i in may], dtype=np.float64)

        def at(t: float, rate: float, w: np.ndarray = w) -> np.ndarray:
            return np.minimum(1.0, t * w + rate)

        p, most = at(t, rate), made["per_user"] or np.inf
        if p.sum() > most:
            p = np.full(len(w), most / len(w))
            if rate * len(w) < most:
                low, high = 0.0, t
                for _ in range(200):
                    middle = (low + high) / 2
                    low, high = (middle, high) if at(middle, rate).sum() < most else (low, middle)
                p = at(low, rate)
        out[u, may] = p
    return out


@given(designs(), st.floats(0.1, 6.0))
@settings(max_examples=60)
def test_probabilities_are_those_of_the_definition(found: tuple[ListDesign, dict[str, Any]], rows: float) -> None:
    """Σ π = n under all limits, and each π is min(1, t·w + r) with the user's own t where the limit binds."""
    design, made = found
    try:
        scale = design.scale(rows)
    except InputError:
        largest = reference(made, len(design.candidates.items), 1e9, 0.0).sum()
        everything = len(design.item) + design.others[design.candidates.asked].sum()
        spread = reference(made, len(design.candidates.items), 1e9, float(made["uniform"] > 0.0)).sum()
        assert rows > min(everything, max(largest, spread)) * (1 - 1e-6)
        return
    p = matrix(design, scale)
    assert p.sum() == pytest.approx(rows, rel=1e-9)
    assert np.allclose(p, reference(made, p.shape[1], scale.t, scale.rate), atol=1e-9)
    assert (p.sum(axis=1) <= (made["per_user"] or np.inf) + 1e-9).all()
    listed, rest = design.probabilities(scale)
    assert listed.sum() + (rest * design.others).sum() == pytest.approx(rows, rel=1e-9)


@given(designs(), st.floats(0.1, 6.0), st.integers(0, 2**40))
@settings(max_examples=60)
def test_a_draw_keeps_to_its_limits(found: tuple[ListDesign, dict[str, Any]], rows: float, seed: int) -> None:
    """Each user is asked within one of Σ π, at most k times, about candidates only, each once; p is theirs."""
    design, made = found
    try:
        scale = design.scale(rows)
    except InputError:
        return
    drawn, p = draw(design, scale, seed), matrix(design, scale)
    pairs = list(zip(drawn.user.tolist(), drawn.item.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert np.allclose(drawn.propensity, [p[pair] for pair in pairs], atol=1e-12)
    assert (drawn.propensity > 0.0).all()
    number = np.bincount(drawn.user, minlength=len(p))
    assert (np.abs(number - p.sum(axis=1)) < 1.0 + 1e-9).all()
    assert (number <= (made["per_user"] or np.inf)).all()


@pytest.mark.parametrize(("uniform", "per_user"), [(0.0, None), (0.25, None), (0.25, 2), (0.6, 1)])
def test_pairs_are_drawn_as_often_as_promised(uniform: float, per_user: int | None) -> None:
    """Over many seeds every pair's frequency is its π within four standard errors, those in no list included."""
    weights = [{0: 1.0, 1: 0.2, 5: 0.1}, {2: 0.9, 3: 0.8, 4: 0.7, 6: 0.3}, {}, {7: 0.05, 1: 1.0}]
    gone = [{2}, set(), {0, 1}, {3, 4, 5}]
    design = small_design(weights, 8, gone=gone, forbidden={6}, silent=set(), uniform=uniform, per_user=per_user)
    scale = design.scale(3.4)
    p, seeds, counts = matrix(design, scale), 800, np.zeros((4, 8))
    for seed in range(seeds):
        drawn = draw(design, scale, seed)
        counts[drawn.user, drawn.item] += 1
    error = np.sqrt(p * (1 - p) / seeds)
    assert (np.abs(counts / seeds - p) <= 4.0 * error + 1e-12).all()


def test_rows_beyond_the_lists_are_spread_over_all_candidates() -> None:
    """Once every pair in which lists differ is asked about for certain, more rows serve values; verdicts need none."""
    design = small_design([{0: 1.0, 1: 1.0}, {0: 1.0, 1: 0.5}], 10, uniform=0.25)
    p = matrix(design, design.scale(12.0))
    assert np.allclose(p[:, :2], 1.0) and np.allclose(p[:, 2:], 0.5) and p.sum() == pytest.approx(12.0)
    with refuses("out-of-range", option="rows"):
        small_design([{0: 1.0, 1: 1.0}, {0: 1.0, 1: 0.5}], 10).scale(12.0)
    limited = small_design([{0: 1.0, 1: 1.0}, {0: 1.0, 1: 0.5}], 5, per_user=1)
    with refuses("out-of-range", option="rows"):
        limited.scale(3.0)
    assert limited.scale(2.0).rows == pytest.approx(2.0)
