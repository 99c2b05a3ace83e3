"""Known propensities: a column of the log, as a randomised or logged policy leaves behind. Absolute."""

from __future__ import annotations

from dataclasses import dataclass

from unskew.core.bounds import SHARE
from unskew.core.errors import InputError
from unskew.core.parts import Words, option
from unskew.log import Log
from unskew.propensity.base import Level, Propensity, Scope, Scored


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

    share: float | None = option(None, SHARE, "of the whole log that the test log is")
    part: str | None = option(None, Words(("test",)), "the column speaks of the test rows")

    name = "known"
    by_parts = True
    known = True
    reads = ("propensity",)
    level = Level.ABSOLUTE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.part is not None and self.share is not None:
            raise InputError(
                "'known': share says that the column speaks of a whole log, part=test that it speaks of the test rows. "
                "Leave one of them out.",
                code="conflicting-arguments",
                option="share",
            )

    def refers(self, log: Log) -> Scope:
        """The log that was split, at random or by time; the log at hand if nothing says that it is a part."""
        if self.part is not None or (self.share_of(log) is None and not log.cut_by_time):
            return Scope.TEST
        return Scope.LOG

    def of(self, log: Log) -> Scored:
        """The column."""
        if log.propensity is None:
            raise InputError(
                f"{log.account.source}: propensity 'known' needs a column 'propensity', and there is none. Add it, "
                "map it with columns={'propensity': 'NAME'}, or, if exposure explains all of popularity, use "
                "popularity(gamma=1) with a training log.",
                code="missing-column",
                column="propensity",
            )
        return Scored(log.propensity)

    def share_of(self, log: Log) -> float | None:
        """As it says itself, else as the split remembers it; what time has cut off is no share of anything."""
        if log.cut_by_time or self.part is not None:
            return None
        return self.share if self.share is not None else log.share


@dataclass(frozen=True)
class Certain(Known):
    """``known`` of a column that is 1 in every row, which nobody can tell from a placeholder: no verdict is sure."""

    known = False

    @property
    def assumption(self) -> str:
        """What ``uniform`` takes for granted."""
        return "every pair was equally likely to be seen"
