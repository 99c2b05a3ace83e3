"""What the options of recipes may be."""

from __future__ import annotations

from unskew.core import COUNTLESS, Number, Whole

RATE = Number(above=0.0, high=10.0, why="Steps of that size go beyond all bounds.")
PENALTY = Number(low=0.0, high=1e6, why="A stronger one leaves nothing.")
DIM = Whole(1, 1000, "More factors than that no log can tell.")
ROUNDS = Whole(1, 100_000, COUNTLESS)
SEED = Whole(0, 2**63 - 1)
POSITIVE = Number(above=0.0)
NOT_NEGATIVE = Number(low=0.0)
DECAY = Number(low=0.0, below=1.0)
