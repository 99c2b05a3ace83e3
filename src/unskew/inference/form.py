"""An estimate is a smooth function of means over users: its value, and its gradient for the delta method.

    estimate of model j = Π over factors f of  mean a_fj / mean b_f,  or the root of that (rmse)

The columns of a cell stand factor by factor: the models' a, then b.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def values(columns: Floats, models: int, root: bool = False) -> Floats:
    """The estimates of all models from column means or sums (…, columns) → (…, models); NaN where Σ b is 0."""
    width = models + 1
    value = np.ones((*columns.shape[:-1], models))
    for start in range(0, columns.shape[-1], width):
        b = columns[..., start + models, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = value * np.where(b > 0.0, columns[..., start : start + models] / b, np.nan)
    return np.sqrt(value) if root else value


def gradients(mean: Floats, models: int, root: bool = False) -> Floats:
    """d estimate / d column mean, (models, columns)."""
    width = models + 1
    starts = range(0, len(mean), width)
    out = np.zeros((models, len(mean)))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.array([mean[s : s + models] / mean[s + models] for s in starts])
        for f, start in enumerate(starts):
            others = np.prod(np.delete(ratios, f, axis=0), axis=0)
            b = mean[start + models]
            for j in range(models):
                out[j, start + j] = others[j] / b
                out[j, start + models] = -others[j] * ratios[f, j] / b
        if root:  # d √v = dv / (2 √v); without any error there is no slope, and nothing varies
            value = np.sqrt(values(mean, models))[:, None]
            out = np.where(value > 0.0, out / (2.0 * value), 0.0)
    return out
