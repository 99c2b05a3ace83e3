"""What would be recommended? Baselines that are fitted on a training log and make lists.

Models follow scikit-learn: the constructor stores parameters, ``fit(log)`` learns and gives back the model, and what
is learnt ends in an underscore. They have a canonical string like every other part:

    make("item_knn(neighbours=20)").fit(train).recommend(test.users, 100, seen=train)

Factors that were made elsewhere need no fit (``GivenFactors``), and saved models are read back (``load``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from unskew.errors import InputError
from unskew.models import files
from unskew.models.base import Model
from unskew.models.factors import KINDS, Factors, fit_all
from unskew.models.given_factors import GivenFactors
from unskew.models.item_knn import ItemKNN
from unskew.models.mf import MF
from unskew.models.most_popular import MostPopular
from unskew.models.random import Random
from unskew.spec import Spec, build, take

__all__ = ["MF", "Factors", "GivenFactors", "ItemKNN", "Model", "MostPopular", "Random", "fit_all", "load", "make"]


def _mf(spec: Spec) -> Model:
    given = take(
        spec,
        dim=int,
        penalty=float,
        offsets=str,
        loss=str,
        propensity=object,
        solver=str,
        rounds=int,
        tolerance=float,
        seed=int,
    )
    if "propensity" in given:
        given["propensity"] = str(given["propensity"])
    return MF(**given)


_MAKERS: Mapping[str, Callable[[Spec], Model]] = {
    "factors": lambda spec: Factors(**take(spec, (), **KINDS)),
    "item_knn": lambda spec: ItemKNN(**take(spec, neighbours=int)),
    "mf": _mf,
    "most_popular": lambda spec: MostPopular(**take(spec)),
    "random": lambda spec: Random(**take(spec, seed=int)),
}


def make(text: str) -> Model:
    """The model with this canonical string, not yet fitted: ``most_popular``, ``item_knn(neighbours=50)``."""
    return build("model", text, _MAKERS)


def load(path: str | Path) -> Factors | MF | GivenFactors:
    """The model in a file: what ``Factors.save``, ``MF.save`` or ``GivenFactors.save`` wrote, or plain factors."""
    written_by = files.format_of(path)
    for kind in (Factors, MF):
        if written_by == files.format_name(kind.__name__):
            return kind.load(path)
    if written_by is not None:
        raise InputError(f"{path}: '{written_by}' is no model that this unskew knows.")
    return GivenFactors.load(path)
