"""What every splitter is: a part whose options say how rows are held out, once or several times."""

from __future__ import annotations

from abc import ABC, abstractmethod

from unskew.log import Log
from unskew.parts import Part
from unskew.split.split import Split


class Splitter(Part, ABC):
    """A way of holding out rows of a log."""

    @abstractmethod
    def splits(self, log: Log) -> list[Split]:
        """The splits of a log: one for a hold-out, one per fold for cross-validation."""
