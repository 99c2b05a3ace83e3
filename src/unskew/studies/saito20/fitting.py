"""Full matrices from logistic or plain matrix factorisation by Adam, as saito20 ran it (``outcome/adam.py``)."""

from __future__ import annotations

import numpy as np

from unskew.log.ids import Codes
from unskew.log.log import Floats
from unskew.outcome.adam import AdamMF, factorise


def probabilities(
    user: Codes, item: Codes, y: Floats, weight: Floats, shape: tuple[int, int], options: AdamMF
) -> Floats:
    """σ(v_u·w_i + a_u + b_i + c) of every pair, fitted to some rows."""
    z = _logits(*factorise(user, item, y, weight, shape, options))
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


def values(user: Codes, item: Codes, y: Floats, shape: tuple[int, int], options: AdamMF) -> Floats:
    """v_u·w_i + a_u + b_i + c of every pair, fitted to some rows with squared loss."""
    return _logits(*factorise(user, item, y, np.ones(len(y)), shape, options, squared=True))


def every_pair(shape: tuple[int, int]) -> tuple[Codes, Codes]:
    """Users and items of all pairs, row by row."""
    user, item = np.divmod(np.arange(shape[0] * shape[1], dtype=np.int32), np.int32(shape[1]))
    return user, item


def _logits(user: Floats, item: Floats, level: float) -> Floats:
    return np.asarray(user[:, :-1] @ item[:, :-1].T + user[:, -1:] + item[:, -1] + level)
