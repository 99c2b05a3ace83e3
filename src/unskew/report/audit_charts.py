"""Charts of an audit: small SVGs in the look of the other page. Whatever is not in the log has no chart."""

from __future__ import annotations

from typing import Any

from unskew.auditing import Audit
from unskew.report import audit_rows as rows
from unskew.report import charts, numbers
from unskew.report.charts import INK, WIDTH, altair
from unskew.report.marks import ESTIMATORS, NAIVE

LOG, MCAR = ESTIMATORS[0], ESTIMATORS[1]
_HEIGHT = 170
_INNER = WIDTH - 60


def ranks(audit: Audit) -> str:
    """Rows against rank, both on a logarithmic scale, with the power law of the tail."""
    alt = altair()
    data: list[dict[str, Any]] = [
        {"rank": rank, "rows": n, "who": who, "text": f"{who} of rank {rank:,}: {n:,} rows"}
        for who, part in (("items", audit.items), ("users", audit.users))
        for rank, n in zip(part.ranks, part.rows_at_rank, strict=True)
    ]
    if audit.items.number == audit.users.number == 1:
        return ""
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=_log(alt, "rank", "rank"), y=_log(alt, "rows", None), color=_two(alt, "who", "items", "users")
    )
    parts = [
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=14, opacity=1).encode(description="text:N"),
    ]
    tables = {"rows": data, "law": _law(audit)}
    if tables["law"]:
        law = alt.Chart(alt.NamedData("law")).mark_line(color=NAIVE, strokeWidth=1.5, strokeDash=[5, 4])
        parts.append(law.encode(x="rank:Q", y="rows:Q", description="text:N"))
    return charts.render(alt.layer(*parts), tables, _INNER, _HEIGHT, "Rows of items and users by their rank")


def _law(audit: Audit) -> list[dict[str, Any]]:
    """The fitted law over the ranks of the tail, through the end of the tail."""
    law = audit.exponent
    if law is None:
        return []
    ends = [rank for rank in audit.items.ranks if rank <= law.items] or [1]
    return [
        {"rank": rank, "rows": law.from_count * (law.items / rank) ** law.zipf, "text": rows.exponent(audit)}
        for rank in ends
    ]


def tail(audit: Audit) -> str:
    """Which share of the items (most popular first) has which share of the rows; the diagonal is even."""
    alt = altair()
    data = [
        {"x": x, "y": y, "who": who, "text": f"top {numbers.share(x)} of {who}: {numbers.share(y)} of the rows"}
        for who, part in (("items", audit.items), ("users", audit.users))
        for x, y in part.tail
    ]
    axis = {"tickCount": 4, "format": "~%"}
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("x:Q", axis=alt.Axis(title="share of items or users, most frequent first", **axis)),
        y=alt.Y("y:Q", axis=alt.Axis(title=None, **axis)),
        color=_two(alt, "who", "items", "users"),
    )
    even = alt.Chart(alt.NamedData("even")).mark_line(color=NAIVE, strokeWidth=1, strokeDash=[5, 4])
    points = base.mark_point(filled=True, size=12, opacity=1).encode(description="text:N")
    chart = alt.layer(even.encode(x="x:Q", y="y:Q"), base.mark_line(strokeWidth=2), points)
    tables: charts.Tables = {"rows": data, "even": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]}
    return charts.render(chart, tables, _INNER, _HEIGHT, "Share of the rows by share of items and of users")


def values(audit: Audit) -> str:
    """The distribution of values, beside that of the MCAR log where there is one."""
    if audit.values is None:
        return ""
    total = audit.size.rows
    sides = {"log": [(v.low, v.high, v.rows / total) for v in audit.values.levels]}
    if audit.mcar is not None:
        sides["MCAR"] = [(v.low, v.high, v.share_mcar) for v in audit.mcar.values]
    alt = altair()
    order = [rows.level(low, low) for low, _, _ in sides["log"]]
    binned = any(low != high for low, high, _ in sides["log"])
    data = [
        {"value": rows.level(low, low), "share": share, "who": who}
        | {"text": f"{who}, value {rows.level(low, high)}: {numbers.share(share)}"}
        for who, levels in sides.items()
        for low, high, share in levels
    ]
    title = "value, from" if binned else "value"
    labels = alt.Axis(title=title, labelAngle=0, labelOverlap="greedy", labelSeparation=6)
    chart = (
        alt.Chart(alt.NamedData("rows"))
        .mark_bar()
        .encode(
            x=alt.X("value:N", sort=order, axis=labels, scale=alt.Scale(paddingInner=0.25)),
            xOffset=alt.XOffset("who:N", sort=list(sides)),
            y=alt.Y("share:Q", axis=alt.Axis(title=None, tickCount=4, format="~%")),
            color=_two(alt, "who", "log", "MCAR"),
            description="text:N",
        )
    )
    return charts.render(chart, {"rows": data}, _INNER, _HEIGHT, "Share of the rows by value")


