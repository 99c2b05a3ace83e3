"""Ratings: a threshold for lists, errors of predictions, random rows beside."""

from __future__ import annotations

from tests.golden.writing import Call, each, grid, lists

GUESSES = {name: f"@ratings.guess_{name}" for name in ("good", "plain", "shifted")}
LISTS: Call = {
    "do": "evaluate",
    "test": "@ratings.test",
    "models": lists("ratings", "popular", "tastes"),
    "train": "@ratings.train",
    "users": "@ratings.users",
    "feedback": "ratings",
    "relevant": ">=4",
    "metrics": ["recall@5"],
    "refused": "skip",
}
ERRORS: Call = {
    "do": "evaluate",
    "test": "@ratings.test",
    "models": GUESSES,
    "train": "@ratings.train",
    "feedback": "ratings",
    "metrics": ["mae", "rmse"],
    "refused": "skip",
}
FEATURES: Call = {"user_features": "@ratings.user_features", "item_features": "@ratings.item_features"}
ESTIMATORS = [
    "naive",
    "ips",
    "snips",
    "snips(over=user)",
    "snips(over=item)",
    "clipped(snips, quantile=0.1)",
    "clipped(ips, at=0.1)",
]
BAYES: Call = {"test": "@ratings.bare", "propensity": "naive_bayes", "mcar": "@ratings.mcar"}
OTHERS = ["mse", "accuracy", "cg@5"]

CALLS: dict[str, Call] = {
    **grid(
        "lists",
        {**LISTS, "propensity": "known", "target": ["pooled", "per_user", "per_user_sum"]},
        "estimators",
        ["naive", "snips", "ips", "gs(strata=3)", "clipped(snips, quantile=0.1)", "exposure_path", "tilted"],
    ),
    **each(
        "lists",
        LISTS,
        {
            "default": {"test": "@ratings.bare"},
            "default, column": {},
            "values as gains": {"relevant": None, "metrics": ["cg@5"], "target": "per_user_sum"},
            "naive_bayes": {**BAYES, "estimators": ["snips"]},
            "doubly robust": {
                "outcome": "means(shrink=4)", "propensity": "known", "estimators": ["dr", "sndr"],
                "target": "per_user_sum",
            },
        },
    ),
    **grid("errors", {**ERRORS, "propensity": "known"}, "estimators", ESTIMATORS),
    **grid("errors", {**ERRORS, "estimators": ESTIMATORS, "propensity": "known"}, "metrics", OTHERS),
    **each(
        "errors",
        {**ERRORS, "estimators": ["naive", "snips", "ips"], "propensity": "known"},
        {
            "targets": {"target": ["per_pair", "per_user", "pooled"]},
            "naive_bayes": {**BAYES, "share": 0.5},
            "naive_bayes smooth": {**BAYES, "propensity": "naive_bayes(smoothing=5)", "share": 0.5},
            "logistic": {
                "test": "@ratings.bare", "propensity": "logistic(features=outer, c=1)", "share": 0.5, **FEATURES,
            },
            "logistic offsets": {
                "test": "@ratings.bare", "propensity": "logistic(features=none, offsets=user+item)", "share": 0.5,
            },
            "popularity": {"test": "@ratings.bare", "propensity": "popularity(gamma=1)"},
            "bootstrap": {"interval": "bootstrap", "replicates": 60},
            "refit": {
                **BAYES, "share": 0.5, "interval": "bootstrap", "replicates": 50, "refit": True,
                "estimators": ["snips"],
            },
            "default": {"estimators": None, "propensity": None},
        },
    ),
}  # fmt: skip
