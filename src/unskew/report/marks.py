"""Colours and shapes by which estimators are told apart: enough that none comes twice where nine are compared.

Vega knows eight shapes by name and takes any other as a path around (0, 0); pages draw the same ones in their legends.
Colours are the light palette of ``page.css``, which maps each of them to its dark counterpart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

NAIVE = "#8a6d3b"
ESTIMATORS = ("#2458d3", "#0d8a72", "#a3339b", "#c2410c", "#4d7c0f", "#6d28d9", "#0e7490", "#be185d")
KINDS = (
    "snips",
    "ips",
    "gs",
    "exposure_path",
    "dr",
    "anchored",
    "clipped",
    "direct",
    "tilted",
    "sndr",
    "switch",
    "stratified",
)  # of estimators; the later ones share a colour with those that seldom stand beside them

Points = Sequence[tuple[float, float]]
_LEGEND = 5.0  # half the height of a shape in a legend


def _path(points: Points, size: float = 1.0) -> str:
    return "M" + "L".join(f"{size * x:.3g},{size * y:.3g}" for x, y in points) + "Z"


def _turned(radii: Sequence[float], count: int) -> Points:
    """``count`` corners around (0, 0), the first on top, with these radii in turn."""
    turns = [2.0 * math.pi * n / count for n in range(count)]
    return [(radii[n % len(radii)] * math.sin(a), -radii[n % len(radii)] * math.cos(a)) for n, a in enumerate(turns)]


_POLYGONS: tuple[Points, ...] = (
    _turned((1.3, 0.5), 10),  # a star
    [(-0.9, -1.0), (0.9, -1.0), (-0.9, 1.0), (0.9, 1.0)],  # an hourglass
    _turned((1.3, 0.35), 8),  # a spark
    [(-1.0, -0.9), (-1.0, 0.9), (1.0, -0.9), (1.0, 0.9)],  # a bow tie
)
PATHS = {
    "circle": "M5,0A5,5,0,1,1,-5,0A5,5,0,1,1,5,0",
    "square": "M-4.5,-4.5h9v9h-9z",
    "triangle-up": "M0,-5L5.5,4.5h-11z",
    "diamond": "M0,-6L5,0L0,6L-5,0z",
    "triangle-down": "M0,5L5.5,-4.5h-11z",
    "cross": "M-6,-2h4v-4h4v4h4v4h-4v4h-4v-4h-4z",
    "triangle-right": "M5,0L-4.5,5.5v-11z",
    "triangle-left": "M-5,0L4.5,5.5v-11z",
} | {_path(points): _path(points, _LEGEND) for points in _POLYGONS}
SHAPES = tuple(PATHS)


def places(estimators: Mapping[str, str]) -> dict[str, int]:
    """The place of each line among the colours and shapes: that of its estimator's kind, whatever stands beside it.

    So an estimator looks the same on every page. Of two of one kind (``gs(strata=5)``, ``gs(strata=20)``), and of two
    kinds with one colour, the second takes the next place that is free; beyond eight only shapes tell them apart.

    Args:
        estimators: the estimator of each line, by what the line is called.
    """
    found: dict[str, int] = {}
    size = len(ESTIMATORS)
    for name, estimator in estimators.items():
        kind = estimator.partition("(")[0]
        own = KINDS.index(kind) if kind in KINDS else len(found)
        free = ((own + step) % size for step in range(size) if (own + step) % size not in found.values())
        found[name] = next(free, len(found))
    return found


def model_places(shown: Sequence[str], models: Sequence[str]) -> list[int]:
    """The places of models among the colours, the same in every chart of a page.

    Args:
        shown: the models of one chart, no more than there are colours.
        models: all models, in the order of the page; beyond eight, one takes the next place that is free.
    """
    size = len(ESTIMATORS)
    found: dict[str, int] = {}
    for model in sorted(shown, key=models.index):
        own = models.index(model)
        free = ((own + step) % size for step in range(size) if (own + step) % size not in found.values())
        found[model] = next(free, own)
    return [found[model] for model in shown]


def colour(place: int) -> str:
    """The n-th colour."""
    return ESTIMATORS[place % len(ESTIMATORS)]


def shape(place: int) -> str:
    """The n-th shape, so that colour is never the only sign."""
    return SHAPES[place % len(SHAPES)]
