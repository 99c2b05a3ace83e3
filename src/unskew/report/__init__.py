"""What people look at: a page, a terminal panel, a notebook cell, and the verdicts in plain words.

Nothing is computed here; every number is one that the result holds.
"""

from unskew.report.html import notebook, page
from unskew.report.terminal import panel
from unskew.report.words import sentences

__all__ = ["notebook", "page", "panel", "sentences"]
