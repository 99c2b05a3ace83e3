"""Known propensities: a column of the log, as a randomised or logged policy leaves behind. Absolute."""

from __future__ import annotations

from dataclasses import dataclass

from unskew.errors import InputError
from unskew.log import Log
from unskew.propensity.base import Level, Part, Propensity, Scored
from unskew.spec import show


@dataclass(frozen=True)
class Known(Propensity):
    """The log's own column ``propensity``.

    Args:
        share: the column speaks of a whole log, of which the test log is a random part with this share; ``None``: it
            speaks of the test log itself, or of the log that ``unskew.split`` divided (which remembers its share).
    """

    share: float | None = None

    name = "known"
    only_seen = True

    def __post_init__(self) -> None:
        if self.share is not None and not 0.0 < self.share < 1.0:
            raise InputError(f"'known': share must lie between 0 and 1, not {self.share:g}.")

    @property
    def level(self) -> Level:
        """Always absolute."""
        return Level.ABSOLUTE

    def refers(self, log: Log) -> Part:
        """The whole log if its share is known, else the test log itself."""
        return Part.TEST if self.share_of(log) is None else Part.LOG

    def of(self, log: Log) -> Scored:
        """The column."""
        if log.propensity is None:
            raise InputError(
                f"{log.account.source}: propensity 'known' needs a column 'propensity', and there is none. Add it, "
                "map it with --columns propensity=NAME, or, if exposure explains all of popularity, use "
                "popularity(gamma=1) with a training log."
            )
        return Scored(log.propensity)

    def share_of(self, log: Log) -> float | None:
        """As told, else as the split remembers it."""
        return self.share if self.share is not None else log.share

    def __str__(self) -> str:
        return self.name if self.share is None else f"{self.name}(share={show(self.share)})"
