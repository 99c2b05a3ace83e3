"""Protocols side by side: the numbers are those of the cross-validations, and what is said of orders follows."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.cross_validation import logs
from tests.report.every_output import shown
from tests.said import refuses
from unskew.core.notice import codes
from unskew.cross_validation.averaging import Average
from unskew.cross_validation.fold_sums import Key
from unskew.cross_validation.run import judge_folds
from unskew.cross_validation.user_errors import user_errors
from unskew.report import document_of
from unskew.report.document import Callout

PROTOCOLS = ("leave_one_out(repeats=2)", "holdout(share=0.2)", logs.WEEKS)


@pytest.fixture(scope="module")
def found() -> us.ProtocolComparison:
    return us.compare_protocols(logs.log(), logs.MODELS, PROTOCOLS, metrics=["recall@5", "dcg@5"])


def reversing(seed: int = 0) -> pl.DataFrame:
    """Two halves of time: first everybody buys old items, then new ones, so that models that look back lose."""
    rng = np.random.default_rng(seed)
    rows = []
    for user in range(400):
        old = rng.choice(30, 6, replace=False, p=_skewed(30))
        new = 30 + rng.choice(30, 3, replace=False, p=_skewed(30))
        for n, item in enumerate(np.concatenate([old, new]).tolist()):
            week = n // 2 if item < 30 else 6 + (n - 6)
            rows.append((user, item, logs.START + week * logs.WEEK + int(rng.integers(0, logs.WEEK))))
    return pl.DataFrame(rows, schema=["user", "item", "time"], orient="row")


def _skewed(items: int) -> list[float]:
    weights = 1.0 / np.arange(1, items + 1)
    return list(weights / weights.sum())


def test_errors_of_users_are_those_of_the_cross_validation() -> None:
    """Pooled: m/(m−1) Σ e² is the squared error that is shown, and errors add up to 0; macro: nearly, and not less."""
    for split in ("leave_one_out(repeats=2)", logs.WEEKS, "holdout(share=0.2)"):
        judged = judge_folds(logs.log(), logs.MODELS, split=split, estimators=["naive"])
        cv, folds = judged.result(), judged.folds
        for way, result in ((Average.MACRO, cv.macro), (Average.POOLED, cv.pooled)):
            for e in result.estimates:
                _, errors = user_errors(folds, Key(e.metric, e.estimator, e.target), way)
                column = errors.errors[:, logs.MODELS.index(e.model)]
                ratio = math.sqrt(e.users / (e.users - 1) * (column**2).sum()) / e.se
                if way is Average.POOLED or len(folds.sums) == 1:
                    assert column.sum() == pytest.approx(0.0, abs=1e-12)
                    assert ratio == pytest.approx(1.0, rel=1e-9)
                else:
                    assert 0.999 < ratio < 1.05
                assert errors.values[logs.MODELS.index(e.model)] == pytest.approx(e.value)


def test_values_are_those_of_cross_validations(found: us.ProtocolComparison) -> None:
    """The same numbers as one cross_validate per protocol; ranks and ratios follow from them."""
    table = found.table()
    for protocol in found.results:
        alone = us.cross_validate(
            logs.log(), logs.MODELS, split=protocol, metrics=["recall@5", "dcg@5"], estimators=["naive"]
        )
        own = table.filter(pl.col("protocol") == protocol)
        for row in alone.rows():
            mine = own.filter((pl.col("model") == row.model) & (pl.col("metric") == row.metric)).row(0, named=True)
            assert (mine["value"], mine["low"], mine["high"]) == (row.macro, row.macro_low, row.macro_high)
            best = max(r.macro for r in alone.rows() if r.metric == row.metric)
            assert mine["ratio"] == pytest.approx(row.macro / best)
            assert mine["rank"] == 1 + sum(r.macro > row.macro for r in alone.rows() if r.metric == row.metric)
            assert mine["ratio_low"] <= mine["ratio"] <= mine["ratio_high"] <= 1.0


def test_reversals_are_found_and_said() -> None:
    """Where taste changes, leave-one-out and windows disagree decidedly, and the first sentence names the pair."""
    log = us.Log.from_frame(reversing())
    models = {"all": "most_popular", "late": "recently_popular(last=400)"}
    protocols = ["leave_one_out(repeats=3)", "sliding_window(width=1w, folds=3, min_users=20)"]
    found = us.compare_protocols(log, models, protocols)
    assert [(r.a, r.b, r.decided, r.other_decided) for r in found.reordered_] == [("all", "late", True, True)]
    ranking = found.rankings_[0]
    assert (ranking.tau, ranking.tau_low, ranking.tau_high, ranking.reversed) == (-1.0, -1.0, -1.0, 1)
    assert found.reordered_[0].ratio_low is not None
    assert found.reordered_[0].ratio_low > 1.0
    document = document_of(found)
    assert all(name in str(document.summary[0]) for name in ("leave_one_out", "all", "late"))
    equal = us.compare_protocols(log, {"one": "most_popular", "two": "most_popular"}, protocols)
    assert not equal.reordered_ and str(document_of(equal).title) != str(document.title)
    assert all((r.agree, r.reversed, r.tau) == (0, 0, 0.0) for r in equal.rankings_)  # no order, and no decision


def test_propensities_where_a_protocol_has_none() -> None:
    """Leave-one-out refuses propensities: its naive values stay, and what is missing is listed."""
    protocols = ["leave_one_out", "holdout(share=0.3)"]
    asked = {"estimators": ["naive", "snips"], "propensity": "popularity(gamma=1)"}
    found = us.compare_protocols(logs.log(), logs.MODELS, protocols, **asked)  # type: ignore[arg-type]
    there = {(v.protocol.partition("(")[0], v.estimator) for v in found.values_}
    assert there == {("leave_one_out", "naive"), ("holdout", "naive"), ("holdout", "snips")}
    assert [(m.estimator, m.protocol.partition("(")[0]) for m in found.missing] == [("snips", "leave_one_out")]


def test_what_was_left_out_is_said() -> None:
    """Rows that were dropped, pairs that came twice, and windows that no time of the log allows."""
    rows = logs.frame()
    late = pl.DataFrame({"user": [0, 1], "item": [70, 71], "time": [logs.START + 3_000 * logs.WEEK] * 2})
    twice = pl.concat([rows, late, rows.head(7), pl.DataFrame({"user": [None], "item": [1], "time": [logs.START]})])
    found = us.compare_protocols(twice, logs.MODELS[:2], invalid="drop")
    assert [m.protocol for m in found.missing] == ["sliding_window"]
    assert codes(m.reason for m in found.missing) == ("few-users",)
    (said,) = [" ".join(block.texts) for block in document_of(found).summary if isinstance(block, Callout)]
    for number in ("1 × null user", "7 × duplicate pair", "30", f"{len(rows) + 2:,}"):
        assert number in said


def test_default_protocols_and_bad_ones() -> None:
    rows = logs.frame(users=900, rows=6_000)
    found = us.compare_protocols(us.Log.from_frame(rows), logs.MODELS[:2])
    assert [name.partition("(")[0] for name in found.results] == ["leave_one_out", "holdout", "sliding_window"]
    timeless = us.compare_protocols(rows.drop("time"), logs.MODELS[:2])
    assert [name.partition("(")[0] for name in timeless.results] == ["leave_one_out", "holdout"]
    for code, wrong in (
        ("repeated-protocol", {"protocols": ["k_fold", "k_fold"]}),
        ("wrong-type", {"protocols": "k_fold"}),
        ("conflicting-arguments", {"split": "k_fold"}),
    ):
        with refuses(code):
            us.compare_protocols(rows, logs.MODELS[:2], **wrong)


def test_every_output_is_made(found: us.ProtocolComparison, tmp_path: Path) -> None:
    """Terminal, notebook, tables, files and the page."""
    assert "Rankings" in shown(found, tmp_path)
