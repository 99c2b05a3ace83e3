"""A shop over time: logs of several logging policies, and what an A/B test would have shown."""

from __future__ import annotations

from unskew.simulate.shop_over_time.ab_test import ABTest
from unskew.simulate.shop_over_time.files import write_shop
from unskew.simulate.shop_over_time.policies import POLICIES, Policy
from unskew.simulate.shop_over_time.shop import ShopOverTime

__all__ = ["POLICIES", "ABTest", "Policy", "ShopOverTime", "write_shop"]
