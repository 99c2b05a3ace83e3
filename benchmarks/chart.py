"""The picture of all promises: how many times better than asked for each of them is, on a logarithmic axis.

    margin = measured / floor,  or  ceiling / measured;   right of the line at 1 a promise is kept

It is drawn on a ground of its own, so that it can be read on light and on dark pages. Needs the extra ``report``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from promise import Promise

KEPT, MISSED, OPEN = "#2458d3", "#c2410c", "#8a93a6"
INK, SOFT, GRID = "#1f2430", "#626a7a", "#e3e6ec"
ROW, WIDTH, FONT = 24, 420, 12
TICKS = (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def specification(promises: Sequence[Promise]) -> dict[str, Any]:
    """The picture in the words of Vega-Lite."""
    import altair as alt

    colours = {"met": KEPT, "**missed**": MISSED}
    rows: list[dict[str, Any]] = [
        {
            "what": one.what.replace("`", ""),
            "margin": one.margin,
            "from": 1.0,
            "label": f"{one.value} ({one.floor})",
            "colour": colours.get(one.verdict, OPEN),
        }
        for one in promises
    ]
    margins = [1.0, *(row["margin"] for row in rows)]
    scale = alt.Scale(type="log", domain=[min(margins) / 1.2, max(margins) * 1.2], nice=False)
    axis = {"labelFontSize": FONT, "titleFontSize": FONT + 1, "labelColor": INK, "titleColor": INK}
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "margin:Q",
            scale=scale,
            title="times better than promised",
            axis=alt.Axis(values=list(TICKS), format="~g", gridColor=GRID, domainColor=GRID, tickColor=GRID, **axis),
        ),
        y=alt.Y(
            "what:N",
            sort=None,
            title=None,
            axis=alt.Axis(labelLimit=600, labelFontSize=FONT, labelColor=INK, ticks=False, domain=False),
        ),
        color=alt.Color("colour:N", scale=None),
    )
    stems = base.mark_rule(strokeWidth=2).encode(x2="from:Q")
    dots = base.mark_circle(size=70, opacity=1.0)
    labels = (
        alt.Chart(alt.Data(values=rows))
        .mark_text(align="left", fontSize=FONT, color=SOFT)
        .encode(y=alt.Y("what:N", sort=None), x=alt.value(WIDTH + 12), text="label:N")
    )
    floor = alt.Chart(alt.Data(values=[{"margin": 1.0, "text": "promised"}]))
    line = floor.mark_rule(color=INK, strokeWidth=2).encode(x="margin:Q")
    name = floor.mark_text(dy=-10, fontSize=FONT, fontWeight="bold", color=INK).encode(
        x="margin:Q", y=alt.value(0), text="text:N"
    )
    picture = (stems + line + dots + labels + name).properties(width=WIDTH, height=ROW * len(rows))
    styled = picture.configure(background="white", padding=16, font="sans-serif").configure_view(stroke=None)
    return dict(styled.to_dict(validate=False))


def draw(promises: Sequence[Promise], path: Path) -> None:
    """Write it as SVG."""
    try:
        import vl_convert
    except ImportError:
        print(f"{path.name} stays as it is: drawing needs the extra report (pip install 'unskew[report]').")
        return
    spec = specification(promises)
    path.write_text(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[], show_warnings=False), encoding="utf-8")
    print(f"wrote {path.name}", flush=True)
