"""Parts by themselves: lists of every recommender, fitted propensities and outcome models, simulated worlds."""

from __future__ import annotations

from tests.golden.writing import Call, each, grid

MODELS = [
    "most_popular", "random(seed=2)", "recently_popular(last=200)", "recently_popular(half_life=5)",
    "item_knn(neighbours=10)", "item_knn(neighbours=10, shrink=5)", "user_knn(neighbours=8)",
    "user_knn(neighbours=8, votes=count)", "svd(dim=5)", "wmf(dim=4, rounds=3)", "wmf(dim=4, rounds=2, solver=exact)",
    "bpr(dim=4, epochs=3)", "mmmf(dim=4, epochs=3)", "nmf(dim=3, epochs=5)", "pmf(dim=3)",
    "pmf(dim=3, variant=linear)", "plain_mf(dim=3, epochs=2)", "biased_mf(dim=3)", "factors(dim=3, epochs=2)",
    "factors(dim=3, epochs=2, loss=logistic)", "factors(dim=3, epochs=2, loss=bpr, seed=4)",
    "factors(dim=3, epochs=2, loss=warp-kos, schedule=adadelta)", "factors(dim=3, epochs=2, loss=squared)",
]  # fmt: skip
RATED = [
    "average_rating(shrink=3)", "mf(dim=3, rounds=3)", "mf(dim=0)", "mf(dim=2, solver=lbfgs, rounds=10)",
    "mf(dim=2, solver=sgd, rounds=3)", "mf(dim=2, loss=absolute, solver=lbfgs, rounds=5)",
    "mf(dim=2, rounds=3, propensity=known)", "biased_mf(dim=3, values=true, epochs=3)",
]  # fmt: skip
FEATURES: Call = {"user_features": "@visits.user_features", "item_features": "@visits.item_features"}
VIEWS: Call = {"log": "@visits.train", "feedback": "conversions"}
LISTS: Call = {"do": "recommend", "log": "@days.log", "k": 10}

CALLS: dict[str, Call] = {
    **grid("lists", LISTS, "model", MODELS),
    **grid("lists of ratings", {**LISTS, "log": "@ratings.whole", "feedback": "ratings"}, "model", RATED),
    **grid(
        "propensity",
        {"do": "propensity", **VIEWS},
        "text",
        {
            "popularity": "popularity(gamma=1)",
            "popularity estimated": "popularity(gamma=estimate)",
            "popularity absolute": "popularity(gamma=1, level=absolute)",
            "uniform": "uniform",
            "logistic": {"text": "logistic(features=outer, c=1)", **FEATURES},
            "logistic plain, free offsets": {"text": "logistic(features=plain, offsets=item)", **FEATURES},
            "logistic offsets": "logistic(features=none, offsets=user+item, negatives=3)",
            "logistic_mf": "logistic_mf(dim=3, epochs=6, seed=5)",
            "calibrated": "calibrated(logistic_mf(dim=2, epochs=4), method=platt)",
            "naive_bayes": {"text": "naive_bayes", "mcar": ["@visits.mcar", "conversions"]},
            "known": {"text": "known", "log": "@visits.test"},
        },
    ),
    **grid(
        "outcome",
        {"do": "outcome", **VIEWS},
        "text",
        [
            "means(shrink=10)",
            "logistic_mf(dim=2, epochs=5)",
            "logistic_mf(dim=0)",
            "adam_mf(dim=2, steps=60)",
            "crossfit(means(shrink=2), folds=4)",
        ],
    ),
    **each(
        "world",
        {
            "do": "world",
            "users": 150,
            "items": 60,
            "relevant": 12.0,
            "impressions": 40.0,
            "metrics": ["recall@5", "dcg@10"],
        },
        {
            "likes": {},
            "seed 7": {"seed": 7, "target": "per_user"},
            "conversions": {"feedback": "conversions", "target": "per_user_sum"},
            "graded": {"feedback": "conversions", "graded": True, "skew": 1.2},
            "another catalogue": {"catalogue": 3, "agreement": 0.0, "test_share": 0.3},
        },
    ),
    **each(
        "world of ratings",
        {
            "do": "rating_world",
            "log": "@ratings.whole_bare",
            "metrics": ["mae", "mse", "dcg@10"],
            "sweeps": 4,
            "rank": 3,
        },
        {"like this log": {}, "of its own shares": {"marginals": "own", "alpha": 0.5, "share": 0.1, "seed": 3}},
    ),
    **each(
        "shop over time",
        {"do": "shop", "users": 120, "items": 60, "days": 15, "future": 5},
        {"usual": {}, "another seed": {"seed": 2, "search": 2.0, "drift": 10.0}},
    ),
}
