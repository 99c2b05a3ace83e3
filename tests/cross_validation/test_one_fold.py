"""A cross-validation with one fold is an evaluation: the same values, intervals and verdicts, whatever is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import unskew as us
from tests.cross_validation import logs
from unskew import split

PROPENSITY = {"propensity": "popularity(gamma=1)"}
SUMS = ["naive", "ips", "snips", "dr", "snips(over=list)", "sndr", "switch(tau=3)"]
ASKED: dict[str, tuple[us.Log, tuple[str, ...], dict[str, Any]]] = {
    "path": (logs.log(), logs.MODELS, {}),
    "ratios": (
        logs.log(),
        logs.MODELS,
        PROPENSITY
        | {
            "estimators": ["naive", "snips", "gs(strata=5)", "clipped(snips, quantile=0.1)"],
            "metrics": ["recall@5", "ndcg@5"],
            "target": ["per_user", "pooled"],
            "refused": "skip",
        },
    ),
    "bootstrap": (logs.log(), logs.MODELS, PROPENSITY | {"interval": "bootstrap", "replicates": 60}),
    "sums": (
        logs.valued("conversions"),
        logs.MODELS,
        {"propensity": "known", "estimators": SUMS, "outcome": "means(shrink=10)", "metrics": ["dcg@5", "recall@5"]}
        | {"refused": "skip"},
    ),
    "errors": (
        logs.valued("ratings"),
        ("mf(dim=2)", "mf(dim=3)"),
        {"propensity": "known", "estimators": ["naive", "snips"], "metrics": ["mae", "rmse"]},
    ),
}


def same(one: pl.DataFrame, other: pl.DataFrame, chances: frozenset[str] = frozenset()) -> None:
    """The same tables; ``chances`` are columns that may rest on hits which lists could have had.

    Users without held-out rows have lists in an evaluation and none in a fold: such chances differ a little.
    """
    assert one.columns == other.columns
    for column in one.columns:
        a, b = one[column], other[column]
        if column == "no_margin":
            assert [bool(said) for said in a] == [bool(said) for said in b], column
        elif a.dtype == pl.Float64:
            error = 0.02 if column in chances else 1e-8
            np.testing.assert_allclose(b.to_numpy(), a.to_numpy(), rtol=error, atol=1e-12, err_msg=column)
        else:
            assert a.to_list() == b.to_list(), column


@pytest.mark.parametrize("by", ["random", "time"])
@pytest.mark.parametrize("asked", ASKED)
def test_one_fold_is_an_evaluation(asked: str, by: str) -> None:
    """Macro and pooled are the evaluation of that fold; tipping points alone are missing."""
    log, names, options = ASKED[asked]
    how = f"holdout(share=0.3, by={by})"
    train, test = split.make_splits(log, how)[0]
    lists = logs.fitted(names, logs.compact(train))  # models list nothing that training does not know
    plain = us.evaluate(test, lists, train=train, **options)
    found = us.cross_validate(log, names, split=how, **options)
    tips = ["tipping", "tipping_low", "tipping_kind"]
    for result in (found.macro, found.pooled):
        same(plain.table(), result.table())
        weighed = frozenset({"low", "high"} if "propensity" in options else ())
        same(plain.verdicts().drop(tips), result.verdicts().drop(tips), weighed)
        assert len(plain.scenarios) == len(result.scenarios)
    assert found.verdicts()["tipping"].is_null().all()
    shown = ["model", "value"] + ["low", "high", "se"] * (
        asked != "bootstrap"
    )  # folds are not bootstrapped by themselves
    same(plain.table().select(shown), found.folds().select(shown))
