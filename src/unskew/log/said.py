"""What was taken for which column is said in one line per input, to whoever listens: the command line shows it.

In Python the same stands in ``Account.columns``; ``logging.getLogger("unskew.files")`` hears the lines.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from unskew.core.text import plain
from unskew.log.match import differing

NOT_USED = "unused-column"  # the code of notes about columns that become warnings
FILES = logging.getLogger("unskew.files")


def say_columns(source: str, names: Mapping[str, str], *more: str) -> None:
    """One line about an input whose columns have names of their own, or of which there is more to say."""
    if found := differing(names):
        more = (", ".join(f"{ours} = {plain(theirs)}" for ours, theirs in found.items()), *more)
    if more:
        FILES.info("%s: %s", source, "; ".join(more))
