"""From sums over users to estimates, verdicts and what they rest on: each pair of models against every check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unskew.core.doors import door

if TYPE_CHECKING:
    from unskew.judging.answers import ERRORS, FEW_TAIL, FEWEST_ANSWERS, FEWEST_POSITIVE, OFF, WEAK, WEAK_FEW

__all__ = [
    "ERRORS",
    "FEWEST_ANSWERS",
    "FEWEST_POSITIVE",
    "FEW_TAIL",
    "OFF",
    "WEAK",
    "WEAK_FEW",
]

__getattr__ = door(
    __name__,
    {
        "answers": ("ERRORS", "FEW_TAIL", "FEWEST_ANSWERS", "FEWEST_POSITIVE", "OFF", "WEAK", "WEAK_FEW"),
    },
)
