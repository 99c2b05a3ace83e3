"""How many epochs? Recall@20 over epochs, per family of gs23: ``python benchmarks/family_curves.py [curves|picture]``.

On Coat (five splits) and in a world of the size of Yahoo! R3 (``family_world.py``), 80 % of the ratings train, those of
4 and more are positives, and the other positives are found again by a list of 20 or not. A family's epochs are those of

    EPOCHS at which its recall, as a share of the best of each curve, is highest on average over all its curves

(two data sets, two sizes). ``curves`` measures and stores ``results/family_curves.json`` (some minutes), ``picture``
draws docs/images/family-curves.svg from it (needs the extra report). The page with both: ``families.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "family_curves.json"
PICTURE = HERE.parent / "docs" / "images" / "family-curves.svg"
EPOCHS = (1, 2, 5, 10, 20, 50, 100, 200)
SIZES = (10, 100)
COAT_SPLITS, HELD, METRIC, RELEVANT = 5, 0.2, "recall@20", ">=4"


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


def curves() -> dict[str, Any]:
    """Recall of every family, size and number of epochs, by data set."""
    import unskew as us
    from family_world import world

    warnings.simplefilter("ignore")  # verdicts are not asked for
    found: dict[str, Any] = {"coat": [], "world": []}
    for name, log, seeds in (("coat", us.load("coat").mnar, COAT_SPLITS), ("world", world(), 1)):
        for seed in range(seeds):
            train, held = us.split.holdout(log, share=HELD, seed=seed)
            found[name].append(_recalls(train, held, seed))
    return {name: {key: float(np.mean([one[key] for one in many])) for key in many[0]} for name, many in found.items()}


def _recalls(train: Any, held: Any, seed: int) -> dict[str, float]:
    """By canonical string without its seed."""
    import unskew as us

    positives, ratings = train.positives(RELEVANT), train.take(train.value >= 4.0)
    specs = [f.spec(dim, epochs) for f in FAMILIES for dim in SIZES for epochs in EPOCHS]
    found = {}
    for spec in ["most_popular", "random", *specs]:
        seeded = spec if "(" not in spec else f"{spec[:-1]}, seed={seed})"
        model: Any = us.models.make(seeded)
        model.fit(ratings if "values=true" in spec else positives)
        result = us.evaluate(
            held, {"model": model}, train=train, relevant=RELEVANT, metrics=[METRIC], estimators=["naive"]
        )
        found[spec] = result.estimates[0].value
    print(f"split {seed}: {len(positives):,} positives", file=sys.stderr)
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
    if parser.parse_args().job == "curves":
        RESULTS.write_text(json.dumps(curves(), indent=1) + "\n")
    found = json.loads(RESULTS.read_text())
    for family in FAMILIES:
        print(f"{family.title:28} {chosen(found, family):4} epochs")
    draw(found)


if __name__ == "__main__":
    main()
