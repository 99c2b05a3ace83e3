"""Charts of the checks on propensities: overlaid where they compare, one card each where they would hide each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unskew.propensity.checks import Bin, Check, Checks
from unskew.report import charts, numbers
from unskew.report import checks_rows as rows
from unskew.report.charts import INK, WIDTH, altair
from unskew.report.marks import ESTIMATORS, NAIVE, SHAPES

_HEIGHT = 170
_INNER = WIDTH - 60
_BARS = WIDTH - 150
ROOM = 20  # characters beside an axis


def colour(place: int) -> str:
    """The colour of the n-th propensity."""
    return ESTIMATORS[place % len(ESTIMATORS)]


def shape(place: int) -> str:
    """The shape of the n-th propensity, so that colour is never the only sign."""
    return SHAPES[place % len(SHAPES)]


def labels(names: Sequence[str]) -> dict[str, str]:
    """Names that fit beside an axis and stay different: long ones lose their middle, and get a number if need be."""
    short = {name: name if len(name) <= ROOM else f"{name[: ROOM // 2]}…{name[-ROOM // 2 + 1 :]}" for name in names}
    if len(set(short.values())) == len(short):
        return short
    return {name: f"{n} {text}" if text != name else text for n, (name, text) in enumerate(short.items(), 1)}


def reliability(checks: Checks) -> str:
    """The share seen against the mean P of tenths; on the dashed line they agree."""
    data: list[dict[str, Any]] = [
        {"x": b.predicted, "y": b.observed, "who": c.propensity, "text": _tenth(c, n, b)}
        for c in checks.checks
        for n, b in enumerate(c.reliability, 1)
        if b.predicted > 0.0 and b.observed > 0.0
    ]
    if not data:
        return ""
    alt = altair()
    ends = [value for d in data for value in (d["x"], d["y"])]
    even = [{"x": edge, "y": edge} for edge in (min(ends), max(ends))]
    scale = alt.Scale(type="log", nice=False, padding=6)
    axis = {"tickCount": 4, "format": "~g", "labelOverlap": "greedy", "labelSeparation": 8}
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("x:Q", scale=scale, axis=alt.Axis(title="mean propensity", **axis)),
        y=alt.Y("y:Q", scale=scale, axis=alt.Axis(title="share seen", **axis)),
        color=_who(alt, checks),
    )
    line = alt.Chart(alt.NamedData("even")).mark_line(color=NAIVE, strokeWidth=1, strokeDash=[5, 4])
    return _overlaid(alt, checks, base, line.encode(x="x:Q", y="y:Q"), {"rows": data, "even": even}, "Reliability")


def users(checks: Checks) -> str:
    """Seen over predicted by tenths of the users."""
    return _balance(checks, lambda c: c.user_balance, "tenth of the users, least active first")


def items(checks: Checks) -> str:
    """Seen over predicted by tenths of the items."""
    return _balance(checks, lambda c: c.item_balance, "tenth of the items, least popular first")


def _balance(checks: Checks, of: Callable[[Check], Sequence[Bin]], title: str) -> str:
    data: list[dict[str, Any]] = [
        {"x": n, "y": b.observed / b.predicted, "who": c.propensity, "text": _tenth(c, n, b)}
        for c in checks.checks
        for n, b in enumerate(of(c), 1)
        if b.predicted > 0.0 and b.observed > 0.0
    ]
    if not data:
        return ""
    alt = altair()
    ticks = sorted({d["x"] for d in data})
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X(
            "x:Q",
            scale=alt.Scale(nice=False, zero=False, padding=6),
            axis=alt.Axis(title=title, values=ticks, format="d", grid=False),
        ),
        y=alt.Y(
            "y:Q",
            scale=alt.Scale(type="log", base=2, nice=False, padding=8),
            axis=alt.Axis(title="seen over predicted", tickCount=4, format="~g"),
        ),
        color=_who(alt, checks),
    )
    one = alt.Chart(alt.NamedData("one")).mark_rule(color=NAIVE, strokeWidth=1, strokeDash=[5, 4]).encode(y="one:Q")
    return _overlaid(alt, checks, base, one, {"rows": data, "one": [{"one": 1}]}, f"Seen over predicted by {title}")


def losses(checks: Checks) -> str:
    """Log-loss and Brier over those of one constant for all; left of the line is better."""
    label = labels([c.propensity for c in checks.checks])
    data = [
        {"row": label[c.propensity], "who": c.propensity, "what": what, "share": loss / constant}
        | {"text": f"{c.propensity}, {what}: {rows.figure(loss)} against {rows.figure(constant)}"}
        for c in checks.checks
        for what, loss, constant in (
            ("log-loss", c.log_loss, c.log_loss_constant),
            ("Brier", c.brier, c.brier_constant),
        )
        if loss is not None and constant > 0.0
    ]
    if not data:
        return ""
    alt = altair()
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("row:N", sort=None, axis=alt.Axis(title=None, labelLimit=130, labelPadding=8)),
        yOffset=alt.YOffset("what:N", sort=["log-loss", "Brier"], scale=alt.Scale(paddingOuter=0.3)),
        x=alt.X(
            "share:Q",
            axis=alt.Axis(title="share of the constant's", tickCount=4, format="~%"),
            scale=alt.Scale(zero=False, nice=True, padding=8),
        ),
        description="text:N",
    )
    point = base.mark_point(filled=True, size=60, opacity=1).encode(
        color=_who(alt, checks),
        shape=alt.Shape(
            "what:N", scale=alt.Scale(domain=["log-loss", "Brier"], range=["circle", "diamond"]), legend=None
        ),
    )
    one = alt.Chart(alt.NamedData("one")).mark_rule(color=INK, strokeWidth=1).encode(x="one:Q")
    tables: charts.Tables = {"rows": data, "one": [{"one": 1}]}
    return charts.render(one + point, tables, _BARS, {"step": 17}, "Log-loss and Brier over those of one constant")


def ess(checks: Checks) -> str:
    """The effective sample size of 1/P as a share of the seen pairs."""
    label = labels([c.propensity for c in checks.checks])
    alt = altair()
    data = [
        {"row": label[c.propensity], "who": c.propensity, "share": c.ess_share}
        | {"text": f"{c.propensity}: {numbers.count(c.ess)} of {numbers.count(c.rows)}"}
        for c in checks.checks
    ]
    chart = (
        alt.Chart(alt.NamedData("rows"))
        .mark_bar()
        .encode(
            y=alt.Y("row:N", sort=None, axis=alt.Axis(title=None, labelLimit=130, labelPadding=8)),
            x=alt.X(
                "share:Q",
                axis=alt.Axis(title="share of the seen pairs", tickCount=4, format="~%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=_who(alt, checks),
            description="text:N",
        )
    )
    return charts.render(chart, {"rows": data}, _BARS, {"step": 26}, "Effective sample size of the weights")


def clips(checks: Checks) -> str:
    """The share of the seen pairs that a clip would raise, by where it clips."""
    alt = altair()
    data = [
        {"x": at, "y": share, "who": c.propensity}
        | {"text": f"{c.propensity}, clipped at {at}: {numbers.share(share)} of the seen pairs raised"}
        for c in checks.checks
        for at, share in c.clips.items()
    ]
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("x:O", sort=None, axis=alt.Axis(title="clipped at", labelAngle=0)),
        y=alt.Y("y:Q", axis=alt.Axis(title=None, tickCount=4, format="~%"), scale=alt.Scale(domain=[0, 1])),
        color=_who(alt, checks),
    )
    return _overlaid(alt, checks, base, None, {"rows": data}, "Share of the seen pairs that a clip would raise")


def overlap(place: int, c: Check) -> str:
    """How P is spread: bars are seen pairs, the line unseen ones, each as shares of their own."""
    alt = altair()
    seen, unseen = sum(o.seen for o in c.overlap), sum(o.unseen or 0.0 for o in c.overlap)
    data = [
        {"low": o.low, "high": o.high, "share": o.seen / seen, "text": _bin(o.low, o.high, o.seen, "seen")}
        for o in c.overlap
        if o.seen
    ]
    middle = [
        {"x": (o.low * o.high) ** 0.5, "share": o.unseen / unseen}
        | {"text": _bin(o.low, o.high, round(o.unseen), "unseen")}
        for o in c.overlap
        if o.unseen is not None and unseen > 0.0
    ]
    scale = alt.Scale(type="log", base=2, nice=False, domain=[c.overlap[0].low, c.overlap[-1].high])
    axis = alt.Axis(title="propensity", tickCount=5, format=".2~g", labelOverlap="greedy", labelSeparation=8)
    y = alt.Y("share:Q", axis=alt.Axis(title=None, tickCount=3, format="~%"))
    chart = (
        alt.Chart(alt.NamedData("rows"))
        .mark_bar(color=colour(place), binSpacing=1)
        .encode(x=alt.X("low:Q", axis=axis, scale=scale), x2="high:Q", y=y, y2=alt.Y2Datum(0), description="text:N")
    )
    if middle:
        line = alt.Chart(alt.NamedData("unseen")).encode(x=alt.X("x:Q", axis=axis, scale=scale), y=y)
        points = line.mark_point(filled=True, size=16, opacity=1, color=INK).encode(description="text:N")
        chart = chart + line.mark_line(color=INK, strokeWidth=1.5) + points
    label = f"{c.propensity}: seen and unseen pairs by propensity"
    return charts.render(chart, {"rows": data, "unseen": middle}, _INNER, 120, label)


def _overlaid(alt: Any, checks: Checks, base: Any, under: Any, tables: charts.Tables, label: str) -> str:
    """Lines with points, one of a colour and a shape for each propensity, over a line that they should follow."""
    names = [c.propensity for c in checks.checks]
    shapes = alt.Shape("who:N", scale=alt.Scale(domain=names, range=[shape(n) for n in range(len(names))]), legend=None)
    marks = [
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=34, opacity=1).encode(shape=shapes, description="text:N"),
    ]
    return charts.render(alt.layer(*([under] if under is not None else []), *marks), tables, _INNER, _HEIGHT, label)


def _who(alt: Any, checks: Checks) -> Any:
    names = [c.propensity for c in checks.checks]
    return alt.Color("who:N", scale=alt.Scale(domain=names, range=[colour(n) for n in range(len(names))]), legend=None)


def _tenth(c: Check, place: int, b: Bin) -> str:
    return f"{c.propensity}, tenth {place}: mean P {rows.figure(b.predicted)}, share seen {rows.figure(b.observed)}"


def _bin(low: float, high: float, pairs: int, what: str) -> str:
    return f"{low:.3g} to {high:.3g}: {numbers.count(pairs)} {what} pairs"
