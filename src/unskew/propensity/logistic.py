"""Logistic propensities (schnabel16 §5.1): how likely a pair is to be in the training log.

    P_ui = σ(wᵀ x_ui + β_i + γ_u)

    features=plain      x_ui = (x_u, x_i)
    features=outer      x_ui = (x_u, x_i, x_u ⊗ x_i): all products of a user's and an item's covariate too
    offsets             γ_u (user), β_i (item), both or none

Fitted to all pairs of the population and the catalogue, seen or not, by maximum likelihood with the penalty ‖w‖²/(2c)
(and the same on offsets that are not free); the intercept is never penalised. Every covariate is first moved to [0, 1],
so that its unit does not matter. c is chosen by the likelihood of held-out pairs (``tuning.py``) unless it is given: a
constant that suits one log can double an estimate on another.

A training log that is a random part of a whole log, with the share t, holds a pair with probability t·σ(η), and that is
what is fitted: P over the share is then at most 1. Without a share t = 1, and free offsets match the sums:
Σ_i P_ui = rows of the user, Σ_u P_ui = rows of the item. In large worlds the unseen pairs are a sample, at rate f, and
logit P = logit P̃ + log f.

Absolute where the log holds all seen pairs (conversions, ratings). In an implicit log to be there is to be seen *and*
liked: relative, and right only as far as liking does not depend on the covariates.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.optimize import brentq
from scipy.special import expit

from unskew.core.bounds import SEED, Number
from unskew.core.errors import InputError
from unskew.core.notice import Notice
from unskew.core.parts import Words, option
from unskew.core.spec import show
from unskew.log import Features, Feedback, Ids, Log
from unskew.log.expected import a_log
from unskew.propensity.base import NO_INPUTS, FitInputs, Floats, Level, Propensity, Scored
from unskew.propensity.crossfit import unseen_pairs
from unskew.propensity.tuning import GRID, choose
from unskew.propensity.two_way import (
    CHUNK,
    NEGATIVES,
    AllPairs,
    Link,
    Pairs,
    SampledPairs,
    add_products,
    log_loss,
    minimise,
    parts,
)

FEATURES = ("outer", "plain", "none")
OFFSETS = ("none", "user", "item", "user+item")
EXACT = 5_000_000  # pairs up to which all are used by default
LARGEST = 200_000_000  # pairs up to which all may be asked for
AUTO = 10  # unseen pairs per seen pair beyond
TINY = 1e-9  # penalty of free parameters: they stay finite and match their sums to about 1e-8
FEW, MANY = 5, 0.25  # rows of a user, and the share of users with fewer, that make free offsets doubtful
EXACTLY, ROUGH = 1e-8, 1e-3  # slopes of the loss where a fit stops, and where one does that only serves a choice
LEAST = -30.0  # logit of the smallest propensity, 1e-13
STRENGTH = Number(above=0.0, high=1e12, words=("auto",), why="Beyond that there is no penalty to speak of.")
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Logistic(Propensity):
    """Logistic regression on covariates, with offsets for users and items.

    Args:
        c: inverse strength of the penalty, smaller is smoother; ``auto`` takes the one under which held-out pairs are
            likeliest.
        free: ``yes`` leaves offsets unpenalised, ``no`` penalises them like everything else.
        negatives: unseen pairs per seen pair, or ``all``; ``auto`` takes all in worlds of up to 5 million pairs.
    """

    features: str = option("outer", Words(FEATURES), "how covariates enter")
    offsets: str = option("none", Words(OFFSETS), "of users, of items")
    c: float | str = option("auto", STRENGTH, "inverse strength of the penalty")
    free: str = option("yes", Words(("yes", "no")), "leave offsets unpenalised")
    negatives: int | str = option("auto", NEGATIVES, "unseen pairs per seen pair", changed=True)
    seed: int = option(0, SEED, "which unseen pairs are drawn", changed=True)
    state: _State | None = field(default=None, compare=False, repr=False)

    name = "logistic"
    learnt = "state"
    estimated = True
    models_presence = True
    assumption = "whether a pair was seen depends on the covariates and offsets of the model alone"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features == "none" and self.offsets == "none":
            raise InputError(
                "'logistic': without features and offsets every pair has the same propensity. Give features=outer or "
                "plain, or offsets=user+item; if even exposure is meant, say uniform.",
                code="conflicting-arguments",
            )

    @property
    def level(self) -> Level:
        """Absolute once fitted to a log of all seen pairs; relative for implicit logs, and before the fit."""
        return Level.ABSOLUTE if self.state is not None and self.state.absolute else Level.RELATIVE

    def fit(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """Maximise the likelihood of which pairs are in the training log; a user of weight 2 counts like two."""
        task = self._task(log, inputs, weights)
        chosen = self._chosen(task, log) if self._tunes else None
        c = chosen or (1.0 if isinstance(self.c, str) else self.c)  # auto without a choice: nothing is penalised
        theta = self._minimum(task, task.weight, c)
        return self.remember(state=replace(self._state(theta, task, log, c), c=chosen))

    def tuned(self, log: Log, *, inputs: FitInputs = NO_INPUTS, weights: Floats | None = None) -> Self:
        """The same with c as it was, or would be, chosen."""
        if not self._tunes:
            return self
        if self.state is not None and self.state.c is not None:
            return replace(self, c=self.state.c, state=None)
        return replace(self, c=self._chosen(self._task(log, inputs, weights), log), state=None)

    @property
    def _tunes(self) -> bool:
        """Whether c is to be chosen: asked for, and there is something that it penalises."""
        return self.c == "auto" and (self.features != "none" or self.free == "no")

    def _chosen(self, task: _Task, train: Log) -> float:
        """The c under which held-out pairs are likeliest; each fit starts from the one before."""
        latest: dict[int, Floats] = {}

        def loss(c: float, fold: int, held: npt.NDArray[np.bool_]) -> float:
            theta = self._minimum(task, task.weight * ~held, c, latest.get(fold), ROUGH)
            latest[fold] = theta
            return log_loss(task.link.logit(task.pairs.spread(theta)), task.label, task.weight * held)

        return choose(train.users, train.items, task.pairs, loss)

    def _task(self, train: Log, inputs: FitInputs, weights: Floats | None) -> _Task:
        often = np.ones(len(a_log(train).users)) if weights is None else weights
        if not (often[train.user] > 0.0).any():
            raise InputError(
                f"{train.account.source}: logistic propensities need training rows, and there are none.",
                code="empty-log",
            )
        user, item = self._covariates(inputs)
        sides = (_Side.of(train.users, user, "user"), _Side.of(train.items, item, "item"))
        pairs, label, weight, lift = self._pairs(train, sides, often)
        return _Task(pairs, label, weight, Link(lift, 1.0 if train.share is None else train.share), sides, often)

    def _covariates(self, inputs: FitInputs) -> tuple[Features | None, Features | None]:
        if self.features == "none":
            return None, None
        both = inputs.user_features is not None and inputs.item_features is not None
        if self.features == "outer" and not both:
            raise InputError(
                "logistic(features=outer) multiplies covariates of users and of items: give user_features=… and "
                "item_features=…. With one of them use features=plain, without any features=none and offsets.",
                code="missing-argument",
            )
        if inputs.user_features is None and inputs.item_features is None:
            raise InputError(
                "logistic(features=plain) needs covariates: give user_features=… or item_features=…, or use "
                "features=none with offsets.",
                code="missing-argument",
            )
        if self.features == "plain" and self.free == "yes":
            for what, given in (("user", inputs.user_features), ("item", inputs.item_features)):
                if given is not None and what in self.offsets:
                    raise InputError(
                        f"'{self}': an offset of its own for every {what}, without a penalty, takes in whatever "
                        f"covariates of {what}s could say, so that they would be ignored. Use free=no, which shares it "
                        "out by the penalty; or features=outer, which keeps products with covariates of the other "
                        f"side; or leave --{what}-features out.",
                        code="conflicting-arguments",
                    )
        return inputs.user_features, inputs.item_features

    def _pairs(self, train: Log, sides: tuple[_Side, _Side], often: Floats) -> tuple[Pairs, Floats, Floats, float]:
        """The pairs of the fit, whether each was seen, their weights, and −log of the rate of unseen pairs."""
        user, item = (side.matrix for side in sides)
        every = len(user) * len(item)
        if self.negatives == "all" or (self.negatives == "auto" and every <= EXACT):
            if every > LARGEST:
                raise InputError(
                    f"logistic(negatives=all) would hold all {every:,} pairs in memory. Use negatives=10.",
                    code="not-enough-memory",
                )
            label = np.zeros((len(user), len(item)))
            label[train.user, train.item] = 1.0
            return AllPairs(user, item), label, often[:, None], 0.0
        count = len(train)
        most = self.negatives * count if isinstance(self.negatives, int) else min(AUTO * count, max(EXACT, count))
        unseen = unseen_pairs(train, most, self.seed)
        left = np.concatenate([train.user, unseen.pairs.user])
        right = np.concatenate([train.item, unseen.pairs.item])
        order = np.argsort(left, kind="stable")
        label = np.repeat([1.0, 0.0], [count, len(unseen.pairs)])[order]
        lift = -float(np.log(unseen.rate)) if len(unseen.pairs) else 0.0
        return SampledPairs(user, item, left[order], right[order]), label, often[left[order]], lift

    def _minimum(
        self, task: _Task, weight: Floats, c: float, start: Floats | None = None, goal: float = EXACTLY
    ) -> Floats:
        """θ = (W, γ, β); what the options leave out stays 0."""
        user, item = (side.matrix for side in task.sides)
        often, label = task.often, task.label
        free, by_user, by_item = self.free == "yes", "user" in self.offsets, "item" in self.offsets
        w = np.full((user.shape[1], item.shape[1]), self.features == "outer")
        w[:, 0] = not (free and by_user)  # free offsets hold the main effects,
        w[0, :] = not (free and by_item)
        w[0, 0] = not (free and (by_user or by_item))  # and the intercept
        has = [by_user & (often > 0.0), np.full(len(item), by_item)]
        loose = TINY if free else 1.0 / c
        penalty = np.full(w.shape, 1.0 / c)
        penalty[0, 0] = TINY
        seen = np.sum(weight * label)
        rate = np.clip(seen / np.sum(weight * np.ones_like(label)), 1e-6, 1.0 - 1e-6)
        if start is None:
            start = np.zeros(w.size + len(user) + len(item))
            start[0] = task.link.start(float(rate))
        return minimise(
            task.pairs,
            label,
            weight,
            np.concatenate([penalty.ravel(), loose * often, np.full(len(item), loose)]),
            start,
            np.concatenate([w.ravel(), *has]),
            task.link,
            goal,
        )

    def _state(self, theta: Floats, task: _Task, train: Log, c: float) -> _State:
        """Offsets of users and items that training never showed are set to those of an average one seen once."""
        (user, item), often, share = task.sides, task.often, task.link.share
        w, gamma, beta = (part.copy() for part in parts(theta, user.matrix, item.matrix))
        rows = often[train.user]
        active = np.bincount(train.user, weights=rows, minlength=len(gamma)) > 0.0
        shown = np.bincount(train.item, weights=rows, minlength=len(beta)) > 0.0
        left, right = _among(np.flatnonzero(active), np.flatnonzero(shown), self.seed)
        fixed = np.einsum("nd,nd->n", user.matrix[left] @ w, item.matrix[right])
        held = None if self.free == "yes" else c
        rare_user = rare_item = 0.0
        if "user" in self.offsets:
            rare_user = _rare(fixed + beta[right], None, len(beta), held, share)
        if "item" in self.offsets:
            rare_item = _rare(fixed + gamma[left], often[left], float(often.sum()), held, share)
        gamma[~active if held is None else often == 0.0] = rare_user
        if held is None:
            beta[~shown] = rare_item
        absolute = train.feedback is not Feedback.IMPLICIT
        idle = float(np.average(np.diff(train.indptr) < FEW, weights=often))
        return _State(user, item, w, gamma, beta, rare_user, rare_item, shown, absolute, share, idle)

    def doubts(self, log: Log) -> list[str]:
        """Covariates that say nothing, and offsets that rest on a few rows each."""
        if self.state is None:
            return []
        found: list[str] = []
        if self.state.c == GRID[0]:
            found.append(
                Notice(
                    f"logistic: held-out pairs ask for the strongest penalty that was tried (c = "
                    f"{show(self.state.c)}): what it penalises says next to nothing of what was seen.",
                    code="strongest-penalty",
                )
            )
        if self.free == "yes" and "user" in self.offsets and self.state.idle > MANY:
            found.append(
                Notice(
                    f"logistic: {100.0 * self.state.idle:.0f} % of users have fewer than {FEW} training rows, and "
                    "their free offsets follow chance: ips and other estimates that need a level can be far off. Use "
                    "'logistic_mf(dim=0)', whose offsets differ only as far as users do.",
                    code="idle-offsets",
                )
            )
        return found

    @property
    def knows_users(self) -> bool:
        """Offsets of users are their own; covariates are shared."""
        return "user" in self.offsets

    def of(self, log: Log) -> Scored:
        """P of every row, for the asked pairs only."""
        if self.state is None:
            raise InputError(
                "logistic propensities are fitted on a training log: give train=…, or call .fit(train, inputs=…).",
                code="no-training-log",
            )
        return self.state.of(log, "item" in self.offsets)

    def shown(self) -> dict[str, Any]:
        """c as it was chosen; what offsets may do only where there are any."""
        told = super().shown() | ({} if self.state is None or self.state.c is None else {"c": self.state.c})
        return told if self.offsets != "none" else {name: told[name] for name in told if name != "free"}


class _Task(NamedTuple):
    """What is fitted: pairs, whether each was seen, what it weighs, the link, covariates, and how often users count."""

    pairs: Pairs
    label: Floats
    weight: Floats
    link: Link
    sides: tuple[_Side, _Side]
    often: Floats


class _Side(NamedTuple):
    """Users or items with their covariates, moved to [0, 1] behind a leading 1."""

    ids: Ids
    features: Features | None
    what: str
    low: Floats
    span: Floats
    matrix: Floats

    @classmethod
    def of(cls, ids: Ids, features: Features | None, what: str) -> _Side:
        raw = np.empty((len(ids), 0)) if features is None else features.of(ids, what)
        low, span = raw.min(axis=0, initial=np.inf), np.ptp(raw, axis=0) if len(raw) else np.ones(raw.shape[1])
        span = np.where(span > 0.0, span, 1.0)
        return cls(ids, features, what, low, span, _design(raw, low, span))

    def covariates(self, ids: Ids) -> Floats:
        """Those of other ids, on the same scale."""
        raw = np.empty((len(ids), 0)) if self.features is None else self.features.of(ids, self.what)
        return _design(raw, self.low, self.span)


def _design(raw: Floats, low: Floats, span: Floats) -> Floats:
    return np.column_stack([np.ones(len(raw)), (raw - low) / span])


@dataclass(frozen=True, eq=False)
class _State:
    """What was learnt: W, offsets, those of users and items that training never showed, and c if it was chosen."""

    user: _Side
    item: _Side
    w: Floats
    gamma: Floats
    beta: Floats
    rare_user: float
    rare_item: float
    shown: npt.NDArray[np.bool_]
    absolute: bool
    share: float
    idle: float
    c: float | None = None

    def of(self, log: Log, by_item: bool) -> Scored:
        users, left = _present(log.users, log.user)
        items, right = _present(log.items, log.item)
        mixed, things = self.user.covariates(users) @ self.w, self.item.covariates(items)
        who, what = users.into(self.user.ids), items.into(self.item.ids)
        gamma = np.where(who >= 0, self.gamma[who], self.rare_user)
        beta = np.where(what >= 0, self.beta[what], self.rare_item)
        eta = gamma[left] + beta[right]
        add_products(eta, mixed, things, left, right)
        guessed = (what < 0) | ~self.shown[what] if by_item else np.zeros(len(what), dtype=np.bool_)
        return Scored(self.share * expit(np.maximum(eta, LEAST)), floored=int(np.count_nonzero(guessed[right])))


def _present(ids: Ids, codes: npt.NDArray[np.int32]) -> tuple[Ids, Codes]:
    """The ids that occur, so that covariates are asked of no others, and the place of each row's."""
    there, place = np.unique(codes, return_inverse=True)
    return Ids(ids.values.gather(pl.Series(there, dtype=pl.UInt32))), place


def _among(left: Codes, right: Codes, seed: int) -> tuple[Codes, Codes]:
    """All pairs of these users and items, or CHUNK random ones where there are more."""
    if len(left) * len(right) <= CHUNK:
        return np.repeat(left, len(right)), np.tile(right, len(left))
    rng = np.random.default_rng(seed)
    return rng.choice(left, CHUNK), rng.choice(right, CHUNK)


def _rare(eta: Floats, weight: Floats | None, others: float, c: float | None, share: float) -> float:
    """The offset of an average user (item) that training never showed.

    Free, it is the one with which an interaction is expected once among all others; penalised, that of one without any.
    """
    link = Link(share=share)
    target, penalty = (min(1.0, share * others / 2.0), 0.0) if c is None else (0.0, 1.0 / c)

    def excess(offset: float) -> float:
        expected = expit(link.logit(eta + offset)) * (1.0 if c is None else link.slope(eta + offset))
        return float(others * np.average(expected, weights=weight) + penalty * offset - target)

    bound = float(np.abs(eta).max()) + 60.0
    return float(brentq(excess, -bound, bound if c is None else 0.0))
