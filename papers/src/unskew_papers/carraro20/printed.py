"""What carraro20 prints: Tables 1 to 4."""

from __future__ import annotations

COAT, WEBSCOPE = "coat", "webscope"
RECOMMENDERS = ("PosPop", "AvgRating", "UB_KNN", "IB_KNN", "MF")
STRATEGIES = ("FULL", "REG", "SKEW", "WTD", "WTD_H")

# Table 1: ratings, users, items, ratings per user, per item, mean rating, sparsity
STATISTICS = ("ratings", "users", "items", "per user", "per item", "mean rating", "sparsity")
UNITS = (1.0, 1.0, 1.0, 1.0, 1.0, 0.01, 0.01)  # of the last digit that is printed
THOUSAND = 1_000.0  # Webscope's ratings are printed in thousands
TABLE_1: dict[str, dict[str, tuple[float, ...]]] = {
    COAT: {
        "MAR": (4640, 290, 300, 16, 15, 2.22, 0.94),
        "MNAR": (6960, 290, 300, 24, 23, 2.61, 0.92),
    },
    WEBSCOPE: {
        "MAR": (54_000, 5400, 1000, 10, 54, 1.81, 0.99),
        "MNAR": (129_000, 5400, 1000, 23, 129, 2.87, 0.97),
    },
}

# Table 2: Recall@10 on random ratings by recommender, and how far the strategies are off, in percent
TRUTH: dict[str, tuple[float, ...]] = {
    COAT: (0.066, 0.068, 0.067, 0.073, 0.063),
    WEBSCOPE: (0.056, 0.016, 0.073, 0.071, 0.077),
}
OFF: dict[str, dict[str, tuple[float, ...]]] = {
    COAT: {
        "FULL": (133, 61, 229, 236, 180),
        "REG": (124, 53, 225, 227, 176),
        "SKEW": (13, 31, 112, 105, 179),
        "WTD": (1, 6, 90, 82, 123),
        "WTD_H": (-43, 24, 34, 26, 102),
    },
    WEBSCOPE: {
        "FULL": (280, -77, 273, 313, 258),
        "REG": (272, -77, 265, 306, 252),
        "SKEW": (-14, -50, 35, 45, 90),
        "WTD": (-68, -51, -9, -2, 66),
        "WTD_H": (-79, -49, -24, -17, 52),
    },
}

# Tables 3 and 4: Kendall's τ with and without MF; the paper prints 2/3 as .68 or .7, and 1/3 as .3
ALL, WITHOUT_MF = "Table 3", "Table 4 (without MF)"
TAU: dict[str, dict[str, tuple[float, ...]]] = {
    COAT: {ALL: (0.2, 0.2, 0.0, 0.0, 0.0), WITHOUT_MF: (1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3)},
    WEBSCOPE: {ALL: (0.6, 0.6, 0.8, 0.8, 0.8), WITHOUT_MF: (2 / 3,) * 5},
}
