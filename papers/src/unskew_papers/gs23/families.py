"""The 81 recommenders: the most popular items, and eight families of factor models with 10, 20, … 100 factors each.

The paper takes Cornac's. MF and SVD are both Cornac's MF, without offsets and with them; PMF has two forms. What they
learn from is not quite told: ratings of 4 and 5 as they are (``values``), or 1 for each of them. On ones alone SVD has
nothing left to learn, and MF hardly anything; *values* is the setting of the tables, *ones* a variant.

The paper does not say how long it trains: as Cornac does unless it is told, epochs, rates and WMF's weights, is the
setting of the tables, epochs that are fixed once per family by a validation curve (docs/model_families.md) a variant.
"""

from __future__ import annotations

from typing import NamedTuple

SIZES = tuple(range(10, 101, 10))


class Family(NamedTuple):
    """A family: our model, and what makes it Cornac's by default.

    Args:
        options: of the model, always.
        cornac: options with which Cornac trains unless it is told.
        rated: whether it fits values, and so can learn from ratings.
    """

    name: str
    model: str
    options: str
    cornac: str
    rated: bool = True

    def of(self, size: int, *, values: bool, cornac: bool) -> str:
        """The canonical string of one size."""
        told = [f"dim={size}", *filter(None, [self.options, self.cornac if cornac else ""])]
        told += ["values=true"] if values and self.rated else []
        return f"{self.model}({', '.join(told)})"


FAMILIES = (
    Family("MF", "plain_mf", "", "epochs=20"),
    Family("SVD", "biased_mf", "", "epochs=20"),
    Family("PMF linear", "pmf", "variant=linear", "epochs=100"),
    Family("PMF non-linear", "pmf", "variant=nonlinear", "epochs=100"),
    Family("WMF", "wmf", "", "alpha=99, penalty=1, rounds=100", rated=False),
    Family("NMF", "nmf", "", "epochs=50"),
    Family("MMMF", "mmmf", "", "epochs=100, rate=0.001", rated=False),
    Family("BPR", "bpr", "", "epochs=100, rate=0.001", rated=False),
)
POPULAR = "MostPop"


def models(sizes: tuple[int, ...] = SIZES, *, values: bool = True, cornac: bool = True) -> dict[str, str]:
    """All of them by name."""
    found = {POPULAR: "most_popular"}
    for family in FAMILIES:
        found |= {f"{family.name} {size}": family.of(size, values=values, cornac=cornac) for size in sizes}
    return found
