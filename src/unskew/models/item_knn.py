"""Item-based nearest neighbours (Deshpande & Karypis 2004, "Item-based top-N recommendation algorithms").

    cos(i, j)   = (users with both i and j) / √(n_i n_j)
    score(u, i) = Σ over the user's items j that have i among their nearest neighbours of cos(i, j)

Every item of a user's history votes for the items most similar to it. Nothing denser than one block of rows is ever
held: neighbours are found block by block of items, scores block by block of users.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse

from unskew.bounds import Whole
from unskew.kernels.topk import SEED, top_k
from unskew.log import Ids
from unskew.log.expected import a_log, some_ids
from unskew.log.log import Floats, Log
from unskew.log.recommendations import Recommendations
from unskew.models.base import CELLS, Model, from_scores
from unskew.parts import option

NEIGHBOURS = Whole(1, 1_000_000, "Each item keeps so many numbers.")


@dataclass(eq=False, repr=False)
class ItemKNN(Model):
    """Rank items by their similarity to the user's training items.

    Users without history, or unknown to the training log, score 0 everywhere: their lists are random.
    """

    neighbours: int = option(50, NEIGHBOURS, "nearest neighbours that each item keeps")
    users_: Ids = field(init=False)
    history_: Any = field(init=False)  # users × items, 0/1, with one empty row at the end
    similar_: Any = field(init=False)  # items × items, the nearest neighbours of each row

    name = "item_knn"

    def fit(self, log: Log) -> Self:
        """Find the nearest neighbours of every item."""
        liked = a_log(log).positives()
        indptr = np.append(liked.indptr, len(liked))  # code −1, an unknown user, reads the empty last row
        shape = len(log.users) + 1, len(log.items)
        self.history_ = sparse.csr_matrix((np.ones(len(liked)), liked.item, indptr), shape=shape)
        self.users_, self.items_ = log.users, log.items
        self.similar_ = _nearest(self.history_, self.neighbours, log.items)
        return self

    def recommend(self, users: Ids, k: int, *, seen: Log | None = None) -> Recommendations:
        """The k unseen items most similar to the user's training items."""
        items, row = self.catalogue, some_ids(users).into(self.users_)

        def score(rows: slice) -> Floats:
            return np.asarray((self.history_[row[rows]] @ self.similar_).toarray())

        return from_scores(score, items, users, k, seen)


def _nearest(history: Any, neighbours: int, items: Ids) -> Any:
    """Cosines of each item with its nearest neighbours, as a sparse items × items matrix.

    Common users are counted exactly before they are divided, so that equal similarities are equal numbers and ties
    at the cut-off go to the stable hash of the two items.
    """
    n = len(items)
    count = np.maximum(1.0, np.asarray(history.sum(axis=0)).ravel())
    transposed = history.T.tocsr()
    blocks = [sparse.csr_matrix((0, n))]
    for start in range(0, n, step := max(1, CELLS // max(1, n))):
        rows = np.arange(start, min(start + step, n))
        cosine = (transposed[rows] @ history).toarray() / np.sqrt(np.outer(count[rows], count))
        near = np.empty((len(rows), min(neighbours, n)), dtype=np.int32)
        itself = np.arange(len(rows) + 1)
        top_k(cosine, near.shape[1], items.hashes[rows], items.hashes, SEED, itself, rows, near)
        at, place = np.nonzero((near >= 0) & (np.take_along_axis(cosine, near, axis=1) > 0))
        item = near[at, place]
        blocks.append(sparse.csr_matrix((cosine[at, item], (at, item)), shape=(len(rows), n)))
    return sparse.vstack(blocks, format="csr")
