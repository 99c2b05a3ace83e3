"""Moments of cells against numpy, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from unskew.inference.moments import Moments
from unskew.inference.ratio_form import RatioForm

FORMS = {
    "one ratio": RatioForm(3),
    "two terms": RatioForm(2, ((False,), (True,))),
    "own divisors": RatioForm(2, ((True, False),)),
}


@pytest.mark.parametrize("users", [1, 7, 513, 2000])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("in_one_piece", [False, True])
def test_moments_of_cells_alike_are_those_of_each(form: RatioForm, users: int, in_one_piece: bool) -> None:
    """Whatever the order of the columns, and wherever they lie in memory."""
    rng = np.random.default_rng(users)
    width = 1 + max(int(places.max()) for term in form.places for pair in term for places in pair)
    x = np.round(rng.normal(size=(users, 2 * width)) * (rng.random((users, 2 * width)) < 0.5), 1) + 1e6 * (users == 7)
    x = np.asfortranarray(x) if in_one_piece else x
    columns = np.array([rng.permutation(2 * width)[:width] for _ in range(3)])
    for own, found in zip(columns, Moments.of_cells(x, columns, form, [None] * 3), strict=True):
        y = x[:, own]
        centred = y - y.mean(axis=0)
        scale = np.abs(y).max() + 1e-300
        assert found.active == np.count_nonzero((y != 0.0).any(axis=1))
        np.testing.assert_allclose(found.mean, y.mean(axis=0), rtol=1e-12, atol=1e-15 * scale)
        np.testing.assert_allclose(found.cross, centred.T @ centred, rtol=1e-9, atol=1e-12 * scale)
        score = y[:, form.own[: form.score_kinds]].sum(axis=1)
        for a in range(form.models):
            for b in range(form.models):
                d = score[:, a] if a == b else score[:, a] - score[:, b]
                unlike = (y[:, form.own[:, a]] != y[:, form.own[:, b]]).any(axis=1)
                assert found.differ[a, b] == np.count_nonzero(score[:, a] if a == b else unlike)
                ahead = np.abs(d) if a == b else np.maximum(d, 0.0)
                expected = ahead.sum(), (ahead**2).sum(), (d**4).sum()
                np.testing.assert_allclose(found.wins[:, a, b], expected, rtol=1e-9)
