"""Two ways to put folds together, both with errors that are clustered by user over all folds.

Pooled: a user's columns are added up over the folds, and then it is one evaluation with everybody's rows. The value is
a ratio of sums over all folds, in which large folds count more.

Macro (jeunen18: the average over windows): with R_f = R(Σ_u x_uf) the value of a cell in fold f,

    R = (1/F) Σ_f R_f            e_u = (1/F) Σ_f ∇R_f · x_uf              Var(R) = m/(m−1) Σ_u e_u²

R_f is a ratio of sums, so that ∇R_f · Σ_u x_uf = 0 and the e_u add up to 0. A user who comes back has one e_u: whatever
folds have in common through their users is in it. Folds taken as independent would leave that out.

A ratio of few users leans, for weights that differ much towards naive, and averaging folds does not take that off: with
thirty folds of fifty users and right propensities, equal models were told apart in 24 % of worlds. The jackknife tells,

    B = (1/F) Σ_f (m_f − 1) (mean over users of R_f without the user − R_f)        m_f users in fold f

and what is said must hold for Δ and for Δ − 2B, as with few clicks inside users (MATHS §13): 1 % then
(``python -m tests.cross_validation.returning_users``).

Verdicts are tested in score form (MATHS §13, "Few hits"). The score of a model is what a user's hits bring to R,

    s_u = (1/F) Σ_f (∂R_f/∂a_f) a_uf        D_u = (1/F) Σ_f b_uf / Σ_v b_vf        Σ_u s_u / Σ_u D_u = R

with a and b the numerator and divisor of a ratio (else D_u = 1/n). Scores stand for the columns of an evaluation: they
go through the same tests and checks. Where folds have different values, s_u − R D_u and e_u are not the same; both
tests must agree (``inference/contrast.py``, ``Widest``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from unskew.inference.ratio_form import RatioForm
from unskew.kernels.arrays import Bools, Floats, Ints64


class Average(StrEnum):
    """How folds are put together."""

    MACRO = "macro"
    POOLED = "pooled"


@dataclass(frozen=True, eq=False)
class FoldColumns:
    """The columns of one cell in every fold.

    Args:
        form: how its estimate is made of them.
        user: of every fold, where its users stand among all users.
        x: of every fold, (its users, columns).
        users: how many users there are.
    """

    form: RatioForm
    user: Sequence[Ints64]
    x: Sequence[Floats]
    users: int

    @cached_property
    def sums(self) -> Floats:
        """Column sums, (folds, columns)."""
        return np.array([x.sum(axis=0) for x in self.x])

    @cached_property
    def values(self) -> Floats:
        """The estimate of every model in every fold, (folds, models)."""
        return self.form.values(self.sums)

    @cached_property
    def there(self) -> Bools:
        """The folds in which every model has a value."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    def bias(self) -> Floats:
        """B of the average, by model; infinite where a fold has a single user, or nothing is left without one."""
        found = np.zeros(self.form.models)
        for f in np.flatnonzero(self.there).tolist():
            _, moved = self._without(f)
            found += (len(moved) - 1) * moved.mean(axis=0) if len(moved) > 1 else np.inf
        found /= max(int(np.count_nonzero(self.there)), 1)
        return np.where(np.isfinite(found), found, np.inf)

    def left_out(self) -> Floats:
        """What every user brings to the average, (users, models), by leaving him or her out of every fold.

            e_u = (1/F) Σ_f √((m_f − 1)/m_f) (R_f − R_f without the user)

        The squares add up to the jackknife's variance of each fold. ∇R_f · x_uf falls short of it in small folds, where
        R_f follows its users: folds of one user would have no error at all (here not a number).
        """
        out = np.zeros((self.users, self.form.models))
        folds = max(int(np.count_nonzero(self.there)), 1)
        for f in np.flatnonzero(self.there).tolist():
            active, moved = self._without(f)
            if len(moved) < 2:
                return np.full_like(out, np.nan)
            out[self.user[f][active]] -= moved * (np.sqrt((len(moved) - 1) / len(moved)) / folds)
        return out

    def counting(self) -> float:
        """How many users would count for as much of the average's error if all counted alike.

            (Σ D_u²)² / Σ D_u⁴        D_u = Σ_f 1/m_f over the folds that user u is in

        Two folds, of 60 users and of 2, rest on hardly more than two: whether these agree by chance nothing tells.
        """
        share = np.zeros(self.users)
        for f in np.flatnonzero(self.there).tolist():
            active = (self.x[f] != 0.0).any(axis=1)
            share[self.user[f][active]] += 1.0 / max(int(np.count_nonzero(active)), 1)
        fourth = float(np.sum(share**4))
        return float(np.sum(share**2)) ** 2 / fourth if fourth > 0.0 else 0.0

    def _without(self, f: int) -> tuple[Bools, Floats]:
        """The users of a fold with anything in their columns, and how R_f moves without each of them."""
        active = np.asarray((self.x[f] != 0.0).any(axis=1))
        return active, self.form.values(self.sums[f] - self.x[f][active]) - self.values[f]

    def pooled(self) -> Floats:
        """A user's columns added up over the folds."""
        out = np.zeros((self.users, self.sums.shape[1]))
        for user, x in zip(self.user, self.x, strict=True):
            out[user] += x
        return out


@dataclass(frozen=True, eq=False)
class MacroColumns:
    """The scores of every user, and their errors.

    Args:
        columns: a score per model, and D; times a constant that makes the largest scale 1.
        errors: e_u per model.
        scales: how much a unit of a fold's own columns counts, times the same constant: 0 where the fold has no value.
    """

    columns: Floats
    errors: Floats
    scales: Floats

    @classmethod
    def of(cls, cell: FoldColumns) -> MacroColumns:
        """Of one cell."""
        form, models = cell.form, cell.form.models
        there = cell.there
        folds = max(int(np.count_nonzero(there)), 1)
        own = _first_factors(form, cell.sums.shape[1])
        shared = len(form.terms) == 1 and not any(form.terms[0]) and len(form.terms[0]) == 1
        score, errors = np.zeros((cell.users, models)), np.zeros((cell.users, models))
        divisor = np.zeros(cell.users) if shared else np.full(cell.users, 1.0 / max(cell.users, 1))
        scales = np.zeros(len(cell.x))
        first = form.places[0][0][0]
        for f in np.flatnonzero(there).tolist():
            gradients = form.gradients(cell.sums[f]) / folds
            user, x = cell.user[f], cell.x[f]
            errors[user] += x @ gradients.T
            score[user] += x @ np.where(own, gradients, 0.0).T
            scales[f] = np.abs(gradients[np.arange(models), first]).max()
            if shared:
                below = form.places[0][0][1][0]
                divisor[user] += x[:, below] / (cell.sums[f, below] * folds)
        if form.root:  # a root falls short of the sum of its scores by the half that the divisor carries
            mean = cell.values[there].mean(axis=0) if there.any() else np.zeros(models)
            score += np.outer(divisor, mean - score.sum(axis=0))
        largest = float(scales.max(initial=0.0)) or 1.0
        columns = np.column_stack([score, divisor]) / largest
        return cls(columns, errors, scales / largest)


def _first_factors(form: RatioForm, width: int) -> Bools:
    """Which columns hold what a model's hits bring: of every model, the first factor of each term."""
    out = np.zeros((form.models, width), dtype=np.bool_)
    for term in form.places:
        out[np.arange(form.models), term[0][0]] = True
    return out
