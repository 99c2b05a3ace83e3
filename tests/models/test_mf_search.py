"""Cross-validated settings of MF-IPS."""

from __future__ import annotations

import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from tests.models.mf_worlds import mnar, predictions, problem_of, some
from tests.said import only

from unskew.models import MF
from unskew.models.mf import als as als_module
from unskew.models.mf.solving import Effort
from unskew.models.mf.start import svd_start
from unskew.split import k_fold


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("weighted", [True, False])
def test_scores_of_a_search_are_ips_with_scaled_propensities(loss: Any, weighted: bool) -> None:
    """Fold by fold: fit with P·(k − 1)/k, score with P/k, divide by all pairs, average; loops over rows."""
    truth, log = mnar(2, 60, 40)
    assert log.propensity is not None and log.value is not None
    p = log.propensity if weighted else np.full(len(log), len(log) / truth.size)
    model = MF.search(
        log, "known" if weighted else None, penalties=(2.0,), dims=(3,), offsets=("free",), loss=loss, folds=3, seed=5
    )
    scores = []
    for split in k_fold(log, 3, seed=5):
        train, test = (np.flatnonzero(rows) for rows in (~split.held_out, split.held_out))
        matrix, weight = np.full(truth.shape, np.nan), np.zeros(truth.shape)
        matrix[log.user[train], log.item[train]] = log.value[train]
        weight[log.user[train], log.item[train]] = 1.0 / (p[train] * 2 / 3)
        problem = problem_of(matrix, 3, 2.0, loss, "free", weight)
        guess = predictions(
            als_module.als(problem, svd_start(problem.ratings, 3, 5), Effort(als_module.ROUNDS, 1e-4)).factors
        )
        total = 0.0
        for row in test:
            error = abs(guess[log.user[row], log.item[row]] - log.value[row])
            total += (error**2 if loss == "squared" else error) / (p[row] / 3)
        scores.append(total / truth.size)
    assert model.search_ is not None
    (cell,) = model.search_.table.iter_rows(named=True)
    assert cell["score"] == pytest.approx(np.mean(scores))
    assert cell["se"] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3))


def test_a_search_takes_the_best_setting_and_fits_it_to_all_ratings() -> None:
    """The retrained model is the same as one told those settings, and the table holds every cell, best first."""
    _, log = mnar(3, 60, 40)
    told: list[tuple[int, int]] = []
    model = MF.search(
        log, "known", penalties=(5.0, 0.2), dims=(3, 1), folds=2, progress=lambda *args: told.append(args)
    )
    assert model.search_ is not None
    table = model.search_.table
    assert table.height == 8 and table["score"].is_sorted()
    assert table.row(0)[:3] == (model.penalty, model.dim, model.offsets)
    assert sorted(told) == [(done, 8) for done in range(1, 9)]
    again = MF(model.dim, model.penalty, model.offsets, propensity="known").fit(log)
    assert np.array_equal(again.factors_.user, model.factors_.user)
    assert str(again) == str(model)
    assert model.fit(log).search_ is None  # a fit of its own


def test_fits_that_did_not_converge_and_edges_of_the_grid_are_told() -> None:
    """By warnings: the last fit, the scored fits, and a best λ or d beyond which nothing was tried."""
    _, log = some()
    with pytest.warns(UserWarning) as caught:
        MF(2, rounds=2, tolerance=0.0).fit(log)
    only("not-converged", [each.message.args[0] for each in caught])  # type: ignore[union-attr]
    with pytest.warns(UserWarning) as caught:
        model = MF.search(log, penalties=(1e4, 1e5), dims=(1,), offsets=("free",), rounds=1, tolerance=0.0)
    said = [each.message.args[0] for each in caught]  # type: ignore[union-attr]
    assert model.search_ is not None and model.penalty in (1e4, 1e5)
    only("edge-of-grid", said, option="penalty", value=model.penalty)
    only("fits-not-converged", said, fits=4)
    only("settings-not-converged", said, settings=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MF(2, rounds=500).fit(log)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_counts_every_task_once_and_an_interrupt_ends_a_search_at_once(threads: int) -> None:
    """Nobody waits for the walks that are under way, and they stop between two fits."""
    _, log = some()
    told: list[tuple[int, int]] = []
    grid: dict[str, Any] = {"penalties": (1.0, 2.0), "dims": (1, 2), "offsets": ("free",), "threads": threads}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MF.search(log, **grid, progress=lambda *news: told.append(news))
    assert told == [(n + 1, 8) for n in range(8)]
    before, made = threading.active_count(), []

    def interrupt(done: int, total: int) -> None:
        made.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MF.search(log, **grid, progress=interrupt)
    assert made == [1]
    end = time.monotonic() + 120.0
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() == before
