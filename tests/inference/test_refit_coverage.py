"""Do refitted intervals cover 95 % where propensities come from few users? The study is in ``refit_study.py``.

1,500 worlds: the Monte Carlo error of a coverage near 95 % is 0.56 points, so that the tolerance of 2 points is three
and a half of them. 400 replicates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.said import only, refuses
from unskew.inference.bootstrap import user_weights
from unskew.inference.intervals import percentile
from unskew.inference.steps import STEP, prolonged
from unskew.propensity import NO_INPUTS, FitInputs, Level, Popularity, Propensity

from .refit_study import CELLS, LEVEL, METHODS, MODELS, TEST, TRAIN, Coverage, Users, World, hashes, study

WORLDS = 1_500
CASES = [(m, c) for m in range(len(MODELS)) for c in range(len(CELLS))]
NAMES = [f"{list(MODELS)[m]} {CELLS[c][0]}" for m, c in CASES]
KNOWN, WHOLE, REFIT = range(len(METHODS))


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    return study(WORLDS)


@pytest.mark.parametrize(("model", "cell"), CASES, ids=NAMES)
def test_refitted_intervals_cover_the_truth(coverage: Coverage, model: int, cell: int) -> None:
    """95 % ± 2 with P̂ from 100 users, where intervals that take P̂ as known fall clearly short.

    Where bias is as large as the standard error (popularity × ips), the corrected estimate varies less than the one
    whose spread the interval has: up to 98 %, on the safe side.
    """
    found, most = coverage.share[model, cell], 0.02 if coverage.bias[model, cell] < 0.8 else 0.03
    assert LEVEL - 0.02 <= found[REFIT] <= LEVEL + most
    assert found[KNOWN] < LEVEL - 0.04


def test_more_training_users_leave_less_to_correct() -> None:
    """With 400 training users all four are 95 % ± 2, and popularity × ips no longer is the exception."""
    found = study(WORLDS // 2, training=400)
    np.testing.assert_allclose(found.share[..., REFIT], LEVEL, atol=0.025)  # three Monte Carlo errors of 0.8 points
    assert found.share[0, 0, KNOWN] < 0.91


def test_whole_draws_would_not_do(coverage: Coverage) -> None:
    """Why a step and not a draw: where 1/P̂ biases ips by a standard error, percentiles of whole draws are worse than
    those that take P̂ as known; the less bias, the less harm."""
    ips, snips = coverage.share[0, 0], coverage.share[1, 1]
    assert coverage.bias[0, 0] > 0.8 and ips[WHOLE] < ips[KNOWN] < 0.6
    assert abs(coverage.bias[1, 1]) < 0.25 and snips[WHOLE] > 0.9


def frame(users: Users, prefix: str) -> pl.DataFrame:
    """All seen pairs with their outcome."""
    user, item = np.nonzero(users.seen)
    return pl.DataFrame(
        {"user": [f"{prefix}{u}" for u in user], "item": item, "value": users.likes[user, item].astype(np.float64)}
    )


def evaluated(
    world: World,
    model: str | Propensity,
    *,
    refit: bool,
    seed: int,
    replicates: int,
    estimators: tuple[str, ...] = ("ips", "snips"),
) -> us.Result:
    """What a user of the package would do."""
    user, item = np.nonzero(world.test.worth)
    lists = pl.DataFrame({"user": [f"u{u}" for u in user], "item": item, "worth": world.test.worth[user, item]})
    lists = lists.with_columns(rank=pl.col("worth").rank(descending=True).over("user").cast(pl.Int64)).drop("worth")
    options: dict[str, Any] = {"interval": "bootstrap", "replicates": replicates, "refit": refit, "seed": seed}
    return us.evaluate(
        frame(world.test, "u"), {"m": lists}, metrics=["dcg@5"], estimators=estimators,
        target=["per_user_sum", "pooled"], propensity=model, train=frame(world.train, "t"), share="users",
        users=pl.DataFrame({"user": [f"u{u}" for u in range(TEST)]}), feedback="conversions", candidates="all",
        refused="skip", **options,
    )  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", [3, 4])
def test_the_study_computes_what_evaluate_computes(model: str, seed: int) -> None:
    """Estimates, standard errors and bounds of ``evaluate``, refitted or not, are those of the study's fast way."""
    world = World.draw(seed, replicates=60)
    value, replicates = world.replicates(model)
    for refit, method in ((False, "taken as known"), (True, "refit")):
        result = evaluated(world, model, refit=refit, seed=seed, replicates=60)
        found = {(e.estimator, str(e.target)): e for e in result.estimates}
        for place, cell in enumerate(CELLS):
            row, interval = found[cell], percentile(replicates[method][:, place], LEVEL)
            assert row.value == pytest.approx(value[place], rel=1e-7)
            assert (row.se, row.low, row.high) == pytest.approx((interval.se, interval.low, interval.high), rel=1e-6)


