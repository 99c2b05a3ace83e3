"""The numbers behind the estimates, user by user."""

from __future__ import annotations

import polars as pl
import pytest

from tests.evaluation.shop import TEST, evaluate
from unskew.core.errors import InputError


@pytest.mark.parametrize("target", ["per_user", "pooled", "per_user_sum"])
def test_per_user_rows_aggregate_to_the_estimates(target: str) -> None:
    """Σ numerator / Σ divisor over the population is the estimate."""
    users = pl.DataFrame({"user": [1, 2, 3, 4, 5], "relevant": [4.0, 5.0, 2.0, 0.0, 2.0]})
    test = TEST.filter(pl.col("user") != 4)
    names = ["naive", "ips", "snips", "gs(strata=2)"]
    metrics = ["recall@2", "ndcg@2", "map@2", "mrr@2"]
    result = evaluate(
        test, users=users, estimators=names, metrics=metrics, target=target, per_user=True, refused="skip"
    )
    rows = result.per_user()
    assert rows.columns == ["user", "model", "metric", "estimator", "target", "term", "numerator", "divisor"]
    for e in result.estimates:
        own = rows.filter(model=e.model, metric=e.metric, estimator=e.estimator, target=str(e.target))
        assert own["user"].to_list() == [1, 2, 3, 4, 5]
        assert float(own["numerator"].sum()) / float(own["divisor"].sum()) == pytest.approx(e.value, rel=1e-12)


def test_per_user_rows_are_kept_on_request_only() -> None:
    """They cost memory, so asking for them afterwards is an error that says how."""
    with pytest.raises(InputError, match="per_user=True"):
        evaluate().per_user()
