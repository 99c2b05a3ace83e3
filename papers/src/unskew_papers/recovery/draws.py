"""Draws: a training log, a test log, and the truth that estimates from them are held against.

    Paired   a skewed log, split anew for every seed, and a sample of pairs that were drawn at random. The truth is the
             plain average over the random pairs, which has an error of its own.
    Worlds   a simulated world, drawn anew for every seed. The truth is known, and has no error.

Splits of one log do not vary as fresh logs would: errors over them say how much the split (and the models' own seed)
matters, not how far another log would be from this one. Worlds are fresh.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from unskew import InputError
from unskew import split as splitters
from unskew.log import Feedback, Ids, Log, threshold_of
from unskew.simulate import World
from unskew.split import make_splits
from unskew_papers.digest import digest_of


class Place(NamedTuple):
    """Which draw: of this seed this fold."""

    seed: int
    fold: int = 0

    @property
    def label(self) -> str:
        """What it is called."""
        return f"seed {self.seed}" + (f", fold {self.fold + 1}" if self.fold else "")


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw.

    Args:
        train: what models learn from; its pairs are no candidates.
        test: what estimators see.
        truth: pairs that were seen at random, or all relevant pairs outside training.
        complete: whether it is all of them, so that the truth has no error.
        relevant: the threshold on values, where the logs have some.
    """

    place: Place
    train: Log
    test: Log
    truth: Log
    complete: bool
    relevant: str | None = None

    @cached_property
    def users(self) -> Ids:
        """Those who need lists: whoever is in the training log, the test log or the truth."""
        return Ids.of(self.train.users.values, self.test.users.values, self.truth.users.values)

    @cached_property
    def items(self) -> Ids:
        """Everything that any of the logs knows."""
        return Ids.of(self.train.items.values, self.test.items.values, self.truth.items.values)

    def of(self, log: Log) -> dict[str, Any]:
        """What ``evaluate`` needs to know of one of these logs."""
        if log.value is None:
            return {}
        return {"feedback": str(log.feedback or Feedback.RATINGS), "relevant": self.relevant}


class Source(ABC):
    """Where draws come from; it is pickled and sent to processes."""

    @property
    @abstractmethod
    def mark(self) -> str:
        """A short name for all that its draws depend on besides the seed."""

    @abstractmethod
    def places(self, seeds: Sequence[int]) -> list[Place]:
        """All draws of these seeds."""

    @abstractmethod
    def draw(self, place: Place) -> Draw:
        """One of them; the same place always gives the same draw."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, in a few words."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What became of its rows."""
        return ()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it was read from."""
        return ()


@dataclass(frozen=True, eq=False)
class Paired(Source):
    """A skewed log and a random sample of the same users' pairs.

    Args:
        log: what was seen, by whatever habit or policy.
        random: pairs that were seen at random.
        split: how training and test parts are made; its seed is that of the draw.
        relevant: ``'>=4'``, where both hold ratings.
        likes: keep only relevant pairs, as a log of clicks would: nothing learns from the others, or leaves them out of
            lists.
        called: what the data is called in reports.
    """

    log: Log
    random: Log
    split: str = "holdout(share=0.2)"
    relevant: str | None = None
    likes: bool = False
    called: str = ""

    def __post_init__(self) -> None:
        if self.relevant is not None:
            threshold_of(self.relevant)
            if self.log.value is None and self.random.value is None:
                raise InputError(
                    f"relevant={self.relevant!r} says which values are relevant, and neither log has a column 'value'. "
                    "Leave it out.",
                    code="missing-column",
                    column="value",
                )
        for name, log in (("log", self.log), ("random", self.random)):
            if log.value is not None and self.relevant is None and log.feedback is not Feedback.CONVERSIONS:
                raise InputError(
                    f"{name}: it has a column 'value', and nothing says which values are relevant. Give "
                    "relevant='>=4', or another threshold.",
                    code="missing-argument",
                    argument="relevant",
                )
        if self.likes:
            object.__setattr__(self, "log", as_likes(self.log, self.relevant))
            object.__setattr__(self, "random", as_likes(self.random, self.relevant))

    @cached_property
    def mark(self) -> str:
        """The content of both logs, the split and the threshold."""
        return " ".join([digest_of(self.log), digest_of(self.random), str(self._splitter(0)), str(self.relevant)])

    @property
    def words(self) -> str:
        """Sizes of both."""
        called = f"{self.called}: " if self.called else ""
        return f"{called}{len(self.log):,} rows of {len(self.log.users):,} users, {len(self.random):,} random pairs"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was dropped where the logs were read."""
        return tuple(
            f"rows dropped where {name} was read: {rows:,} ({reason})"
            for name, log in (("log", self.log), ("random", self.random))
            for reason, rows in log.account.dropped.items()
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """Those of both logs."""
        return Path(self.log.account.source), Path(self.random.account.source)

    def places(self, seeds: Sequence[int]) -> list[Place]:
        """Every fold of every seed."""
        folds = len(make_splits(self.log, self._splitter(seeds[0]))) if seeds else 0
        return [Place(seed, fold) for seed in seeds for fold in range(folds)]

    def draw(self, place: Place) -> Draw:
        """The fold of the seed."""
        train, test = make_splits(self.log, self._splitter(place.seed))[place.fold]
        return Draw(place, train, test, self.random, complete=False, relevant=self.relevant)

    def _splitter(self, seed: int) -> splitters.Splitter:
        splitter = splitters.make(self.split)
        return replace(splitter, seed=seed) if hasattr(splitter, "seed") else splitter  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class Worlds(Source):
    """Simulated worlds, one per seed, whose truth is known."""

    world: World = field(default_factory=World)

    @property
    def mark(self) -> str:
        """The world's options."""
        return str(replace(self.world, seed=0))

    @property
    def words(self) -> str:
        """Its size."""
        return f"simulated worlds of {self.world.users:,} users and {self.world.items:,} items"

    def places(self, seeds: Sequence[int]) -> list[Place]:
        """One per seed."""
        return [Place(seed) for seed in seeds]

    def draw(self, place: Place) -> Draw:
        """The world of the seed."""
        world = self.world.draw(place.seed)
        return Draw(place, world.train, world.test, world.full_log(), complete=True)


def as_likes(log: Log, relevant: str | None) -> Log:
    """What a log of clicks would hold: pairs that were liked, and nothing else."""
    return replace(log.positives(relevant), value=None, feedback=Feedback.IMPLICIT, propensity=None)