def test_steps_undo_curvature_exactly_where_there_is_no_more_of_it() -> None:
    """T = (1 + a·x)(1 + b·y + c·y²), x and y draws of test and training: replicates are 1 + a x + b y, in the mean
    less all that the curve and the common users (correlated x and y) add to the estimate, twice where draws repeat it.
    """
    rng = np.random.default_rng(0)
    a, b, c, n = 0.02, 0.1, 0.05, 400_000
    y = rng.normal(size=n)
    x = 0.6 * y + 0.8 * rng.normal(size=n)

    def t(x: Any, y: Any) -> Any:
        return ((1.0 + a * x) * (1.0 + b * y + c * y * y))[:, None]

    none = np.zeros(n)
    found = prolonged(np.array([1.0]), t(x, none), t(x, STEP * y), t(none, STEP * y))[:, 0]
    bias = 0.6 * a * b + c  # E[T] − 1 up to the third order: what the estimate is off by
    assert found.mean() == pytest.approx(1.0 - bias, abs=5.0 * 0.12 / STEP / np.sqrt(n))
    assert np.std(found) == pytest.approx(np.std(1.0 + a * x + b * y), rel=0.05)


def test_what_refitting_refuses() -> None:
    """Curves that jump, and propensities fitted on another log than the one that they would be fitted to anew."""
    pytest.importorskip("sklearn", reason="scikit-learn is not there: isotonic calibration is not tested")
    world = World.draw(0, replicates=1)
    with refuses("not-supported"):
        evaluated(world, "calibrated(popularity(gamma=1))", refit=True, seed=0, replicates=50)
    other = us.Log.from_frame(frame(World.draw(1, replicates=1).train, "t"), feedback="conversions")
    elsewhere = Popularity(1.0, level=Level.ABSOLUTE).fit(other)
    with refuses("wrong-log"):
        evaluated(world, elsewhere, refit=True, seed=0, replicates=50)


def test_fits_that_a_replicate_cannot_make_are_lost_and_counted() -> None:
    """Where some draws are refused the others make the interval; where all are, the refusal is the answer."""
    world = World.draw(6, replicates=1)

    @dataclass(frozen=True)
    class Moody(Popularity):
        least: float = 0.0

        def fit(self, log: us.Log, *, inputs: FitInputs = NO_INPUTS, weights: Any = None) -> Any:
            if weights is not None and weights[0] < self.least:
                raise us.InputError("this draw does not suit me")
            return super().fit(log, inputs=inputs, weights=weights)

    first = np.array([user_weights(hashes("t", TRAIN), 0, b)[0] for b in range(60)])
    some = evaluated(world, Moody(1.0, least=0.8), refit=True, seed=0, replicates=60)
    assert f" {np.count_nonzero(first == 0.0)} " in only("lost-replicates", some.warnings)
    assert all(np.isfinite([e.low, e.high]).all() for e in some.estimates)
    with pytest.raises(us.InputError, match="does not suit me"):
        evaluated(world, Moody(1.0, least=100.0), refit=True, seed=0, replicates=60)
