"""A log as the matrix that other libraries are fitted on.

Row u belongs to ``log.users``, column i to ``log.items``, both in their order: a model that is fitted on it has the ids
of its rows and columns in ``log.users`` and ``log.items``, and nobody has to keep a mapping.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unskew.log.expected import a_log
from unskew.log.log import Log


def matrix(log: Log) -> Any:
    """The log as ``scipy.sparse.csr_matrix``: values where it has some, else 1.

    >>> import polars as pl, unskew as us
    >>> log = us.Log.from_frame(pl.DataFrame({"user": ["b", "a"], "item": [7, 9]}))
    >>> us.models.matrix(log).toarray()
    array([[0., 1.],
           [1., 0.]])
    >>> list(log.users), list(log.items)
    (['a', 'b'], [7, 9])
    """
    from scipy.sparse import csr_matrix

    value = np.ones(len(a_log(log))) if log.value is None else log.value
    return csr_matrix((value, log.item, log.indptr), shape=(len(log.users), len(log.items)), copy=True)
