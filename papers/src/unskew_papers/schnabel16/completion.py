"""The completion of ML-100K (schnabel16 §6.2): which factorisation says what everybody would give to everything.

The paper takes the rank and the penalty whose completed matrix gives most of a held-out tenth of the ratings exactly
(0/1 accuracy). It tells neither the grid, nor whether there are offsets, nor whether the matrix is compared before or
after its values became ratings by quantile. Here before, rounded to 1 … 5, over three splits; forms of factorisation:

    free, penalised     v_u·w_i + a_u + b_i + c with either treatment of offsets     ``MF``
    none                v_u·w_i                                                      ``complete``

Accuracy after the adjustment is shown beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from unskew.core import Progress, Store
from unskew.log import Log
from unskew.models import MF
from unskew.simulate import SCHNABEL16, RatingWorld, complete, to_ratings
from unskew.split import holdout
from unskew_papers.arrays import Floats, present
from unskew_papers.digest import digest_of

Form = Literal["free", "penalised", "none"]
Choice = tuple[Form, int, float]  # with the rank and the penalty

SPLITS, HELD_OUT = 3, 0.1
RANKS = (3, 5, 10, 20)
PENALTIES: dict[Form, tuple[float, ...]] = {
    "free": (0.5, 1.0, 2.0, 4.0, 8.0),
    "penalised": (0.5, 1.0, 2.0, 4.0, 8.0),
    "none": (0.02, 0.05, 0.1, 0.2),
}
READINGS = ("completed", "adjusted")


def chosen(store: Store, log: Log, workers: int = 1, progress: Progress | None = None) -> Choice:
    """The form, rank and penalty with the most hits, on average over the splits."""
    return best(accuracies(store, log, workers, progress), 0)


def best(found: Mapping[Choice, Floats], reading: int) -> Choice:
    """The choice with the most hits, on average over the splits."""
    return max(found, key=lambda choice: float(found[choice][reading].mean()))


def world(store: Store, log: Log, workers: int = 1) -> RatingWorld:
    """The world of §6.2 at α = .25."""
    return world_of(log, chosen(store, log, workers))


def world_of(log: Log, choice: Choice) -> RatingWorld:
    """The same from another completion."""
    return RatingWorld(log.users, log.items, _adjusted(log, _completed(log, *choice)))


def accuracies(store: Store, log: Log, workers: int = 1, progress: Progress | None = None) -> dict[Choice, Floats]:
    """Hits by choice: [reading, split]."""
    places: list[tuple[Form, int, int]] = list(product(PENALTIES, RANKS, range(SPLITS)))
    shared = {"unit": "completion", "ratings": digest_of(log), "held out": HELD_OUT, "shares": list(SCHNABEL16)}
    keys: list[dict[str, Any]] = [
        {"form": form, "rank": rank, "split": split, "penalties": list(PENALTIES[form]), **shared}
        for form, rank, split in places
    ]
    units = store.map(
        keys, lambda key: _hits(log, key), workers=workers, progress=progress, stage="choosing the completion"
    )
    found: dict[Choice, list[Floats]] = {}
    for (form, rank, _), unit in zip(places, units, strict=True):
        for penalty, hits in zip(PENALTIES[form], unit["hits"], strict=True):
            found.setdefault((form, rank, penalty), []).append(hits)
    return {choice: np.stack(each, axis=-1) for choice, each in found.items()}


def _hits(log: Log, key: Mapping[str, Any]) -> dict[str, Any]:
    train, test = holdout(log, key["held out"], seed=key["split"])
    hits = []
    for penalty in key["penalties"]:
        values = _completed(train, key["form"], key["rank"], penalty)
        readings = np.clip(np.rint(values), 1.0, 5.0), _adjusted(train, values)
        hits.append([np.mean(each[test.user, test.item] == present(test.value)) for each in readings])
    return {"hits": np.array(hits)}


def _completed(log: Log, form: Form, rank: int, penalty: float) -> Floats:
    """[users, items]."""
    if form == "none":
        return complete(log, rank=rank, penalty=penalty).astype(np.float64)
    model = MF(rank, penalty, form, threads=1).fit(log)
    return np.concatenate([block for _, block in model.predict_all()])


def _adjusted(log: Log, values: Floats) -> npt.NDArray[np.int8]:
    """Ratings 1 … 5 by quantile."""
    return to_ratings(values, SCHNABEL16, log.users, log.items)
