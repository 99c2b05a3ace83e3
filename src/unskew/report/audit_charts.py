"""Charts of an audit. Whatever is not in the log has no chart."""

from __future__ import annotations

from typing import Any

from unskew.auditing import Audit
from unskew.report import audit_words as words
from unskew.report import numbers, plots
from unskew.report.document import Chart
from unskew.report.marks import ESTIMATORS
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
from unskew.report.view import unique

PAIR = ESTIMATORS[:2]
LOG = PAIR[0]
AXIS = 44  # room for the numbers of a vertical axis


def ranks(audit: Audit) -> Chart | None:
    """Rows against rank, both on a logarithmic scale, with the power law of the tail."""
    if audit.items.number == audit.users.number == 1:
        return None
    data: list[dict[str, Any]] = [
        {"rank": rank, "rows": n, "who": who, "text": f"{who} of rank {rank:,}: {n:,} rows"}
        for who, part in (("items", audit.items), ("users", audit.users))
        for rank, n in zip(part.ranks, part.rows_at_rank, strict=True)
    ]
    where = {"x": _log("rank:Q", "rank"), "y": _log("rows:Q", None), "color": _two("who", "items", "users")}
    law = _law(audit)
    over = {"x": field("rank:Q"), "y": field("rows:Q"), "description": field("text:N")}
    found = [lines(where), points(where, 14), *([lines(over, 1.5, "law", **plots.DASHED)] if law else [])]
    note = f"both axes logarithmic; {words.exponent(audit)}"
    return chart("Rows by rank", note, "Rows of items and users by their rank", layers(*found), rows=data, law=law)


def _law(audit: Audit) -> list[dict[str, Any]]:
    """The fitted law over the ranks of the tail, through the end of the tail."""
    law = audit.exponent
    if law is None:
        return []
    ends = [rank for rank in audit.items.ranks if rank <= law.items] or [1]
    return [
        {"rank": rank, "rows": law.from_count * (law.items / rank) ** law.zipf, "text": words.exponent(audit)}
        for rank in ends
    ]


def tail(audit: Audit) -> Chart:
    """Which share of the items (most popular first) has which share of the rows; the diagonal is even."""
    data = [
        {"x": x, "y": y, "who": who, "text": f"top {numbers.share(x)} of {who}: {numbers.share(y)} of the rows"}
        for who, part in (("items", audit.items), ("users", audit.users))
        for x, y in part.tail
    ]
    axis = {"tickCount": 4, "format": "~%"}
    where = {
        "x": field("x:Q", axis={"title": "share of items or users, most frequent first", **axis}),
        "y": field("y:Q", axis={"title": None, **axis}),
        "color": _two("who", "items", "users"),
    }
    even = lines({"x": field("x:Q"), "y": field("y:Q")}, 1, "even", **plots.DASHED)
    spec = layers(even, lines(where), points(where, 12))
    label, note = "Share of the rows by share of items and of users", "the dashed line is an even log"
    return chart("Concentration", note, label, spec, rows=data, even=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])


