"""precision under per_pair: naive exceeds 1 where listed pairs are seen more often, and the result says why."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import unskew as us
from unskew.log import Log


def evaluate(seen: list[tuple[int, int]], estimator: str) -> us.Result:
    """Two users, five items, P = ½; item 0 is listed first, and all but (1, 4) is liked: precision@1 is 1."""
    rows = {"user": [u for u, _ in seen], "item": [i for _, i in seen], "value": [float(p != (1, 4)) for p in seen]}
    log = Log.from_frame(pl.DataFrame(rows).with_columns(propensity=pl.lit(0.5)), feedback="conversions")
    lists = pl.DataFrame({"user": [0, 1], "item": [0, 0], "rank": [1, 1]})
    options: dict[str, Any] = {"metrics": ["precision@1"], "target": "per_pair", "propensity": "known"}
    return us.evaluate(log, {"m": lists}, estimators=[estimator], **options)


def told(result: us.Result) -> list[str]:
    return [text for text in result.warnings if "exceeds 1" in text]


LISTED = [(0, 0), (1, 0)]  # seen, and so is every item once
OTHERS = [(0, 1), (0, 2), (0, 3), (1, 4)]


def test_naive_counts_listed_pairs_by_how_often_they_were_seen() -> None:
    """Σ over seen of I·y·[listed] / |O| = 5·2/6; and the result explains it."""
    result = evaluate(LISTED + OTHERS, "naive")
    assert result.estimates[0].value == pytest.approx(5 * 2 / 6)
    (said,) = told(result)
    assert "m, precision@1 × naive × per_pair" in said and "that is the skew" in said and "Nothing is cut" in said


def test_nothing_is_said_of_shares_below_one() -> None:
    """Listed pairs seen less often: 5·1/8."""
    result = evaluate([*LISTED[:1], *OTHERS, (1, 1), (1, 2), (1, 3)], "naive")
    assert result.estimates[0].value == pytest.approx(5 / 8) and told(result) == []


def test_weights_may_exceed_one_by_chance() -> None:
    """ips: both listed pairs were seen, by a chance of ½ each; they stand for four."""
    result = evaluate(LISTED + OTHERS, "ips")
    (said,) = told(result)
    assert result.estimates[0].value == pytest.approx(2.0) and "varies around a share" in said
