"""The families of gs23 beside Cornac, and the page about them: ``python benchmarks/families.py [page]``.

Words of the page are in ``families.md``; tables are put in their places.

The same positives for both (``family_world.py``, 80 % of the ratings), the same epochs, step sizes and penalties, each
fit in a process of its own with one thread, one after the other; recall@20 of the held-out positives by the same lines
of code. Stored in ``results/families.json``; docs/model_families.md is written from it and from
``results/family_curves.json`` (``family_curves.py``).
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from envs import Peer, python_of
from family_curves import COAT_SPLITS, EPOCHS, FAMILIES, Family, chosen
from family_curves import RESULTS as CURVES
from promise import Promise
from store import HERE, Measured, alone, conditions, keep, machine, stored, table, versions
from workloads import LEARNERS

PAGE = HERE.parent / "docs" / "model_families.md"
DIMS = (10, 100)
console = Console(soft_wrap=True)


@dataclass(frozen=True)
class Recipe:
    """One line of the page.

    Args:
        gs23, cornac: what the paper and Cornac call it.
        loss, source: what is learnt, and who says so.
        theirs: Cornac's defaults: epochs, step size, penalty.
        variant: of pmf.
    """

    model: str
    gs23: str
    cornac: str
    loss: str
    source: str
    theirs: tuple[str, str, str]
    variant: str = ""

    @property
    def job(self) -> str:
        """What peers call it."""
        return f"{self.model} {self.variant}".strip()

    @property
    def family(self) -> Family:
        """Its curve."""
        options = f"variant={self.variant}" if self.variant else ""
        return next(f for f in FAMILIES if (f.model, f.options) == (self.model, options))


RECIPES = (
    Recipe("plain_mf", "MF", "MF(use_bias=False)", "(1 − v·w)²", "Koren, Bell & Volinsky 2009", ("20", ".01", ".02")),
    Recipe("biased_mf", "SVD", "SVD", "(1 − c − a − b − v·w)²", "Koren 2008", ("20", ".01", ".02")),
    Recipe(
        "pmf", "PMF, linear", "PMF(variant='linear')", "(1 − v·w)²", "Salakhutdinov & Mnih 2007",
        ("100", ".001", ".001"), "linear",
    ),
    Recipe(
        "pmf", "PMF, non-linear", "PMF", "(1 − σ(v·w))²", "Salakhutdinov & Mnih 2007",
        ("100", ".001", ".001"), "nonlinear",
    ),
    Recipe("nmf", "NMF", "NMF", "(1 − v·w)², v, w ≥ 0", "Lee & Seung 2001", ("50", "–", ".06")),
    Recipe("mmmf", "MMMF", "MMMF", "max(0, z_n − z_p)", "Weimer et al. 2008", ("100", ".001", ".01")),
    Recipe("bpr", "BPR", "BPR", "log(1 + e^−(z_p − z_n))", "Rendle et al. 2009", ("100", ".001", ".01")),
)  # fmt: skip


def data() -> Path:
    """Positives of the world, and those held out, as arrays for everybody."""
    import unskew as us
    from family_world import world

    folder = HERE / ".data" / "families"
    folder.mkdir(parents=True, exist_ok=True)
    train, held = (part.positives(">=4") for part in us.split.holdout(world(), share=0.2, seed=0))
    order = np.random.default_rng(0).permutation(len(train))  # a split in Cornac is in random order too
    arrays = {"user": train.user[order], "item": train.item[order], "held_user": held.user, "held_item": held.item}
    for name, codes in arrays.items():
        np.save(folder / f"{name}.npy", codes.astype(np.int64))
    return folder


def ours(folder: Path, model: str) -> None:
    """The same work for unskew; a small fit first compiles."""
    import polars as pl

    from peers.common import Watch, report
    from peers.found_again import recall
    from unskew.log import Log
    from unskew.models import make

    user, item = (np.load(folder / f"{name}.npy") for name in ("user", "item"))
    log = Log.from_frame(pl.DataFrame({"user": user, "item": item}))
    made: Any = make(model)
    made.copy().fit(log.take(np.arange(len(log)) < 100))
    watch = Watch()
    made.fit(log)
    taken = watch.read()
    users, items = np.zeros((user.max() + 1, made.dim)), np.zeros((item.max() + 1, made.dim))
    offsets = np.zeros(len(items))
    known = log.users.values.to_numpy(), log.items.values.to_numpy()
    users[known[0]], items[known[1]], offsets[known[1]] = made.user_, made.item_, made.offset_
    report(taken, ("unskew", "numpy", "numba"), recall=recall(folder, users, items, offsets))


def default(recipe: Recipe) -> Any:
    """The recipe as it is without options."""
    from unskew.models import make

    return make(f"{recipe.model}(variant={recipe.variant})" if recipe.variant else recipe.model)


def measure() -> Measured:
    """Everybody at Cornac's epochs, with our step sizes and penalties."""
    folder, found = data(), {}
    cornac = Peer("cornac", "cornac_families", "cornac")
    for recipe in RECIPES:
        made = default(recipe)
        for dim in DIMS:
            made.dim, made.epochs = dim, int(recipe.theirs[0])
            us = (Path(sys.executable), "families.py", "ours", str(folder), str(made))
            steps = str(getattr(made, "rate", 0.0)), str(made.l2)
            them = (python_of(cornac), "-m", cornac.module, str(folder), recipe.job, str(dim), recipe.theirs[0], *steps)
            pair = {name: alone(python, *rest) for name, (python, *rest) in (("unskew", us), ("cornac", them))}
            found[f"{recipe.job}, {dim} factors"] = {"epochs": made.epochs, **pair}
            console.print(recipe.job, dim, {n: (round(p["cpu"], 2), p["recall"]) for n, p in pair.items()})
    return {"pairs": len(np.load(folder / "user.npy")), "jobs": found, **machine()}