def seen(audit: Audit) -> str:
    """How over-represented each value is in the log, with its interval; 1 is as often as it should be."""
    if audit.mcar is None:
        return ""
    alt = altair()
    known = [v for v in audit.mcar.values if v.ratio > 0.0]
    order = [rows.level(v.low, v.low) for v in known]
    data = [
        {"value": rows.level(v.low, v.low), "ratio": v.ratio, "low": v.ratio_low, "high": v.ratio_high}
        | {"text": f"value {rows.level(v.low, v.high)}: {numbers.number(v.ratio, 2)} times as often as at random"}
        for v in known
    ]
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("value:N", sort=order, axis=alt.Axis(title="value", labelAngle=0, labelOverlap=True)),
        description="text:N",
    )
    ticks = alt.Axis(title=None, tickCount=5, format="~g")
    scale = alt.Scale(type="log", base=2, nice=False, padding=8)
    rule = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, opacity=0.75, color=LOG)
    point = base.mark_point(filled=True, size=60, opacity=1, color=LOG)
    one = alt.Chart(alt.NamedData("one")).mark_rule(color=INK, strokeWidth=1).encode(y="one:Q")
    chart = alt.layer(
        one,
        rule.encode(y=alt.Y("low:Q", axis=ticks, scale=scale), y2="high:Q"),
        point.encode(y=alt.Y("ratio:Q", axis=ticks, scale=scale)),
    )
    return charts.render(chart, {"rows": data, "one": [{"one": 1}]}, _INNER, _HEIGHT, "P(seen | value) over P(seen)")


def periods(audit: Audit) -> str:
    """Interactions per period."""
    return _by_period(audit, [("rows", "interactions", LOG)])


def newcomers(audit: Audit) -> str:
    """Items and users that have their first row in a period."""
    return _by_period(audit, [("new_items", "new items", LOG), ("new_users", "new users", MCAR)])


def _by_period(audit: Audit, columns: list[tuple[str, str, str]]) -> str:
    if audit.time is None:
        return ""
    alt = altair()
    found = audit.time.periods
    data = [
        {"place": k, "n": getattr(period, name), "who": who}
        | {"text": f"from {period.start}: {numbers.count(getattr(period, name))} {who}"}
        for name, who, _ in columns
        for k, period in enumerate(found)
    ]
    ends = [{"place": 0, "start": found[0].start[:16].replace("T", " "), "side": "left"}]
    if len(found) > 1:
        last = found[-1].start[:16].replace("T", " ")
        ends.append({"place": len(found) - 1, "start": last, "side": "right"})
    names, colours = [who for _, who, _ in columns], [colour for _, _, colour in columns]
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("place:Q", axis=None, scale=alt.Scale(domain=[-0.5, len(found) - 0.5], nice=False)),
        y=alt.Y("n:Q", axis=alt.Axis(title=None, tickCount=3, format="~s")),
        color=alt.Color("who:N", scale=alt.Scale(domain=names, range=colours), legend=None),
        description="text:N",
    )
    if len(columns) == 1:
        marks = base.mark_bar(width=max(_INNER / len(found) - 1.0, 1.0))
    else:
        marks = base.mark_line(strokeWidth=1.5) + base.mark_point(filled=True, size=14, opacity=1)
    labels = [
        alt.Chart(alt.NamedData("ends"))
        .transform_filter({"field": "side", "equal": side})
        .mark_text(align=side, baseline="top", dy=6, dx=dx, fontSize=11.5, color=charts.SOFT)
        .encode(x="place:Q", y=alt.value(_HEIGHT), text="start:N")
        for side, dx in (("left", -4), ("right", 4))
    ]
    what = " and ".join(names)
    return charts.render(alt.layer(marks, *labels), {"rows": data, "ends": ends}, _INNER, _HEIGHT, f"{what} per period")


