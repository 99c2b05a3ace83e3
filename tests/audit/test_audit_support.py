"""What the audit promises is what an evaluation does: effective sample sizes and refusals."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us

from . import logs

READINGS: dict[str, dict[str, Any]] = {
    "implicit": {"feedback": "implicit"},
    "conversions": {"feedback": "conversions"},
    "ratings": {"feedback": "ratings"},
    "threshold": {"feedback": "ratings", "relevant": ">=3"},
}


def evaluated(frame: pl.DataFrame, estimator: str, target: str, **how: Any) -> us.Result:
    """The evaluation that the audit rehearses."""
    told = {name: text for name, text in how.items() if name == "feedback"}
    train, test = us.split.holdout(us.Log.from_frame(frame, **told), 0.3, seed=0)
    return us.evaluate(
        test,
        {"random": us.models.make("random").fit(train)},
        metrics=["recall@1000"],  # the whole catalogue: every held-out interaction is a hit
        estimators=[estimator],
        target=target,
        train=train,
        **how,
    )


@pytest.mark.parametrize("reading", ["implicit", "conversions", "threshold"])
def test_the_expected_ess_is_the_one_that_comes(reading: str) -> None:
    """Rows and effective sample size equal those of evaluating that very hold-out."""
    frame, how = logs.skewed(value=True, propensity=True), READINGS[reading]
    audit = us.audit(frame, **how)
    assert {(e.propensity, e.target) for e in audit.expected} == {
        (p, t) for p in ("known", "popularity(gamma=1)") for t in ("per_user", "pooled")
    }
    for row in audit.expected:
        found = evaluated(frame, "snips", row.target, propensity=row.propensity, **how).estimates[0]
        assert row.ess == pytest.approx(found.ess)
        assert row.largest_weight == pytest.approx(found.max_weight_share)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("reading", READINGS)
def test_the_support_table_is_what_evaluating_refuses(reading: str, known: bool) -> None:
    """Each cell that is refused is refused by evaluate for the same reason, and every other one is computed."""
    frame, how = logs.skewed(value=True, propensity=known), READINGS[reading]
    audit = us.audit(frame, **how)
    assert len(audit.supports) == 18
    for cell in audit.supports:
        if cell.refused is None:
            found = evaluated(frame, cell.estimator, cell.target, propensity=cell.propensity, **how)
            assert len(found.estimates) == 1
        else:
            with pytest.raises(us.RefusedError) as refusal:
                evaluated(frame, cell.estimator, cell.target, propensity=cell.propensity, **how)
            assert cell.refused in str(refusal.value)
