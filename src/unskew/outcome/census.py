"""The census model (MATHS §15): how relevant a pair is, from how its user and item did in training.

    q_ui = σ(η_ui),  η = θᵀx        fitted to the held-out rows by logistic regression with a ridge

The features x come from training rows alone (``census_features.py``), so that held-out outcomes enter through the six
numbers θ only: the model is fitted to all held-out rows, and its error is told by scores instead of folds,

    θ̂ − θ ≈ H⁻¹ Σ_u s_u        s_u = Σ over the user's rows of (y − q) x,   H = Σ q(1 − q) x xᵀ + ridge

The ridge counts in units of standardised features (not for the intercept) and keeps θ finite where outcomes could be
separated. Other estimators may use it like any outcome model; they cross-fit it over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from unskew.core.bounds import DIM_OR_NONE, POSITIVE, STRENGTH
from unskew.core.errors import InputError
from unskew.core.parts import option
from unskew.kernels.arrays import Floats
from unskew.kernels.census import LIMIT
from unskew.log import Ids, Log
from unskew.log.ids import Codes
from unskew.outcome.affinity import affinity
from unskew.outcome.base import PairPredictor, Rows
from unskew.outcome.census_features import CHUNK, NAMES, WIDTH, PairFeatures, features_of
from unskew.outcome.factored import refuse_graded
from unskew.outcome.fitted import Fitted, State
from unskew.propensity.base import FitInputs

NEWTON = 100


@dataclass(frozen=True, eq=False)
class CensusFit(State):
    """What was found; the features have one row more than training has users and items, for those it does not know.

    Args:
        theta: the coefficients.
        hessian: H, ridge included.
        scores: s_u, by the users of the log that the model was fitted to.
    """

    features: PairFeatures
    theta: Floats
    hessian: Floats
    scores: Floats

    @property
    def coefficients(self) -> dict[str, float]:
        """By the name of the feature."""
        return dict(zip(NAMES, self.theta.tolist(), strict=True))


@dataclass(frozen=True)
class Census(Fitted[CensusFit]):
    """Logistic regression on what training says of users, items and their affinity.

    Args:
        rank: of the affinity; 0 leaves it out.
        ridge: on the coefficients of standardised features.
        shrink: how many rows of the average each user and item is given.
    """

    rank: int = option(10, DIM_OR_NONE, "factors of exposure affinity; 0: none")
    ridge: float = option(1.0, STRENGTH, "on coefficients", changed=True)
    shrink: float = option(10.0, POSITIVE, "how many pairs of the mean every user and item is given", changed=True)
    found: CensusFit | None = field(default=None, compare=False, repr=False)

    name = "census"

    def learn(self, log: Log, rows: Rows, inputs: FitInputs) -> Self:
        """Newton's method on the held-out rows."""
        refuse_graded(log, rows, self.name)
        source, train = log.account.source, inputs.train
        if train is None:
            raise InputError(
                f"{source}: 'census' describes pairs by what training rows say of their user and item, and there is no "
                "training log.\nGive one with train=… (.fit(log, inputs=FitInputs(train=…))).",
                code="no-training-log",
            )
        counted = rows.y[rows.times > 0.0]
        if not 0.0 < counted.mean() < 1.0:
            what = "relevant" if counted.any() else "irrelevant"
            raise InputError(
                f"{source}: all rows that 'census' is fitted to are {what}, so that nothing tells relevant pairs from "
                "others.\nGive all seen pairs, zeros included, or another threshold.",
                code="all-alike",
            )
        raw = features_of(train, self.shrink, affinity(train, self.rank))
        user, item = log.users.into(train.users)[log.user], log.items.into(train.items)[log.item]
        features = raw.standardised(user, item)
        theta, hessian = _newton(features, user, item, rows, self.ridge)
        scores = _scores(features, user, item, rows, theta, log)
        return self.remember(
            found=CensusFit(
                train.users,
                train.items,
                np.diff(train.indptr) > 0,
                np.bincount(train.item, minlength=len(train.items)) > 0,
                features,
                theta,
                hessian,
                scores,
            )
        )

    def bind(self, users: Ids, items: Ids) -> PairPredictor:
        """σ(η) of pairs."""
        found = self.state
        features = self.features(users, items)

        def ask(user: Codes, item: Codes) -> Floats:
            q = np.empty(len(user))
            for low in range(0, len(user), CHUNK):
                part = slice(low, low + CHUNK)
                q[part] = expit(features.of(user[part], item[part]) @ found.theta)
            return q

        return ask

    def features(self, users: Ids, items: Ids) -> PairFeatures:
        """The standardised features of these users and items."""
        found = self.state
        return found.features.chosen(users.into(found.users), items.into(found.items))


def expit(eta: Floats) -> Floats:
    """σ(η)."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(eta, -LIMIT, LIMIT))))


def _newton(features: PairFeatures, user: Codes, item: Codes, rows: Rows, ridge: float) -> tuple[Floats, Floats]:
    """θ and H: Newton steps, halved while the penalised likelihood falls."""
    penalty = ridge * np.append(0.0, np.ones(WIDTH - 1))
    weight = rows.times * rows.inverse
    mean = float(weight @ rows.y / weight.sum())
    theta = np.append(np.log(mean / (1.0 - mean)), np.zeros(WIDTH - 1))

    def look(theta: Floats) -> tuple[float, Floats, Floats]:
        loss, slope, curve = 0.5 * float(penalty @ theta**2), -penalty * theta, np.diag(penalty)
        for low in range(0, len(user), CHUNK):
            part = slice(low, low + CHUNK)
            x, y, w = features.of(user[part], item[part]), rows.y[part], weight[part]
            eta = np.clip(x @ theta, -LIMIT, LIMIT)
            q = 1.0 / (1.0 + np.exp(-eta))
            loss += float(w @ (np.logaddexp(0.0, eta) - y * eta))
            slope = slope + (w * (y - q)) @ x
            curve = curve + (x * (w * q * (1.0 - q))[:, None]).T @ x
        return loss, slope, curve

    loss, slope, curve = look(theta)
    for _ in range(NEWTON):
        step = np.linalg.solve(curve, slope)
        tried = look(theta + step)
        while tried[0] > loss + 1e-12 * abs(loss) and np.abs(step).max() > 1e-12:
            step = step / 2.0
            tried = look(theta + step)
        theta = theta + step
        loss, slope, curve = tried
        if np.abs(step).max() < 1e-10:
            break
    return theta, curve


def _scores(features: PairFeatures, user: Codes, item: Codes, rows: Rows, theta: Floats, log: Log) -> Floats:
    """s_u of every user of the log."""
    out = np.zeros((len(log.users), WIDTH))
    weight = rows.times * rows.inverse
    for low in range(0, len(log), CHUNK):
        part = slice(low, low + CHUNK)
        x = features.of(user[part], item[part])
        rest = weight[part] * (rows.y[part] - expit(x @ theta))
        for c in range(WIDTH):
            out[:, c] += np.bincount(log.user[part], rest * x[:, c], len(log.users))
    return out
