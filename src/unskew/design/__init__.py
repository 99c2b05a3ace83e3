"""Which pairs should be asked about, of whom, and how many answers decide? Plans, and the draw (MATHS §16).

``us.plan`` says how many answers tell models apart; ``Plan.draw`` draws the pairs to ask about: docs/plan.md.
"""

from unskew.design.plan import Draw, PairPlan, Plan

__all__ = ["Draw", "PairPlan", "Plan"]
