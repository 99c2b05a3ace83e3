"""Propensity-scored matrix factorisation of ratings, MF-IPS (schnabel16 §4.2); without propensities, MF-naive.

    y ≈ v_u·w_i + a_u + b_i + c

People rate what they like, so a plain factorisation learns from a biased sample and predicts too high. Weighing each
rating by 1/P makes the training error an unbiased estimate of the error on all pairs. What is minimised stands in
``problem.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from unskew.core.bounds import DIM_OR_NONE, NOT_NEGATIVE, ROUNDS, SEED, STRENGTH, THREADS, check, shown
from unskew.core.errors import InputError
from unskew.core.memory import require
from unskew.core.notice import Notice
from unskew.core.parts import Made, Words, option, options_of
from unskew.core.spec import Spec
from unskew.core.text import plain
from unskew.kernels import pairs
from unskew.log import Ids
from unskew.log.expected import a_log, coded_pairs, some_ids
from unskew.log.ids import Codes
from unskew.log.log import Floats, Log
from unskew.models import files
from unskew.models.base import CELLS, Model
from unskew.models.by_factors import ByFactors, Scored
from unskew.models.mf import als, lbfgs, sgd
from unskew.models.mf.problem import Loss, MFParameters, Offsets, Problem
from unskew.models.mf.search import (
    DIMS,
    FOLD_TOLERANCE,
    OFFSETS,
    PENALTIES,
    Advance,
    Grid,
    Search,
    cross_validate,
    ratings_of,
)
from unskew.models.mf.solving import Effort, Progress
from unskew.models.mf.start import svd_start
from unskew.models.mf.weights import PropensityLike, Weighted, weigh
from unskew.propensity import Propensity
from unskew.propensity.base import IdColumn

Solver = Literal["als", "lbfgs", "sgd"]

SOLVERS = {"als": (als.als, als.ROUNDS), "lbfgs": (lbfgs.lbfgs, lbfgs.ROUNDS), "sgd": (sgd.sgd, sgd.ROUNDS)}
ANYWAY = 100  # factors that may be more than a small log can have


@dataclass(frozen=True)
class Training:
    """What became of the training log.

    Args:
        ratings: rows that were fitted.
        weights, dropped, floored, capped, share: where propensities came from, and so on, as in ``Weighted``.
        largest: the share of the largest weight in all of them.
        effective: how many equally weighted ratings are as good as these, (Σ1/P)² / Σ1/P².
        users, items: how many have a rating; the others have no factors and no offset.
        converged: whether the objective had settled by then.
        low, high: the range of the ratings.
    """

    ratings: int
    weights: str
    dropped: int
    floored: int
    capped: int
    share: float | None
    largest: float
    effective: float
    users: int
    items: int
    rounds: int
    converged: bool
    objective: float
    low: float
    high: float


class Predicted(NamedTuple):
    """Predictions for the rows of a log, and how many rows have a user or an item that training did not rate."""

    rows: Floats
    unknown_users: int
    unknown_items: int


def _weights(given: Any) -> Any:
    """A propensity or its string, kept as it is: it is made when the model is fitted."""
    if isinstance(given, Propensity | str):
        return given
    if isinstance(given, Spec):
        return str(given)
    raise InputError(
        f"'mf': propensity must be a propensity or its canonical string, not {shown(given)}.",
        code="wrong-type",
        option="propensity",
    )


PENALTY = replace(STRENGTH, above=-inf, low=0.0)


@dataclass(eq=False, repr=False)
class MF(ByFactors, Model):
    """Factors and offsets of users and items, fitted to ratings that are weighted by 1/P.

    Args:
        penalty: λ, scaled so that the same value suits logs of any size.
        loss: ``squared`` or ``absolute``; judge by RMSE with the one, by MAE with the other.
        propensity: the log's own column ("known"), any other propensity or its canonical string; ``None`` weighs all
            ratings alike. One that is not fitted yet is fitted on the training log.
        solver: ``als``, fast and exact; ``sgd``, cheap epochs that end near the minimum; or ``lbfgs``, the paper's.
        rounds: sweeps (``als``: 100), epochs (``sgd``: 100) or iterations (``lbfgs``: 2000) at most.
        threads: by default one per core; the numbers do not depend on it.

    A user or an item without training ratings has neither factors nor an offset: its predictions are what the other
    side's offset and the global term say.
    """

    dim: int = option(20, DIM_OR_NONE, "factors; 0 leaves the offsets")
    penalty: float = option(1.0, PENALTY, "λ")
    offsets: Offsets = option("penalised", Words(get_args(Offsets)), "like factors, or free")
    loss: Loss = option("squared", Words(get_args(Loss)), "of a rating")
    propensity: Propensity | str | None = option(None, Made(_weights, "a propensity"), "by which ratings are weighted")
    solver: Solver = option("als", Words(tuple(SOLVERS)), "how it is fitted")
    rounds: int | None = option(None, ROUNDS, "at most so many")
    tolerance: float = option(1e-5, NOT_NEGATIVE, "stop when a round changes the objective by less than this share")
    seed: int = option(0, SEED, "of the start, and of the order of ratings")
    threads: int | None = None
    users_: Ids = field(init=False)
    factors_: MFParameters = field(init=False)
    user_seen_: npt.NDArray[np.bool_] = field(init=False)  # whether there was a rating
    item_seen_: npt.NDArray[np.bool_] = field(init=False)
    training_: Training = field(init=False)
    history_: list[float] = field(init=False)
    search_: Search | None = field(init=False, default=None)

    name = "mf"
    learns_values = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check(self, self.name, threads=THREADS)

    def fit(
        self,
        log: Log,
        *,
        propensity: PropensityLike = None,
        share: float | None = None,
        progress: Progress | None = None,
        start: MF | None = None,
    ) -> Self:
        """Fit to the ratings of a log.

        Args:
            log: ratings; its vocabularies say how many users and items there are.
            propensity: in place of the model's own; also an array, one number for each row of the log.
            share: this log is a random part of a whole to which propensities refer. A split in memory knows it, a file
                does not: without it they are taken as the file's own, and 1/P is too small by that factor.
            progress: called with the number of the round and the objective after it.
            start: a fitted model to begin with, by any solver, of as many factors; users and items that it does not
                know begin at 0.
        """
        self.__post_init__()
        if start is not None and not isinstance(start, MF):
            raise InputError(f"'mf': a start is a fitted MF, not {shown(start)}.", code="wrong-type", option="start")
        if start is not None and start._factors.user.shape[1] != self.dim + 1:
            raise InputError(
                f"'mf': a start must have dim={self.dim} like the model, not {start.dim}.",
                code="conflicting-arguments",
                option="dim",
            )
        self.search_ = None
        weighted = weigh(log, self.propensity if propensity is None else propensity, share)
        return self._fit(weighted, progress, start)

    @classmethod
    def search(
        cls,
        log: Log,
        propensity: PropensityLike = None,
        *,
        penalties: Sequence[float] = PENALTIES,
        dims: Sequence[int] = DIMS,
        offsets: Sequence[Offsets] = OFFSETS,
        loss: Loss = "squared",
        share: float | None = None,
        folds: int = 4,
        seed: int = 0,
        rounds: int | None = None,
        tolerance: float = FOLD_TOLERANCE,
        threads: int | None = None,
        progress: Advance | None = None,
    ) -> Self:
        """Choose λ, d and the treatment of offsets by cross-validation, then fit to all ratings.

        Args:
            log, propensity, share: as in ``fit``.
            seed: another seed, other folds.
            tolerance: of the fits that are scored, coarser than that of the last one.
            progress: called with the number of tasks done and of all tasks.
        """
        grid = Grid(penalties, dims, offsets)
        for penalty, dim, treatment in product(penalties, dims, offsets):
            cls(dim, penalty, treatment, loss, None, "als", rounds, tolerance, seed, threads)
        weighted = weigh(log, propensity, share)
        effort = Effort(rounds or als.ROUNDS, tolerance, threads=threads)
        found = cross_validate(weighted, grid, loss, folds, seed, effort, progress)
        told = propensity if isinstance(propensity, str | Propensity) else None
        model = cls(**found.best, loss=loss, propensity=told, rounds=rounds, seed=seed, threads=threads)
        model.search_ = found
        for caution in found.cautions:
            warnings.warn(caution.saying(f"MF.search: {caution}"), stacklevel=2)
        return model._fit(weighted, None)

    def _fit(self, weighted: Weighted, progress: Progress | None, start: MF | None = None) -> Self:
        log, weight = weighted.log, weighted.weight
        self._check_dim(len(log.users), len(log.items))
        ratings = ratings_of(log, weight)
        solve, rounds = SOLVERS[self.solver]
        effort = Effort(self.rounds or rounds, self.tolerance, progress, self.threads, self.seed)
        problem = Problem(ratings, self.dim, self.penalty, self.loss, self.offsets)
        if start is None:
            begin = svd_start(ratings, self.dim, self.seed, self.threads)
        else:
            begin = MFParameters(start._rows(log.users), start._columns(log.items), start.factors_.level)
        solved = solve(problem, begin, effort)
        self.users_, self.items_ = log.users, log.items
        self.factors_, self.history_ = solved.factors, solved.history
        self.user_seen_, self.item_seen_ = (np.diff(s.indptr) > 0 for s in (ratings.by_user, ratings.by_item))
        self.training_ = Training(
            ratings=len(log),
            weights=weighted.source,
            dropped=weighted.dropped,
            floored=weighted.floored,
            capped=weighted.capped,
            share=weighted.share,
            largest=float(weight.max() / weight.sum()),
            effective=float(weight.sum() ** 2 / np.square(weight).sum()),
            users=int(np.count_nonzero(self.user_seen_)),
            items=int(np.count_nonzero(self.item_seen_)),
            rounds=len(solved.history),
            converged=solved.converged,
            objective=solved.history[-1] if solved.history else problem.objective(solved.factors)[0],
            low=float(ratings.by_user.value.min()),
            high=float(ratings.by_user.value.max()),
        )
        if not solved.converged:
            text = f"'{self}': its rounds were spent before it converged. Give more rounds."
            warnings.warn(Notice(text, code="not-converged"), stacklevel=3)
        return self

    def predict(self, users: IdColumn, items: IdColumn, *, clip: bool = False) -> Floats:
        """ŷ of the pairs (users[j], items[j]), by their ids; ``clip`` keeps it in the range of the ratings."""
        (people, user), (things, item) = coded_pairs(users, items)
        return self.predict_codes(people.into(self._users)[user], things.into(self.catalogue)[item], clip=clip)

    def predict_codes(self, user: Codes, item: Codes, *, clip: bool = False) -> Floats:
        """The same by code, the place of an id in ``users_`` and ``items_``; −1 is an unknown one."""
        found, out = self._factors, np.empty(len(user))
        for name, codes, rows in (("user", user, found.user), ("item", item, found.item)):
            if len(codes) and not (codes.min() >= -1 and codes.max() < len(rows)):
                raise InputError(f"codes of {name}s must lie between -1 and {len(rows) - 1}.", code="out-of-range")
        pairs.predict(user, item, found.user, found.item, found.level, out)
        return np.clip(out, self.training_.low, self.training_.high) if clip else out

    def of(self, log: Log, *, clip: bool = False) -> Predicted:
        """ŷ of every row of a log, with a count of those that training says nothing of."""
        log = a_log(log)
        user, item = log.users.into(self._users)[log.user], log.items.into(self.catalogue)[log.item]
        known = (np.append(seen, False)[codes] for seen, codes in ((self.user_seen_, user), (self.item_seen_, item)))
        return Predicted(self.predict_codes(user, item, clip=clip), *(int(np.count_nonzero(~k)) for k in known))

    def predict_all(self, users: Ids | None = None, *, clip: bool = False) -> Iterator[tuple[slice, Floats]]:
        """ŷ of all items for blocks of users (those of training by default): the rows of ``users``, and users × items.

        A block holds at most a few million numbers, so that no users × items matrix is ever there.
        """
        rows = self._rows(self._users if users is None else users)
        step = max(1, CELLS // max(1, len(self.catalogue)))
        for start in range(0, len(rows), step):
            block = slice(start, min(start + step, len(rows)))
            scores = self._scores(rows[block])
            yield block, np.clip(scores, self.training_.low, self.training_.high) if clip else scores

    def scored(self, users: Ids) -> Scored:
        """By predictions, less what they have in common for a user."""
        found, rows = self._factors, some_ids(users).into(self._users)
        return Scored(rows, (found.user[:, :-1], found.item[:, :-1]), found.item[:, -1].copy(), self.catalogue)

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file (npz, without pickle); results of a search stay behind."""
        found = self._factors
        options = {entry.name: getattr(self, entry.name) for entry, _ in options_of(self)}
        options["propensity"] = None if self.propensity is None else str(self.propensity)
        header = {"options": options, "training": asdict(self.training_), "level": found.level}
        arrays = {"user": found.user, "item": found.item, "user_seen": self.user_seen_, "item_seen": self.item_seen_}
        arrays["history"] = np.array(self.history_)
        files.write(path, "MF", header, arrays, {"users": self._users, "items": self.catalogue})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote."""
        header, arrays, ids = files.read(path, "MF")
        try:
            model = cls(**header["options"])

            model.users_, model.items_ = ids["users"], ids["items"]
            model.factors_ = MFParameters(arrays["user"], arrays["item"], float(header["level"]))
            model.user_seen_, model.item_seen_ = arrays["user_seen"], arrays["item_seen"]
            model.history_ = arrays["history"].tolist()
            model.training_ = Training(**header["training"])
        except (InputError, KeyError, TypeError, ValueError) as problem:
            raise InputError(f"{path}: the model is damaged ({plain(problem)}).", code="damaged-file") from None
        for name, rows, seen in (
            ("users", arrays["user"], model.user_seen_),
            ("items", arrays["item"], model.item_seen_),
        ):
            fits = rows.shape == (len(ids[name]), model.dim + 1) and seen.shape == (len(rows),)
            if not fits or not np.isfinite(rows).all():
                raise InputError(
                    f"{path}: the model is damaged (its {name} do not fit their factors).", code="damaged-file"
                )
        return model

    @property
    def _factors(self) -> MFParameters:
        self.catalogue  # noqa: B018  an error, unless fitted
        return self.factors_

    @property
    def _users(self) -> Ids:
        self.catalogue  # noqa: B018  an error, unless fitted
        return self.users_

    def _rows(self, users: Ids) -> Floats:
        """Factors and offset of some users; those of an unknown one are 0."""
        codes = some_ids(users).into(self._users)
        return np.where(codes[:, None] >= 0, self._factors.user[codes], 0.0)

    def _columns(self, items: Ids) -> Floats:
        """The same of some items."""
        codes = items.into(self.catalogue)
        return np.where(codes[:, None] >= 0, self._factors.item[codes], 0.0)

    def _scores(self, rows: Floats) -> Floats:
        found = self._factors
        return np.asarray(rows[:, :-1] @ found.item[:, :-1].T + rows[:, -1:] + (found.item[:, -1] + found.level))

    def _check_dim(self, users: int, items: int) -> None:
        """Refuse more factors than a matrix of this size has, or than memory holds."""
        if self.dim > max(min(users, items), ANYWAY):
            raise InputError(
                f"'mf': dim={self.dim:,} is more than {users:,} users and {items:,} items can have: at most "
                f"{min(users, items):,}.",
                code="out-of-range",
                option="dim",
            )
        require(64 * (users + items) * (self.dim + 8), f"'mf' with dim={self.dim:,}", "Take a smaller dim.")
