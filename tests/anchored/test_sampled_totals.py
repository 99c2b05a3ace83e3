"""Σ q from a sample of the candidates: unbiased, with an error that clustered errors hold, and the same for sums."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.anchored.test_verdicts import ask
from unskew.log import Ids, Log
from unskew.outcome import Given
from unskew.outcome import sampled_totals as module
from unskew.outcome.sampled_totals import sampled_totals

USERS, ITEMS = 60, 40


def test_against_the_full_sum() -> None:
    """Over many names of the same users (other draws) each total is right on average, without training items."""
    rng = np.random.default_rng(1)
    guess = rng.random((USERS, ITEMS)) ** 3
    seen = rng.random((USERS, ITEMS)) < 0.2
    found, draws, worlds = np.zeros(USERS), 5, 100
    errors = []
    for world in range(worlds):
        names = np.array([f"{world} {u}" for u in range(USERS)])
        user, item = np.divmod(np.arange(USERS * ITEMS), ITEMS)
        model = Given(pl.DataFrame({"user": names[user], "item": item, "prediction": guess[user, item]}))
        u, i = np.nonzero(seen)
        log = Log.from_frame(pl.DataFrame({"user": names[u], "item": i}))
        users, items = Ids(pl.Series(names)), Ids(pl.Series(np.arange(ITEMS)))
        total = sampled_totals(model, users, items, log, draws, threads=1)
        full = model.totals(users, items, log, 1)
        np.testing.assert_allclose(full, (guess * ~seen).sum(axis=1))
        found += total / worlds
        errors.append(total.sum() - full.sum())
    inside = guess * ~seen
    spread = ITEMS * np.sqrt(inside.var(axis=1) / draws)  # of one user's total
    assert np.abs((found - inside.sum(axis=1)) / (spread / np.sqrt(worlds))).max() < 4.0
    assert np.std(errors) == pytest.approx(float(np.sqrt((spread**2).sum())), rel=0.25)


def test_a_value_from_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Near the full sum within its error, which is larger; differences of sums do not move at all."""
    full, summed = ask(target="pooled"), ask()
    monkeypatch.setattr(module, "FULL", 1)
    monkeypatch.setattr(module, "SAMPLE", 1)
    part, same = ask(target="pooled"), ask()
    assert part.inputs["answers"]["guesses_added_up"] == "a sample"
    assert full.inputs["answers"]["guesses_added_up"] == "all"
    for a, b in zip(full.estimates, part.estimates, strict=True):
        if a.estimator == "anchored":
            assert a.value != b.value
            assert abs(a.value - b.value) < 3.0 * b.se
            assert b.low <= a.value <= b.high
    assert [v.difference for v in summed.verdicts_] == [v.difference for v in same.verdicts_]
    fixed = ask(target="pooled", users_are="fixed", design="independent")
    for a, b in zip(part.estimates, fixed.estimates, strict=True):
        assert (a.low, a.high) == (b.low, b.high)  # the sample's chance is in the spread over users only
