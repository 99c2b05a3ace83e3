"""A shop over time: logs of several logging policies, and what an A/B test would have shown."""

from __future__ import annotations

from unskew_papers.shop.ab_test import ABTest
from unskew_papers.shop.files import write_shop
from unskew_papers.shop.overstatement import overstatement
from unskew_papers.shop.policies import POLICIES, Policy
from unskew_papers.shop.shop import ShopOverTime
from unskew_papers.shop.varied import VARIED, left_out, varied

__all__ = [
    "POLICIES", "VARIED", "ABTest", "Policy", "ShopOverTime", "left_out", "overstatement", "varied", "write_shop",
]  # fmt: skip
