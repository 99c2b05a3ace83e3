"""Logistic regression over pairs of users and items, without a table of pairs × covariates.

    η_ui = x_uᵀ W x_i + γ_u + β_i           x_u and x_i begin with a 1: W holds intercept, main effects and products
    loss = Σ weight · [log(1 + e^z) − O·z] + ½ Σ penalty · θ²,        θ = (W, γ, β)

z is the logit of the probability that a pair is among the pairs of the fit as a seen one: η itself where these are all
pairs of a whole log. Of a random part with the share t the probability is t·σ(η), and unseen pairs that are a sample at
rate f raise its logit by −log f, the lift:

    z = lift + log t + η − log(1 + (1 − t) e^η),         dz/dη = 1 − κ,    κ = σ(η + log(1 − t))

With R = weight · (σ(z) − O)(1 − κ) the gradient is X_uᵀ R X_i and the row and column sums of R; a product with the
Fisher information (the Hessian where t = 1) has the same form. Newton's method, each step by conjugate gradients, finds
the minimum to rounding: a free offset of a whole log then matches its row or column sum. The gradients are
preconditioned by the information of W and the diagonal of the offsets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_matrix
from scipy.special import expit

from unskew.core.bounds import Whole
from unskew.core.errors import InputError
from unskew.log.ids import Codes

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]
Bools = npt.NDArray[np.bool_]
Linear = Callable[[Floats], Floats]
NEGATIVES = Whole(1, 1_000_000, "negatives=all takes all there are.", words=("auto", "all"))
CHUNK = 1 << 17  # pairs at a time
BLOCK = 1 << 12  # users at a time
STEPS = 200
REACH = 3.0  # by which no η moves at once where a share makes the loss flat beyond: a long step would not come back
LARGEST = 3000  # entries of W up to which their Hessian is made
ROOM = 50_000_000  # numbers that its making may hold


@dataclass(frozen=True, eq=False)
class Pairs(ABC):
    """A set of pairs with covariates of their users and items; θ is W, γ, β in one vector."""

    user: Floats
    item: Floats

    @abstractmethod
    def spread(self, theta: Floats) -> Floats:
        """η of every pair."""

    @abstractmethod
    def gather(self, rows: Floats) -> Floats:
        """The adjoint of ``spread``: Σ over pairs of a number times the derivative of the pair's η by θ."""

    @abstractmethod
    def matrix(self, rows: Floats) -> Any:
        """Numbers per pair as a users × items matrix, dense or sparse."""

    def squared(self) -> Self:
        """The same pairs with squared covariates, whose ``gather`` gives the diagonal of a Hessian."""
        return replace(self, user=self.user**2, item=self.item**2)


@dataclass(frozen=True, eq=False)
class AllPairs(Pairs):
    """All pairs of some users and items: numbers per pair are users × items matrices."""

    def spread(self, theta: Floats) -> Floats:
        """η of every pair."""
        w, gamma, beta = parts(theta, self.user, self.item)
        return np.asarray(self.user @ w @ self.item.T + gamma[:, None] + beta)

    def gather(self, rows: Floats) -> Floats:
        """The adjoint of ``spread``."""
        w = self.user.T @ rows @ self.item
        return np.concatenate([w.ravel(), rows.sum(axis=1), rows.sum(axis=0)])

    def matrix(self, rows: Floats) -> Floats:
        """As they are."""
        return rows


@dataclass(frozen=True, eq=False)
class SampledPairs(Pairs):
    """Chosen pairs, sorted by user: numbers per pair are vectors."""

    left: Codes
    right: Codes

    @cached_property
    def _starts(self) -> npt.NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(np.bincount(self.left, minlength=len(self.user)))])

    def spread(self, theta: Floats) -> Floats:
        """η of every pair."""
        w, gamma, beta = parts(theta, self.user, self.item)
        eta = gamma[self.left] + beta[self.right]
        add_products(eta, self.user @ w, self.item, self.left, self.right)
        return eta

    def gather(self, rows: Floats) -> Floats:
        """The adjoint of ``spread``."""
        w = self.user.T @ (self.matrix(rows) @ self.item)
        by_user = np.bincount(self.left, weights=rows, minlength=len(self.user))
        by_item = np.bincount(self.right, weights=rows, minlength=len(self.item))
        return np.concatenate([w.ravel(), by_user, by_item])

    def matrix(self, rows: Floats) -> Any:
        """As a sparse matrix."""
        return csr_matrix((rows, self.right, self._starts), shape=(len(self.user), len(self.item)))


def parts(theta: Floats, user: Floats, item: Floats) -> tuple[Floats, Floats, Floats]:
    """W, γ and β."""
    shape = (user.shape[1], item.shape[1])
    w, gamma, beta = np.split(theta, [shape[0] * shape[1], shape[0] * shape[1] + len(user)])
    return w.reshape(shape), gamma, beta


def add_products(eta: Floats, user: Floats, item: Floats, left: Integers, right: Integers) -> None:
    """Add user[left] · item[right] to η, some pairs at a time."""
    for start in range(0, len(eta), CHUNK):
        rows = slice(start, start + CHUNK)
        eta[rows] += np.einsum("nd,nd->n", user[left[rows]], item[right[rows]])