def promises(found: Measured | None) -> list[Promise]:
    """None: how it compares is shown, and no floor is set."""
    return []


def sections(found: Measured) -> dict[str, str]:
    """The ratios; the rest has a page of its own."""
    first = next(iter(found["jobs"].values()))
    rows = []
    for title, job in found["jobs"].items():
        mine, theirs = job["unskew"]["cpu"], job["cornac"]["cpu"]
        rows.append((title, str(job["epochs"]), f"{mine:.2f}", f"{theirs:.2f}", f"{theirs / mine:.1f}× as fast"))
    lines = [
        "### The families of gs23 beside Cornac",
        "",
        f"`python benchmarks/families.py` on {conditions(found)}. {versions(first['unskew'], first['cornac'])}. "
        f"{found['pairs']:,} positives, one thread each, by CPU seconds; recall beside it, and how the families are "
        "made: [families](model_families.md).",
        "",
        *table(("", "epochs", "unskew", "Cornac", "unskew is"), rows),
    ]
    return {LEARNERS: "\n".join(lines)}


def page(found: Measured, curves: Measured) -> str:
    """The stored results in words and tables."""
    text = (HERE / "families.md").read_text(encoding="utf-8")
    return (
        text.replace("{recipes}", "\n".join(_recipes(curves)))
        .replace("{points}", "\n".join(_points(curves)))
        .replace("{speed}", "\n".join(_speed(found)))
        .replace("{splits}", str(COAT_SPLITS))
    )


def _recipes(curves: Measured) -> list[str]:
    lines = [
        "| gs23 | model | loss of a positive (u, i), or (u, p, n) | source | epochs | rate | l2 | Cornac's name, "
        "epochs, rate, penalty |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for recipe in RECIPES:
        made, name = default(recipe), recipe.model + (f"(variant={recipe.variant})" if recipe.variant else "")
        best = chosen(curves, recipe.family)
        if made.epochs != best:
            raise SystemExit(f"{name}: its default is {made.epochs} epochs, and its curve says {best}.")
        rate = f"{made.rate:g}" if hasattr(made, "rate") else "–"
        lines.append(
            f"| {recipe.gs23} | `{name}` | {recipe.loss} | {recipe.source} | **{made.epochs}** | {rate} | {made.l2:g} "
            f"| `{recipe.cornac}`, {', '.join(recipe.theirs)} |"
        )
    return lines


def _points(curves: Measured) -> list[str]:
    lines = ["| data | model | factors | " + " | ".join(map(str, EPOCHS)) + " |", "|---" * (3 + len(EPOCHS)) + "|"]
    for name, recalls in curves.items():
        lines += [
            f"| {name} | `{base}` | – | {recalls[base]:.3f} |" + " |" * 7 for base in ("most_popular", "random(seed=0)")
        ]
        for family in FAMILIES:
            for dim in DIMS:
                points = [recalls[family.spec(dim, epochs)] for epochs in EPOCHS]
                shown = (f"**{x:.3f}**" if x == max(points) else f"{x:.3f}" for x in points)
                lines.append(f"| {name} | `{family.title}` | {dim} | " + " | ".join(shown) + " |")
    return lines


def _speed(found: Measured) -> list[str]:
    lines = [
        f"On {conditions(found)}; one thread each; {found['pairs']:,} positives.",
        "",
        "| | epochs | unskew: CPU seconds, recall@20 | Cornac: CPU seconds, recall@20 | unskew is |",
        "|---|---|---|---|---|",
    ]
    for title, job in found["jobs"].items():
        mine, theirs = job["unskew"], job["cornac"]
        again = "no numbers" if theirs["recall"] is None else f"{theirs['recall']:.3f}"
        lines.append(
            f"| {title} | {job['epochs']} | {mine['cpu']:.2f}, {mine['recall']:.3f} | {theirs['cpu']:.2f}, {again} | "
            f"{theirs['cpu'] / mine['cpu']:.1f}× as fast |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", nargs="*", help="page: write docs/model_families.md again from the results")
    options = parser.parse_args()
    if options.job[:1] == ["ours"]:
        return ours(Path(options.job[1]), options.job[2])
    if options.job != ["page"]:
        keep("families", measure())
    found = stored("families")
    if found is None:
        raise SystemExit("nothing has been measured yet: run python benchmarks/families.py.")
    PAGE.write_text(page(found, json.loads(CURVES.read_text())), encoding="utf-8")
    return console.print(f"wrote {PAGE.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
