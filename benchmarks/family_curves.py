"""How many epochs? Recall@20 over epochs, per family of gs23: ``python benchmarks/family_curves.py [curves|picture]``.

On Coat (three splits) and in a world of the size of Yahoo! R3 (``family_world.py``) 80 % of the ratings train, those of
4 and more are positives, and the other positives are found again by a list of 20 or not. A family's epochs are those of

    EPOCHS at which its recall, as a share of the best of each curve, is highest on average over all its curves

(two data sets, two sizes). ``curves`` measures and stores ``results/family_curves.json`` (some minutes), ``picture``
draws docs/images/family-curves.svg from it (needs the extra report). The page with both: ``families.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "family_curves.json"
PICTURE = HERE.parent / "docs" / "images" / "family-curves.svg"
EPOCHS = (1, 2, 5, 10, 20, 50, 100, 200)
SIZES = (10, 100)
COAT_SPLITS, HELD, METRIC, RELEVANT = 3, 0.2, "recall@20", ">=4"


@dataclass(frozen=True)
class Family:
    """A family of gs23, and how its curve is measured.

    Args:
        model: its name here.
        options: further options of the curve.
        epochs: the option that counts passes.
    """

    model: str
    options: str = ""
    epochs: str = "epochs"

    @property
    def title(self) -> str:
        """As the picture calls it."""
        return f"{self.model}({self.options})" if self.options else self.model

    def spec(self, dim: int, epochs: int) -> str:
        """The canonical string of one point."""
        return f"{self.model}(dim={dim}{', ' if self.options else ''}{self.options}, {self.epochs}={epochs})"


FAMILIES = (
    Family("plain_mf"),
    Family("biased_mf"),
    Family("biased_mf", "values=true"),
    Family("pmf", "variant=linear"),
    Family("pmf", "variant=nonlinear"),
    Family("nmf"),
    Family("mmmf"),
    Family("mmmf", "rate=0.001"),
    Family("bpr"),
    Family("bpr", "rate=0.001"),
    Family("wmf", epochs="rounds"),
)


def curves(workers: int) -> dict[str, Any]:
    """Recall of every family, size and number of epochs, by data set."""
    jobs = [("coat", seed, SIZES) for seed in range(COAT_SPLITS)] + [("world", 0, (dim,)) for dim in SIZES]
    jobs = [(*job, family) for job in jobs for family in ((None,) if job[0] == "coat" else (None, *FAMILIES))]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        parts = list(pool.map(recalls, *zip(*jobs[::-1], strict=True)))[::-1]
    found: dict[str, Any] = {"coat": {}, "world": {}}
    for (data, *_), part in zip(jobs, parts, strict=True):
        for spec, recall in part.items():
            found[data].setdefault(spec, []).append(recall)
    return {data: {spec: float(np.mean(many)) for spec, many in by.items()} for data, by in found.items()}


@cache
def ratings(data: str) -> Any:
    """The log of a data set, made once by every worker."""
    import unskew as us
    from family_world import world

    return us.load("coat").mnar if data == "coat" else world()


def recalls(data: str, seed: int, sizes: tuple[int, ...], family: Family | None) -> dict[str, float]:
    """Recall by canonical string without its seed, of one family or of all and of the two baselines."""
    import unskew as us

    warnings.simplefilter("ignore")  # verdicts are not asked for
    train, held = us.split.holdout(ratings(data), share=HELD, seed=seed)
    if data == "world":
        held = held.take(held.user % 4 == 0)  # a quarter of the users is enough
    positives, valued = train.positives(RELEVANT), train.take(np.asarray(train.value) >= 4.0)
    asked = FAMILIES if data == "coat" else (family,) if family else ()
    specs = [] if family else ["most_popular", "random(seed=0)"]
    specs += [f.spec(dim, epochs) for f in asked for dim in sizes for epochs in EPOCHS]
    found = {}
    for spec in specs:
        model: Any = us.models.make(f"{spec[:-1]}, seed={seed})" if "dim" in spec else spec)
        model.fit(valued if "values=true" in spec else positives)
        result = us.evaluate(
            held, {"model": model}, train=train, relevant=RELEVANT, metrics=[METRIC], estimators=["naive"]
        )
        found[spec] = result.estimates[0].value
        print(data, seed, spec, round(found[spec], 4), flush=True)
    return found


def chosen(found: dict[str, Any], family: Family) -> int:
    """The epochs at which a family is nearest to the best of its curves, on average."""
    shares = []
    for recalls in found.values():
        for dim in SIZES:
            curve = np.array([recalls[family.spec(dim, epochs)] for epochs in EPOCHS])
            shares.append(curve / curve.max())
    return EPOCHS[int(np.argmax(np.mean(shares, axis=0)))]


def draw(found: dict[str, Any]) -> None:
    """Small multiples: a row per data set, a column per family."""
    import altair as alt
    import vl_convert

    panels = []
    for name, recalls in found.items():
        row: list[Any] = []
        for family in FAMILIES:
            rows = [
                {"epochs": epochs, "recall": recalls[family.spec(dim, epochs)], "factors": str(dim)}
                for dim in SIZES
                for epochs in EPOCHS
            ]
            title = alt.TitleParams([family.model, family.options or " "], fontSize=10, anchor="start")
            top = 1.1 * max(value for value in recalls.values())
            base = alt.Chart(alt.Data(values=rows))
            line = base.mark_line(point={"size": 12}, strokeWidth=1.5).encode(
                x=alt.X("epochs:Q", scale=alt.Scale(type="log"), axis=alt.Axis(values=[1, 10, 100], title=None)),
                y=alt.Y(
                    "recall:Q",
                    scale=alt.Scale(domain=[0.0, top]),
                    axis=alt.Axis(title=f"recall@20, {name}" if not row else None, labels=not row, tickCount=4),
                ),
                color=alt.Color("factors:N", scale=alt.Scale(range=["#2458d3", "#c2410c"])),
            )
            marks = alt.Chart(alt.Data(values=[{"y": recalls["most_popular"], "x": chosen(found, family)}]))
            popular = marks.mark_rule(strokeDash=[4, 3], color="#626a7a").encode(y="y:Q")
            choice = marks.mark_rule(color="#1f2430", opacity=0.4).encode(x="x:Q")
            row.append((line + popular + choice).properties(width=80, height=110, title=title))
        panels.append(alt.hconcat(*row, spacing=4))
    styled = alt.vconcat(*panels).configure(background="white", padding=8).configure_view(stroke="#e3e6ec")
    spec: dict[str, Any] = styled.to_dict(validate=False)
    PICTURE.write_text(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[], show_warnings=False), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", choices=["curves", "picture"], nargs="?", default="curves")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.job == "curves":
        RESULTS.write_text(json.dumps(curves(options.workers), indent=1) + "\n")
    found = json.loads(RESULTS.read_text())
    for family in FAMILIES:
        print(f"{family.title:28} {chosen(found, family):4} epochs")
    draw(found)


if __name__ == "__main__":
    main()