@dataclass(frozen=True)
class Link:
    """How the probability of a pair follows from its η.

    Args:
        lift: −log of the rate at which unseen pairs were drawn.
        share: of the whole log that the seen pairs are.
    """

    lift: float = 0.0
    share: float = 1.0

    def logit(self, eta: Floats) -> Floats:
        """z, the logit of being among the pairs of the fit as a seen one."""
        if self.share >= 1.0:
            return np.asarray(eta + self.lift)
        rest = np.logaddexp(0.0, eta + np.log1p(-self.share))
        return np.asarray(eta + (self.lift + np.log(self.share)) - rest)

    def slope(self, eta: Floats) -> Floats:
        """dz/dη."""
        if self.share >= 1.0:
            return np.asarray(1.0)
        return np.asarray(expit(-eta - np.log1p(-self.share)))

    def start(self, seen: float) -> float:
        """η of pairs of which the part ``seen`` is there: their share of the fit's pairs, at most that of the log."""
        odds = np.log(seen / (1.0 - seen)) - self.lift
        p = min(float(expit(odds)) / self.share, 0.9)
        return float(np.log(p / (1.0 - p))) if self.share < 1.0 else float(odds)


def minimise(
    pairs: Pairs,
    label: Floats,
    weight: Floats,
    penalty: Floats,
    start: Floats,
    active: Bools,
    link: Link,
    goal: float = 1e-8,
) -> Floats:
    """θ of the least loss; only ``active`` entries move, until no slope exceeds the goal."""
    theta, eta = start.copy(), pairs.spread(start)
    goal = max(goal, 1e-14 * float(np.sum(weight * np.ones_like(label))))
    loss = _loss(link.logit(eta), label, weight, penalty, theta)
    for _ in range(STEPS):
        p, turn = expit(link.logit(eta)), link.slope(eta)
        slope = active * (pairs.gather(weight * (p - label) * turn) + penalty * theta)
        size = float(np.abs(slope).max(initial=0.0))
        if size <= goal:
            return theta
        step = _newton(pairs, weight * p * (1.0 - p) * turn**2, penalty, active, slope, min(0.1, size**0.5))
        along, length, trial = pairs.spread(step), 2.0, np.inf
        if link.share < 1.0:
            length *= min(1.0, REACH / max(float(np.abs(along).max(initial=0.0)), REACH))
        while trial > loss + 1e-12 * abs(loss) and length > 1e-10:
            length /= 2.0
            trial = _loss(link.logit(eta + length * along), label, weight, penalty, theta + length * step)
        theta, eta, loss = theta + length * step, eta + length * along, trial
    if not size <= 100.0 * goal:
        raise InputError(
            f"the logistic propensities did not settle in {STEPS} steps. Penalise more (a smaller c, or free=no).",
            code="not-settled",
        )
    return theta


def log_loss(z: Floats, label: Floats, weight: Floats) -> float:
    """−log likelihood of what is seen, z its logits."""
    return float(np.sum(weight * (np.logaddexp(0.0, z) - label * z)))


def _loss(z: Floats, label: Floats, weight: Floats, penalty: Floats, theta: Floats) -> float:
    return log_loss(z, label, weight) + float(0.5 * np.sum(penalty * theta**2))


def _newton(pairs: Pairs, bend: Floats, penalty: Floats, active: Bools, slope: Floats, tolerance: float) -> Floats:
    """Solve (Hessian + penalty) · step = −slope by conjugate gradients, to a relative residual."""
    close = _preconditioner(pairs, bend, penalty, active)
    step, rest = np.zeros_like(slope), -slope
    direction = scaled = close(rest)
    now = float(rest @ scaled)
    least = now * tolerance**2
    for _ in range(1000):
        curved = active * (pairs.gather(bend * pairs.spread(direction)) + penalty * direction)
        steepness = float(direction @ curved)
        if steepness <= 0.0:
            break
        step += now / steepness * direction
        rest -= now / steepness * curved
        scaled = close(rest)
        before, now = now, float(rest @ scaled)
        if now <= least:
            break
        direction = scaled + now / before * direction
    return step


def _preconditioner(pairs: Pairs, bend: Floats, penalty: Floats, active: Bools) -> Linear:
    """Inverts the Hessian less what couples W and the offsets; of a large W it knows the diagonal only."""
    diagonal = np.where(active, pairs.squared().gather(bend) + penalty, 1.0)
    entries = pairs.user.shape[1] * pairs.item.shape[1]
    if entries > LARGEST or len(pairs.item) * pairs.item.shape[1] ** 2 > ROOM:
        return lambda rest: rest / diagonal
    moving = np.flatnonzero(active[:entries])
    hessian = _hessian(pairs.matrix(bend), pairs.user, pairs.item)[np.ix_(moving, moving)]
    try:
        factor = cho_factor(hessian + np.diag(penalty[moving]))
    except LinAlgError:  # covariates that say the same twice, hardly penalised
        return lambda rest: rest / diagonal

    def solve(rest: Floats) -> Floats:
        out = rest / diagonal
        out[moving] = cho_solve(factor, rest[moving])
        return out

    return solve


def _hessian(matrix: Any, user: Floats, item: Floats) -> Floats:
    """Σ_ui m_ui (x_u ⊗ x_i)(x_u ⊗ x_i)ᵀ = Σ_u x_u x_uᵀ ⊗ Σ_i m_ui x_i x_iᵀ, some users at a time."""
    p, q = user.shape[1], item.shape[1]
    of_item = np.einsum("ia,ib->iab", item, item).reshape(len(item), -1)
    total = np.zeros((p * p, q * q))
    for start in range(0, len(user), BLOCK):
        rows = slice(start, start + BLOCK)
        of_user = np.einsum("ua,ub->uab", user[rows], user[rows]).reshape(-1, p * p)
        total += of_user.T @ (matrix[rows] @ of_item)
    return total.reshape(p, p, q, q).transpose(0, 2, 1, 3).reshape(p * q, p * q)
