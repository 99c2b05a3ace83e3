"""Many folds: cross-validation, protocols side by side, policies, splits, samples, one study."""

from __future__ import annotations

from tests.golden.writing import Call, each, grid

MODELS = ["most_popular", "item_knn(neighbours=10)"]
FOLDS: Call = {"do": "folds", "log": "@days.log", "models": MODELS, "split": "k_fold(folds=3)", "metrics": ["recall@5"]}
VIEWED: Call = {**FOLDS, "log": "@days.viewed_bare", "feedback": "conversions"}
PROTOCOLS: Call = {
    "do": "protocols",
    "log": "@days.log",
    "models": [*MODELS, "random"],
    "protocols": ["leave_one_out(repeats=2)", "holdout(share=0.2)"],
    "metrics": ["recall@5"],
}
IMPACT: Call = {
    "do": "impact",
    "log": "@days.policies",
    "models": MODELS,
    "splits": ["leave_one_out(repeats=2)"],
    "metrics": ["recall@5"],
    "refits": 2,
}
WINDOWS = "sliding_window(width=7d, folds=4, min_users=5)"

CALLS: dict[str, Call] = {
    **grid(
        "folds",
        FOLDS,
        "split",
        [
            "k_fold(folds=3)", "holdout(share=0.3)", "holdout(share=0.2, by=user)", "holdout(share=0.3, by=time)",
            "leave_one_out(repeats=2)", "leave_one_out(which=last)", WINDOWS,
            "sliding_window(width=7d, folds=3, min_users=5, history=14d, first_only=true)",
        ],
    ),
    **each(
        "folds",
        {**FOLDS, "estimators": ["naive", "snips"]},
        {
            "popularity": {"propensity": "popularity(gamma=1)", "target": ["pooled", "per_user"]},
            "known": {"log": "@days.known", "propensity": "known", "estimators": ["naive", "snips", "gs(strata=3)"]},
            "path": {"estimators": ["exposure_path"]},
            "bootstrap": {"propensity": "popularity(gamma=1)", "interval": "bootstrap", "replicates": 50},
            "windows": {"propensity": "popularity(gamma=1)", "split": WINDOWS},
        },
    ),
    **each(
        "folds of conversions",
        VIEWED,
        {
            "robust": {
                "propensity": "logistic(features=none, offsets=user+item, c=1)", "estimators": ["dr", "ips", "snips"],
                "outcome": "means(shrink=5)", "target": ["per_user_sum"],
            },
            "logistic_mf": {"propensity": "logistic_mf(dim=2, epochs=3)", "estimators": ["snips"], "target": "pooled"},
            "path": {"estimators": ["exposure_path"], "target": "pooled"},
            "known": {
                "log": "@days.viewed", "propensity": "known", "estimators": ["ips", "direct"],
                "outcome": "means(shrink=5)",
            },
        },
    ),
    **each(
        "protocols",
        PROTOCOLS,
        {
            "macro": {},
            "pooled": {"average": "pooled"},
            "with windows": {"protocols": ["holdout(share=0.2)", WINDOWS]},
            "weighed": {
                "protocols": ["holdout(share=0.2)", WINDOWS], "propensity": "popularity(gamma=1)",
                "estimators": ["naive", "snips"],
            },
        },
    ),
    **each(
        "policies",
        IMPACT,
        {
            "leave one out": {},
            "no refits": {"refits": 0, "equal": False},
            "windows, weighed": {"splits": ["holdout(share=0.3)"], "propensity": "popularity(gamma=1)", "refits": 2},
        },
    ),
    **grid(
        "split",
        {"do": "split", "log": "@days.log"},
        "splitter",
        [
            "k_fold(folds=4, seed=1)", "holdout(share=0.25, seed=2)", "holdout(by=user)", "holdout(by=time)",
            "leave_one_out(repeats=2, seed=3)", "leave_one_out(which=last)", WINDOWS,
            "sliding_window(width=1mo, folds=2, min_users=5, tz=UTC)",
        ],
    ),
    **grid(
        "sample",
        {"do": "sample", "log": "@shop.bare", "train": "@shop.train", "size": 0.4, "seed": 2},
        "strategy",
        {
            "reg": "reg", "skew": "skew", "wtd_h": "wtd_h", "wtd": {"strategy": "wtd", "mcar": "@shop.mcar"},
            "weighted": "weighted(user_power=0.5, item_power=1)", "full": {"strategy": "full", "size": None},
            "a number of rows": {"strategy": "wtd_h(zero=0.001)", "size": 123},
        },
    ),
    "study of two worlds": {
        "do": "study",
        "world": {"users": 150, "items": 60, "relevant": 10.0, "impressions": 40.0},
        "models": ["most_popular", "item_knn(neighbours=10)", "random"],
        "questions": [
            {"name": "popularity", "estimators": ["naive", "snips"], "propensity": "popularity(gamma=1)"},
            {"name": "path", "estimators": ["exposure_path"]},
        ],
        "seeds": 2,
    },
}  # fmt: skip
