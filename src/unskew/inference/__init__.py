"""How sure are we? Moments that merge, intervals, bootstrap, paired comparison, tipping points, verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unskew.core.doors import door

if TYPE_CHECKING:
    from unskew.inference.contrast import Contrast
    from unskew.inference.simultaneous import Family, single_error

__all__ = [
    "Contrast",
    "Family",
    "single_error",
]

__getattr__ = door(
    __name__,
    {
        "contrast": ("Contrast",),
        "simultaneous": ("Family", "single_error"),
    },
)
