"""What the options of recipes may be."""

from __future__ import annotations

from unskew.core.bounds import Number

RATE = Number(above=0.0, high=10.0, why="Steps of that size go beyond all bounds.")
PENALTY = Number(low=0.0, high=1e6, why="A stronger one leaves nothing.")
DECAY = Number(low=0.0, below=1.0)
