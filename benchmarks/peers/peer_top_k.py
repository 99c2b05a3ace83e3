"""The best items from factors, ``FOLDER LIBRARY K TIMES``: seconds of every run and the lists as one JSON line.

``product`` is the bare matrix product, batch by batch into one buffer; the others leave out seen items and sort.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

folder, library, k, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
users, items = (np.load(folder / f"{side}.npy") for side in ("users", "items"))
indptr, seen = np.load(folder / "indptr.npy"), np.load(folder / "seen.npy")
BATCH = 1024
HELD = 10  # held-out items of a user
CHECKED = 500  # users whose lists are compared with an exhaustive pass


def batches() -> Iterator[slice]:
    for start in range(0, len(users), BATCH):
        yield slice(start, min(start + BATCH, len(users)))


def product() -> None:
    columns, buffer = np.ascontiguousarray(items.T), np.empty((BATCH, len(items)), np.float32)
    for rows in batches():
        np.dot(users[rows], columns, out=buffer[: rows.stop - rows.start])


def numpy_argpartition() -> Any:
    columns, buffer = np.ascontiguousarray(items.T), np.empty((BATCH, len(items)), np.float32)
    out = np.empty((len(users), k), np.int64)
    for rows in batches():
        scores = np.dot(users[rows], columns, out=buffer[: rows.stop - rows.start])
        scores[np.repeat(np.arange(len(scores)), np.diff(indptr[rows.start : rows.stop + 1])),
               seen[indptr[rows.start] : indptr[rows.stop]]] = -np.inf  # fmt: skip
        best = np.argpartition(scores, len(items) - k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        out[rows] = np.take_along_axis(best, order, axis=1)
    return out


def implicit() -> Any:
    als = import_module("implicit.als")
    from scipy.sparse import csr_matrix

    model = als.AlternatingLeastSquares(use_gpu=False)
    model.user_factors, model.item_factors, model.num_threads = users, items, 0
    ratings = csr_matrix((np.ones(len(seen), np.float32), seen, indptr), (len(users), len(items)))
    return model.recommend(np.arange(len(users)), ratings, N=k, filter_already_liked_items=True)[0]


def faiss() -> Any:
    import faiss  # type: ignore[import-not-found]

    index = faiss.IndexFlatIP(users.shape[1])
    index.add(items)
    most = int(np.diff(indptr).max())  # seen items are left out afterwards, as faiss has no list of them per user
    out = np.empty((len(users), k), np.int64)
    for rows in batches():
        found = index.search(users[rows], k + most)[1]
        for u, one in enumerate(found, rows.start):
            out[u] = one[~np.isin(one, seen[indptr[u] : indptr[u + 1]])][:k]
    return out


def torch() -> Any:
    import torch  # type: ignore[import-not-found]

    left, right = torch.from_numpy(users), torch.from_numpy(items.T.copy())
    out, buffer = np.empty((len(users), k), np.int64), torch.empty((BATCH, len(items)))
    for rows in batches():
        scores = torch.mm(left[rows], right, out=buffer[: rows.stop - rows.start])
        at = np.repeat(np.arange(len(scores)), np.diff(indptr[rows.start : rows.stop + 1]))
        scores[at, seen[indptr[rows.start] : indptr[rows.stop]]] = -np.inf
        out[rows] = torch.topk(scores, k, dim=1).indices.numpy()
    return out


def ours() -> tuple[Any, Any]:
    """A model of unskew, and the log of what users have seen."""
    import polars as pl

    from unskew.log import Feedback, Ids, Log
    from unskew.models import GivenFactors

    people, things = (Ids(pl.Series("id", np.arange(len(side)))) for side in (users, items))
    past = Log(people, things, indptr, seen.astype(np.int32), feedback=Feedback.IMPLICIT)
    return GivenFactors(people, things, users, items), past


def unskew() -> Any:
    model, past = ours()
    return model.recommend(past.users, k, seen=past).item.reshape(len(users), k)


def ranks() -> None:
    from unskew.log import Log

    model, past = ours()
    step = len(items) // HELD  # ten items of each user, evenly over the catalogue
    held = np.arange(len(users))[:, None] % step + step * np.arange(HELD)[None]
    starts = np.arange(0, held.size + 1, HELD)
    model.ranks(Log(past.users, past.items, starts, held.astype(np.int32).ravel()), seen=past)


def exhaustive(lists: Any) -> tuple[int, int]:
    """How many of the first lists are those from all scores, summed in one order in double precision."""
    from unskew.kernels.topk import SEED, top_k

    model, past = ours()
    some, right = model.user_factors[:CHECKED], model.item_factors
    scores = np.zeros((len(some), len(right)))
    for j in range(right.shape[1]):
        scores += some[:, j, None] * right[None, :, j]
    wanted = np.empty((len(some), k), np.int32)
    hashes = past.users.hashes[:CHECKED], model.items.hashes
    top_k(scores, k, *hashes, SEED, indptr[: len(some) + 1], seen.astype(np.int32), wanted)
    return int((wanted == lists[:CHECKED]).all(axis=1).sum()), len(some)


JOBS: dict[str, Callable[[], Any]] = {
    "product": product,
    "numpy": numpy_argpartition,
    "implicit": implicit,
    "faiss": faiss,
    "torch": torch,
    "unskew": unskew,
    "ranks": ranks,
}
seconds: list[float] = []
cpu: list[float] = []
lists = None
for _ in range(times + 1):
    start, used = time.perf_counter(), time.process_time()
    lists = JOBS[library]()
    seconds.append(time.perf_counter() - start)
    cpu.append(time.process_time() - used)
if lists is not None:
    np.save(folder / f"lists-{library}.npy", lists)
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
figures: dict[str, Any] = {"seconds": seconds[1:], "cpu": cpu[1:], "memory": memory}
if library == "unskew":
    figures["checked"] = exhaustive(lists)
print(json.dumps(figures))
