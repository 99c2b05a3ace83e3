"""What must be refused, with the kind of error and its code."""

from __future__ import annotations

import polars as pl

from tests.golden.writing import Call, each, lists

SHOP: Call = {
    "do": "evaluate",
    "test": "@shop.test",
    "models": lists("shop", "popular", "tastes"),
    "train": "@shop.train",
    "metrics": ["recall@5"],
    "propensity": "known",
}
VISITS: Call = {
    **SHOP,
    "test": "@visits.test",
    "models": lists("visits", "popular", "tastes"),
    "train": "@visits.train",
    "feedback": "conversions",
}
ODD = pl.DataFrame({"user": [1000, 1000], "item": ["i001", "i001"], "value": [1.0, 0.0]})

CALLS: dict[str, Call] = {
    **each(
        "evaluate",
        SHOP,
        {
            "no column": {"test": "@shop.bare"},
            "no training log": {"test": "@shop.bare", "propensity": "popularity(gamma=1)", "train": None},
            "unknown metric": {"metrics": ["recal@5"]},
            "metric without a cut-off": {"metrics": ["recall"]},
            "unknown estimator": {"estimators": ["snipes"]},
            "unknown option": {"estimators": ["gs(stratas=5)"]},
            "unknown target": {"target": "per_item"},
            "unknown propensity": {"propensity": "popular"},
            "ips without totals": {"estimators": ["ips"], "target": "pooled"},
            "snips of sums": {"estimators": ["snips"], "target": "per_user_sum"},
            "gs of sums": {"estimators": ["gs(strata=5)"], "target": "per_user_sum"},
            "stratified pooled": {"estimators": ["stratified(strata=3)"], "target": "pooled"},
            "dr of likes": {"estimators": ["dr"], "outcome": "means"},
            "dr without a model": {"estimators": ["dr"]},
            "relative ips": {"estimators": ["ips"], "test": "@shop.bare", "propensity": "popularity(gamma=1)"},
            "clip of relative ones": {
                "estimators": ["clipped(snips, at=0.1)"], "test": "@shop.bare", "propensity": "popularity(gamma=1)",
            },
            "naive_bayes of likes": {"propensity": "naive_bayes"},
            "users fixed without answers": {"users_are": "fixed"},
            "a model of clicks": {"propensity": "logistic_mf(dim=2)"},
            "recall per pair": {"target": "per_pair"},
            "a gap of estimators": {"estimators": ["snips(over=user)"]},
            "level too high": {"level": 1.0},
            "few replicates": {"interval": "bootstrap", "replicates": 3},
            "no models": {"models": {}},
            "other items": {"models": {"strange": pl.DataFrame({"user": [1000], "item": ["zz"], "rank": [1]})}},
            "rank 0": {"models": {"strange": pl.DataFrame({"user": [1000], "item": ["i001"], "rank": [0]})}},
            "a column is missing": {"test": pl.DataFrame({"user": [1], "thing": [2]})},
            "propensity above 1": {"test": pl.DataFrame({"user": [1000], "item": ["i001"], "propensity": [1.5]})},
            "unknown segment": {"by": "country"},
            "stream of frames": {"engine": "stream"},
            "sample with weights": {"sample": "wtd_h", "estimators": ["snips"]},
            "anchored without answers": {"estimators": ["anchored"]},
        },
    ),
    **each(
        "evaluate conversions",
        VISITS,
        {
            "repeated pair": {"test": ODD, "propensity": "uniform"},
            "values without a meaning": {"feedback": None, "propensity": None},
            "tilted of likes": {"feedback": "implicit", "estimators": ["tilted"]},
            "answers without propensities": {"answers": "@visits.mcar"},
            "clipped switch": {"estimators": ["clipped(switch, at=0.1)"], "outcome": "means"},
            "whose propensities": {"train": "@visits.part_train"},
            "given table lacks pairs": {"outcome": "given(missing.parquet)", "estimators": ["dr"]},
        },
    ),
    "folds, windows without times": {
        "do": "folds", "log": "@days.untimed", "models": ["most_popular"], "split": "sliding_window(width=7d)",
    },
    "folds, unknown model": {"do": "folds", "log": "@days.log", "models": ["popular"], "split": "k_fold"},
    "folds, tilted": {
        "do": "folds", "log": "@days.viewed_bare", "feedback": "conversions", "models": ["most_popular"],
        "split": "k_fold(folds=2)", "estimators": ["tilted"],
    },
    "folds, one fold": {"do": "folds", "log": "@days.log", "models": ["most_popular"], "split": "k_fold(folds=1)"},
    "impact without policies": {"do": "impact", "log": "@days.log", "models": ["most_popular"], "splits": ["k_fold"]},
    "impact, odd refits": {
        "do": "impact", "log": "@days.policies", "models": ["most_popular"], "splits": ["k_fold"], "refits": 3,
    },
    "plan of one model": {"do": "plan", "models": lists("shop", "popular"), "log": "@shop.bare"},
    "plan of a ratio": {
        "do": "plan", "models": lists("shop", "popular", "tastes"), "log": "@shop.bare", "metric": "ndcg@5",
    },
    "sample without training": {"do": "sample", "log": "@shop.bare", "strategy": "wtd_h"},
    "sample too large": {"do": "sample", "log": "@shop.bare", "strategy": "reg", "size": 10_000_000},
    "audit of nothing": {"do": "audit", "log": pl.DataFrame({"user": [], "item": []})},
    "several, one name twice": {
        **SHOP, "do": "several", "propensity": None, "propensities": ["known", "known"],
    },
    "gate that cannot be read": {**SHOP, "do": "require", "statements": ["tastes beats popular"]},
    "world without relevance": {"do": "world", "metrics": ["recall@5"], "users": 10, "items": 5, "relevant": 9.0},
    "recommender of 0 factors": {"do": "recommend", "log": "@days.log", "k": 5, "model": "svd(dim=0)"},
}  # fmt: skip
