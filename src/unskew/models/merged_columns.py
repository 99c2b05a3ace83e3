"""A sparse 0/1 matrix in which columns with the same rows are one column, for its singular vectors.

A vector of RᵀR with an eigenvalue above 0 is the same in all columns that have the same rows, so that with d_c the
number of columns that c stands for, the eigenvectors x of √D RᵀR √D tell all of them:

    v_c = x_group(c) / √d_group(c)

In logs of many items that one user each has, this leaves out a good part of the columns; rows with one entry become
a number on the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from unskew.kernels.arrays import Floats
from unskew.kernels.same_columns import merge_columns, same_columns
from unskew.log.ids import Codes
from unskew.log.log import Integers


@dataclass(frozen=True, eq=False)
class MergedColumns:
    """Rows with their columns, each of which may stand for several.

    Args:
        start, column: the columns of row r are ``column[start[r]:start[r + 1]]``.
        alone: of every column, how many further rows have nothing else.
        root: of every column, √ of how many it stands for.
        group: of every column as it was given, the one that stands for it.
    """

    start: Integers
    column: Codes
    alone: Floats
    root: Floats
    group: Codes

    @classmethod
    def of(cls, start: Integers, column: Codes, size: int) -> Self:
        """The columns of row r are ``column[start[r]:start[r + 1]]``, of ``size`` columns."""
        group, count = same_columns(start, column, size)
        new_start, new_column, alone = np.zeros_like(start), np.empty(len(column), dtype=np.int32), np.zeros(count)
        rows, entries = merge_columns(start, column, group, count, new_start, new_column, alone)
        root = np.sqrt(np.bincount(group, minlength=count).astype(np.float64))
        return cls(new_start[: rows + 1], new_column[:entries], alone, root, group)

    @classmethod
    def unmerged(cls, start: Integers, column: Codes, size: int) -> Self:
        """The same matrix, every column for itself."""
        return cls(start, column, np.zeros(size), np.ones(size), np.arange(size, dtype=np.int32))

    @property
    def size(self) -> int:
        """How many columns are left."""
        return len(self.root)

    @property
    def arrays(self) -> tuple[Integers, Codes, Floats, Floats]:
        """What kernels ask for."""
        return self.start, self.column, self.alone, self.root

    def merged(self, vector: Floats) -> Floats:
        """What a vector over the columns as they were given is over those that are left."""
        return np.asarray(np.bincount(self.group, vector, minlength=self.size) / self.root)

    def spread(self, vectors: Floats) -> Floats:
        """Rows over the columns that are left, as rows over those that were given."""
        return np.asarray((vectors / self.root)[:, self.group])