def values(audit: Audit) -> Chart | None:
    """The distribution of values, beside that of the MCAR log where there is one."""
    if audit.values is None:
        return None
    total = audit.size.rows
    sides = {"log": [(v.low, v.high, v.rows / total) for v in audit.values.levels]}
    if audit.mcar is not None:
        sides["MCAR"] = [(v.low, v.high, v.share_mcar) for v in audit.mcar.values]
    order = [words.level(low, low) for low, _, _ in sides["log"]]
    binned = any(low != high for low, high, _ in sides["log"])
    data = [
        {"value": words.level(low, low), "share": share, "who": who}
        | {"text": f"{who}, value {words.level(low, high)}: {numbers.share(share)}"}
        for who, levels in sides.items()
        for low, high, share in levels
    ]
    title = "value, from" if binned else "value"
    labels = {"title": title, "labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 6}
    encoding = {
        "x": field("value:N", sort=order, axis=labels, scale={"paddingInner": 0.25}),
        "xOffset": field("who:N", sort=list(sides)),
        "y": field("share:Q", axis={"title": None, "tickCount": 4, "format": "~%"}),
        "color": _two("who", "log", "MCAR"),
        "description": field("text:N"),
    }
    spec = layers(marks("rows", "bar", encoding))
    return chart("Values", words.values(audit.values), "Share of the rows by value", spec, rows=data)


def seen(audit: Audit) -> Chart | None:
    """How over-represented each value is in the log, with its interval; 1 is as often as it should be."""
    if audit.mcar is None:
        return None
    known = [v for v in audit.mcar.values if v.ratio > 0.0]
    order = [words.level(v.low, v.low) for v in known]
    data = [
        {"value": words.level(v.low, v.low), "ratio": v.ratio, "low": v.ratio_low, "high": v.ratio_high}
        | {"text": f"value {words.level(v.low, v.high)}: {numbers.number(v.ratio, 2)} times as often as at random"}
        for v in known
    ]
    x = {"x": field("value:N", sort=order, axis={"title": "value", "labelAngle": 0, "labelOverlap": True})}
    how = {
        "axis": {"title": None, "tickCount": 5, "format": "~g"},
        "scale": {"type": "log", "base": 2, "nice": False, "padding": 8},
    }
    bounds = x | {"y": field("low:Q", **how), "y2": field("high"), "description": field("text:N")}
    spec = layers(
        marks("one", "rule", {"y": field("one:Q")}, color=plots.INK, strokeWidth=1),
        marks("rows", "rule", bounds, "isValid(datum.low)", strokeWidth=2, opacity=0.75, color=LOG),
        points(x | {"y": field("ratio:Q", **how)}, color=LOG),
    )
    name, note = "Seen more or less often than at random", "1 = as often as it should be"
    return chart(name, note, "P(seen | value) over P(seen)", spec, rows=data, one=[{"one": 1}])


def periods(audit: Audit) -> Chart | None:
    """Interactions per period."""
    if audit.time is None:
        return None
    note = f"{' to '.join(words.span(audit.time))}, counted by {audit.time.width}"
    return _by_period(audit, "Interactions", note, {"rows": "interactions"})


def newcomers(audit: Audit) -> Chart | None:
    """Items and users that have their first row in a period."""
    kinds = {"new_items": "new items", "new_users": "new users"}
    return _by_period(audit, "Newcomers", "items and users with their first row", kinds)


def _by_period(audit: Audit, name: str, note: str, kinds: dict[str, str]) -> Chart | None:
    if audit.time is None:
        return None
    found = audit.time.periods
    data = [
        {"place": k, "n": getattr(period, kind), "who": who}
        | {"text": f"from {period.start}: {numbers.count(getattr(period, kind))} {who}"}
        for kind, who in kinds.items()
        for k, period in enumerate(found)
    ]
    sides = {"left": 0} | ({"right": len(found) - 1} if len(found) > 1 else {})
    ends = [
        {"place": place, "start": found[place].start[:16].replace("T", " "), "side": side}
        for side, place in sides.items()
    ]
    where = {
        "x": field("place:Q", axis=None, scale={"domain": [-0.5, len(found) - 0.5], "nice": False}),
        "y": field("n:Q", axis={"title": None, "tickCount": 3, "format": "~s"}),
        "color": colours("who:N", list(kinds.values()), PAIR[: len(kinds)]),
        "description": field("text:N"),
    }
    bars = [marks("rows", "bar", where, width=max((plots.WIDTH - AXIS) / len(found) - 1.0, 1.0))]
    place = {"x": field("place:Q"), "y": {"value": plots.HEIGHT}, "text": field("start:N")}
    look = {"baseline": "top", "dy": 6, "fontSize": plots.SIZE, "color": plots.SOFT}
    labels = [
        marks("ends", "text", place, {"field": "side", "equal": side}, align=side, dx=dx, **look)
        for side, dx in (("left", -4), ("right", 4))
    ]
    spec = layers(*(bars if len(kinds) == 1 else [lines(where, 1.5), points(where, 14)]), *labels)
    return chart(name, note, f"{' and '.join(kinds.values())} per period", spec, rows=data, ends=ends)


def places(audit: Audit) -> Chart | None:
    """The rate at every place, or its share of the clicks."""
    if audit.places is None:
        return None
    found, shown = audit.places.places, words.by_place(audit.places)
    share = audit.places.rates or found[0].mean is None
    data = [
        {"place": words.place(p), "y": p.share if p.mean is None else p.mean, "text": words.place_in_words(p, shown)}
        for p in found
    ]
    labels = {"title": "place", "labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 6}
    encoding = {
        "x": field("place:N", sort=[words.place(p) for p in found], axis=labels, scale={"paddingInner": 0.25}),
        "y": field("y:Q", axis={"title": None, "tickCount": 4, "format": "~%" if share else "~g"}),
        "description": field("text:N"),
    }
    spec = layers(marks("rows", "bar", encoding, color=LOG))
    return chart(f"{shown[:1].upper()}{shown[1:]} by place", words.places(audit.places), shown, spec, rows=data)


def policies(audit: Audit) -> Chart | None:
    """How far policies are apart: a bar per pair, and a tick where chance would put it."""
    if audit.policies is None or not audit.policies.pairs:
        return None
    rows = RowPlaces([f"{p.a} – {p.b}" for p in audit.policies.pairs])
    data = [
        {"at": rows.at(f"{p.a} – {p.b}"), "bits": p.js_bits, "chance": p.js_chance}
        | {"text": f"{p.a} – {p.b}: {numbers.number(p.js_bits, 3)} bits, chance {numbers.number(p.js_chance, 3)}"}
        for p in audit.policies.pairs
    ]
    where = {"y": rows.y(), "description": field("text:N")}
    named, names = rows.labels()
    bits = field("bits:Q", axis={"title": "bits", "tickCount": 4, "format": "~g"})
    spec = layers(
        marks("rows", "bar", where | {"x": bits}, color=LOG, size=10, orient="horizontal"),
        marks(
            "rows", "tick", where | {"x": field("chance:Q")}, color=plots.INK, thickness=2, size=16, orient="vertical"
        ),
        named,
        height=rows.height,
    )
    note = "the tick is what chance would give"
    return chart("Policies apart", note, "Divergence between policies", spec, rows=data, names=names)


def propensities(audit: Audit) -> Chart | None:
    """Rows by propensity, on a logarithmic scale."""
    if audit.propensity is None:
        return None
    bins = audit.propensity.histogram
    data = [
        {"low": low, "high": high, "count": n, "text": f"{low:.3g} to {high:.3g}: {numbers.count(n)} rows"}
        for low, high, n in zip(bins.low, bins.high, bins.count, strict=True)
        if n
    ]
    spec = histogram("propensity", shown="~s", domain=[bins.low[0], bins.high[-1]], colour=LOG)
    return chart(
        "The log's own propensities", words.propensity(audit.propensity), "Rows by propensity", spec, rows=data
    )


def expected(audit: Audit) -> Chart | None:
    """The effective sample size to expect, as a share of the held-out rows."""
    if not audit.expected:
        return None
    targets = unique(e.target for e in audit.expected)
    rows = RowPlaces([e.propensity for e in audit.expected], len(targets))
    data = [
        {"at": rows.at(e.propensity, targets.index(e.target)), "target": e.target, "share": e.ess_share}
        | {"text": f"{e.propensity}, {e.target}: {numbers.count(e.ess)} of {numbers.count(e.rows)}"}
        for e in audit.expected
    ]
    spec = share_bars("share of the held-out interactions", colours("target:N", targets, PAIR), rows)
    name, note = "Effective sample size to expect", "snips on a random hold-out of 30 %"
    return chart(name, note, name, spec, rows=data, names=rows.labels()[1])


def _log(text: str, title: str | None) -> Spec:
    axis = {"title": title, "tickCount": 5, "format": "~s", "labelOverlap": "greedy", "labelSeparation": 10}
    return field(text, axis=axis | {"grid": False}, scale={"type": "log", "nice": False})


def _two(name: str, first: str, second: str) -> Spec:
    return colours(f"{name}:N", [first, second], PAIR)
