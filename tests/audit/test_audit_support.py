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


def test_values_that_nobody_explained_are_read_in_every_way() -> None:
    """Without feedback the table covers conversions and ratings; negative values leave ratings only."""
    frame = logs.skewed(value=True)
    audit = us.audit(frame)
    assert audit.feedback is None
    assert {row.reading.split()[0] for row in audit.supports} == {"conversions", "ratings"}
    below = us.audit(frame.with_columns(pl.col("value") - 3))
    assert {row.reading.split()[0] for row in below.supports} == {"ratings"}
    assert "unknown-feedback" in logs.said(audit)


def test_own_propensities_are_described() -> None:
    """Range, quantiles, shares, effective size, largest weight and implied pairs equal counting by hand."""
    frame = logs.skewed(propensity=True)
    found = us.audit(frame).propensity
    p = frame["propensity"].to_list()
    assert found is not None
    assert (found.minimum, found.maximum) == (min(p), max(p))
    assert found.ess == pytest.approx(logs.ess([1 / x for x in p]))
    assert found.ess_share == pytest.approx(found.ess / len(p))
    assert found.largest_weight == pytest.approx(1 / min(p) / sum(1 / x for x in p))
    assert found.below_1_percent == pytest.approx(sum(x < 0.01 for x in p) / len(p))
    assert found.implied_pairs == pytest.approx(sum(1 / x for x in p))
    assert sum(found.histogram.count) == len(p)
