"""Recall@20 of held-out pairs from factors: the same few lines for unskew and for Cornac."""

from pathlib import Path
from typing import Any

import numpy as np

K = 20


def recall(folder: Path, users: Any, items: Any, offsets: Any) -> float:
    """Mean over users of the share of their held-out pairs among the first 20, training pairs left out."""
    user, item, held_user, held_item = (
        np.load(folder / f"{n}.npy") for n in ("user", "item", "held_user", "held_item")
    )
    scores = np.asarray(users, dtype=np.float64) @ np.asarray(items, dtype=np.float64).T + offsets
    scores[user, item] = -np.inf
    first = np.argpartition(-scores, K, axis=1)[:, :K]
    listed = np.zeros(scores.shape, dtype=np.bool_)
    np.put_along_axis(listed, first, True, axis=1)
    hits = np.bincount(held_user, weights=listed[held_user, held_item], minlength=len(scores))
    wanted = np.bincount(held_user, minlength=len(scores))
    return float(np.mean(hits[wanted > 0] / wanted[wanted > 0]))
