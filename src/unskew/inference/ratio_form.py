"""An estimate is a smooth function of means over users: its value, and its gradient for the delta method.

    estimate of model j = Σ over terms Π over factors f of  mean a_fj / mean b_fj,  or the root of that (rmse)

The columns of a cell stand term by term and factor by factor: the models' a, then one b for all, or one for each. Last
come scores of a fitted model, which enter no value: only errors (``model_error.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.kernels.arrays import Floats, Ints64


@dataclass(frozen=True)
class RatioForm:
    """How an estimate is made of column means.

    Args:
        models: how many models there are.
        terms: for each term and each of its factors, whether every model has a divisor of its own.
        root: whether the estimate is the root.
        scores: how many columns of scores there are.
    """

    models: int
    terms: tuple[tuple[bool, ...], ...] = ((False,),)
    root: bool = False
    scores: int = 0

    @cached_property
    def places(self) -> tuple[tuple[tuple[Ints64, Ints64], ...], ...]:
        """For each term and factor, where the models' a and b stand among the columns."""
        found, start = [], 0
        for term in self.terms:
            factors = []
            for own in term:
                a = np.arange(start, start + self.models)
                b = a + self.models if own else np.full(self.models, start + self.models)
                start += 2 * self.models if own else self.models + 1
                factors.append((a, b))
            found.append(tuple(factors))
        return tuple(found)

    @cached_property
    def own(self) -> Ints64:
        """The columns that differ between models, (kinds, models): models that agree in all of them are the same."""
        rows = [a for term in self.places for a, _ in term]
        rows += [b for term in self.places for _, b in term if b[0] != b[-1]]
        return np.array(rows, dtype=np.int64)

    @cached_property
    def score_kinds(self) -> int:
        """How many of the first rows of ``own`` add up to a model's score of a user: the first factor of each term."""
        return len(self.terms) if all(len(term) == 1 for term in self.terms[:-1]) else 1

    @property
    def linear(self) -> bool:
        """Whether the sign of a difference is that of a sum over users: models share divisors, and none was fitted."""
        return len(self.terms) == 1 and not any(self.terms[0]) and not self.scores

    def values(self, columns: Floats) -> Floats:
        """The estimates of all models from column means or sums (…, columns) → (…, models); NaN where Σ b is 0."""
        value = np.zeros((*columns.shape[:-1], self.models))
        for term in self.places:
            product = np.ones_like(value)
            for a, b in term:
                below = columns[..., b]
                with np.errstate(divide="ignore", invalid="ignore"):
                    product = product * np.where(below > 0.0, columns[..., a] / below, np.nan)
            value = value + product
        if not self.root:
            return value
        with np.errstate(invalid="ignore"):
            return np.sqrt(value)

    def gradients(self, mean: Floats) -> Floats:
        """d estimate / d column mean, (models, columns)."""
        out = np.zeros((self.models, len(mean)))
        model = np.arange(self.models)
        with np.errstate(divide="ignore", invalid="ignore"):
            for term in self.places:
                below = [np.where(mean[b] > 0.0, mean[b], np.nan) for _, b in term]
                ratios = np.array([mean[a] / d for (a, _), d in zip(term, below, strict=True)])
                for f, ((a, b), d) in enumerate(zip(term, below, strict=True)):
                    others = np.prod(np.delete(ratios, f, axis=0), axis=0)
                    out[model, a] += others / d
                    out[model, b] -= others * ratios[f] / d
            if self.root:  # d √v = dv / (2 √v); without any error there is no slope, and nothing varies
                value = self.values(mean)[:, None]
                out = np.where(value > 0.0, out / (2.0 * value), 0.0)
        return out
