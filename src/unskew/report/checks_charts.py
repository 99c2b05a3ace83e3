"""Charts of the checks on propensities: overlaid where they compare, one card each where they would hide each other."""

from __future__ import annotations

from typing import Any

from unskew.propensity.checks import Bin, Check, Checks
from unskew.report import numbers, plots
from unskew.report.document import Chart, Legend, Swatch
from unskew.report.marks import PATHS, colour, shape
from unskew.report.plots import (
    RowPlaces,
    Spec,
    chart,
    colours,
    field,
    histogram,
    layers,
    lines,
    marks,
    points,
    share_bars,
)  # fmt: skip


def legend(checks: Checks) -> Legend:
    """The colour and the shape of each propensity."""
    found = enumerate(c.propensity for c in checks.checks)
    return Legend("Propensities", tuple(Swatch(name, colour(n), PATHS[shape(n)]) for n, name in found))


def reliability(checks: Checks) -> Chart | None:
    """The share seen against the mean P of tenths; on the dashed line they agree."""
    data: list[dict[str, Any]] = [
        {"x": b.predicted, "y": b.observed, "who": c.propensity, "text": _tenth(c, n, b)}
        for c in checks.checks
        for n, b in enumerate(c.reliability, 1)
        if b.predicted > 0.0 and b.observed > 0.0
    ]
    if not data:
        return None
    ends = [value for d in data for value in (d["x"], d["y"])]
    scale = {"type": "log", "nice": False, "padding": 6}
    axis = {"tickCount": 4, "format": "~g", **plots.NUMBERS}
    where = {
        "x": field("x:Q", scale=scale, axis={"title": "mean propensity", **axis}),
        "y": field("y:Q", scale=scale, axis={"title": "share seen", **axis}),
    }
    even = lines({"x": field("x:Q"), "y": field("y:Q")}, 1, "even", **plots.DASHED)
    tables: dict[str, plots.Rows] = {"rows": data, "even": [{"x": edge, "y": edge} for edge in (min(ends), max(ends))]}
    note = "on the dashed line P is the share that was seen"
    return chart("Reliability", note, "Reliability", _overlaid(checks, where, even), **tables)


def balance(checks: Checks, what: str) -> Chart | None:
    """Seen over predicted by tenths of the users or of the items."""
    data: list[dict[str, Any]] = [
        {"x": n, "y": b.observed / b.predicted, "who": c.propensity, "text": _tenth(c, n, b)}
        for c in checks.checks
        for n, b in enumerate(c.user_balance if what == "users" else c.item_balance, 1)
        if b.predicted > 0.0 and b.observed > 0.0
    ]
    if not data:
        return None
    title = f"tenth of the {what}, least {'active' if what == 'users' else 'popular'} first"
    ticks = {"title": title, "values": sorted({d["x"] for d in data}), "format": "d", "grid": False}
    where = {
        "x": field("x:Q", scale={"nice": False, "zero": False, "padding": 6}, axis=ticks),
        "y": field(
            "y:Q",
            scale={"type": "log", "base": 2, "nice": False, "padding": 8},
            axis={"title": "seen over predicted", "tickCount": 4, "format": "~g"},
        ),
    }
    one = marks("one", "rule", {"y": field("one:Q")}, strokeWidth=1, **plots.DASHED)
    tables: dict[str, plots.Rows] = {"rows": data, "one": [{"one": 1}]}
    label = f"Seen over predicted by {title}"
    return chart(f"Balance over {what}", "the dashed line is right", label, _overlaid(checks, where, one), **tables)


