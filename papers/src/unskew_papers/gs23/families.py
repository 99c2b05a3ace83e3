"""The 81 recommenders: the most popular items, and eight families of factor models with 10, 20, … 100 factors each.

The paper takes Cornac's through the code of its ancestor (Jadidinejad, Macdonald & Ounis 2022), which leaves epochs and
penalties as Cornac has them and sets one thing: MF and SVD learn at a rate of .001. PMF has two forms there, too. MF
and SVD are both Cornac's MF, without offsets and with them. Models learn from the likes with their ratings, 4 or 5
(``values``): on ones alone SVD has nothing left to learn, and MF hardly anything.

``ancestor`` trains so; ``cornac`` leaves .01 to MF and SVD, too; ``curves`` takes epochs that are fixed once per family
by a validation curve (docs/model_families.md).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

SIZES = tuple(range(10, 101, 10))
Training = Literal["ancestor", "cornac", "curves"]


class Family(NamedTuple):
    """A family: our model, and what makes it Cornac's by default.

    Args:
        options: of the model, always.
        cornac: options with which Cornac trains unless it is told.
        ancestor: what the ancestor tells it.
        rated: whether it fits values, and so can learn from ratings.
    """

    name: str
    model: str
    cornac: str
    options: str = ""
    ancestor: str = ""
    rated: bool = True

    def of(self, size: int, *, values: bool, training: Training) -> str:
        """The canonical string of one size."""
        ways = {"ancestor": (self.cornac, self.ancestor), "cornac": (self.cornac,), "curves": ()}
        told = [f"dim={size}", *filter(None, [self.options, *ways[training]])]
        told += ["values=true"] if values and self.rated else []
        return f"{self.model}({', '.join(told)})"


FAMILIES = (
    Family("MF", "plain_mf", "epochs=20", ancestor="rate=0.001"),
    Family("SVD", "biased_mf", "epochs=20", ancestor="rate=0.001"),
    Family("PMF linear", "pmf", "epochs=100", "variant=linear"),
    Family("PMF non-linear", "pmf", "epochs=100", "variant=nonlinear"),
    Family("WMF", "wmf", "alpha=99, penalty=1, rounds=100", rated=False),
    Family("NMF", "nmf", "epochs=50"),
    Family("MMMF", "mmmf", "epochs=100, rate=0.001", rated=False),
    Family("BPR", "bpr", "epochs=100, rate=0.001", rated=False),
)


def models(sizes: tuple[int, ...] = SIZES, *, values: bool = True, training: Training = "ancestor") -> dict[str, str]:
    """All of them by name."""
    found = {"MostPop": "most_popular"}
    for family in FAMILIES:
        found |= {f"{family.name} {size}": family.of(size, values=values, training=training) for size in sizes}
    return found
