"""What an engine works on: the held-out rows of whole users, and every model's lists over the same vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unskew.estimators import Batch
from unskew.kernels.ranks import find_ranks
from unskew.log import Recommendations

Floats = npt.NDArray[np.float64]
Ints32 = npt.NDArray[np.int32]
Ints64 = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Held:
    """Rows of the population's users, items ascending inside a user, with everything that estimators may look at.

    Args:
        hashes: of the users' ids, for the bootstrap.
        value: y of each row.
        relevant, candidates: n_u and |C_u| of each user, where known.
        lists: per model, lists coded over the same users and items.
        relative: whether the propensities are relative.
    """

    hashes: Hashes
    indptr: Ints64
    item: Ints32
    value: Floats
    lists: tuple[Recommendations, ...]
    propensity: Floats | None = None
    labels: Mapping[str, Ints32] = field(default_factory=dict)
    relevant: Floats | None = None
    candidates: Floats | None = None
    relative: bool = True

    @property
    def users(self) -> int:
        """The size of the population."""
        return len(self.indptr) - 1

    def batch(self, low: int, high: int) -> Batch:
        """Users ``low`` … ``high − 1`` as estimators see them."""
        rows = slice(self.indptr[low], self.indptr[high])
        return Batch(
            indptr=self.indptr[low : high + 1] - self.indptr[low],
            value=self.value[rows],
            propensity=None if self.propensity is None else self.propensity[rows],
            labels={name: codes[rows] for name, codes in self.labels.items()},
            relevant=None if self.relevant is None else self.relevant[low:high],
            candidates=None if self.candidates is None else self.candidates[low:high],
        )

    def ranks(self, low: int, high: int) -> list[Ints32]:
        """Per model, the rank of every held-out item of these users (0 = not listed)."""
        found = []
        for lists in self.lists:
            out = np.empty(self.indptr[high] - self.indptr[low], dtype=np.int32)
            find_ranks(self.indptr, self.item, lists.indptr, lists.item, lists.rank, low, high, out)
            found.append(out)
        return found