def policies(audit: Audit) -> str:
    """How far policies are apart: a bar per pair, and a tick where chance would put it."""
    if audit.policies is None or not audit.policies.pairs:
        return ""
    alt = altair()
    data = [
        {"pair": f"{p.a} – {p.b}", "bits": p.js_bits, "chance": p.js_chance}
        | {"text": f"{p.a} – {p.b}: {numbers.number(p.js_bits, 3)} bits, chance {numbers.number(p.js_chance, 3)}"}
        for p in audit.policies.pairs
    ]
    base = alt.Chart(alt.NamedData("rows")).encode(
        y=alt.Y("pair:N", sort=None, axis=alt.Axis(title=None, labelLimit=110, labelPadding=8)), description="text:N"
    )
    axis = alt.Axis(title="bits", tickCount=4, format="~g")
    chart = base.mark_bar(color=LOG, size=14).encode(x=alt.X("bits:Q", axis=axis)) + base.mark_tick(
        color=INK, thickness=2, size=20
    ).encode(x="chance:Q")
    return charts.render(chart, {"rows": data}, WIDTH - 130, {"step": 26}, "Divergence between policies")


def propensities(audit: Audit) -> str:
    """Rows by propensity, on a logarithmic scale."""
    if audit.propensity is None:
        return ""
    bins = audit.propensity.histogram
    data = [
        {"low": low, "high": high, "n": n, "text": f"{low:.3g} to {high:.3g}: {numbers.count(n)} rows"}
        for low, high, n in zip(bins.low, bins.high, bins.count, strict=True)
        if n
    ]
    alt = altair()
    axis = alt.Axis(title="propensity", tickCount=5, format=".2~g", labelOverlap="greedy", labelSeparation=8)
    scale = alt.Scale(type="log", base=2, nice=False, domain=[bins.low[0], bins.high[-1]])
    chart = (
        alt.Chart(alt.NamedData("rows"))
        .mark_bar(color=LOG, binSpacing=1)
        .encode(
            x=alt.X("low:Q", axis=axis, scale=scale),
            x2="high:Q",
            y=alt.Y("n:Q", axis=alt.Axis(title=None, tickCount=3, format="~s")),
            y2=alt.Y2Datum(0),
            description="text:N",
        )
    )
    return charts.render(chart, {"rows": data}, _INNER, _HEIGHT, "Rows by propensity")


def expected(audit: Audit) -> str:
    """The effective sample size to expect, as a share of the held-out rows."""
    if not audit.expected:
        return ""
    alt = altair()
    data = [
        {"row": e.propensity, "target": e.target, "share": e.ess_share}
        | {"text": f"{e.propensity}, {e.target}: {numbers.count(e.ess)} of {numbers.count(e.rows)}"}
        for e in audit.expected
    ]
    chart = (
        alt.Chart(alt.NamedData("rows"))
        .mark_bar()
        .encode(
            y=alt.Y("row:N", sort=None, axis=alt.Axis(title=None, labelLimit=130, labelPadding=8)),
            yOffset=alt.YOffset("target:N", sort=["per_user", "pooled"], scale=alt.Scale(paddingOuter=0.2)),
            x=alt.X(
                "share:Q",
                axis=alt.Axis(title="share of the held-out interactions", tickCount=4, format="~%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=_two(alt, "target", "per_user", "pooled"),
            description="text:N",
        )
    )
    return charts.render(chart, {"rows": data}, WIDTH - 150, {"step": 17}, "Effective sample size to expect")


def _log(alt: Any, name: str, title: str | None) -> Any:
    channel = alt.X if name == "rank" else alt.Y
    axis = alt.Axis(title=title, tickCount=5, format="~s", labelOverlap="greedy", labelSeparation=10, grid=False)
    return channel(f"{name}:Q", axis=axis, scale=alt.Scale(type="log", nice=False))


def _two(alt: Any, field: str, first: str, second: str) -> Any:
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=[first, second], range=[LOG, MCAR]), legend=None)