def losses(checks: Checks) -> Chart | None:
    """Log-loss and Brier over those of one constant for all; left of the line is better."""
    rows = RowPlaces([c.propensity for c in checks.checks], 2)
    kinds = ["log-loss", "Brier"]
    data = [
        {"at": rows.at(c.propensity, kinds.index(what)), "who": c.propensity, "what": what, "share": loss / constant}
        | {"text": f"{c.propensity}, {what}: {numbers.figure(loss)} against {numbers.figure(constant)}"}
        for c in checks.checks
        for what, loss, constant in zip(
            kinds, (c.log_loss, c.brier), (c.log_loss_constant, c.brier_constant), strict=True
        )
        if loss is not None and constant > 0.0
    ]
    if not data:
        return None
    axis = {"title": "share of the constant's", "tickCount": 4, "format": "~%"}
    where = {
        "y": rows.y(),
        "x": field("share:Q", axis=axis, scale={"zero": False, "nice": True, "padding": 8}),
        "color": _who(checks),
        "shape": colours("what:N", kinds, ["circle", "diamond"]),
    }
    one = marks("one", "rule", {"x": field("one:Q")}, color=plots.INK, strokeWidth=1)
    named, names = rows.labels()
    spec = layers(one, named, points(where), height=rows.height)
    note = "over those of one constant for all; left of the line is better"
    told = "Log-loss and Brier over those of one constant"
    return chart("Log-loss ● and Brier ◆", note, told, spec, rows=data, names=names, one=[{"one": 1}])


def ess(checks: Checks) -> Chart:
    """The effective sample size of 1/P as a share of the seen pairs."""
    rows = RowPlaces([c.propensity for c in checks.checks])
    data = [
        {"at": rows.at(c.propensity), "who": c.propensity, "share": c.ess_share}
        | {"text": f"{c.propensity}: {numbers.count(c.ess)} of {numbers.count(c.rows)}"}
        for c in checks.checks
    ]
    spec = share_bars("share of the seen pairs", _who(checks), rows)
    told = "Effective sample size of the weights"
    return chart("Effective sample size", "of the weights 1/P", told, spec, rows=data, names=rows.labels()[1])


def clips(checks: Checks) -> Chart:
    """The share of the seen pairs that a clip would raise, by where it clips."""
    data = [
        {"x": at, "y": share, "who": c.propensity}
        | {"text": f"{c.propensity}, clipped at {at}: {numbers.share(share)} of the seen pairs raised"}
        for c in checks.checks
        for at, share in c.clips.items()
    ]
    where = {
        "x": field("x:O", sort=None, axis={"title": "clipped at", "labelAngle": 0}),
        "y": field("y:Q", axis={"title": None, "tickCount": 4, "format": "~%"}, scale={"domain": [0, 1]}),
    }
    note, told = "share of the seen pairs with P below it", "Share of the seen pairs that a clip would raise"
    return chart("What a clip would raise", note, told, _overlaid(checks, where), rows=data)


def overlap(place: int, c: Check) -> Chart:
    """How P is spread: bars are seen pairs, the line unseen ones, each as shares of their own."""
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
    domain = [c.overlap[0].low, c.overlap[-1].high]
    both = "bars: seen pairs; line: unseen pairs; shares of their own"
    note = "bars: seen pairs" if c.overlap[0].unseen is None else both
    label = f"{c.propensity}: seen and unseen pairs by propensity"
    spec = histogram(
        "propensity", y="share", shown="~%", domain=domain, colour=colour(place), line=bool(middle), height=120
    )
    return chart(c.propensity, note, label, spec, rows=data, line=middle)


def _overlaid(checks: Checks, where: Spec, *under: Spec) -> Spec:
    """Lines with points, one of a colour and a shape for each propensity, over a line that they should follow."""
    names = [c.propensity for c in checks.checks]
    coloured = where | {"color": _who(checks)}
    shapes = colours("who:N", names, [shape(n) for n in range(len(names))])
    return layers(*under, lines(coloured), points(coloured | {"shape": shapes}, 34))


def _who(checks: Checks) -> Spec:
    names = [c.propensity for c in checks.checks]
    return colours("who:N", names, [colour(n) for n in range(len(names))])


def _tenth(c: Check, place: int, b: Bin) -> str:
    mean, share = numbers.figure(b.predicted), numbers.figure(b.observed)
    return f"{c.propensity}, tenth {place}: mean P {mean}, share seen {share}"


def _bin(low: float, high: float, pairs: int, what: str) -> str:
    return f"{low:.3g} to {high:.3g}: {numbers.count(pairs)} {what} pairs"
