"""Logs of likes: estimators, targets, metrics, propensities, intervals, segments, catalogues, samples of the rows."""

from __future__ import annotations

from tests.golden.writing import Call, each, grid, lists

ALL = ["pooled", "per_user", "per_user_sum", "per_user_sum(normalised=pooled)", "per_user_sum(normalised=per_user)"]
BASE: Call = {
    "do": "evaluate",
    "test": "@shop.test",
    "models": lists("shop", "popular", "tastes"),
    "train": "@shop.train",
    "users": "@shop.users",
    "metrics": ["recall@5"],
    "refused": "skip",
}
KNOWN: Call = {**BASE, "propensity": "known", "estimators": ["naive", "snips"]}
BARE: Call = {**BASE, "test": "@shop.bare"}

CALLS: dict[str, Call] = {
    **grid(
        "estimator",
        {**KNOWN, "metrics": ["recall@5", "dcg@10"], "target": ALL},
        "estimators",
        [
            "naive", "ips", "snips", "gs(strata=5)",
            "gs(strata=equal_width(4))", "gs(strata=column(channel))", "clipped(snips, quantile=0.1)",
            "clipped(ips, at=0.1)", "clipped(snips, at=0.05)",
            "exposure_path", "exposure_path(at=0.5)",
        ],
    ),
    **grid(
        "metric",
        {**KNOWN, "estimators": ["naive", "snips", "gs(strata=4)"], "target": ["pooled", "per_user", "per_user_sum"]},
        "metrics",
        [
            "arhr", "dcg@7", "hit@5", "map@10", "map(divide=min)@5", "mrr", "ndcg@10", "ndcg(ideal=full)@10",
            "ndcg(discount=lenskit)@10", "precision@5", "r_precision", "rbp(p=0.7)@10", "recall@1", "cg@5",
        ],
    ),
    **grid(
        "propensity",
        {**BARE, "estimators": ["snips", "gs(strata=3)"], "target": ["pooled", "per_user"]},
        "propensity",
        {
            "popularity": "popularity(gamma=1)",
            "popularity 2": "popularity(gamma=2)",
            "popularity drop": "popularity(gamma=1, unsupported=drop)",
            "popularity estimated": {"propensity": "popularity(gamma=estimate)", "mcar": "@shop.mcar"},
            "uniform": "uniform",
            "uniform p": "uniform(p=0.3)",
            "random sample": {"propensity": "popularity(gamma=1)", "mcar": "@shop.mcar"},
        },
    ),
    **each(
        "interval",
        KNOWN,
        {
            "bootstrap": {"interval": "bootstrap", "replicates": 60, "seed": 3},
            "level 0.8": {"level": 0.8},
            "refit": {
                "test": "@shop.bare", "propensity": "popularity(gamma=1)", "interval": "bootstrap", "replicates": 50,
                "refit": True,
            },
            "bootstrap of a ratio": {
                "interval": "bootstrap", "replicates": 50, "metrics": ["ndcg@10"], "target": "per_user",
            },
            "many models": {"models": lists("shop", "popular", "tastes", "chance", "short")},
        },
    ),
    **each(
        "default",
        {name: value for name, value in BARE.items() if name != "refused"},
        {
            "no propensity": {},
            "many models": {"models": lists("shop", "popular", "tastes", "chance", "short"), "metrics": ["recall@10"]},
            "no training log": {"train": None},
            "column": {"test": "@shop.test"},
            "column by users": {"test": "@shop.uneven"},
            "random sample": {"mcar": "@shop.mcar"},
            "one model": {"models": lists("shop", "popular")},
            "the same model twice": {"models": {"one": "@shop.tastes", "two": "@shop.tastes"}},
        },
    ),
    **each(
        "rows",
        KNOWN,
        {
            "by channel": {"by": "channel"},
            "by group": {"by": "group"},
            "by popularity": {"by": "popularity(strata=3)"},
            "catalogue": {"items": "@shop.items", "target": ALL},
            "all candidates": {"candidates": "all"},
            "drop seen": {"drop_seen": True},
            "no users": {"users": None, "target": ALL},
            "share": {"share": 0.5},
            "per user": {"per_user": True},
            "per user of a ratio": {"per_user": True, "metrics": ["ndcg@5"], "target": "per_user"},
            "short lists": {"models": lists("shop", "tastes", "short"), "target": ALL},
            "a fitted model": {"models": {"popular": "@shop.popular", "knn": "@shop.chance"}},
            "threads": {"threads": 2},
        },
    ),
    **each(
        "sample",
        {**BARE, "estimators": ["naive"], "target": ["pooled", "per_user"], "repeats": 3, "seed": 1},
        {
            "wtd_h": {"sample": "wtd_h", "sample_size": 0.5},
            "skew": {"sample": "skew", "sample_size": 0.4},
            "reg": {"sample": "reg", "sample_size": 200},
            "wtd": {"sample": "wtd", "sample_size": 0.5, "mcar": "@shop.mcar"},
            "weighted": {"sample": "weighted(user_power=0, item_power=1)", "sample_size": 0.3},
        },
    ),
    **each(
        "several propensities",
        {**BASE, "do": "several", "estimators": ["naive", "snips"], "metrics": ["recall@5", "dcg@5"]},
        {
            "three": {"propensities": ["known", "popularity(gamma=1)", "popularity(gamma=0.5)"]},
            "skip": {"propensities": ["uniform", "naive_bayes", "popularity(gamma=1)"], "test": "@shop.bare"},
        },
    ),
    **each(
        "gate",
        {**KNOWN, "do": "require"},
        {
            "better": {
                "statements": ["tastes better than popular on recall@5", "popular better than tastes on recall@5"],
            },
            "not worse": {
                "statements": [
                    "tastes not worse than popular by 2 % on recall@5",
                    "popular not worse than tastes by 0.05 on recall@5",
                ]
            },
            "scenarios": {
                "test": "@shop.bare", "propensity": None, "estimators": None,
                "statements": [
                    "tastes not worse than popular by 50 % on recall@5", "tastes better than popular on recall@5",
                ],
            },
        },
    ),
}  # fmt: skip
