"""MF-IPS: what is minimised, and what propensities do to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.models.mf_worlds import Floats, mnar, predictions, problem_of, some

import unskew as us
from unskew.models import MF
from unskew.models.mf import als as als_module
from unskew.models.mf.solving import Effort
from unskew.models.mf.start import svd_start
from unskew.models.mf.weights import weigh
from unskew.split import holdout


def true_error(model: MF, truth: Floats) -> float:
    (block,) = (scores for _, scores in model.predict_all())
    return float(np.mean((block - truth) ** 2))


def test_inverse_propensities_beat_the_naive_fit_where_people_rate_what_they_like() -> None:
    """Mean squared error over all pairs, settings chosen by each one's own cross-validation: in every world."""
    for seed in range(3):
        truth, log = mnar(seed)
        grid: dict[str, Any] = {"penalties": (0.2, 1.0, 5.0), "dims": (2,), "seed": seed}
        ips, naive = MF.search(log, "known", **grid), MF.search(log, **grid)
        assert true_error(ips, truth) < 0.85 * true_error(naive, truth)


def test_a_fit_minimises_the_stated_objective() -> None:
    """MF.fit is the solver on weights 1/P; without propensities every weight is UI/n."""
    matrix, log = some()
    assert log.propensity is not None
    inverse = np.zeros(matrix.shape)
    inverse[log.user, log.item] = 1.0 / log.propensity
    constant = np.full(matrix.shape, matrix.size / len(log))
    for given, weight in (("known", inverse), (log.propensity, inverse), (None, constant)):
        model = MF(dim=2, penalty=0.5, offsets="free", seed=4).fit(log, propensity=given)
        problem = problem_of(matrix, 2, 0.5, "squared", "free", weight)
        solved = als_module.als(problem, svd_start(problem.ratings, 2, 4), Effort(als_module.ROUNDS))
        np.testing.assert_allclose(predictions(model.factors_), predictions(solved.factors))
        assert model.training_.objective == pytest.approx(problem.objective(solved.factors)[0])
        assert model.history_[-1] == pytest.approx(model.training_.objective)


def test_propensities_of_a_whole_log_are_scaled_to_its_part() -> None:
    """A training part with share 3/4 has P·3/4; an array is taken as it is."""
    _, log = mnar(1)
    train, _ = holdout(log, 0.25)
    assert train.propensity is not None
    np.testing.assert_allclose(weigh(train, "known").weight, 1.0 / (0.75 * train.propensity))
    np.testing.assert_allclose(weigh(train, train.propensity).weight, 1.0 / train.propensity)


def test_relative_propensities_are_brought_to_the_right_level() -> None:
    """Popularity is fitted on the log itself; Σ 1/P is the number of pairs."""
    matrix, log = mnar(1)
    log = replace(log, feedback=us.Feedback.CONVERSIONS)
    found = weigh(log, "popularity(gamma=1)")
    count = np.bincount(log.item)[log.item]
    assert found.weight.sum() == pytest.approx(matrix.size)
    np.testing.assert_allclose(found.weight * count, found.weight[0] * count[0])


def test_rows_without_a_propensity_are_dropped_and_counted() -> None:
    """A propensity that was fitted elsewhere drops items that it does not know."""
    _, log = some()
    log = replace(log, feedback=us.Feedback.CONVERSIONS, value=np.ones(len(log)))
    elsewhere = us.propensity.Popularity(1.0, unsupported="drop").fit(log.take(log.item != 0))
    model = MF(2, propensity=elsewhere).fit(log)
    gone = int(np.count_nonzero(log.item == 0))
    assert gone > 0
    assert model.training_.dropped == gone and model.training_.ratings == len(log) - gone
    assert not model.factors_.item[0].any()


def test_training_says_what_weights_do() -> None:
    """Effective number of ratings and the largest share, by their formulas; users and items with ratings."""
    _, log = some()
    told = MF(2, propensity="known").fit(log).training_
    assert log.propensity is not None and log.value is not None
    w = 1.0 / log.propensity
    assert told.effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert told.largest == pytest.approx(w.max() / w.sum())
    assert (told.users, told.items, told.ratings) == (19, 11, len(log))
    assert (told.low, told.high) == (log.value.min(), log.value.max())
