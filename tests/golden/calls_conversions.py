"""Logs of pages and what came of them: doubly robust sums, outcome models, tilted scenarios, places, grades."""

from __future__ import annotations

from tests.golden.writing import Call, each, grid, lists

SUMS = ["per_user_sum", "per_user_sum(normalised=pooled)", "per_user_sum(normalised=per_user)"]
BASE: Call = {
    "do": "evaluate",
    "test": "@visits.test",
    "models": lists("visits", "popular", "tastes"),
    "train": "@visits.train",
    "users": "@visits.users",
    "feedback": "conversions",
    "metrics": ["dcg@5"],
    "refused": "skip",
}
KNOWN: Call = {**BASE, "propensity": "known", "estimators": ["naive", "snips"]}
BARE: Call = {**BASE, "test": "@visits.bare"}
GUESS: Call = {**KNOWN, "outcome": "means(shrink=5)"}
FEATURES: Call = {"user_features": "@visits.user_features", "item_features": "@visits.item_features"}
ROBUST = ["direct", "dr", "sndr"]

CALLS: dict[str, Call] = {
    **grid(
        "estimator",
        {**GUESS, "target": [*SUMS, "pooled", "per_user"]},
        "estimators",
        [
            "naive", "ips", "snips", "snips(over=list)", "gs(strata=4)",
            "direct", "dr", "sndr", "switch(tau=4)", "switch(tau=20)", "clipped(dr, at=0.15)", "clipped(ips, at=0.1)",
            "clipped(sndr, quantile=0.1)", "clipped(snips, quantile=0.2)", "exposure_path",
            "tilted", "tilted(odds=2, slope=0)", "tilted(at=corner)", "exposure_path(at=1)",
        ],
    ),
    **grid(
        "outcome",
        {**KNOWN, "estimators": ROBUST, "target": SUMS[:2]},
        "outcome",
        {
            "means": "means(shrink=10)",
            "logistic_mf": "logistic_mf(dim=2, epochs=5)",
            "adam_mf": "adam_mf(dim=2, steps=100)",
            "census": "census(rank=2)",
            "three folds": "crossfit(means(shrink=3), folds=3, seed=2)",
            "in sample": {"outcome": "means(shrink=10)", "in_sample": True},
            "graded": {"test": "@visits.graded", "train": "@visits.graded_train", "outcome": "means(shrink=10)"},
        },
    ),
    **grid(
        "propensity",
        {**BARE, "estimators": ["snips", "ips", "dr"], "outcome": "means(shrink=5)"},
        "propensity",
        {
            "popularity": "popularity(gamma=1)",
            "popularity absolute": "popularity(gamma=1, level=absolute)",
            "logistic": {"propensity": "logistic(features=none, offsets=user+item)", "share": 0.5},
            "logistic features": {"propensity": "logistic(features=plain)", **FEATURES},
            "logistic_mf": {"propensity": "logistic_mf(dim=2, epochs=4)", "share": 0.5},
            "naive_bayes": {"propensity": "naive_bayes", "mcar": "@visits.mcar", "share": 0.5},
            "calibrated": {"propensity": "calibrated(popularity(gamma=1), folds=4)", "share": 0.5},
            "calibrated by users": {
                "propensity": "calibrated(logistic(features=plain, c=1), over=users)", "share": 0.5, **FEATURES,
            },
            "of the whole log": {
                "test": "@visits.part_test", "train": "@visits.part_train", "propensity": "known(share=0.5)",
            },
            "of the test part": {
                "test": "@visits.test", "train": "@visits.part_train", "propensity": "known(part=test)",
            },
        },
    ),
    **grid(
        "metric",
        {**GUESS, "estimators": ["naive", "ips", "dr"], "target": ["per_user_sum", "pooled", "per_user"]},
        "metrics",
        ["recall@10", "precision@5", "cg@5", "arhr", "ndcg@10", "hit@3", "map@5", "mrr@10"],
    ),
    **grid(
        "strata of training",
        {
            **KNOWN, "train": "@visits.part_train", "test": "@visits.part_test", "propensity": "known(share=0.5)",
            "target": "per_user",
        },
        "estimators",
        ["stratified(strata=3)", "stratified(strata=3, mode=eq3)", "stratified(strata=equal_width(3))"],
    ),
    **each(
        "default",
        {name: value for name, value in BARE.items() if name != "refused"},
        {
            "no propensity": {},
            "column": {"test": "@visits.test"},
            "places": {"test": "@visits.placed"},
            "policies": {"test": "@visits.policies"},
            "graded": {"test": "@visits.graded", "train": "@visits.graded_train"},
            "four models": {"models": lists("visits", "popular", "tastes", "chance", "short")},
            "threshold": {"relevant": ">=1"},
            "no users": {"users": None},
        },
    ),
    **each(
        "rows",
        GUESS,
        {
            "bootstrap": {"estimators": ["snips", "ips"], "interval": "bootstrap", "replicates": 60},
            "refit": {
                "test": "@visits.bare", "propensity": "popularity(gamma=1)", "estimators": ["snips"],
                "interval": "bootstrap", "replicates": 50, "refit": True,
            },
            "refit naive_bayes": {
                "test": "@visits.bare", "propensity": "naive_bayes", "mcar": "@visits.mcar", "estimators": ["snips"],
                "share": 0.5, "interval": "bootstrap", "replicates": 50, "refit": True,
            },
            "by group": {"by": "group", "estimators": ["snips", "dr"]},
            "by policy": {"test": "@visits.policies", "by": "policy", "estimators": ["naive", "snips"]},
            "per user": {"estimators": ["sndr", "dr"], "per_user": True},
            "short lists": {"models": lists("visits", "tastes", "short"), "estimators": ["dr", "snips(over=list)"]},
        },
    ),
}  # fmt: skip
