"""Named data sets: ``load("coat")`` finds a copy on this machine, checks it and gives it back as logs.

Each set is one small reader (``coat.py``, ``ml_100k.py``, …) that knows its files, counts, licence and citation.
Nothing is shipped and nothing is downloaded by itself: copies lie in folders that ``places.py`` lists, come from
``add`` (a copy that you have) or from ``fetch`` (the publisher's, where its licence allows that).
"""

from unskew.log.datasets.base import About, Dataset, Download, Source
from unskew.log.datasets.catalogue import NAMES, add, folder_of, load, source_of
from unskew.log.datasets.fetch import fetch
from unskew.log.datasets.places import cache

__all__ = ["NAMES", "About", "Dataset", "Download", "Source", "add", "cache", "fetch", "folder_of", "load", "source_of"]
