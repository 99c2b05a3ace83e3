"""Who makes lists: recommenders of ours, classes of others, and files that were written elsewhere.

A recommender is fitted on the training log of a draw and ranks once for it; every metric, estimator and propensity
then works on those ranks. Its option ``seed``, where it has one, is that of the draw. A file is one per draw: its path
says ``{seed}`` where the seed stands.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from unskew import InputError
from unskew import models as recommenders
from unskew.core import plain, shown
from unskew.evaluation import MOST_PARTS, check_models
from unskew.log import Log, Recommendations, check_file, read_recommendations
from unskew.models import Model, training_rows
from unskew_papers.recovery.draws import Draw, Place


class Maker(ABC):
    """Makes the lists of one model."""

    @abstractmethod
    def key(self, place: Place) -> dict[str, Any]:
        """All that its lists depend on besides the draw, as JSON values."""

    @abstractmethod
    def lists(self, draw: Draw, depth: int) -> Recommendations:
        """The lists of the draw's users, without what they have seen."""

    def files(self, places: Sequence[Place]) -> list[Path]:
        """The files that it reads, which must be there."""
        return []

    def footprint(self, log: Log) -> int:
        """About how many bytes it takes on this log."""
        return 200 * len(log) + (1 << 28)


@dataclass(frozen=True, eq=False)
class Fitted(Maker):
    """A recommender of ours by its canonical string."""

    model: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", str(recommenders.make(self.model)))

    def key(self, place: Place) -> dict[str, Any]:
        """The string, with the seed of the draw."""
        return {"model": str(self._seeded(place.seed))}

    def lists(self, draw: Draw, depth: int) -> Recommendations:
        """Fit and rank."""
        model = self._seeded(draw.place.seed)
        model.fit(training_rows(model, draw.train, draw.relevant))
        return model.recommend(draw.users, depth, seen=draw.train)

    def footprint(self, log: Log) -> int:
        """What the model says."""
        return recommenders.make(self.model).footprint(log)

    def _seeded(self, seed: int) -> Model:
        model = recommenders.make(self.model)
        return replace(model, seed=seed) if hasattr(model, "seed") else model  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class Imported(Maker):
    """Any class with ``fit(log)`` and ``recommend(users, k, seen=…)``.

    What it learns from is the training log as it is. Its lists are made again when the file that defines it changes.

    Args:
        place: ``package.module:Class``.
        options: of its constructor; ``seed`` is added where it takes one and none is given.
    """

    place: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            json.dumps(self.options, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            named = False
        else:
            named = isinstance(self.options, Mapping)
        if not named:
            raise InputError(
                f"options must map names to plain values, not {shown(self.options)}.",
                code="wrong-type",
                option="options",
            )
        self._class()

    def key(self, place: Place) -> dict[str, Any]:
        """The class, its options, and the content of the file that defines it."""
        try:
            source = Path(inspect.getfile(self._class())).read_bytes()
        except (OSError, TypeError):
            source = b""
        told = hashlib.sha256(source).hexdigest()
        return {"class": self.place, "options": self._options(place.seed), "source": told}

    def lists(self, draw: Draw, depth: int) -> Recommendations:
        """Fit and rank."""
        model = self._class()(**self._options(draw.place.seed))
        fitted = model.fit(draw.train)
        found = (fitted if hasattr(fitted, "recommend") else model).recommend(draw.users, depth, seen=draw.train)
        if isinstance(found, Recommendations):
            return found
        return Recommendations.from_frame(found, source=self.place)

    def _class(self) -> Any:
        module, _, name = self.place.partition(":")
        try:
            found = getattr(import_module(module), name) if name else None
        except Exception as error:  # of whatever the module does when it is imported
            raise InputError(
                f"class '{plain(self.place)}' cannot be imported: {plain(error)}.", code="cannot-import"
            ) from None
        if not (hasattr(found, "fit") and hasattr(found, "recommend")):
            raise InputError(
                f"class '{plain(self.place)}': write package.module:Class, of a class with fit(log) and "
                "recommend(users, k, seen=…).",
                code="wrong-type",
                option="class",
            )
        return found

    def _options(self, seed: int) -> dict[str, Any]:
        takes = "seed" in inspect.signature(self._class()).parameters
        return ({"seed": seed} if takes else {}) | dict(self.options)


@dataclass(frozen=True, eq=False)
class Written(Maker):
    """Lists in files, one per draw: ``lists-{seed}.parquet``."""

    path: str

    def key(self, place: Place) -> dict[str, Any]:
        """The content of the file."""
        with self._of(place).open("rb") as file:
            return {"file": hashlib.file_digest(file, "sha256").hexdigest()}

    def lists(self, draw: Draw, depth: int) -> Recommendations:
        """Read them; what was seen in training is left out and the ranks are closed up."""
        found = read_recommendations(self._of(draw.place))
        return found.drop_seen(draw.train)

    def files(self, places: Sequence[Place]) -> list[Path]:
        """One for every draw."""
        return [self._of(place) for place in places]

    def _of(self, place: Place) -> Path:
        path = self.path.replace("{seed}", str(place.seed)).replace("{fold}", str(place.fold))
        return check_file(path, "Give one file for every draw: lists-{seed}.parquet, or model-{seed}.npz.")


@dataclass(frozen=True, eq=False)
class Saved(Written):
    """Fitted models of ours in files, one per draw: ``model-{seed}.npz``."""

    def lists(self, draw: Draw, depth: int) -> Recommendations:
        """Load and rank."""
        return recommenders.load(self._of(draw.place)).recommend(draw.users, depth, seen=draw.train)


def makers_of(models: Any) -> dict[str, Maker]:
    """Models by name: canonical strings (which name themselves), makers, or objects of ours."""
    if isinstance(models, str) or not hasattr(models, "__iter__"):
        raise InputError(
            f"models are canonical strings, a list of them or by name, not {shown(models)}.",
            code="wrong-type",
            option="models",
        )
    named = models.items() if isinstance(models, Mapping) else [(str(model), model) for model in models]
    if len(named) > MOST_PARTS:
        raise InputError(
            f"models: more than {MOST_PARTS:,} are asked for. Compare them in several studies.",
            code="too-large",
            option="models",
        )
    check_models(dict(named))
    found: dict[str, Maker] = {}
    for name, given in named:
        if name in found:
            raise InputError(
                f"two models are called '{plain(name)}'. Give each a name of its own.", code="duplicate-name", name=name
            )
        found[name] = given if isinstance(given, Maker) else _maker(name, given)
    if len(found) < 2:
        raise InputError("a study compares models: give at least two.", code="too-few-models")
    return found


def _maker(name: str, given: Any) -> Maker:
    if isinstance(given, str | Model):
        return Fitted(str(given))
    raise InputError(
        f"model '{plain(name)}': a study takes canonical strings such as 'wmf(dim=50)', not {shown(given)}.\nA "
        "class of your own: Imported('package.module:Class'), lists in files: Written('lists-{seed}.parquet').",
        code="wrong-type",
        option="models",
    )
