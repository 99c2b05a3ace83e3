"""Samplers that look at nothing: all rows (FULL), and rows with equal chances (REG): carraro20 §5.2."""

from __future__ import annotations

from dataclasses import dataclass

from unskew.sampling.base import Sampler


@dataclass(frozen=True)
class Full(Sampler):
    """All rows: the log as it is."""

    name = "full"
    needs_train = False
    keeps_all = True

    @property
    def equal(self) -> bool:
        """Every row is kept."""
        return True


@dataclass(frozen=True)
class Reg(Sampler):
    """Rows with equal chances: as skewed as before, only smaller."""

    name = "reg"
    needs_train = False

    @property
    def equal(self) -> bool:
        """Every row has the chance m/n."""
        return True
