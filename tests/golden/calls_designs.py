"""Asked by design: answers, plans and draws; and audits and checks of propensities."""

from __future__ import annotations

from tests.golden.writing import Call, each, grid, lists

SUMS = ["per_user_sum", "per_user_sum(normalised=pooled)", "pooled"]
ANSWERED: Call = {
    "do": "evaluate",
    "test": "@visits.bare",
    "models": lists("visits", "popular", "tastes"),
    "train": "@visits.train",
    "users": "@visits.users",
    "feedback": "conversions",
    "metrics": ["recall@5"],
    "answers": "@visits.answers",
}
LIKES: Call = {
    **ANSWERED,
    "test": "@shop.bare",
    "models": lists("shop", "popular", "tastes"),
    "train": "@shop.train",
    "users": "@shop.users",
    "feedback": "implicit",
    "answers": "@shop.answers",
}
PLAN: Call = {
    "do": "plan",
    "models": lists("visits", "popular", "tastes"),
    "log": "@visits.bare",
    "seen": "@visits.train",
    "feedback": "conversions",
    "detect": "20%",
    "metric": "recall@5",
}
FOUR = lists("visits", "popular", "tastes", "chance", "short")
AUDIT: Call = {"do": "audit"}

CALLS: dict[str, Call] = {
    **each(
        "answers",
        ANSWERED,
        {
            "default": {},
            "sums": {"target": SUMS, "metrics": ["recall@5", "dcg@10"], "estimators": ["anchored", "naive"]},
            "means": {"outcome": "means(shrink=5)", "estimators": ["anchored"]},
            "known": {"test": "@visits.test", "estimators": ["anchored", "snips", "dr"], "outcome": "means"},
            "the path": {"estimators": ["exposure_path", "anchored"], "target": "pooled"},
            "fixed users": {"users_are": "fixed", "estimators": ["anchored"]},
            "three rounds": {"rounds": 3, "estimators": ["anchored"]},
            "four models": {"models": FOUR, "estimators": ["anchored"]},
            "by group": {"by": "group", "estimators": ["anchored"]},
            "per user": {"target": "per_user", "refused": "skip"},
        },
    ),
    **each(
        "answers beside likes",
        LIKES,
        {
            "default": {},
            "fixed relevance": {"fixed_relevance": True},
            "sums": {"target": SUMS, "estimators": ["anchored"]},
            "propensities": {"test": "@shop.test", "estimators": ["snips", "anchored"]},
        },
    ),
    **each(
        "plan",
        PLAN,
        {
            "default": {"draw": 200},
            "detect a number": {"detect": 0.02},
            "detect the log's": {"detect": "log"},
            "limits": {"per_user": 2, "uniform": 0.1, "draw": 150, "seed": 4},
            "rounds": {"rounds": 3, "draw": 100},
            "fixed users": {"users_are": "fixed", "power": 0.9},
            "three models": {"models": lists("visits", "popular", "tastes", "chance"), "draw": 100},
            "each pair": {"models": lists("visits", "popular", "tastes", "chance"), "simultaneous": False},
            "means": {"outcome": "means(shrink=10)", "metric": "dcg@5", "draw": 120},
            "likes": {
                "models": lists("shop", "popular", "tastes"), "log": "@shop.bare", "seen": "@shop.train",
                "feedback": "implicit", "draw": 150,
            },
            "fixed relevance": {
                "models": lists("shop", "popular", "tastes"), "log": "@shop.bare", "seen": "@shop.train",
                "feedback": "implicit", "fixed_relevance": True, "draw": 150,
            },
        },
    ),
    **grid(
        "audit",
        AUDIT,
        "log",
        {
            "likes": "@shop.test",
            "likes without a column": "@shop.bare",
            "conversions": {"log": "@visits.test", "feedback": "conversions"},
            "unknown values": "@visits.bare",
            "places and policies": {"log": "@visits.policies", "feedback": "conversions"},
            "days": "@days.known",
            "ratings": {"log": "@ratings.whole", "feedback": "ratings"},
            "ratings and random ones": {"log": "@ratings.whole_bare", "feedback": "ratings", "mcar": "@ratings.mcar"},
            "threshold": {"log": "@ratings.whole_bare", "relevant": ">=4"},
            "checked": {
                "log": "@ratings.whole", "feedback": "ratings",
                "propensities": ["known", "logistic(features=none, offsets=user+item)", "popularity(gamma=1)"],
            },
        },
    ),
    **grid(
        "check",
        {"do": "check", "log": "@days.viewed", "feedback": "conversions", "folds": 3, "pairs": 4000},
        "propensities",
        [
            "known", "popularity(gamma=1)", "logistic_mf(dim=2, epochs=4)",
            "logistic(features=none, offsets=user+item)", "uniform",
        ],
    ),
}  # fmt: skip
