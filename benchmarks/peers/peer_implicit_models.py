"""implicit: ``FOLDER knn NEIGHBOURS`` or ``FOLDER als DIM EPOCHS ALPHA PENALTY cg|exact``; one JSON line."""

import sys
import time
from pathlib import Path

import implicit
import numpy as np
from implicit.nearest_neighbours import CosineRecommender
from scipy import sparse

from peers.common import Taken, Watch, report

PACKAGES = ("implicit", "numpy", "scipy")
folder, job = Path(sys.argv[1]), sys.argv[2]
indptr, item = (np.load(folder / f"{name}.npy") for name in ("indptr", "item"))
items = int(item.max()) + 1
seen = sparse.csr_matrix((np.ones(len(item), dtype=np.float32), item, indptr), (len(indptr) - 1, items))


def knn(neighbours: int) -> None:
    """Neighbours of every item; implicit counts the item itself as one of them."""
    model = CosineRecommender(K=neighbours + 1)
    watch = Watch()
    model.fit(seen, show_progress=False)
    taken = watch.read()
    near = model.similarity.tocsr()
    near.setdiag(0.0)
    report(taken, PACKAGES, total=float(near.sum()))


def als(dim: int, epochs: int, alpha: float, penalty: float, solver: str) -> None:
    """Sweeps, and the loss after the last one; implicit's confidence of a positive is its alpha itself."""
    seconds: list[float] = []
    cpu = [time.process_time()]

    def note(epoch: int, elapsed: float, loss: object) -> None:
        seconds.append(elapsed)
        cpu.append(time.process_time())

    model = implicit.cpu.als.AlternatingLeastSquares(
        factors=dim,
        regularization=penalty,
        alpha=1.0 + alpha,
        iterations=epochs,
        use_cg=solver == "cg",
        num_threads=0,
        dtype=np.float32,
        random_state=0,
    )
    model.fit(seen, show_progress=False, callback=note)
    taken = Taken(float(np.median(seconds)), float(np.median(np.diff(cpu))))
    users, things = (factors.astype(np.float64) for factors in (model.user_factors, model.item_factors))
    row, loss = np.repeat(np.arange(len(users)), np.diff(indptr)), 0.0
    for start in range(0, len(item), 1_000_000):
        part = slice(start, start + 1_000_000)
        guess = np.einsum("ij,ij->i", users[row[part]], things[item[part]])
        loss += float(np.sum((1.0 + alpha) * (1.0 - guess) ** 2 - guess**2))
    loss += float(np.sum((users.T @ users) * (things.T @ things)) + penalty * (np.sum(users**2) + np.sum(things**2)))
    report(taken, PACKAGES, loss=loss)


if job == "knn":
    knn(int(sys.argv[3]))
else:
    als(int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6]), sys.argv[7])
