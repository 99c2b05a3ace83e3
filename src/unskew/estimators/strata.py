"""Strata: groups of pairs with similar propensities, or a column of the user's own.

Edges are taken over the held-out pairs, from unclipped propensities, once, before any batch. Over the catalogue's items
most pairs, which are on popular items, would fall into one stratum (69 % of ML-100K's), where gs is naive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from unskew.core.bounds import Whole, check, shown, word
from unskew.core.errors import InputError
from unskew.core.parts import Made
from unskew.core.spec import Spec, take
from unskew.estimators.base import Batch
from unskew.estimators.summary import Summary
from unskew.kernels.arrays import Floats, Ints32, present

FEW = 16  # edges
KINDS = ("quantile", "equal_width", "column")
MOST = Whole(1, 10_000, "Strata that hold a pair or two have no mean.")


@dataclass(frozen=True)
class Strata:
    """How pairs are grouped.

    Args:
        kind: ``quantile`` bins of the propensity (default), ``equal_width`` bins, or a ``column`` of the log.
        count: how many bins.
        column: the column's name.
        edges: inner edges, once fitted.
    """

    kind: str = "quantile"
    count: int = 5
    column: str = ""
    edges: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        word(self.kind, KINDS, "'strata': kind")
        if self.kind != "column":
            check(self, "strata", count=MOST)
        elif not (isinstance(self.column, str) and self.column):
            raise InputError(
                f"strata=column(NAME) needs the name of a column, not {shown(self.column)}.", code="missing-column"
            )

    @classmethod
    def of_option(cls, value: Any, what: str) -> Strata:
        """``5``, ``quantile(5)``, ``equal_width(5)`` or ``column(genre)``; ``what`` is wrong otherwise."""
        if isinstance(value, Strata):
            return value
        if isinstance(value, int):
            return cls("quantile", int(MOST.of(value, what)))
        spec = Spec(value) if isinstance(value, str) else value
        if isinstance(spec, Spec) and spec.name == "column":
            name = take(spec, ("name",), name=str).get("name")
            if name:
                return cls("column", 0, name)
        elif isinstance(spec, Spec) and spec.name in KINDS:
            return cls(spec.name, int(MOST.of(take(spec, ("count",), count=int).get("count", 5), what)))
        raise InputError(f"{what} must be {GROUPS}, not {shown(value)}.", code="wrong-type")

    def __str__(self) -> str:
        if self.kind == "column":
            return f"column({self.column})"
        return str(self.count) if self.kind == "quantile" else f"{self.kind}({self.count})"

    @property
    def by_propensity(self) -> bool:
        """Whether the strata come from the propensity."""
        return self.kind != "column"

    def fit(self, summary: Summary) -> Self:
        """Take the edges (or the number of labels) from the first pass."""
        if self.kind == "column":
            levels = (summary.levels or {}).get(self.column)
            if levels is None:
                raise InputError(
                    f"strata=column({self.column}): the log has no column '{self.column}'. "
                    "Read it along with keep=['" + self.column + "'].",
                    code="missing-column",
                    column=self.column,
                )
            return replace(self, count=len(levels))
        histogram = present(summary.pairs)
        inner = np.arange(1, self.count) / self.count
        if self.kind == "quantile":
            edges = histogram.quantiles(inner)
        else:
            edges = histogram.low + inner * (histogram.high - histogram.low)
        return replace(self, edges=tuple(float(e) for e in edges))

    def of(self, batch: Batch) -> Ints32:
        """The stratum of every row of a batch."""
        if self.kind == "column":
            return batch.labels[self.column]
        return self.place(present(batch.propensity))

    def place(self, propensity: Floats) -> Ints32:
        """The stratum of each propensity, all of them numbers; a few edges are quicker compared than bisected."""
        edges = present(self.edges)
        if len(edges) > FEW:
            return np.searchsorted(np.asarray(edges), propensity, side="right").astype(np.int32)
        out = np.zeros(len(propensity), dtype=np.int32)
        for edge in edges:
            out += propensity >= edge
        return out


GROUPS = Made(Strata.of_option, "a number of quantile bins, quantile(5), equal_width(5) or column(NAME)", named=True)
