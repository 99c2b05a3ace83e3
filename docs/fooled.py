"""The two worlds in which the exposure path is fooled, as pictures: ``python docs/fooled.py`` (needs the extra report).

Two models are equally good. Where exposure follows popularity the path finds out; where it has nothing to do with
popularity, or is chosen for each user, the model that resembles the recommender behind the log is ahead all along.
The worlds are those of ``tests/inference/path_worlds.py``, which ``docs/exposure_path.md`` counts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

if TYPE_CHECKING:
    from unskew.result import ScenarioTable

USERS, ITEMS, SKEW, SEED = 3_000, 100, 1.0, 2
AHEAD, OPEN, INK, SOFT, GRID = "#c2410c", "#2458d3", "#1f2430", "#626a7a", "#e3e6ec"
PICTURES = {
    "path-holds": ("popular items against rare ones", "Exposure follows popularity: the path crosses the truth"),
    "path-fooled-unrelated": (
        "exposure unrelated to popularity",
        "Exposure unrelated to popularity: ahead all along, and wrong",
    ),
    "path-fooled-personal": ("personalised exposure", "Exposure chosen for each user: ahead all along, and wrong"),
}


def table(kind: str) -> ScenarioTable:
    """What the path says of two equal models in one world of a kind."""
    from tests.inference.path_worlds import FOOLED, KINDS, Size

    size = Size(USERS, ITEMS, SKEW, 0.5)
    (found,) = (KINDS | FOOLED)[kind](np.random.default_rng(SEED), size, 0.0).run().scenarios
    return found


def draw(found: ScenarioTable, title: str, path: Path) -> None:
    """The difference of the two models over the path with its band, and the truth, 0."""
    import altair as alt
    import vl_convert

    (difference,) = found.differences
    rows = [
        {"a": 100.0 * at[0], "y": value, "low": low, "high": high}
        for at, value, low, high in zip(
            found.points, difference.difference, difference.low, difference.high, strict=True
        )
    ]
    colour = AHEAD if len(set(difference.sign)) == 1 and difference.sign[0] else OPEN
    x = alt.X(
        "a:Q", title="share of popularity that comes from exposure, %", axis=alt.Axis(values=[0, 20, 40, 60, 80, 100])
    )
    y = f"recall of “{difference.a}” less “{difference.b}”"
    base = alt.Chart(alt.NamedData("rows")).encode(x=x)
    band = base.mark_area(opacity=0.2, color=colour).encode(y=alt.Y("low:Q", title=y), y2="high:Q")
    line = base.mark_line(strokeWidth=2, color=colour, point={"color": colour, "size": 30}).encode(y="y:Q")
    truth = alt.Chart(alt.NamedData("truth")).mark_rule(color=INK, strokeDash=[5, 4]).encode(y="y:Q")
    word = (
        alt.Chart(alt.NamedData("truth"))
        .mark_text(align="right", dy=-7, color=INK)
        .encode(x="a:Q", y="y:Q", text=alt.value("truth: equal"))
    )
    styled = (
        (band + line + truth + word)
        .properties(width=420, height=220, title=title)
        .configure(background="white", padding=8)
        .configure_axis(labelColor=SOFT, titleColor=INK, gridColor=GRID, domainColor=GRID, tickColor=GRID)
        .configure_view(stroke=None)
        .configure_title(color=INK, fontSize=13, anchor="start")
    )
    spec: dict[str, Any] = styled.to_dict(validate=False)
    spec |= {"datasets": {"rows": rows, "truth": [{"y": 0.0, "a": 100.0}]}}
    path.write_text(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[], show_warnings=False), encoding="utf-8")


def main() -> None:
    """Write docs/images/path-*.svg."""
    for name, (kind, title) in PICTURES.items():
        path = HERE / "images" / f"{name}.svg"
        draw(table(kind), title, path)
        print(f"wrote {path.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
