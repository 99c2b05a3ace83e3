"""Known propensities: a column of the log, as a randomised or logged policy leaves behind. Absolute."""

from __future__ import annotations

from dataclasses import dataclass

from unskew.bounds import SHARE, check, one_of
from unskew.errors import InputError
from unskew.log import Log
from unskew.propensity.base import Level, Part, Propensity, Scored
from unskew.spec import show


@dataclass(frozen=True)
class Known(Propensity):
    """The log's own column ``propensity``.

    Args:
        share: the column speaks of a whole log, of which the test log is a random part with this share; ``None``: it
            speaks of the test log itself, or of the log that was divided, where a split of ours remembers its share
            or the evaluation is given one.
        part: ``test``: the column speaks of the test rows themselves (of their period, say), however they were split
            off, and is never scaled; ``None``: as above.
    """

    share: float | None = None
    part: str | None = None

    name = "known"
    known = True
    only_seen = True

    def __post_init__(self) -> None:
        check(self, self.name, share=SHARE)
        if self.part is not None:
            one_of(self.name, part=(self.part, ("test",)))
        if self.part is not None and self.share is not None:
            raise InputError(
                "'known': share says that the column speaks of a whole log, part=test that it speaks of the test rows. "
                "Leave one of them out."
            )

    @property
    def level(self) -> Level:
        """Always absolute."""
        return Level.ABSOLUTE

    def refers(self, log: Log) -> Part:
        """The log that was split, at random or by time; the log at hand if nothing says that it is a part."""
        if self.part is not None or (self.share_of(log) is None and not log.cut_by_time):
            return Part.TEST
        return Part.LOG

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
        """As it says itself, else as the split remembers it; what time has cut off is no share of anything."""
        if log.cut_by_time or self.part is not None:
            return None
        return self.share if self.share is not None else log.share

    def __str__(self) -> str:
        if self.part is not None:
            return f"{self.name}(part={self.part})"
        return self.name if self.share is None else f"{self.name}(share={show(self.share)})"
