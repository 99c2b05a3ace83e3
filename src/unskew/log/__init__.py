"""What was seen: logs of interactions, lists of recommendations, and how both are read and checked.

``read_log`` and ``read_recommendations`` read files; ``Log.from_frame`` and ``Recommendations.from_frame`` take any
dataframe. Whatever is wrong with the input is an error that names the file, the column, the first offending row and
the remedy; rows are dropped only on request, and counted in ``Account``. Behind them everything is integer-coded:
``Ids`` is the vocabulary, rows are grouped by user.
"""

import numpy as np
import polars as pl

from unskew.log.column_maps import ColumnMap
from unskew.log.expected import a_log, coded_pairs, some_ids
from unskew.log.features import Features, read_features
from unskew.log.ids import Ids
from unskew.log.interactions import read_log
from unskew.log.lists import read_recommendations
from unskew.log.log import Account, Feedback, Log
from unskew.log.paths import check_file, read_small
from unskew.log.predictions import Predictions, read_predictions
from unskew.log.recommendations import Recommendations, Recommender
from unskew.log.relevance import gains, row_gains, threshold_of
from unskew.log.several import files_of

# polars loads numpy when it is first needed, and fails if two threads need it first at the same time: let it be now.
pl.Series(np.empty(0))

__all__ = [
    "Account",
    "ColumnMap",
    "Features",
    "Feedback",
    "Ids",
    "Log",
    "Predictions",
    "Recommendations",
    "Recommender",
    "a_log",
    "check_file",
    "coded_pairs",
    "files_of",
    "gains",
    "read_features",
    "read_log",
    "read_predictions",
    "read_recommendations",
    "read_small",
    "row_gains",
    "some_ids",
    "threshold_of",
]
