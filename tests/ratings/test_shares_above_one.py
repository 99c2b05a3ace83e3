"""precision under per_pair: naive exceeds 1 where listed pairs are seen more often, and the result says so."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import unskew as us
from unskew.core.notice import codes
from unskew.log import Log


def evaluate(seen: list[tuple[int, int]], estimator: str, listed: list[int] | int = 0) -> us.Result:
    """Users, five items, P = ½; item 0 is listed first, and all but (1, 4) is liked: precision@1 is 1."""
    rows = {"user": [u for u, _ in seen], "item": [i for _, i in seen], "value": [float(p != (1, 4)) for p in seen]}
    log = Log.from_frame(pl.DataFrame(rows).with_columns(propensity=pl.lit(0.5)), feedback="conversions")
    lists = pl.DataFrame({"user": log.users.values, "item": listed, "rank": 1})
    options: dict[str, Any] = {"metrics": ["precision@1"], "target": "per_pair", "propensity": "known"}
    return us.evaluate(log, {"m": lists}, estimators=[estimator], **options)


LISTED = [(0, 0), (1, 0)]  # seen, and so is every item once
OTHERS = [(0, 1), (0, 2), (0, 3), (1, 4)]


def test_naive_counts_listed_pairs_by_how_often_they_were_seen() -> None:
    """Σ over seen of I·y·[listed] / |O| = 5·2/6: two users do not tell that from 1, and the interval ends there."""
    (found,) = evaluate(LISTED + OTHERS, "naive").estimates
    assert found.value == pytest.approx(5 * 2 / 6) and found.high == 1.0
    assert codes([found.trust]) == ("out-of-range",)


def test_many_users_tell_that_it_is_the_skew() -> None:
    """A hundred users like the first: no chance explains a precision of 5·1/3, and the reason says what does."""
    seen = [(u, i) for u in range(100) for i in (0, *((4,) if u == 1 else (1 + u % 2, 3)))]
    (found,) = evaluate(seen, "naive").estimates
    assert math.isnan(found.value) and math.isnan(found.high)
    assert codes([found.trust]) == ("impossible-value",)


def test_nothing_is_said_of_shares_below_one() -> None:
    """Listed pairs seen less often: 5·1/8."""
    (found,) = evaluate([*LISTED[:1], *OTHERS, (1, 1), (1, 2), (1, 3)], "naive").estimates
    assert found.value == pytest.approx(5 / 8) and "out-of-range" not in codes([found.trust])


def test_weights_may_exceed_one_by_chance() -> None:
    """ips: both listed pairs were seen, by a chance of ½ each; they stand for four."""
    (found,) = evaluate(LISTED + OTHERS, "ips").estimates
    assert found.value == pytest.approx(2.0) and codes([found.trust]) == ("out-of-range",)


def test_points_without_an_interval_say_it_too() -> None:
    """snips(over=item): both listed items were seen by those alone who list them, and 5·2/5 is their mean."""
    (found,) = evaluate([(0, 0), (1, 1), (0, 2), (0, 3), (1, 4)], "snips(over=item)", [0, 1]).estimates
    assert found.value == pytest.approx(2.0) and codes([found.trust]) == ("out-of-range",)
