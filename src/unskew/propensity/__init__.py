"""How likely was each interaction to be seen? Known, popularity or (only when asked for) uniform propensities."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from unskew.propensity.base import NOTHING, Level, Part, Propensity, Scored, Side
from unskew.propensity.checking import Check, Checks, check
from unskew.propensity.known import Known
from unskew.propensity.popularity import Popularity
from unskew.propensity.share import part_propensity
from unskew.propensity.uniform import Uniform
from unskew.spec import Spec, build, take

__all__ = [
    "NOTHING",
    "Check",
    "Checks",
    "Known",
    "Level",
    "Part",
    "Popularity",
    "Propensity",
    "Scored",
    "Side",
    "Uniform",
    "check",
    "make",
    "part_propensity",
]

_PROPENSITIES: Mapping[str, Callable[[Spec], Propensity]] = {
    "known": lambda spec: Known(**take(spec, share=float)),
    "popularity": lambda spec: Popularity(**take(spec, gamma=float, unsupported=str)),
    "uniform": lambda spec: Uniform(**take(spec, p=float)),
}


def make(text: str | Propensity) -> Propensity:
    """The propensity with this canonical string, such as ``popularity(gamma=2)``."""
    return text if isinstance(text, Propensity) else build("propensity", text, _PROPENSITIES)
