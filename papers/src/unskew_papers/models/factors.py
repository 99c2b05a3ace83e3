"""Matrix factorisation for ranking: logistic, bpr, warp, warp-kos and squared losses (``kernels/sgd.py``).

    score(u, i) = v_u·w_i + a_u + b_i

Definitions and defaults follow LightFM (Kula 2015) without covariates, whose losses are in wide use while no maintained
wheel of it exists: factors start uniform in ±½/dim, offsets at 0, Adagrad begins at 1, max_sampled = 10, k = 5, n = 10.
Three things are not LightFM's: offsets of users do not move where they cancel (bpr, warp), the penalty reaches all
users and items evenly, and users without a positive have no factors, so that the offsets of items rank for them. No
list of LightFM is reproduced number by number; what both do on the same data: ``docs/models.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from unskew import InputError, models
from unskew.core import Threads, Whole, Words, option, plain, require
from unskew.kernels import mix, pair_uniform
from unskew.log import Feedback, Ids, Log, a_log, coded_pairs, gains, row_gains, some_ids
from unskew.models import ByFactors, Model, Scored, files
from unskew.propensity import IdColumn
from unskew_papers.arrays import Floats
from unskew_papers.kernels import sgd
from unskew_papers.models.options import DIM, NOT_NEGATIVE, POSITIVE, ROUNDS, SEED

LOSSES = {
    "logistic": sgd.LOGISTIC,
    "squared": sgd.SQUARED,
    "bpr": sgd.BPR,
    "warp": sgd.WARP,
    "warp-kos": sgd.WARP_KOS,
}
DRAWS = Whole(1, 10_000, "So many are drawn for every row.")

Progress = Callable[[int, int, float], None]


@models.register
@dataclass(eq=False, repr=False)
class Factors(ByFactors, Model):
    """Factors and offsets of users and items, learnt by stochastic gradient descent.

    Args:
        loss: ``warp``, ``warp-kos``, ``bpr`` (rank positives over the rest), ``logistic`` (positives against the log's
            own zeros) or ``squared`` (values as they are).
        l2: penalty of users and items; LightFM's user_alpha and item_alpha.
        schedule: ``adagrad`` or ``adadelta`` (which ignores ``rate``).

    Where the log has zeros or ratings, warp, warp-kos and bpr learn from its positives only; logistic tells positives
    and zeros apart, and a log of positives only makes it learn how often items occur.
    """

    dim: int = option(30, DIM, "factors")
    loss: str = option("warp", Words(tuple(LOSSES)), "what is learnt")
    rate: float = option(0.05, POSITIVE, "step size at the start")
    l2: float = option(0.0, NOT_NEGATIVE, "penalty of users and items")
    item_l2: float | None = option(None, NOT_NEGATIVE, "that of items, where it differs")
    epochs: int = option(20, ROUNDS, "passes over the rows")
    schedule: str = option("adagrad", Words(("adagrad", "adadelta")), "of step sizes")
    max_sampled: int = option(10, DRAWS, "draws in which warp looks for a violator")
    k: int = option(5, DRAWS, "warp-kos takes the k-th best")
    n: int = option(10, DRAWS, "of n draws")
    seed: int = option(0, SEED, "of the start and all draws")
    users_: Ids = field(init=False)
    user_: Floats = field(init=False)  # factors, offset last
    item_: Floats = field(init=False)
    level_: float = field(init=False)
    losses_: tuple[float, ...] = field(init=False)  # mean loss of every epoch

    name = "factors"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k > self.n:
            raise InputError(
                f"'factors': k must lie between 1 and n={self.n}, not {self.k}.", code="out-of-range", option="k"
            )

    @property
    def learns_values(self) -> bool:
        """``logistic`` learns from zeros too, ``squared`` from values."""
        return self.loss in ("logistic", "squared")

    def fit(self, log: Log, *, progress: Progress | None = None) -> Self:
        """Learn from a log.

        Args:
            progress: called after every epoch with its number, the number of epochs and the mean loss.
        """
        self.__post_init__()
        positives, y = self._rows(a_log(log))
        shape = len(log.users), len(log.items)
        require(48 * sum(shape) * (self.dim + 2), f"'factors' with dim={self.dim:,}", "Take a smaller dim.")
        adadelta = self.schedule == "adadelta"
        users, items = (
            _wide(_start(ids, self.dim, self.seed), side) for side, ids in enumerate((log.users, log.items))
        )
        fresh = 0.0 if adadelta else 1.0
        sums = tuple(_wide(np.full((many, self.dim + 1), fresh), side, np.inf) for side, many in enumerate(shape))
        moves = tuple(np.zeros((many if adadelta else 0, users.shape[1]), dtype=np.float32) for many in shape)
        rows = positives if self.loss in ("bpr", "warp", "warp-kos") else log
        level = float(y.mean()) if self.loss == "squared" and len(y) else 0.0
        counter, order, losses = np.array([mix(np.uint64(self.seed))], dtype=np.uint64), np.arange(len(rows)), []
        data = rows.user, rows.item, y, order, positives.indptr, positives.item
        item_l2 = self.l2 if self.item_l2 is None else self.item_l2
        options = self.dim, level, self.rate, self.l2, item_l2, adadelta, self.max_sampled, self.k, self.n
        for number in range(self.epochs if len(rows) else 0):
            loss, _ = sgd.epoch(LOSSES[self.loss], *data, users, items, *sums, *moves, *options, counter)
            losses.append(float(loss))
            if progress is not None:
                progress(number + 1, self.epochs, losses[-1])
        users[np.diff(rows.indptr) == 0] = 0.0
        if not (np.isfinite(users).all() and np.isfinite(items).all()):
            raise InputError(
                f"'{self}': the factors grew beyond all bounds. Take a smaller rate, or a larger l2.", code="diverged"
            )
        self.users_, self.items_ = log.users, log.items
        factors = range(self.dim)
        self.user_ = users[:, [*factors, self.dim]].astype(np.float64)
        self.item_ = items[:, [*factors, self.dim + 1]].astype(np.float64)
        self.level_, self.losses_ = level, tuple(losses)
        return self

    def _rows(self, log: Log) -> tuple[Log, Floats]:
        """The positives, and y of every row: values for ``squared``, else 1 for positives and 0 for the rest."""
        if self.loss == "squared":
            return log, gains(log, log.feedback or Feedback.RATINGS, None)
        return log.positives(), (row_gains(log) > 0.0).astype(np.float64)

    def scored(self, users: Ids) -> Scored:
        """By v·w + b; unknown users are ranked for by the offsets of items."""
        items, rows = self.catalogue, some_ids(users).into(self.users_)
        return Scored(rows, (self.user_[:, :-1], self.item_[:, :-1]), self.item_[:, -1].copy(), items)

    def factors(self) -> tuple[Floats, Floats]:
        """Matrices of users and items whose product holds all scores: (v, a + c, 1) and (w, 1, b)."""
        _ = self.catalogue
        one = np.ones((1, 1))
        left = [self.user_[:, :-1], self.user_[:, -1:] + self.level_, one.repeat(len(self.user_), axis=0)]
        right = [self.item_[:, :-1], one.repeat(len(self.item_), axis=0), self.item_[:, -1:]]
        return np.hstack(left), np.hstack(right)

    def scores(self, users: IdColumn, items: IdColumn) -> Floats:
        """Scores of pairs (users[j], items[j]): values for ``squared``, log-odds for ``logistic``, else an order."""
        catalogue = self.catalogue
        (people, user), (things, item) = coded_pairs(users, items)
        user, item = people.into(self.users_)[user], things.into(catalogue)[item]
        left, right = (np.vstack([side, np.zeros((1, self.dim + 1))]) for side in (self.user_, self.item_))
        inner = np.einsum("ij,ij->i", left[user, :-1], right[item, :-1])
        return np.asarray(inner + left[user, -1] + right[item, -1] + self.level_)

    def predict(self, users: IdColumn, items: IdColumn) -> Floats:
        """Values of pairs, which only ``squared`` learns; scores of the other losses are not on the scale of values."""
        if self.loss != "squared":
            what = "log-odds" if self.loss == "logistic" else "an order of items"
            raise InputError(
                f"'{self}' learns {what}, no values: its scores cannot be judged as predictions (mae, mse, rmse, "
                "accuracy).\nAsk for metrics of ranks (recall@10, dcg@10), or take loss=squared or the model mf.",
                code="not-supported",
            )
        return self.scores(users, items)

    def save(self, path: str | Path) -> None:
        """Write a fitted model as .npz: numbers, ids and the canonical string; nothing in it can run code."""
        catalogue = self.catalogue
        header = {"model": str(self), "level": self.level_}
        arrays = {"user": self.user_, "item": self.item_, "losses": np.array(self.losses_)}
        files.write(path, "Factors", header, arrays, {"users": self.users_, "items": catalogue})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that ``save`` wrote."""
        header, arrays, ids = files.read(path, "Factors")
        try:
            model = models.make(str(header["model"]))
            if not isinstance(model, cls):
                raise InputError(f"it holds {model}", code="damaged-file")
            model.users_, model.items_, model.level_ = ids["users"], ids["items"], float(header["level"])
            model.user_, model.item_ = arrays["user"], arrays["item"]
            model.losses_ = tuple(float(loss) for loss in arrays["losses"])
        except (InputError, KeyError, TypeError, ValueError) as problem:
            raise InputError(f"{path}: the model is damaged ({plain(problem)}).", code="damaged-file") from None
        for name, rows in (("users", model.user_), ("items", model.item_)):
            if rows.shape != (len(ids[name]), model.dim + 1) or not np.isfinite(rows).all():
                raise InputError(
                    f"{path}: the model is damaged (its {name} do not fit their factors).", code="damaged-file"
                )
        return model


def fit_all(models: Iterable[Model], log: Log, threads: int | None = None) -> list[Model]:
    """Fit many models side by side, one thread each; the numbers do not depend on how many run at once."""
    with Threads(threads, alone=True) as pool:
        return list(pool.map(lambda model: model.fit(log), models))


def _start(ids: Ids, dim: int, seed: int) -> Floats:
    """Uniform in ±½/dim by a hash of (seed, id, number of the factor); the offset is 0."""
    numbers = np.arange(dim, dtype=np.uint64)
    drawn = pair_uniform(seed, np.repeat(ids.hashes, dim), np.tile(numbers, len(ids))).reshape(len(ids), dim)
    return np.hstack([(drawn - 0.5) / dim, np.zeros((len(ids), 1))])


def _wide(rows: Floats, side: int, rest: float = 0.0) -> npt.NDArray[np.float32]:
    """Rows (factors, offset) in the columns of the kernel: users are side 0, items 1; ``rest`` in all other columns."""
    dim = rows.shape[1] - 1
    out = np.full((len(rows), -(-(dim + 2) // sgd.LANES) * sgd.LANES), rest, dtype=np.float32)
    out[:, [*range(dim), dim + side]] = rows
    return out
