"""Which pairs should be asked about, of whom, and how many answers decide? Plans, and the draw (MATHS §16).

``us.plan`` says how many answers tell models apart; ``Plan.draw`` draws the pairs to ask about: docs/plan.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unskew.core.doors import door
from unskew.design.draw import draw
from unskew.design.plan import Draw, PairPlan, Plan

if TYPE_CHECKING:
    from unskew.design.deciding import decide
    from unskew.design.plan import round_stream
    from unskew.design.power import NORMAL

__all__ = [
    "NORMAL",
    "Draw",
    "PairPlan",
    "Plan",
    "decide",
    "draw",
    "round_stream",
]

__getattr__ = door(
    __name__,
    {
        "deciding": ("decide",),
        "plan": ("round_stream",),
        "power": ("NORMAL",),
    },
)
