"""The 81 recommenders: the most popular items, and eight families of factor models with 10, 20, … 100 factors each.

The paper takes Cornac's. MF and SVD are both Cornac's MF, without offsets and with them; PMF has two forms. What they
learn from is not quite told: ratings of 4 and 5 as they are (``values``), or 1 for each of them. On ones alone SVD has
nothing left to learn, and MF hardly anything; *values* is the setting of the tables, *ones* a variant.

How long to train is fixed once per family by a validation curve (docs/model_families.md); Cornac's own number of epochs
is a variant.
"""

from __future__ import annotations

from typing import NamedTuple

SIZES = tuple(range(10, 101, 10))


class Family(NamedTuple):
    """A family: our model with its options, and how long Cornac trains by default.

    Args:
        rated: whether it fits values, and so can learn from ratings.
        epochs: the name of the option.
    """

    name: str
    model: str
    options: str
    cornac: int
    rated: bool = True
    epochs: str = "epochs"

    def of(self, size: int, *, values: bool, cornac: bool) -> str:
        """The canonical string of one size."""
        told = [f"dim={size}"] + ([self.options] if self.options else [])
        told += ["values=true"] if values and self.rated else []
        told += [f"{self.epochs}={self.cornac}"] if cornac else []
        return f"{self.model}({', '.join(told)})"


FAMILIES = (
    Family("MF", "plain_mf", "", 20),
    Family("SVD", "biased_mf", "", 20),
    Family("PMF linear", "pmf", "variant=linear", 100),
    Family("PMF non-linear", "pmf", "variant=nonlinear", 100),
    Family("WMF", "wmf", "", 100, rated=False, epochs="rounds"),
    Family("NMF", "nmf", "", 50),
    Family("MMMF", "mmmf", "", 100, rated=False),
    Family("BPR", "bpr", "", 100, rated=False),
)
POPULAR = "MostPop"


def models(sizes: tuple[int, ...] = SIZES, *, values: bool = True, cornac: bool = False) -> dict[str, str]:
    """All of them by name."""
    found = {POPULAR: "most_popular"}
    for family in FAMILIES:
        found |= {f"{family.name} {size}": family.of(size, values=values, cornac=cornac) for size in sizes}
    return found
