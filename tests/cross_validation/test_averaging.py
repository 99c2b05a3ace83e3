"""The share of a user in the error of an average over folds is what leaving a little of the user out would change."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.cross_validation.averaging import FoldColumns, MacroColumns
from unskew.inference.ratio_form import RatioForm

FORMS = {
    "one ratio": RatioForm(2),
    "a divisor for each model": RatioForm(2, ((True,),)),
    "a product": RatioForm(2, ((False, False),)),
    "two terms": RatioForm(2, ((False,), (False, False))),
    "a root": RatioForm(2, root=True),
}


def folds_of(form: RatioForm, seed: int, folds: int, users: int) -> FoldColumns:
    """Every user in a random choice of folds."""
    rng = np.random.default_rng(seed)
    width = max(int(b.max()) for term in form.places for _, b in term) + 1
    there = [np.flatnonzero(rng.random(users) < 0.7) for _ in range(folds)]
    there = [own if len(own) > 1 else np.arange(users) for own in there]
    return FoldColumns(form, there, [rng.uniform(0.1, 1.0, (len(own), width)) for own in there], users)


def average(cell: FoldColumns, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean of the folds' values if users counted so much, fold by fold."""
    values = [
        cell.form.values((x * weights[own][:, None]).sum(axis=0)) for own, x in zip(cell.user, cell.x, strict=True)
    ]
    return np.asarray(np.mean(values, axis=0))


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=12)
@given(seed=st.integers(0, 1000), folds=st.integers(2, 5))
def test_errors_are_derivatives_by_the_weights_of_users(name: str, seed: int, folds: int) -> None:
    """e_u = ∂R/∂ω_u at ω = 1, whatever the form of the estimate; they add up to 0."""
    cell = folds_of(FORMS[name], seed, folds, 6)
    found = MacroColumns.of(cell)
    step = 1e-6
    for user in range(cell.users):
        up, down = np.ones(cell.users), np.ones(cell.users)
        up[user] += step
        down[user] -= step
        slope = (average(cell, up) - average(cell, down)) / (2.0 * step)
        np.testing.assert_allclose(found.errors[user], slope, atol=1e-7)
    np.testing.assert_allclose(found.errors.sum(axis=0), 0.0, atol=1e-12)
    *scores, divisor = found.columns.sum(axis=0)  # Σ s / Σ D is the average; the fold that counts most has the scale 1
    np.testing.assert_allclose(np.array(scores) / divisor, average(cell, np.ones(cell.users)), rtol=1e-10)
    assert found.scales.max() == 1.0


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=10)
@given(seed=st.integers(0, 1000), folds=st.integers(2, 4))
def test_bias_is_what_leaving_users_out_says(name: str, seed: int, folds: int) -> None:
    """(m − 1)(mean of R without a user − R), fold by fold, and the mean of that."""
    cell = folds_of(FORMS[name], seed, folds, 6)
    expected = np.zeros(2)
    for x in cell.x:
        whole = cell.form.values(x.sum(axis=0))
        without = [cell.form.values(np.delete(x, user, axis=0).sum(axis=0)) for user in range(len(x))]
        expected += (len(x) - 1) * (np.mean(without, axis=0) - whole) / folds
    np.testing.assert_allclose(cell.bias(), expected, rtol=1e-6, atol=1e-12)


def test_folds_that_tell_nothing() -> None:
    """One user tells no bias; a fold in which nothing divides is left out of the average, and of every error."""
    pair = np.array([[1.0, 2.0], [0.0, 1.0]])
    alone = FoldColumns(RatioForm(1), [np.array([0, 1])] * 2, [pair, np.array([[1.0, 1.0], [0.0, 0.0]])], 2)
    assert np.isinf(alone.bias()).all()
    x = [pair, np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])]
    found = MacroColumns.of(FoldColumns(RatioForm(1), [np.array([0, 1]), np.array([2]), np.array([1])], x, 3))
    assert found.scales[1] == 0.0
    assert found.columns[:, 0].sum() / found.columns[:, 1].sum() == pytest.approx((1 / 3 + 1.0) / 2.0)


def test_users_who_count_for_most_of_an_average() -> None:
    """As many as there are if folds are equally large; hardly more than two where one of two folds has two users."""
    form = RatioForm(1)

    def cell(*sizes: int) -> FoldColumns:
        ends = np.cumsum((0, *sizes))
        user = [np.arange(low, high) for low, high in pairwise(ends.tolist())]
        return FoldColumns(form, user, [np.ones((size, 2)) for size in sizes], int(ends[-1]))

    assert cell(20, 20, 20).counting() == pytest.approx(60.0)
    assert cell(60, 2).counting() == pytest.approx((1 / 60 + 1 / 2) ** 2 / (1 / 60**3 + 1 / 2**3))
    assert np.isnan(cell(60, 1).left_out()).all()
