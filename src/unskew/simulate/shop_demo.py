"""The evaluation of a simulated shop, with the truth that only a simulation knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unskew.core.showing import Shown
from unskew.result import Result


@dataclass(frozen=True, eq=False)
class ShopDemo(Shown):
    """A result beside the truth.

    Args:
        result: of one metric and target.
        truth: what each model is worth for the users of this shop, under that target.
        said: whom each estimator and the truth call best.
    """

    result: Result
    truth: Mapping[str, float]
    said: str

    def to_dict(self) -> dict[str, Any]:
        """The result, and the truth."""
        return {**self.result.to_dict(), "truth": dict(self.truth)}
