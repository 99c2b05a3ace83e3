"""The difference to detect, as T = Δ·D̂ on the scale of sums (MATHS §16).

    a number Δ     T = Δ·D̂,  D̂ = Σ_L y + Σ over unseen candidates of q        from a sample of the candidates
    a share "5%"   T = 5 % of the lesser of N_a and N_b: no sum over the catalogue
    "log"          T = D̂ · the least |R_a − R_b| along the exposure path of MATHS §14, a = 0 (naive) to 1

Along the path P_i ∝ n_i^a; where the lead changes hands on it, the log suggests no size at all, and T is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unskew.core.bounds import Number, shown
from unskew.core.errors import InputError
from unskew.design.candidates import Candidates
from unskew.kernels.arrays import Floats
from unskew.kernels.ranks import find_ranks
from unskew.log import Log, Recommendations
from unskew.outcome.base import PairPredictor

SAMPLE = 100_000  # candidate pairs whose q is added up
PATH = np.linspace(0.0, 1.0, 11)
WANTED = "a number (0.01), a share ('5%') or 'log'"


@dataclass(frozen=True)
class Detect:
    """What to detect: ``kind`` is ``number``, ``share`` or ``log``."""

    kind: str
    size: float = 0.0

    @classmethod
    def of(cls, given: object) -> Detect:
        """From a number, ``"5%"``, ``"0.01"`` or ``"log"``."""
        if isinstance(given, Detect):
            return given
        text = given.strip() if isinstance(given, str) else ""
        if text == "log":
            return cls("log")
        try:
            number = float(text.removesuffix("%")) if text else given
        except ValueError:
            raise InputError(
                f"detect must be {WANTED}, not {shown(given)}.", code="bad-value", option="detect"
            ) from None
        kind = "share" if text.endswith("%") else "number"
        size = Number(above=0.0, high=100.0 if kind == "share" else 1e30).of(number, f"detect, {WANTED},")
        return cls(kind, float(size) / (100.0 if kind == "share" else 1.0))

    def __str__(self) -> str:
        return {"log": "log", "share": f"{100.0 * self.size:g}%", "number": f"{self.size:g}"}[self.kind]


@dataclass(frozen=True)
class Total:
    """D̂ and the standard error that the sample of candidates leaves."""

    value: float
    error: float


def total(candidates: Candidates, q: PairPredictor, judged: Log | None, sample: int = SAMPLE) -> Total:
    """Σ_L y + Σ q over the candidates, from pairs that are drawn evenly with a fixed seed."""
    random = np.random.default_rng(20_231_117)
    asked = np.flatnonzero(candidates.asked)
    known = 0.0
    if judged is not None and judged.gain is not None:
        known = float(judged.gain[candidates.asked[judged.user]].sum())
    every = len(asked) * len(candidates.pool)
    if not every:
        return Total(known, 0.0)
    if every <= sample:
        user, item = np.repeat(asked, len(candidates.pool)), np.tile(candidates.pool, len(asked))
    else:
        user = asked[random.integers(0, len(asked), sample)]
        item = candidates.pool[random.integers(0, len(candidates.pool), sample)]
        order = np.lexsort((item, user))
        user, item = user[order], item[order]
    who, what = user.astype(np.int32), item.astype(np.int32)
    value = np.where(candidates.may_ask(who, what), q(who, what), 0.0)
    error = 0.0 if every <= sample else float(value.std(ddof=1)) * every / np.sqrt(sample)
    return Total(known + float(value.mean()) * every, error)


def along_path(log: Log, seen: Log | None, lists: Sequence[Recommendations], worth: Floats) -> Floats:
    """R_m(a) on the log's positives, by [a, model]; weights (n + (1 + a)/2)^−a, n of training rows (MATHS §14)."""
    gain = np.ones(len(log)) if log.gain is None else log.gain
    source = log if seen is None else seen
    count = np.bincount(source.items.into(log.items)[source.item] + 1, minlength=len(log.items) + 1)[1:]
    out = np.zeros((len(PATH), len(lists)))
    for m, each in enumerate(lists):
        rank = np.zeros(len(log), dtype=np.int32)
        find_ranks(log.indptr, log.item, each.indptr, each.item, each.rank, 0, len(log.users), rank)
        of_rank = np.where(rank < len(worth), worth[np.minimum(rank, len(worth) - 1)], 0.0)
        for k, a in enumerate(PATH):
            weight = gain * ((count + (1.0 + a) / 2.0) ** -a)[log.item]
            out[k, m] = weight @ of_rank / weight.sum() if weight.sum() > 0.0 else 0.0
    return out


def suggested(path: Floats) -> Floats:
    """The least |R_a − R_b| along the path, 0 where the lead changes hands, by [model, model]."""
    models = path.shape[1]
    out = np.zeros((models, models))
    for a, b in combinations(range(models), 2):
        lead = path[:, a] - path[:, b]
        if (lead > 0.0).all() or (lead < 0.0).all():
            out[a, b] = out[b, a] = float(np.abs(lead).min())
    return out
